"""A map that is still being made moves under its memories; by what, its pose graph tells."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from remembr_ros.geometry import Pose, wrap_angle
from remembr_ros.memory.model.record import AGENT, Memory

MOVED_M, STILL_M = (
    0.05,
    0.001,
)  # of vertices, in all, what is corrected; of a memory what is not worth storing
AROUND_M, NEAREST, LEAST_M2 = 1.5, 6, 0.04  # beyond the nearest vertex; of its time; spread that tells a turn

Moves = Callable[[Iterable[Memory]], Iterator[tuple[Memory, Memory]]]


class PoseGraph:
    """Where a robot was as it made a map: by id, when it was there first [ns], and where [m], as x + iy."""

    def __init__(self) -> None:
        self._at_ns, self._known = 0, dict[int, tuple[int, complex]]()

    def take(self, places: Mapping[int, complex], at_ns: int) -> list[Moves]:
        """Take where that is now; return what yields memories as they are and shall be, if any may move."""
        known = {} if max(places) < max(self._known, default=0) else self._known  # {}: the map is begun anew
        graph = {name: known.get(name, (at_ns, place)) for name, place in places.items()}
        both = [(*graph[name], places[name]) for name in graph if name in known]
        has_moved = any(abs(now - was) > MOVED_M for _, was, now in both)  # small steps add up
        until_ns, self._at_ns = self._at_ns, at_ns
        self._known = {name: (graph[name][0], places[name]) for name in graph} if has_moved else graph
        return [partial(_moves, until_ns, both)] if has_moved else []


def _moves(until_ns: int, vertices: Any, memories: Iterable[Memory]) -> Iterator[tuple[Memory, Memory]]:
    first, was, now = map(np.array, zip(*vertices, strict=True))
    for memory in memories:
        at_ns, pose = memory.end_ns if memory.source == AGENT else memory.start_ns, memory.pose
        if pose is None or at_ns > until_ns:  # later than the graph before: it may be placed by this one
            continue
        way = abs(was - (place := complex(pose.x, pose.y)))
        # Where a loop is closed an early and a late pass of one place lie together, and move differently.
        near = np.lexsort((way, abs(first - at_ns), way > way.min() + AROUND_M))[:NEAREST]
        weight = 1.0 / (way[near] + 0.1)
        middle, new = (np.average(where[near], weights=weight) for where in (was, now))
        turned = np.vdot(weight * (was[near] - middle), now[near] - new) / weight.sum()
        turn = float(np.angle(turned)) if abs(turned) > LEAST_M2 else 0.0
        new = complex(new + np.exp(1j * turn) * (place - middle))
        if abs(new - place) + abs(turn) > STILL_M:
            yield memory, replace(memory, pose=Pose(new.real, new.imag, pose.z, wrap_angle(pose.yaw + turn)))
