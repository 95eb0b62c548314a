"""A map as nav2_map_server keeps it: a YAML file, and a picture of which each pixel is a cell.

Format: the documentation of map_server (wiki.ros.org/map_server) and of nav2_map_server's MapMode. The
darkness of a pixel, 0 for white to 1 for black, or the reverse where negate is set, becomes

- trinary: above occupied_thresh occupied, below free_thresh free, else unknown;
- scale: the same, but between the two 0 to 100; what is transparent at all is unknown;
- raw: the pixel's value of 0 to 255 is that of the cell; above 100 it is unknown.
"""

import re
from enum import Enum
from pathlib import Path
from typing import Annotated

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

_BETWEEN = rb'(?:\s|#[^\n]*\n)+'
_PGM = re.compile(rb'P([25])' + 3 * (_BETWEEN + rb'(\d{1,9})') + rb'\s')
_STRIPE = 2**20  # [px] at a time: as floats all of a large map would take several times the picture

Pixels = NDArray[np.uint8] | NDArray[np.uint16]


class Mode(str, Enum):
    """How a pixel becomes a cell."""

    TRINARY = 'trinary'
    SCALE = 'scale'
    RAW = 'raw'


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
    mode: Mode = Mode.TRINARY


def read_map(path: Path) -> Grid:
    """Return the map of a YAML file.

    :raises InvalidRequest: it, or the picture that it names, cannot be read or is no map
    """
    described = _described(path)
    picture = path.parent / described.image
    pixels, white = _pixels(picture)
    cells = np.empty(pixels.shape[:2], np.int8)
    rows = max(1, _STRIPE // pixels.shape[1])
    for top in range(0, len(pixels), rows):
        cells[top : top + rows] = _cells(pixels[top : top + rows], white, described)
    x, y, yaw = described.origin
    # The picture's first row is the farthest along y.
    return Grid(np.ascontiguousarray(cells[::-1]), described.resolution, Pose(x, y, 0.0, yaw))


def _described(path: Path) -> _Described:
    try:
        content = yaml.safe_load(_read(path, MAX_YAML_BYTES).decode())
        if not isinstance(content, dict):
            raise ValueError('it has no keys')
        return _Described.model_validate(content)
    except ValidationError as error:
        problems = '; '.join(f'{one["loc"][0]}: {one["msg"]}' for one in error.errors()[:3])
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
        return _pgm(path, data, header)
    size = announced_size(data)
    if size is None:
        raise InvalidRequest(f'{path} is damaged or no picture; save the map as PGM or PNG')
    _check_size(path, size.width, size.height)
    import cv2

    try:
        pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    except cv2.error:
        pixels = None
    if pixels is None or pixels.dtype not in (np.uint8, np.uint16):
        raise InvalidRequest(f'{path} is damaged or no picture of 8 or 16 bits; save the map as PGM or PNG')
    return pixels, 255 if pixels.dtype == np.uint8 else 65535  # type: ignore[return-value]


def _pgm(path: Path, data: bytes, header: re.Match[bytes]) -> tuple[Pixels, int]:
    """Return the pixels by the specification of netpbm; OpenCV knows no other white than 255 and 65535."""
    width, height, white = map(int, header.groups()[1:])
    _check_size(path, width, height)
    if not 1 <= white <= 65535:
        raise InvalidRequest(f'{path} says that {white} is white; a PGM has 1 to 65535')
    if header[1] == b'5':
        depth = np.dtype(np.uint8 if white < 256 else '>u2')
        there = min((len(data) - header.end()) // depth.itemsize, width * height)
        values = np.frombuffer(data, depth, there, header.end())
    else:
        text = re.sub(rb'#[^\n]*', b'', data[header.end() :])
        if not re.fullmatch(rb'[\d\s]*', text):
            raise InvalidRequest(f'{path} is damaged: its pixels are no numbers; save the map again')
        values = np.fromstring(text, np.int64, sep=' ')[: width * height]
    if len(values) < width * height:
        raise InvalidRequest(
            f'{path} is cut off: {len(values)} of {width * height} pixels are there; save the map again'
        )
    return np.minimum(values, white).astype(np.uint16).reshape(height, width), white


def _check_size(path: Path, width: int, height: int) -> None:
    if width < 1 or height < 1 or width * height > MAX_PIXELS:
        raise InvalidRequest(
            f'{path} has {width} x {height} pixels; a map has some, and at most {MAX_PIXELS}: make it coarser'
        )


def _cells(pixels: Pixels, white: int, described: _Described) -> NDArray[np.int8]:
    """Return what a part of the picture means: -1 unknown, 0 free to 100 occupied."""
    channels = pixels.reshape(*pixels.shape[:2], -1)
    colours = channels[..., : {2: 1, 4: 3}.get(channels.shape[2])]
    light = colours.mean(axis=2) / white
    if described.mode is Mode.RAW:
        value = np.rint(light * 255.0)
        return np.where(value > 100.0, -1.0, value).astype(np.int8)
    dark = light if described.negate else 1.0 - light
    low, high = described.free_thresh, described.occupied_thresh
    between = np.full(dark.shape, -1.0)
    if described.mode is Mode.SCALE:
        between = np.rint(np.clip((dark - low) / max(high - low, 1e-9), 0.0, 1.0) * 100.0)
    value = np.where(dark > high, 100.0, np.where(dark < low, 0.0, between))
    if described.mode is Mode.SCALE and channels.shape[2] in {2, 4}:
        value = np.where(channels[..., -1] < white, -1.0, value)
    return value.astype(np.int8)
