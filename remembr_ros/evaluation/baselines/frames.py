"""Frames instead of captions: what a vision language model does with the video itself.

After the vision language model that ReMEmbR (arXiv 2409.13682) is compared with.
"""

from collections.abc import Callable

from remembr_ros.agent.chat.client import ChatClient, Message, Picture
from remembr_ros.agent.llm.evidence import Evidence
from remembr_ros.agent.model.answer import Question
from remembr_ros.agent.model.memory_prompt import situation, whereabouts
from remembr_ros.captioning.frame_choice import evenly
from remembr_ros.errors import InvalidRequest
from remembr_ros.evaluation.baselines.forced_answer import ForcedAnswerPlanner
from remembr_ros.memory.model.recall import Hit


class FramesPlanner(ForcedAnswerPlanner):
    """Shows a model keyframes with their times and places, but no captions, and takes its answer.

    :param keyframe: returns the JPEG of a memory's id and an index, such as MemoryStore.keyframe
    :param frames: shown at most, one per memory, evenly spread over the memories that have any
    """

    METHOD = 'frames'
    CAPTIONS_SHOWN = False

    def __init__(
        self,
        chat: ChatClient,
        keyframe: Callable[[str, int], bytes],
        *,
        frames: int = 50,
        call_timeout_s: float = 120.0,
    ) -> None:
        super().__init__(chat, call_timeout_s)
        self._keyframe = keyframe
        self._frames = frames

    def _shown(self, hits: list[Hit], older: int, question: Question, evidence: Evidence) -> Message:
        pictured = [hit for hit in hits if hit.memory.keyframes]
        if not pictured:
            raise InvalidRequest(
                f'none of {len(hits)} memories has a keyframe: ingest them from a bag (files of captions '
                'have no frames)'
            )
        images = tuple(
            Picture(whereabouts(label, hit, question), self._keyframe(hit.memory.id, 0))
            for label, hit, _ in evidence.add(evenly(pictured, self._frames))
        )
        asked = f'{situation(question)}\n\n{len(images)} frames, oldest first:'
        return Message('user', asked, images=images)
