"""How sharp an image is: a robot that turns blurs most of its frames."""

from typing import Any

from numpy.typing import NDArray

from remembr_ros.images import Bgr, scaled_down

WIDTH = 320  # images are reduced to this first, lest noise and pixel count pass for detail [px]


def sharpness(image: Bgr) -> float:
    """Return the variance of the Laplacian of the image, reduced to WIDTH and in shades of grey.

    :param image: shape (height, width, 3)
    :return: at least 0; comparable between images of one camera only
    """
    import cv2

    grey: NDArray[Any] = cv2.cvtColor(scaled_down(image, WIDTH / image.shape[1]), cv2.COLOR_BGR2GRAY)
    return float(cv2.Laplacian(grey, cv2.CV_32F).var())
