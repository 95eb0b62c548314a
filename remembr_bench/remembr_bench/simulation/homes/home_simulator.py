"""A home after a robot's day, as tasks want a simulator."""

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import cached_property, lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from remembr_bench.simulation.homes.catalogue import FUNCTIONS, SHAPES
from remembr_bench.simulation.homes.home import Home, centre_of, name_of
from remembr_bench.simulation.homes.home_views import CAMERA, items_seen
from remembr_bench.simulation.homes.layout import ground
from remembr_bench.simulation.simulator import Kind, SimulatedThing, nearest_in_room
from remembr_bench.simulation.ways import Ways
from remembr_ros.geometry import Pose
from remembr_ros.navigation.grid import Grid, Points

NEAR_M = 1.0  # at most so far from a thing its viewpoints are
VISIBLE_PART = 0.001  # of the pixels that have to show it
LATTICE = 3  # every so many cells of the map is looked at


class HomeSimulator:
    """The home as its last visit left it; see :class:`remembr_bench.simulation.simulator.Simulator`.

    Pictures are rendered in a thread of its own: a renderer belongs to the thread that made it.

    :param ways: in this home; None: they are found
    """

    def __init__(self, home: Home, ways: Ways | None = None) -> None:
        self._home, self._last = home, home.visits[-1]
        self._ways = ways or Ways(ground(home, self._last))
        self._open = ExitStack()
        self._thread = ThreadPoolExecutor(1, 'renderer')
        self._items: Callable[[Pose], NDArray[np.uint16]] | None = None
        self._seen = lru_cache(4096)(self._render)
        self.viewpoints = lru_cache(None)(self._viewpoints)
        self.beside = lru_cache(None)(partial(nearest_in_room, simulator=self))

    @cached_property
    def things(self) -> Mapping[str, SimulatedThing]:
        return {str(number): self._thing(number) for number in self._last.placements}

    @property
    def rooms(self) -> Sequence[str]:
        return [room.name for room in self._home.rooms]

    @property
    def grid(self) -> Grid:
        return self._ways.grid

    def room_at(self, pose: Pose) -> str:
        return room_of(self._home, pose.x, pose.y)

    def part_seen(self, pose: Pose, thing: str) -> float:
        return float(self.parts_seen(pose)[int(thing)])

    def parts_seen(self, pose: Pose) -> NDArray[np.float64]:
        """Return which part of the pixels shows each thing, by its number."""
        return self._thread.submit(self._seen, pose).result() / (CAMERA.width * CAMERA.height)

    def places(self) -> Points:
        rows, columns = self.grid.cells.shape
        chosen = np.zeros((rows, columns), np.bool_)
        chosen[::LATTICE, ::LATTICE] = True
        return np.asarray(self._ways.places[chosen.ravel() & self._ways.is_free])

    def metres(self, start: Sequence[float], goals: Points) -> NDArray[np.float64]:
        return self._ways.metres(start, goals)

    def way(self, start: Sequence[float], goal: Sequence[float]) -> list[tuple[float, float]]:
        return self._ways.way(start, goal)

    def close(self) -> None:
        self._thread.submit(self._stop_rendering).result()

    def _stop_rendering(self) -> None:
        self._open.close()
        self._items = None

    def _thing(self, number: int) -> SimulatedThing:
        item, placement = self._home.items[number - 1], self._last.placements[number]
        holds = item.kind == 'furniture' and item.label != 'lamp'
        kind: Kind = 'receptacle' if holds else 'object' if item.kind == 'small' else 'other'
        at = centre_of(item, placement)
        named = {'colour': item.colour} if name_of(item) != item.label else {}
        known = {'shape': SHAPES.get(item.label, ''), 'function': FUNCTIONS.get(item.label, '')}
        attributes = {**named, **{name: value for name, value in known.items() if value}}
        room = room_of(self._home, *at[:2])
        return SimulatedThing(str(number), name_of(item), item.label, kind, at, room, attributes)

    def _viewpoints(self, thing: str) -> Points:
        item, placement = self._home.items[int(thing) - 1], self._last.placements[int(thing)]
        x, y, _ = centre_of(item, placement)
        half = np.array(item.size[:2]) / 2.0
        places = self._ways.places[self._ways.is_free]
        off = np.hypot(*np.maximum(np.abs(places - (x, y)) - half, 0.0).T)
        places = places[off <= NEAR_M]
        places = places[np.isfinite(self.metres(self._last.corners[-1], places))]
        # One of each square of the lattice is looked from: what it sees, the others see.
        squares = self.grid.cells_of(places) // LATTICE
        _, first, square = np.unique(squares, axis=0, return_index=True, return_inverse=True)
        poses = [Pose(px, py, 0.0, math.atan2(y - py, x - px)) for px, py in places[first].tolist()]
        seen = np.array([self.part_seen(pose, thing) >= VISIBLE_PART for pose in poses], np.bool_)
        return np.asarray(places[seen[square.ravel()]])

    def _render(self, pose: Pose) -> NDArray[np.int64]:
        if self._items is None:
            self._items = self._open.enter_context(items_seen(self._home, self._last))
        return np.bincount(self._items(pose).ravel(), minlength=len(self._home.items) + 1)


def room_of(home: Home, x: float, y: float) -> str:
    """Return the name of the room that a place is in; empty: it is in none."""
    return next((room.name for room in home.rooms if room.holds(x, y)), '')
