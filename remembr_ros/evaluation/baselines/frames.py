"""Frames instead of captions: what a vision language model does with the video itself.

After the vision language model that ReMEmbR (arXiv 2409.13682) is compared with.
"""

from collections.abc import Callable
from functools import cache
from importlib.resources import files

from remembr_ros.agent.chat.client import ChatClient, Message, Picture
from remembr_ros.agent.llm.evidence import Evidence
from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.model.grounding import Claim, ground
from remembr_ros.agent.model.memory_prompt import situation, whereabouts
from remembr_ros.agent.planner import Progress, Run
from remembr_ros.captioning.frame_choice import evenly
from remembr_ros.errors import InvalidRequest
from remembr_ros.evaluation.baselines.forced_answer import forced_answer
from remembr_ros.memory.model.recall import Recall, Scope

METHOD = 'frames'

MAX_MEMORIES = 1_000
"""As many as a recall returns."""


class FramesPlanner:
    """Shows a model keyframes with their times and places, but no captions, and takes its answer.

    :param keyframe: returns the JPEG of a memory's id and an index, such as MemoryStore.keyframe
    :param frames: shown at most, one per memory, evenly spread over the memories that have any
    :param call_timeout_s: for one call of the model [s]
    :raises InvalidRequest: a number makes no sense
    """

    def __init__(
        self,
        chat: ChatClient,
        keyframe: Callable[[str, int], bytes],
        *,
        frames: int = 50,
        call_timeout_s: float = 120.0,
    ) -> None:
        if not 1 <= frames <= MAX_MEMORIES:
            raise InvalidRequest(f'frames is {frames}; it lies between 1 and {MAX_MEMORIES}')
        if not call_timeout_s > 0.0:
            raise InvalidRequest(f'call_timeout_s is {call_timeout_s}; it is positive')
        self._chat = chat
        self._keyframe = keyframe
        self._frames = frames
        self._call_timeout_s = call_timeout_s

    @property
    def name(self) -> str:
        return f'{METHOD}+{self._chat.model}'

    def answer(self, question: Question, recall: Recall, run: Run) -> Answer:
        """Answer a question.

        :raises InvalidRequest: there are memories, but none of them has a keyframe, or one is lost
        """
        run.check()
        run.on_progress(Progress('recalling', 'keyframes'))
        hits = recall.newest(Scope(map_id=question.map_id or None), MAX_MEMORIES)
        if not hits:
            return ground(Claim(Kind.NOT_SEEN, 'The memory holds nothing.'), question, self.name)
        hits.sort(key=lambda hit: (hit.memory.start_ns, hit.memory.id))
        pictured = [hit for hit in hits if hit.memory.keyframes]
        if not pictured:
            raise InvalidRequest(
                f'none of {len(hits)} memories has a keyframe: ingest them from a bag (files of captions '
                'have no frames)'
            )
        evidence = Evidence()
        images = []
        for label, hit, _ in evidence.add(evenly(pictured, self._frames)):
            run.check()
            images.append(Picture(whereabouts(label, hit, question), self._keyframe(hit.memory.id, 0)))
        asked = f'{situation(question)}\n\n{len(images)} frames, oldest first:'
        messages = (Message('system', _prompt()), Message('user', asked, images=tuple(images)))
        return forced_answer(
            self._chat,
            messages,
            evidence,
            question,
            run,
            method=METHOD,
            call_timeout_s=self._call_timeout_s,
            captions_shown=False,
        )


@cache
def _prompt() -> str:
    return (files('remembr_ros.evaluation') / 'prompts' / 'frames.md').read_text(encoding='utf-8')
