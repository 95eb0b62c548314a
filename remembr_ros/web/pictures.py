"""Thumbnails, the map as PNG (a stub until the branch core is merged)."""

from dataclasses import dataclass

from remembr_ros.navigation.grid import Grid
from remembr_ros.web.backend import Backend


@dataclass(frozen=True, slots=True)
class MapImage:
    grid: Grid
    version: str
    png: bytes


class Pictures:
    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def keyframe(self, name: str, width: int | None = None) -> bytes:
        return self._backend.picture(name)

    def drop(self, names: object) -> None:
        pass

    def map(self) -> MapImage | None:
        return None
