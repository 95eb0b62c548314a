"""A map as nav2's map_saver writes it: a YAML file, and a picture of which each pixel is a cell.

The darkness of a pixel, 0 for white to 1 for black, or the reverse with negate, says what its cell is:
occupied above occupied_thresh, free below free_thresh, else unknown (the mode trinary; no other is read).
"""

import re
from pathlib import Path, PureWindowsPath
from typing import Annotated, Literal

import numpy as np
import yaml
from numpy.typing import NDArray
from pydantic import BaseModel, Field, FiniteFloat, ValidationError

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import MAX_COORDINATE, Pose
from remembr_ros.image_header import announced_size
from remembr_ros.images import MAX_PIXELS
from remembr_ros.navigation.grid import Grid

MAX_YAML_BYTES = 2**16
MAX_PICTURE_BYTES = 2**28  # as many as its pixels take with two bytes and two channels

_PGM = re.compile(rb'P[25]' + 3 * rb'(?:\s|#[^\n]*\n)+(\d{1,9})' + rb'\s')
_STRIPE = 2**20  # [px] at a time: as floats all of a large map would take several times the picture

Pixels = NDArray[np.uint8] | NDArray[np.uint16]


_Share = Annotated[float, Field(ge=0.0, le=1.0)]
_Coordinate = Annotated[float, Field(ge=-MAX_COORDINATE, le=MAX_COORDINATE)]


class _Described(BaseModel):
    """What the YAML file says; what else is in it is for others."""

    image: Annotated[str, Field(min_length=1)]
    resolution: Annotated[float, Field(gt=0.0, le=1e3)]
    origin: tuple[_Coordinate, _Coordinate, FiniteFloat]
    negate: bool = False
    occupied_thresh: _Share = 0.65
    free_thresh: _Share = 0.25
    mode: Literal['trinary'] = 'trinary'


def read_map(path: Path) -> Grid:
    """Return the map of a YAML file.

    :raises InvalidRequest: it, or the picture that it names, cannot be read or is no map
    """
    described = _described(path)
    picture = path.parent / described.image
    beside = path.parent / PureWindowsPath(described.image).name  # a path of the machine that made the map
    pixels, white = _pixels(beside if beside.is_file() and not picture.exists() else picture)
    cells = np.empty(pixels.shape[:2], np.int8)
    rows = max(1, _STRIPE // pixels.shape[1])
    for top in range(0, len(pixels), rows):
        cells[top : top + rows] = _cells(pixels[top : top + rows], white, described)
    x, y, yaw = described.origin
    # The picture's first row is the farthest along y.
    return Grid(np.ascontiguousarray(cells[::-1]), described.resolution, Pose(x, y, 0.0, yaw))


def _described(path: Path) -> _Described:
    try:
        content = yaml.safe_load(_read(path, MAX_YAML_BYTES))
        if not isinstance(content, dict):
            raise ValueError('it has no keys')
        return _Described.model_validate(content)
    except ValidationError as error:
        problems = '; '.join(f'{problem["loc"][0]}: {problem["msg"]}' for problem in error.errors()[:3])
        raise InvalidRequest(
            f'{path} does not describe a map: {problems}; it needs image, resolution and origin [x, y, yaw]'
        ) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InvalidRequest(
            f'{path} is not the YAML file of a map ({" ".join(str(error).split())[:200]}); give the one that '
            'map_saver wrote beside the picture'
        ) from error


def _read(path: Path, most: int) -> bytes:
    try:
        with path.open('rb') as file:
            data = file.read(most + 1)
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        why = error.strerror if isinstance(error, OSError) else error
        raise InvalidRequest(f'{path} cannot be read: {why}; check its path and permissions') from error
    if len(data) > most:
        raise InvalidRequest(f'{path} has more than {most} bytes, more than any map of a robot')
    return data


def _pixels(path: Path) -> tuple[Pixels, int]:
    """Return what is in a picture, shape (height, width) or with channels, and which value is white."""
    data = _read(path, MAX_PICTURE_BYTES)
    if header := _PGM.match(data):
        width, height, white = map(int, header.groups())
        if is_text := data.startswith(b'P2'):  # of few bits OpenCV makes 8
            data += b'\n'  # without which it takes the last number for cut off
        if white not in (255, 65535) and not (is_text and 0 < white < 255):
            raise InvalidRequest(f'{path} says that {white} is white; save the map as a PGM of 8 bits')
    elif size := announced_size(data):
        width, height = size.width, size.height
    else:
        raise InvalidRequest(f'{path} is damaged or no picture; save the map as PGM or PNG')
    if width < 1 or height < 1 or width * height > MAX_PIXELS:
        raise InvalidRequest(
            f'{path} has {width} x {height} pixels; a map has some, and at most {MAX_PIXELS}: make it coarser'
        )
    import cv2

    try:
        pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    except cv2.error:
        pixels = None
    if pixels is None or pixels.dtype not in (np.uint8, np.uint16):
        raise InvalidRequest(f'{path} is damaged or no picture of 8 or 16 bits; save the map as PGM or PNG')
    return pixels, 255 if pixels.dtype == np.uint8 else 65535  # type: ignore[return-value]


def _cells(pixels: Pixels, white: int, described: _Described) -> NDArray[np.int8]:
    """Return what a part of the picture means: -1 unknown, 0 free, 100 occupied."""
    channels = pixels.reshape(*pixels.shape[:2], -1)
    light = channels[..., : {2: 1, 4: 3}.get(channels.shape[2])].mean(axis=2) / white  # without transparency
    dark = light if described.negate else 1.0 - light
    occupied, free = dark > described.occupied_thresh, dark < described.free_thresh
    return np.where(occupied, 100, np.where(free, 0, -1)).astype(np.int8)
