"""Time, place and names of memories as columns: filters and exact nearest neighbours in one pass.

A pass over the columns of 100,000 memories takes less than a millisecond, and nothing has to be rebalanced.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from remembr_ros.geometry import Point, distance
from remembr_ros.memory.model.outline import Outline, make_outline
from remembr_ros.memory.model.recall import MapArea, Scope, Survey, offset_ns
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import MAX_NS

Mask = NDArray[np.bool_]
Slots = NDArray[np.int64]

NAMES = ('robot', 'map_id', 'source')
_FIELDS = dict.fromkeys(('start_ns', 'end_ns', 'number'), '<i8') | dict.fromkeys('xyz', '<f8')
_FIELDS |= dict.fromkeys(NAMES, '<u8') | {'id': 'S64', 'paragraphs': '<u4', 'placed': '?', 'live': '?'}
"""Of a memory: what one filters by, names as hashes; its id, its number in the database, how many paragraphs
it has; not live: it was deleted."""


COLUMNS = ('names', *(f'of {name}' for name in _FIELDS))
"""What :meth:`Columns.dump` returns."""


class Columns:
    """The fields that one filters and sorts by; a memory's slot is its place in every column.

    :param saved: from :meth:`dump`; None: there are no memories yet
    """

    def __init__(self, saved: Mapping[str, NDArray[Any]] | None = None) -> None:
        found = saved or {f'of {name}': np.zeros(0, kind) for name, kind in _FIELDS.items()}
        self._columns = {name: found[f'of {name}'] for name in _FIELDS}
        self._slots = len(self._columns['id'])
        self._dead = 0
        known = json.loads(saved['names'].item()) if saved else dict.fromkeys(NAMES, ())
        self._of_hash = {name: {_hash(text): text for text in known[name]} for name in NAMES}

    def dump(self) -> dict[str, NDArray[Any]]:
        """Return all there is; memories that were deleted have no slots any more."""
        live = self.column('live')
        columns = {f'of {name}': self.column(name)[live] for name in _FIELDS}
        return {**columns, 'names': np.array(json.dumps({name: self.names(name) for name in NAMES}))}

    def __len__(self) -> int:
        """Return how many slots there are, dead ones included."""
        return self._slots

    def column(self, name: str) -> NDArray[Any]:
        """Return a field of all slots: shape (slots,)."""
        return self._columns[name][: self._slots]

    def live(self, mask: Mask | None = None) -> tuple[NDArray[np.int64], int]:
        """Return the numbers of memories, ascending, and how many paragraphs they have.

        :param mask: which slots; None: all
        """
        mask = self.column('live') if mask is None else mask
        return self.column('number')[mask], int(self.column('paragraphs')[mask].sum())

    def add(self, memory: Memory, number: int, paragraphs: int) -> int:
        """Return the slot that the memory is put into.

        :param number: in the database, larger than those before
        """
        slot = self._slots
        if slot == len(self._columns['id']):
            more = max(slot, 1024)
            self._columns = {
                name: np.concatenate([column, np.zeros(more, column.dtype)])
                for name, column in self._columns.items()
            }
        self._slots += 1
        for name, value in (('id', memory.id.encode()), ('number', number), ('paragraphs', paragraphs)):
            self._columns[name][slot] = value
        self.replace(slot, memory)
        return slot

    def slots_of(self, numbers: NDArray[np.int64]) -> Slots:
        """Return the slots of numbers in the database; -1: there is none."""
        known = self.column('number')
        at = np.minimum(np.searchsorted(known, numbers), max(len(known) - 1, 0))
        return np.where(known[at] == numbers, at, -1) if len(known) else np.full(len(numbers), -1)

    def replace(self, slot: int, memory: Memory) -> None:
        """Write a memory into a slot."""
        x, y, z = memory.pose.position if memory.pose else (0.0, 0.0, 0.0)
        values: dict[str, Any] = {
            'start_ns': memory.start_ns,
            'end_ns': memory.end_ns,
            'x': x,
            'y': y,
            'z': z,
        }
        values |= {'placed': memory.pose is not None, 'live': True}
        for name in NAMES:
            text = getattr(memory, name)
            values[name] = _hash(text)
            self._of_hash[name][values[name]] = text
        for name, value in values.items():
            self._columns[name][slot] = value

    def remove(self, slot: int) -> None:
        """Leave a slot empty, for good."""
        self._columns['live'][slot] = False
        self._dead += 1

    def admitted(self, scope: Scope, placed_only: bool = False) -> Mask | None:
        """Return which slots a scope admits: shape (slots,); None: all of them.

        :param placed_only: only memories with a pose
        :raises InvalidRequest: the scope makes no sense
        """
        scope.check()
        tests: list[Mask] = []
        if self._dead:
            tests.append(self.column('live'))
        if scope.after_ns is not None:
            tests.append(self.column('end_ns') >= min(max(scope.after_ns, 0), MAX_NS))
        if scope.before_ns is not None:
            tests.append(self.column('start_ns') <= min(max(scope.before_ns, 0), MAX_NS))
        if placed_only or scope.near is not None:
            tests.append(self.column('placed'))
        if scope.robots:
            hashes = [_hash(name) for name in scope.robots]
            tests.append(np.isin(self.column('robot'), np.array(hashes, np.uint64)))
        for name, wanted in (('map_id', scope.map_id), ('source', scope.source)):
            if wanted is not None:
                tests.append(self.column(name) == np.uint64(_hash(wanted)))
        for source in scope.without:
            tests.append(self.column('source') != np.uint64(_hash(source)))
        if not tests:
            return None
        mask: Mask = np.logical_and.reduce(tests)
        if scope.near is not None and scope.radius_m is not None:
            slots = np.flatnonzero(mask)
            mask[slots] = self._distances(scope.near, slots) <= scope.radius_m
        if scope.area is not None:
            slots = np.flatnonzero(mask)
            mask[slots] = scope.area.covers(np.stack([self.column(axis)[slots] for axis in 'xyz'], axis=1))
        return mask

    def nearest_in_place(self, position: Point, mask: Mask | None, limit: int) -> Slots:
        """Return the slots nearest to a point and all that are as near as the last of them, unsorted."""
        slots = np.arange(self._slots) if mask is None else np.flatnonzero(mask)
        return slots[_smallest(self._distances(position, slots), limit)]

    def nearest_in_time(self, time_ns: int, mask: Mask | None, limit: int) -> Slots:
        """Return the slots nearest to a time and all that are as near as the last of them, unsorted."""
        slots = np.arange(self._slots) if mask is None else np.flatnonzero(mask)
        before, after = self.column('start_ns') - time_ns, time_ns - self.column('end_ns')
        return slots[_smallest(np.maximum(np.maximum(before, after), 0)[slots], limit)]

    def newest(self, mask: Mask | None, limit: int) -> Slots:
        """Return the slots that ended last and all that ended with the last of them, unsorted."""
        slots = np.arange(self._slots) if mask is None else np.flatnonzero(mask)
        return slots[_smallest(MAX_NS - self.column('end_ns')[slots], limit)]

    def survey(self, mask: Mask | None) -> Survey:
        """Return what there is in the slots of a mask; see remembr_ros.memory.model.recall.survey_of."""
        slots = np.arange(self._slots) if mask is None else np.flatnonzero(mask)
        if not len(slots):
            return Survey(0)
        start, end = self.column('start_ns')[slots], self.column('end_ns')[slots]
        placed = slots[self.column('placed')[slots]]
        points = np.stack([self.column(axis)[placed] for axis in 'xyz'], axis=1)
        robots, maps = self.column('robot')[placed], self.column('map_id')[placed]
        # One robot's on one map lie together, in the order of time.
        order = np.lexsort((self.column('id')[placed], self.column('start_ns')[placed], maps, robots))
        same = (np.diff(robots[order]) == 0) & (np.diff(maps[order]) == 0)
        steps = np.linalg.norm(np.diff(points[order], axis=0), axis=1)
        areas = []
        for key in np.unique(maps).tolist():
            inside = points[maps == key]
            low, high = (tuple(map(float, edge)) for edge in (inside.min(axis=0), inside.max(axis=0)))
            areas.append(MapArea(self._of_hash['map_id'][key], low, high, len(inside)))  # type: ignore[arg-type]
        areas.sort(key=lambda area: (-area.memories, area.map_id))
        return Survey(len(slots), int(start.min()), int(end.max()), float(steps[same].sum()), tuple(areas))

    def outline(self) -> Outline:
        """Return where and when the memories are."""
        live = np.flatnonzero(self.column('live'))
        points = np.stack([self.column(axis)[live] for axis in 'xyz'], axis=1)
        points[~self.column('placed')[live]] = np.nan
        names = []
        for name in NAMES:
            hashes, index = np.unique(self.column(name)[live], return_inverse=True)
            names.append((index, [self._of_hash[name][key] for key in hashes.tolist()]))
        start, end = (self.column(name)[live] for name in ('start_ns', 'end_ns'))
        return make_outline(self.column('id')[live], start, end, points, names)

    def span(self) -> tuple[int, int] | None:
        """Return the start of the earliest memory and the end of the latest; None without memories [ns]."""
        live = self.column('live')
        if not live.any():
            return None
        return int(self.column('start_ns')[live].min()), int(self.column('end_ns')[live].max())

    def names(self, field: str) -> tuple[str, ...]:
        """Return the robots, map ids or sources that there are, sorted."""
        present = np.unique(self.column(field)[self.column('live')])
        return tuple(sorted(self._of_hash[field][key] for key in present.tolist()))

    def placed(self) -> int:
        """Return how many memories have a pose."""
        return int(np.count_nonzero(self.column('live') & self.column('placed')))

    def _distances(self, point: Point, slots: Slots) -> NDArray[np.float64]:
        """Return how far slots are from a point [m]."""
        dx, dy, dz = (self.column(name)[slots] - value for name, value in zip('xyz', point, strict=True))
        return np.sqrt(dx * dx + dy * dy + dz * dz)


@lru_cache(4096)
def _hash(name: str) -> int:
    """Return 64 bits that stand for a name."""
    return int.from_bytes(hashlib.blake2b(name.encode('utf-8', 'replace'), digest_size=8).digest(), 'little')


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
