"""All captions in one prompt: what a language model does without retrieval.

After the language model with all captions that ReMEmbR (arXiv 2409.13682) is compared with.
"""

from remembr_ros.agent.chat.client import ChatClient, Message
from remembr_ros.agent.llm.evidence import Evidence
from remembr_ros.agent.model.answer import Question
from remembr_ros.agent.model.memory_prompt import describe, situation
from remembr_ros.errors import InvalidRequest
from remembr_ros.evaluation.baselines.forced_answer import ForcedAnswerPlanner, prompt
from remembr_ros.memory.model.recall import Hit

CHARACTERS_PER_TOKEN = 4
RESERVE_TOKENS = 2_000  # kept free for the answer tool, the reply, and one that is sent back
HEADING_CHARACTERS = 100  # of the line before the memories
LABEL_CHARACTERS = 6  # by which a label may grow, and the line's end


class AllCaptionsPlanner(ForcedAnswerPlanner):
    """Shows a language model every memory that it may see, and takes its answer.

    :param context_tokens: of the model, at four characters a token; of more memories than fit, the newest are
        shown, and the model is told how many were left out
    :raises InvalidRequest: the context has no room for anything
    """

    METHOD = 'all_captions'
    CAPTIONS_SHOWN = True

    def __init__(
        self, chat: ChatClient, *, call_timeout_s: float = 60.0, context_tokens: int = 100_000
    ) -> None:
        super().__init__(chat, call_timeout_s)
        if context_tokens <= RESERVE_TOKENS:
            raise InvalidRequest(f'context_tokens is {context_tokens}; it is above {RESERVE_TOKENS}')
        self._context_tokens = context_tokens

    def _shown(self, hits: list[Hit], older: int, question: Question, evidence: Evidence) -> Message:
        shown = self._fitting(hits, question)
        lines = [describe(label, hit, question) for label, hit, _ in evidence.add(shown)]
        left_out = older + len(hits) - len(shown)
        heading = f'{len(shown)} memories, oldest first'
        if left_out > 0:
            heading += f'; {left_out} older ones are left out, for lack of room'
        return Message('user', '\n'.join([situation(question), '', f'{heading}:', *lines]))

    def _fitting(self, hits: list[Hit], question: Question) -> list[Hit]:
        """Return the newest memories for which there is room."""
        room = (self._context_tokens - RESERVE_TOKENS) * CHARACTERS_PER_TOKEN
        room -= len(prompt(self.METHOD)) + len(situation(question)) + HEADING_CHARACTERS
        first = len(hits)
        while first > 0:
            room -= len(describe('', hits[first - 1], question)) + LABEL_CHARACTERS
            if room < 0:
                break
            first -= 1
        if first == len(hits):
            raise InvalidRequest(
                f'a context of {self._context_tokens} tokens has no room for a memory; '
                'give more context_tokens'
            )
        return hits[first:]
