"""What a captioner is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from remembr_ros.errors import CaptionerFailed
from remembr_ros.images import Bgr


@dataclass(frozen=True, slots=True)
class Caption:
    """What was seen in a segment.

    :param text: in sentences; empty if there is nothing to say
    :param scene_text: what could be read, one entry per sign or label, exactly as read
    """

    text: str
    scene_text: tuple[str, ...] = ()


class Captioner(Protocol):
    """Describes the frames of one segment."""

    @property
    def name(self) -> str:
        """Kept with each memory, so that one knows what wrote it."""

    def caption(self, images: Sequence[Bgr]) -> Caption:
        """Return what the images show, in the order of time.

        :raises CaptionerFailed: the model is out of reach or its reply is of no use
        """


@runtime_checkable
class TimedCaptioner(Captioner, Protocol):
    """A captioner that has to know when a segment was."""

    def caption_between(self, images: Sequence[Bgr], start_ns: int, end_ns: int) -> Caption:
        """Return what a segment shows.

        :param images: of the segment, in the order of time
        :param start_ns: stamp of its first frame, inclusive, nanoseconds since the Unix epoch
        :param end_ns: stamp of its last frame, inclusive
        :raises CaptionerFailed: as :meth:`Captioner.caption`
        """


@runtime_checkable
class BatchCaptioner(Captioner, Protocol):
    """A captioner that describes several segments in the time of fewer."""

    def caption_batch(self, segments: Sequence[Sequence[Bgr]]) -> list[Caption | CaptionerFailed]:
        """Return what each segment shows, the same as one by one; of one that failed, why.

        :raises CaptionerFailed: no segment can be described, as the model cannot be loaded
        """


def caption_segment(captioner: Captioner, images: Sequence[Bgr], start_ns: int, end_ns: int) -> Caption:
    """Return what a segment shows, by any captioner; parameters as in TimedCaptioner.

    :raises CaptionerFailed: as the captioner
    """
    if isinstance(captioner, TimedCaptioner):
        return captioner.caption_between(images, start_ns, end_ns)
    return captioner.caption(images)
