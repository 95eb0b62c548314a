"""Chooses which frames of a segment a model sees: by sharpness, number and size."""

from collections.abc import Sequence
from typing import Any, TypeVar

from numpy.typing import NDArray

from remembr_ros.images import Bgr, encode_jpeg, scaled_down

JPEG_QUALITIES = (85, 70, 50)  # tried in turn, before an image that has too many bytes is made smaller
SHRINK = 0.75  # of the sides, at each further try
MIN_BYTES = 4096  # every image fits into so many, if it is made small enough
_T = TypeVar('_T')

WIDTH = 320  # images are reduced to this first, lest noise and pixel count pass for detail [px]


def evenly(images: Sequence[_T], n: int) -> list[_T]:
    """Return n of the images or all if there are fewer, evenly spread, first and last among them."""
    if len(images) <= n:
        return list(images)
    if n == 1:
        return [images[len(images) // 2]]
    return [images[round(i * (len(images) - 1) / (n - 1))] for i in range(n)]


def reduced(image: Bgr, max_side: float) -> Bgr:
    """Return the image, its longer side at most so long [px]."""
    return scaled_down(image, max_side / max(image.shape[:2]))


def jpeg_within(image: Bgr, max_side: int, max_bytes: int) -> bytes:
    """Return the image as JPEG that is neither larger nor longer: first in worse quality, then smaller.

    :param max_side: of the longer side [px]
    :param max_bytes: at least MIN_BYTES
    """
    side = float(max_side)
    while True:
        small = reduced(image, side)
        for quality in JPEG_QUALITIES:
            jpeg = encode_jpeg(small, quality)
            if len(jpeg) <= max_bytes:
                return jpeg
        side = SHRINK * max(small.shape[:2])


def sharpness(image: Bgr) -> float:
    """Return the variance of the Laplacian of the image, reduced to WIDTH and in shades of grey.

    :param image: shape (height, width, 3)
    :return: at least 0; comparable between images of one camera only
    """
    import cv2

    grey: NDArray[Any] = cv2.cvtColor(scaled_down(image, WIDTH / image.shape[1]), cv2.COLOR_BGR2GRAY)
    return float(cv2.Laplacian(grey, cv2.CV_32F).var())
