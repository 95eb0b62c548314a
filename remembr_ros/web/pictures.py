"""Images for the browser: keyframes, cached thumbnails, the map as PNG."""

import hashlib
import logging
import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.keyframes.files import MAX_BYTES, fitted_jpeg, is_keyframe_name
from remembr_ros.navigation.grid import Grid
from remembr_ros.web.backend import Backend

_log = logging.getLogger(__name__)

KEPT_BYTES = 24_000_000  # [B] of thumbnails that are kept: about a thousand of a list
LONGEST_SIDE = 2048  # [px] of the map's picture; of more cells some share a pixel


class Width(IntEnum):
    """Of a thumbnail [px]."""

    SMALL = 256  # in a list
    LARGE = 1024  # on a whole screen


@dataclass(frozen=True, slots=True, eq=False)
class MapImage:
    """A map as a picture, highest row first: free white, occupied black, unknown transparent.

    :param grid: what it shows, from edge to edge; the picture may have fewer pixels than it has cells
    :param version: another one if the picture is, or lies elsewhere
    """

    grid: Grid
    version: str
    png: bytes


class Pictures:
    """Gets pictures of a backend, and keeps what was made of them. From any thread."""

    def __init__(self, backend: Backend, kept_bytes: int = KEPT_BYTES) -> None:
        self._backend, self._kept_bytes = backend, kept_bytes
        self._lock = threading.Lock()
        self._making = threading.Lock()  # one at a time: a picture takes 200 MB at most while it is decoded
        self._thumbnails: OrderedDict[tuple[str, Width], bytes] = OrderedDict()
        self._drops = 0
        """How often some were forgotten."""
        self._map_lock = threading.Lock()
        self._map: MapImage | None = None

    def keyframe(self, name: str, width: Width | None = None) -> bytes:
        """Return a keyframe as JPEG.

        :param width: that a wider picture is made. None: as it is kept
        :raises InvalidRequest: there is none of this name, or it is damaged
        :raises StoreUnavailable: the memory is out of reach
        """
        if not is_keyframe_name(name):
            raise InvalidRequest(
                f'{name[:80]!r} is not the name of a picture; a memory tells the names of its own'
            )
        if width is None:
            return self._backend.picture(name)
        if (kept := self._kept((name, width))) is not None:
            return kept
        with self._making:
            if (kept := self._kept((name, width))) is not None:
                return kept  # somebody else had it made meanwhile
            drops = self._drops
            thumbnail = _thumbnail(name, self._backend.picture(name), width)
            with self._lock:
                if drops == self._drops:  # else it may have been forgotten meanwhile
                    self._thumbnails[name, width] = thumbnail
                    while sum(map(len, self._thumbnails.values())) > self._kept_bytes:
                        self._thumbnails.popitem(last=False)
            return thumbnail

    def drop(self, names: Iterable[str] | None = None) -> None:
        """Forget what was made of these keyframes, and what is being made.

        :param names: None: of all, as when somebody else may have forgotten some
        """
        with self._lock:
            self._drops += 1
            dropped = {name for name, _ in self._thumbnails} if names is None else names
            for name in dropped:
                for width in Width:
                    self._thumbnails.pop((name, width), None)

    def _kept(self, key: tuple[str, Width]) -> bytes | None:
        with self._lock:
            if key in self._thumbnails:
                self._thumbnails.move_to_end(key)
            return self._thumbnails.get(key)

    def map(self) -> MapImage | None:
        """Return the map; made once for each grid. None: there is none."""
        grid = self._backend.map()
        if grid is None:
            return None
        with self._map_lock:
            if self._map is None or self._map.grid is not grid:
                png = map_png(grid)
                lies = repr((grid.resolution, grid.origin)).encode()
                self._map = MapImage(grid, hashlib.sha256(lies + png).hexdigest()[:16], png)
            return self._map


def _thumbnail(name: str, image: bytes, width: int) -> bytes:
    try:
        return fitted_jpeg(image, width, MAX_BYTES)
    except InvalidRequest as error:
        _log.warning('the picture %s is damaged: %s', name, error)
        raise InvalidRequest(
            f'the picture {name} is damaged; what was seen is told by the caption'
        ) from error


def map_png(grid: Grid) -> bytes:
    """Return a grid as PNG with transparency, at most LONGEST_SIDE a side; where cells share a pixel the most
    occupied one counts, so that no wall has holes."""
    import cv2

    cells = np.where((grid.cells < 0) | (grid.cells > 100), np.int8(-1), grid.cells)
    for axis in (0, 1):
        cells = _shortened(cells, axis)
    cells = cells[::-1].astype(np.int16)
    picture = np.empty((*cells.shape, 4), np.uint8)
    picture[..., :3] = (255 - np.maximum(cells, 0) * 255 // 100)[..., np.newaxis]
    picture[..., 3] = np.where(cells < 0, 0, 255)
    done, png = cv2.imencode('.png', picture)
    if not done:
        raise InvalidRequest(f'a map of {grid.cells.shape} cells cannot be drawn; publish a smaller one')
    return png.tobytes()


def _shortened(cells: NDArray[np.int8], axis: int) -> NDArray[np.int8]:
    size = cells.shape[axis]
    if size <= LONGEST_SIDE:
        return cells
    return np.maximum.reduceat(cells, np.arange(LONGEST_SIDE) * size // LONGEST_SIDE, axis=axis)
