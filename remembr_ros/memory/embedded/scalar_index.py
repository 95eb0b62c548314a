"""Where and when memories are, as columns: filters and exact nearest ones by a pass over arrays.

A pass over the columns of 100,000 memories takes less than a millisecond, and nothing has to be rebalanced.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from remembr_ros.geometry import Point, distance
from remembr_ros.memory.milvus import filters
from remembr_ros.memory.model.recall import Scope, offset_ns
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import MAX_NS

Slots = NDArray[np.int64]
Mask = NDArray[np.bool_]

_TYPES = {
    **dict.fromkeys(('start_ns', 'end_ns'), np.int64),
    **dict.fromkeys(('x', 'y', 'z'), np.float64),
    **dict.fromkeys(('placed', 'live'), np.bool_),
    **dict.fromkeys(('robot', 'map_id', 'source'), np.int32),
}


class Columns:
    """The fields that one filters and sorts by; a memory's slot is its place in every column."""

    def __init__(self) -> None:
        self._columns: dict[str, NDArray[np.generic]] = {
            name: np.zeros(1024, kind) for name, kind in _TYPES.items()
        }
        self._codes: dict[str, dict[str, int]] = {'robot': {}, 'map_id': {}, 'source': {}}
        self._slots = 0
        self._dead = 0

    def __len__(self) -> int:
        """Return how many slots there are, dead ones included."""
        return self._slots

    def add(self, memory: Memory) -> int:
        """Return the slot that the memory is put into."""
        slot = self._slots
        if slot == len(self._columns['live']):
            self._columns = {
                name: np.concatenate([column, np.zeros_like(column)])
                for name, column in self._columns.items()
            }
        self._slots += 1
        self.replace(slot, memory)
        return slot

    def replace(self, slot: int, memory: Memory) -> None:
        """Write a memory into a slot."""
        columns = self._columns
        position = memory.pose.position if memory.pose else (0.0, 0.0, 0.0)
        for name, value in zip('xyz', position, strict=True):
            columns[name][slot] = value
        columns['placed'][slot] = memory.pose is not None
        columns['live'][slot] = True
        columns['start_ns'][slot] = memory.start_ns
        columns['end_ns'][slot] = memory.end_ns
        for name, text in (('robot', memory.robot), ('map_id', memory.map_id), ('source', memory.source)):
            codes = self._codes[name]
            columns[name][slot] = codes.setdefault(text, len(codes))

    def remove(self, slot: int) -> None:
        """Leave a slot empty, for good."""
        self._columns['live'][slot] = False
        self._dead += 1

    def admitted(self, scope: Scope, placed_only: bool = False) -> Mask | None:
        """Return which slots a scope admits: shape (slots,); None: all of them.

        :param placed_only: only memories with a pose
        :raises InvalidRequest: the scope makes no sense
        """
        filters.expression(scope)  # checks it
        tests: list[Mask] = []
        if self._dead:
            tests.append(self._bool('live'))
        if scope.after_ns is not None:
            tests.append(self._int('end_ns') >= min(max(scope.after_ns, 0), MAX_NS))
        if scope.before_ns is not None:
            tests.append(self._int('start_ns') <= min(max(scope.before_ns, 0), MAX_NS))
        if placed_only or scope.near is not None:
            tests.append(self._bool('placed'))
        if scope.robots:
            codes = [self._codes['robot'].get(name, -1) for name in scope.robots]
            tests.append(np.isin(self._int('robot'), codes))
        for name, wanted in (('map_id', scope.map_id), ('source', scope.source)):
            if wanted is not None:
                tests.append(self._int(name) == self._codes[name].get(wanted, -1))
        if not tests:
            return None
        mask: Mask = np.logical_and.reduce(tests)
        if scope.near is not None and scope.radius_m is not None:
            there = np.flatnonzero(mask)
            mask[there] = self._distances(scope.near, there) <= scope.radius_m
        return mask

    def nearest_in_place(self, position: Point, mask: Mask | None, limit: int) -> Slots:
        """Return the slots nearest to a point and all that are as near as the last of them, unsorted."""
        there = np.arange(self._slots) if mask is None else np.flatnonzero(mask)
        return there[_smallest(self._distances(position, there), limit)]

    def nearest_in_time(self, time_ns: int, mask: Mask | None, limit: int) -> Slots:
        """Return the slots nearest to a time and all that are as near as the last of them, unsorted."""
        there = np.arange(self._slots) if mask is None else np.flatnonzero(mask)
        return there[_smallest(self._gaps(time_ns)[there], limit)]

    def newest(self, mask: Mask | None, limit: int) -> Slots:
        """Return the slots that ended last and all that ended with the last of them, unsorted."""
        there = np.arange(self._slots) if mask is None else np.flatnonzero(mask)
        return there[_smallest(MAX_NS - self._int('end_ns')[there], limit)]

    def span(self) -> tuple[int, int] | None:
        """Return the start of the earliest memory and the end of the latest; None without memories [ns]."""
        live = self._bool('live')
        if not live.any():
            return None
        return int(self._int('start_ns')[live].min()), int(self._int('end_ns')[live].max())

    def names(self, field: str) -> tuple[str, ...]:
        """Return the robots, map ids or sources that there are, sorted."""
        present = set(np.unique(self._int(field)[self._bool('live')]).tolist())
        return tuple(sorted(name for name, code in self._codes[field].items() if code in present))

    def placed(self) -> int:
        """Return how many memories have a pose."""
        return int(np.count_nonzero(self._bool('live') & self._bool('placed')))

    def _distances(self, point: Point, slots: Slots) -> NDArray[np.float64]:
        """Return how far slots are from a point [m]."""
        dx, dy, dz = (self._float(name)[slots] - value for name, value in zip('xyz', point, strict=True))
        found: NDArray[np.float64] = np.sqrt(dx * dx + dy * dy + dz * dz)
        return found

    def _gaps(self, time_ns: int) -> NDArray[np.int64]:
        """Return how far each slot's span is from a time, 0 inside it [ns]."""
        gaps: NDArray[np.int64] = np.maximum(
            np.maximum(self._int('start_ns') - time_ns, time_ns - self._int('end_ns')), 0
        )
        return gaps

    def _int(self, name: str) -> NDArray[np.int64]:
        return self._columns[name][: self._slots]  # type: ignore[return-value]

    def _float(self, name: str) -> NDArray[np.float64]:
        return self._columns[name][: self._slots]  # type: ignore[return-value]

    def _bool(self, name: str) -> Mask:
        return self._columns[name][: self._slots]  # type: ignore[return-value]


def in_place_order(memories: Sequence[Memory], position: Point, limit: int) -> list[Memory]:
    """Return the nearest placed memories, nearest first; then newest first, then by id."""
    placed = [(distance(m.pose.position, position), -m.end_ns, m.id, m) for m in memories if m.pose]
    return [memory for *_, memory in sorted(placed, key=lambda entry: entry[:3])[:limit]]


def in_time_order(memories: Sequence[Memory], time_ns: int, limit: int) -> list[Memory]:
    """Return the memories nearest to a time, nearest first; then by start, then by id."""
    return sorted(memories, key=lambda m: (abs(offset_ns(m, time_ns)), m.start_ns, m.id))[:limit]


def _smallest(values: NDArray[np.generic], limit: int) -> Slots:
    """Return the indices of the smallest values, all ties of the last one included."""
    if len(values) <= limit:
        return np.arange(len(values))
    last = np.partition(values, limit - 1)[limit - 1]
    # A hair more than the last: distances are compared again with the exact formula of the sort.
    if isinstance(last, np.floating):
        last = np.nextafter(last, np.inf, dtype=last.dtype) * (1 + 1e-12)
    return np.flatnonzero(values <= last)
