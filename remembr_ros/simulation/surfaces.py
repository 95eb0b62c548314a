"""Solids as coloured surfaces, and faces of signs. Light is part of the colours: a frame needs no GPU."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from remembr_ros.simulation.building import SignPanel, Solid

_SECTORS, _RINGS = 20, 10

Array = NDArray[np.float64]
Patch = tuple[Array, Array, list[list[int]]]
"""Points (n, 3) and unit normals (n, 3) in a cube from -1 to 1, and polygons of their indices."""
_PX_PER_LETTER_HEIGHT = 96  # of what is printed on a sign


def coloured_surface(
    solids: Sequence[Solid],
) -> tuple[Array, NDArray[np.int64], NDArray[np.uint8]]:
    """Return the surface of all solids together.

    :return: points [m], shape (n, 3); polygons as VTK has them, each its size and then indices;
        colours of the points, shape (n, 3), red first
    """
    patches = {'box': _box(), 'cylinder': _cylinder(), 'ball': _ball()}
    points: list[Array] = []
    colours: list[Array] = []
    polygons: list[int] = []
    offset = 0
    for solid in solids:
        unit, normals, faces = patches[solid.shape]
        low, high = np.array(solid.low), np.array(solid.high)
        points.append((low + high) / 2 + unit * (high - low) / 2)
        colours.append(np.array(solid.colour) * _brightness(normals)[:, None])
        for face in faces:
            polygons += [len(face), *(offset + index for index in face)]
        offset += len(unit)
    shades = np.clip(np.round(np.concatenate(colours)), 0, 255).astype(np.uint8)
    return np.concatenate(points), np.array(polygons, np.int64), shades


def _brightness(normals: Array) -> Array:
    """Return how bright surfaces of these normals are, shape (n,): lit from three sides."""
    lights = np.array([(0.6, 0.25, 0.75), (-0.5, 0.35, 0.7), (0.1, -0.8, 0.6)])
    strengths = np.array([0.24, 0.16, 0.2])
    lit: Array = 0.7 + np.clip(normals @ lights.T, 0.0, None) @ strengths
    return lit


def _box() -> Patch:
    points: list[Array] = []
    normals: list[Array] = []
    faces: list[list[int]] = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            faces.append(list(range(len(points), len(points) + 4)))
            for a, b in ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)):
                points.append(np.insert(np.array([a, b]), axis, sign))
                normals.append(np.insert(np.zeros(2), axis, sign))
    return np.array(points), np.array(normals), faces


def _cylinder() -> Patch:
    angles = [math.tau * k / _SECTORS for k in range(_SECTORS)]
    circle = np.array([(math.cos(angle), math.sin(angle), 0.0) for angle in angles])
    down = np.array([0.0, 0.0, -1.0])
    n = _SECTORS
    points = np.concatenate([circle + down, circle - down, circle + down, circle - down])
    normals = np.concatenate([circle, circle, np.tile(down, (n, 1)), np.tile(-down, (n, 1))])
    sides = [[k, (k + 1) % n, n + (k + 1) % n, n + k] for k in range(n)]
    return points, normals, [*sides, list(range(2 * n, 3 * n)), list(range(3 * n, 4 * n))]


def _ball() -> Patch:
    n = _SECTORS
    polar, around = np.meshgrid(
        [math.pi * ring / _RINGS for ring in range(_RINGS + 1)],
        [math.tau * k / n for k in range(n)],
        indexing='ij',
    )
    x, y, z = np.sin(polar) * np.cos(around), np.sin(polar) * np.sin(around), np.cos(polar)
    points = np.stack([x, y, z], axis=-1).reshape(-1, 3)
    faces = [
        [ring * n + k, ring * n + (k + 1) % n, (ring + 1) * n + (k + 1) % n, (ring + 1) * n + k]
        for ring in range(_RINGS)
        for k in range(n)
    ]
    return points, points, faces


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
