"""How sharp an image is: a robot that turns blurs most of its frames."""

from typing import Any

from numpy.typing import NDArray

from remembr_ros.images import Bgr, scaled

WIDTH = 320
"""Images are reduced to this width first, so that noise and pixel count do not count as detail [px]."""


def sharpness(image: Bgr) -> float:
    """Return the variance of the Laplacian of the image, reduced to WIDTH and in shades of grey.

    :param image: shape (height, width, 3)
    :return: at least 0; comparable between images of one camera only
    """
    import cv2

    grey: NDArray[Any] = cv2.cvtColor(scaled(image, WIDTH / image.shape[1]), cv2.COLOR_BGR2GRAY)
    return float(cv2.Laplacian(grey, cv2.CV_32F).var())
