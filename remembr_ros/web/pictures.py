"""Pictures as a browser gets them: keyframes, thumbnails that are made once, the map as PNG."""

import hashlib
import logging
import threading
from collections import OrderedDict
from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.keyframes.files import MAX_BYTES, fitted_jpeg, is_keyframe_name
from remembr_ros.navigation.grid import Grid
from remembr_ros.web.backend import Backend

_log = logging.getLogger(__name__)

WIDTHS = (256, 1024)  # [px] of thumbnails: in a list, and on a whole screen
KEPT_BYTES = 24_000_000  # [B] of thumbnails that are kept: about a thousand of a list
AT_ONCE = 2  # thumbnails made at the same time: a picture takes 200 MB at most while it is decoded
LONGEST_SIDE = 2048  # [px] of the map's picture; of more cells some share a pixel


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
        self._lock, self._at_once = threading.Lock(), threading.Semaphore(AT_ONCE)
        self._thumbnails: OrderedDict[tuple[str, int], Future[bytes]] = OrderedDict()
        self._bytes = 0
        self._map_lock = threading.Lock()
        self._map: MapImage | None = None

    def keyframe(self, name: str, width: int | None = None) -> bytes:
        """Return a keyframe as JPEG.

        :param width: one of WIDTHS; a wider picture is made so wide. None: as it is kept
        :raises InvalidRequest: there is none of this name, it is damaged, or the width is another
        :raises StoreUnavailable: the memory is out of reach
        """
        if not is_keyframe_name(name):
            raise InvalidRequest(
                f'{name[:80]!r} is not the name of a picture; a memory tells the names of its own'
            )
        if width is None:
            return self._backend.picture(name)
        if width not in WIDTHS:
            raise InvalidRequest(
                f'pictures are {" or ".join(map(str, WIDTHS))} wide, or as they are; not {width}'
            )
        key = name, width
        with self._lock:
            made = self._thumbnails.get(key)
            if is_new := made is None:
                made = self._thumbnails[key] = Future()
            self._thumbnails.move_to_end(key)
        if is_new:
            self._make(key, made)
        return made.result()

    def drop(self, names: Iterable[str] | None = None) -> None:
        """Forget what was made of these keyframes, and what is being made.

        :param names: None: of all, as when somebody else may have forgotten some
        """
        with self._lock:
            kept = list(self._thumbnails)
            dropped = kept if names is None else [(name, width) for name in names for width in WIDTHS]
            for key in dropped:
                self._take_out(key)

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

    def _make(self, key: tuple[str, int], made: 'Future[bytes]') -> None:
        name, width = key
        try:
            with self._at_once:
                thumbnail = _thumbnail(name, self._backend.picture(name), width)
        except BaseException as error:  # noqa: BLE001 (whoever waits for it gets it)
            with self._lock:
                if self._thumbnails.get(key) is made:
                    del self._thumbnails[key]
            made.set_exception(error)
            return
        with self._lock:
            made.set_result(thumbnail)
            if self._thumbnails.get(key) is not made:
                return  # dropped meanwhile
            self._bytes += len(thumbnail)
            for oldest in [key for key, one in self._thumbnails.items() if one.done()]:
                if self._bytes <= self._kept_bytes:
                    break
                self._take_out(oldest)

    def _take_out(self, key: tuple[str, int]) -> None:
        made = self._thumbnails.pop(key, None)
        if made is not None and made.done():
            self._bytes -= len(made.result())


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
