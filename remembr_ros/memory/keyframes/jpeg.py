"""A JPEG as it is kept beside a memory: checked, and made to fit."""

from remembr_ros.errors import InvalidRequest
from remembr_ros.image_header import announced_size
from remembr_ros.images import MAX_PIXELS, decode_compressed, encode_jpeg

_QUALITIES = (85, 70, 55, 40)  # what is tried in turn before the picture is made smaller
_SMALLEST = 16  # [px] a picture whose sides are no longer is not made smaller


def check_jpeg(data: bytes) -> tuple[int, int]:
    """Return width and height of a JPEG [px], from its header.

    :raises InvalidRequest: it is none
    """
    # announced_size knows other formats, too
    size = announced_size(data) if data.startswith(b'\xff\xd8\xff') else None
    if size is None:
        raise InvalidRequest(
            f'a keyframe of {len(data)} bytes is not a JPEG (it begins with '
            f'{data[:8].hex(" ") or "nothing"}); encode it as JPEG first'
        )
    width, height, _ = size
    if width <= 0 or height <= 0 or width * height > MAX_PIXELS:
        raise InvalidRequest(f'a keyframe says that it is {width} x {height} pixels; it is damaged')
    return width, height


def fitted_jpeg(data: bytes, max_width: int, max_bytes: int) -> bytes:
    """Return a JPEG as it is if it is small enough, else encoded anew, the same for the same input.

    :param max_width: a wider picture is reduced to this [px]
    :param max_bytes: of the result; what is larger loses quality first, then size
    :raises InvalidRequest: it is no JPEG, or too damaged to be reduced
    """
    import cv2

    width, _ = check_jpeg(data)
    if width <= max_width and len(data) <= max_bytes:
        return data
    try:
        image = decode_compressed('jpeg', data)
        while True:
            if image.shape[1] > max_width:
                size = (max_width, max(1, round(image.shape[0] * max_width / image.shape[1])))
                image = cv2.resize(image, size, interpolation=cv2.INTER_AREA)  # type: ignore[assignment]
            for quality in _QUALITIES:
                smaller = encode_jpeg(image, quality)
                if len(smaller) <= max_bytes:
                    return smaller
            if max(image.shape[:2]) <= _SMALLEST:
                return smaller  # less than a kilobyte
            half = (max(1, image.shape[1] // 2), max(1, image.shape[0] // 2))
            image = cv2.resize(image, half, interpolation=cv2.INTER_AREA)  # type: ignore[assignment]
    except ValueError as error:
        raise InvalidRequest(f'a keyframe cannot be reduced: {error}') from error
