"""The interface of a captioner."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from remembr_ros.errors import CaptionerFailed
from remembr_ros.images import Bgr


@dataclass(frozen=True, slots=True)
class Clip:
    """What a captioner is shown of a segment.

    :param images: in the order of time
    :param span_ns: stamps of its first and its last frame, both inclusive, nanoseconds since the Unix epoch;
        None: nobody knows when it was
    """

    images: Sequence[Bgr]
    span_ns: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Caption:
    """What was seen in a segment.

    :param text: in sentences; empty if there is nothing to say
    :param scene_text: what could be read, one entry per sign or label, exactly as read
    """

    text: str
    scene_text: tuple[str, ...] = ()


class Captioner(Protocol):
    """Describes clips, several of them in the time of fewer where it can."""

    @property
    def name(self) -> str:
        """Kept with each memory, so that one knows what wrote it."""

    def caption(self, clips: Sequence[Clip]) -> Iterator[Caption | CaptionerFailed]:
        """Yield what each clip shows, in their order, as soon as it is known; of one that failed, why.

        Each gets what it would get alone: a failure is yielded, not raised, and costs the others nothing.
        What nobody takes of the iterator is not made.
        """

    def close(self) -> None:
        """Let go what is held, models and connections; may come twice. A later caption takes it up again."""


def one_by_one(
    describe: Callable[[Clip], Caption], clips: Sequence[Clip]
) -> Iterator[Caption | CaptionerFailed]:
    """Yield what a function returns of each clip, or the CaptionerFailed that it raises."""
    for clip in clips:
        outcome: Caption | CaptionerFailed
        try:
            outcome = describe(clip)
        except CaptionerFailed as error:
            outcome = error
        yield outcome


def caption_clip(captioner: Captioner, clip: Clip) -> Caption:
    """Return what a single clip shows.

    :raises CaptionerFailed: the model is out of reach or its reply is of no use
    """
    (outcome,) = captioner.caption([clip])
    if isinstance(outcome, CaptionerFailed):
        raise outcome
    return outcome
