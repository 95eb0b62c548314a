"""What is printed on a sign: one line of bold capitals, as an image."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from remembr_ros.simulation.building import SignPanel

_PX_PER_LETTER_HEIGHT = 96


def draw_sign_face(sign: SignPanel) -> NDArray[np.uint8]:
    """Return the printed face.

    :return: shape (height, width, 3), red first, in the proportions of the sign
    """
    import matplotlib
    from PIL import Image, ImageDraw, ImageFont

    scale = _PX_PER_LETTER_HEIGHT / sign.letter_height_m
    width, height = round(sign.width_m * scale), round(sign.height_m * scale)
    font = ImageFont.truetype(
        str(Path(matplotlib.get_data_path()) / 'fonts' / 'ttf' / 'DejaVuSans-Bold.ttf'), 200
    )
    # a wider gap than the font's own, so that a reader does not take two words for one
    text = sign.text.replace(' ', '  ')
    left, top, right, bottom = font.getbbox(text)
    line = Image.new('L', (int(right - left), int(bottom - top)), 0)
    ImageDraw.Draw(line).text((-left, -top), text, fill=255, font=font)
    wanted = min(width - _PX_PER_LETTER_HEIGHT, round(line.width * _PX_PER_LETTER_HEIGHT / line.height))
    line = line.resize((wanted, _PX_PER_LETTER_HEIGHT), Image.Resampling.LANCZOS)
    face = Image.new('RGB', (width, height), sign.ink)
    border = max(3, _PX_PER_LETTER_HEIGHT // 16)
    face.paste(sign.paper, (border, border, width - border, height - border))
    face.paste(sign.ink, ((width - line.width) // 2, (height - line.height) // 2), line)
    return np.asarray(face, dtype=np.uint8)
