"""A captioner for tests: whoever derives from it says what images show."""

from collections.abc import Iterator, Sequence

from remembr_ros.captioning.captioners.captioner import Caption, Clip, one_by_one
from remembr_ros.errors import CaptionerFailed
from remembr_ros.images import Bgr


class FakeCaptioner:
    """Describes clips one by one; keeps when they were, and how often it was closed."""

    name = 'fake'

    def __init__(self) -> None:
        self.spans: list[tuple[int, int] | None] = []
        self.closed = 0

    def describe(self, images: Sequence[Bgr]) -> Caption:
        """Return what the images of a clip show, or raise CaptionerFailed."""
        return Caption(f'{len(images)} images')

    def caption(self, clips: Sequence[Clip]) -> Iterator[Caption | CaptionerFailed]:
        return one_by_one(self._described, clips)

    def close(self) -> None:
        self.closed += 1

    def _described(self, clip: Clip) -> Caption:
        self.spans.append(clip.span_ns)
        return self.describe(clip.images)
