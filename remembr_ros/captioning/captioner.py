"""What a captioner is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

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
