"""Recent images with the boxes of known objects, to show which is which."""

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from remembr_ros.images import Bgr, encode_jpeg, scaled_down
from remembr_ros.objects.detectors.detection import PixelBox
from remembr_ros.objects.lifting import CameraView
from remembr_ros.timestamps import NS

EVERY_NS = NS // 2  # one image in so long is kept
KEPT = 60  # images
SIDE_PX = 640  # longest side of an image that is kept
NEAR_NS = 10 * NS  # what was visible so long before or after something, was there for it
GREEN, THICK_PX, HIGH_PX = (60, 230, 60), 2, 16  # of a box and its number


@dataclass(frozen=True, slots=True, eq=False)
class SeenFrame:
    """An image, and where in it known objects are.

    :param boxes: by the id of the object [px]
    """

    stamp_ns: int
    image: Bgr
    boxes: Mapping[str, PixelBox]


class VisibleObjects:
    """The latest images of half a minute. Used by one thread at a time."""

    def __init__(self) -> None:
        self._seen: deque[SeenFrame] = deque(maxlen=KEPT)

    def take(self, view: CameraView, boxes: Mapping[str, PixelBox]) -> None:
        """Take what an image shows."""
        last_ns = self._seen[-1].stamp_ns if self._seen else 0
        if view.image is None or 0 <= view.stamp_ns - last_ns < EVERY_NS:
            return
        scale = min(1.0, SIDE_PX / max(view.image.shape[:2]))
        smaller = {
            name: (scale * left, scale * top, scale * right, scale * bottom)
            for name, (left, top, right, bottom) in boxes.items()
        }
        self._seen.append(SeenFrame(view.stamp_ns, scaled_down(view.image, scale), smaller))

    def near(self, stamp_ns: int, ids: Collection[str] | None = None) -> SeenFrame | None:
        """Return the image that is nearest to a time, of those that show any of some objects.

        :param ids: None: whatever it shows
        """
        fit = [
            sighting
            for sighting in self._seen
            if abs(sighting.stamp_ns - stamp_ns) <= NEAR_NS
            and (ids is None or not sighting.boxes.keys().isdisjoint(ids))
        ]
        return min(fit, key=lambda frame: abs(frame.stamp_ns - stamp_ns), default=None)


def numbered(seen: SeenFrame, ids: Sequence[str]) -> bytes:
    """Return an image with the boxes of objects drawn into it, numbered from 1, as JPEG."""
    import cv2

    image: Any = seen.image.copy()
    for number, name in enumerate(ids, start=1):
        left, top, right, bottom = map(round, seen.boxes[name])
        cv2.rectangle(image, (left, top), (right, bottom), GREEN, THICK_PX)
        at = left + 2, max(top, HIGH_PX) - 3
        cv2.putText(image, str(number), at, cv2.FONT_HERSHEY_SIMPLEX, 0.6, GREEN, THICK_PX)
    return encode_jpeg(image)
