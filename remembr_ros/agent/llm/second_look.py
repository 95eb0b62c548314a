"""A second look: a vision language model reads a memory's keyframes again, with a question."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from remembr_ros.agent.chat.bounded_call import complete
from remembr_ros.agent.chat.client import ChatClient, Message, Picture
from remembr_ros.agent.llm.budgeted_dialogue import PER_MESSAGE, PER_PICTURE, estimate, prompt
from remembr_ros.agent.planner import Run
from remembr_ros.captioning.captioners.captioner import Captioner, Clip, caption_clip
from remembr_ros.chat_reply import plain
from remembr_ros.errors import CaptionerFailed, InvalidRequest
from remembr_ros.images import Bgr, decode_compressed
from remembr_ros.memory.model.record import Memory

MAX_PICTURES = 3  # Keyframes of one memory that are looked at
MAX_SEEN = 2_000  # Characters of what a second look says


class Keyframes(Protocol):
    """Gives the pictures of memories; the store itself, or the client of the memory node."""

    def keyframe(self, memory_id: str, index: int = 0) -> bytes:
        """Return a keyframe as JPEG.

        :raises InvalidRequest: there is no such memory or keyframe
        :raises StoreUnavailable: the store is out of reach
        """


class SecondLook(Protocol):
    """Looks at a memory's keyframes with a question in mind."""

    def tokens(self, memory: Memory) -> int:
        """Return about how many prompt tokens a look takes."""

    def look(self, memory: Memory, question: str, run: Run) -> str:
        """Return what can be seen, in a model's words: no more to be trusted than a caption.

        :raises InvalidRequest: the memory has no keyframes, or they are lost
        :raises RemembrError: what looks is out of reach, or the question ended meanwhile
        """


@dataclass(frozen=True, slots=True)
class ModelLook:
    """Shows the keyframes to a vision language model.

    :param call_timeout_s: for one look [s]; 0: most of what the question has left
    """

    chat: ChatClient
    keyframes: Keyframes
    call_timeout_s: float = 0.0

    def tokens(self, memory: Memory) -> int:
        pictures = min(len(memory.keyframes), MAX_PICTURES)
        return estimate([Message('system', prompt('look'))]) + PER_MESSAGE + pictures * PER_PICTURE

    def look(self, memory: Memory, question: str, run: Run) -> str:
        pictures = [
            Picture(f'Picture {number}:', jpeg)
            for number, jpeg in enumerate(_pictures(memory, self.keyframes), start=1)
        ]
        messages = (Message('system', prompt('look')), Message('user', question, images=tuple(pictures)))
        reply = complete(self.chat, messages, run=run, call_timeout_s=self.call_timeout_s)
        return plain(reply.content)[:MAX_SEEN] or 'nothing was said'


@dataclass(frozen=True, slots=True)
class CaptionerLook:
    """Has the keyframes captioned anew; what was asked for does not count, for no captioner is asked."""

    captioner: Captioner
    keyframes: Keyframes

    def tokens(self, memory: Memory) -> int:
        return 0

    def look(self, memory: Memory, question: str, run: Run) -> str:
        try:
            images = _decoded(_pictures(memory, self.keyframes))
            caption = caption_clip(self.captioner, Clip(images, (memory.start_ns, memory.end_ns)))
        except CaptionerFailed as error:
            raise InvalidRequest(f'the pictures could not be read: {error}') from error
        read = ', '.join(caption.scene_text)
        return f'{caption.text}{f" Text: {read}" if read else ""}'[:MAX_SEEN]


def _pictures(memory: Memory, keyframes: Keyframes) -> list[bytes]:
    """Return the first keyframes of a memory.

    :raises InvalidRequest: it has none
    """
    if not memory.keyframes:
        raise InvalidRequest('that memory has no pictures')
    return [keyframes.keyframe(memory.id, i) for i in range(min(len(memory.keyframes), MAX_PICTURES))]


def _decoded(jpegs: Sequence[bytes]) -> list[Bgr]:
    try:
        return [decode_compressed('jpeg', jpeg) for jpeg in jpegs]
    except ValueError as error:
        raise InvalidRequest(f'a picture is damaged: {error}') from error
