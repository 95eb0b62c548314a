"""How sharp an image is: a robot that turns blurs most of its frames."""

from typing import Any

from numpy.typing import NDArray

from remembr_ros.images import Bgr

WIDTH = 320
"""Images are reduced to this width first, so that noise and pixel count do not count as detail [px]."""


def sharpness(image: Bgr) -> float:
    """Return the variance of the Laplacian of the image, reduced to WIDTH and in shades of grey.

    :param image: shape (height, width, 3)
    :return: at least 0; comparable between images of one camera only
    """
    import cv2

    height, width = image.shape[:2]
    if width > WIDTH:
        size = (WIDTH, max(1, round(height * WIDTH / width)))
        image = cv2.resize(image, size, interpolation=cv2.INTER_AREA)  # type: ignore[assignment]
    grey: NDArray[Any] = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    return float(cv2.Laplacian(grey, cv2.CV_32F).var())
