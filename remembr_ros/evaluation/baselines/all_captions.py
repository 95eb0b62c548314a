"""All captions in one prompt: what a language model does without retrieval.

After the language model with all captions that ReMEmbR (arXiv 2409.13682) is compared with.
"""

from functools import cache
from importlib.resources import files

from remembr_ros.agent.chat.client import ChatClient, Message
from remembr_ros.agent.llm.evidence import Evidence
from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.model.grounding import Claim, ground
from remembr_ros.agent.model.memory_prompt import describe, situation
from remembr_ros.agent.planner import Progress, Run
from remembr_ros.errors import InvalidRequest
from remembr_ros.evaluation.baselines.forced_answer import forced_answer
from remembr_ros.memory.model.recall import Hit, Recall, Scope

METHOD = 'all_captions'

MAX_MEMORIES = 1_000
"""As many as a recall returns."""

CHARACTERS_PER_TOKEN = 4

RESERVE_TOKENS = 2_000
"""Kept free for the answer tool, the reply, and one that is sent back."""

HEADING_CHARACTERS = 100
"""Of the line before the memories."""

LABEL_CHARACTERS = 6
"""By which a label may grow, and the line's end."""


class AllCaptionsPlanner:
    """Shows a language model every memory that it may see, and takes its answer.

    :param call_timeout_s: for one call of the model [s]
    :param context_tokens: of the model, at four characters a token; of more memories than fit, the newest are
        shown, and the model is told how many were left out
    :raises InvalidRequest: a number makes no sense
    """

    def __init__(
        self, chat: ChatClient, *, call_timeout_s: float = 60.0, context_tokens: int = 100_000
    ) -> None:
        if not call_timeout_s > 0.0:
            raise InvalidRequest(f'call_timeout_s is {call_timeout_s}; it is positive')
        if context_tokens <= RESERVE_TOKENS:
            raise InvalidRequest(f'context_tokens is {context_tokens}; it is above {RESERVE_TOKENS}')
        self._chat = chat
        self._call_timeout_s = call_timeout_s
        self._context_tokens = context_tokens

    @property
    def name(self) -> str:
        return f'{METHOD}+{self._chat.model}'

    def answer(self, question: Question, recall: Recall, run: Run) -> Answer:
        """Answer a question.

        :raises InvalidRequest: the context is too small for a single memory
        """
        run.check()
        run.on_progress(Progress('recalling', 'all memories'))
        scope = Scope(map_id=question.map_id or None)
        hits = recall.newest(scope, MAX_MEMORIES)
        if not hits:
            return ground(Claim(Kind.NOT_SEEN, 'The memory holds nothing.'), question, self.name)
        shown = self._fitting(hits, question)
        evidence = Evidence()
        lines = [describe(label, hit, question) for label, hit, _ in evidence.add(shown)]
        left_out = recall.count(scope) - len(shown)
        heading = f'{len(shown)} memories, oldest first'
        if left_out > 0:
            heading += f'; {left_out} older ones are left out, for lack of room'
        asked = '\n'.join([situation(question), '', f'{heading}:', *lines])
        messages = (Message('system', _prompt()), Message('user', asked))
        return forced_answer(
            self._chat,
            messages,
            evidence,
            question,
            run,
            method=METHOD,
            call_timeout_s=self._call_timeout_s,
        )

    def _fitting(self, hits: list[Hit], question: Question) -> list[Hit]:
        """Return the newest memories for which there is room, in the order of time."""
        room = (self._context_tokens - RESERVE_TOKENS) * CHARACTERS_PER_TOKEN
        room -= len(_prompt()) + len(situation(question)) + HEADING_CHARACTERS
        shown: list[Hit] = []
        for hit in sorted(hits, key=lambda hit: (hit.memory.start_ns, hit.memory.id), reverse=True):
            room -= len(describe('', hit, question)) + LABEL_CHARACTERS
            if room < 0:
                break
            shown.append(hit)
        if not shown:
            raise InvalidRequest(
                f'a context of {self._context_tokens} tokens has no room for a memory; '
                'give more context_tokens'
            )
        return shown[::-1]


@cache
def _prompt() -> str:
    folder = files('remembr_ros.evaluation') / 'prompts'
    return (folder / 'all_captions.md').read_text(encoding='utf-8')
