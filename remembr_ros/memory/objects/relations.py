"""What objects lie on, in, under and next to, and when: from their boxes, as far as these are known."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Point, distance
from remembr_ros.memory.objects.known import TRANSIENT, KnownObject
from remembr_ros.memory.objects.wording import spelled

RelationName = Literal['on', 'in', 'under', 'next to']
RELATION_NAMES: tuple[RelationName, ...] = get_args(RelationName)

TOLERANCE_M, SIGMAS = 0.03, 2.0  # by which boxes may miss each other, and standard deviations of both places
BELOW_M = 1.0  # what is further below a thing is not under it
NEXT_M, LEVEL_M = 0.5, 0.15  # between the boxes of what is next to each other, and between what they stand on
SEAT = 0.3  # of its height, from where on one sits on a thing with a back
_SEATS = frozenset(('armchair', 'bed', 'bench', 'chair', 'couch', 'sofa'))
_TABLES = frozenset(('desk', 'stool', 'table'))
_SHELVES = frozenset(('bookcase', 'bookshelf', 'rack', 'shelf', 'shelves', 'tray'))
"""What is within their boxes is on them, under them, or on one of their boards."""
_NAMES: tuple[tuple[RelationName, ...], ...] = ((), ('on',), ('in',), ('under',), ('next to',), ('on', 'in'))
_ON, _IN, _UNDER, _NEXT, _ON_BOARD = range(1, 6)

_Numbers = NDArray[np.float64]


def relation_named(name: str) -> RelationName:
    """Return the relation of a name.

    :raises InvalidRequest: there is none
    """
    for known in RELATION_NAMES:
        if name == known:
            return known
    raise InvalidRequest(f'{name!r} is no relation; there are {", ".join(RELATION_NAMES)}')


@dataclass(frozen=True, slots=True)
class ObjectRelation:
    """How an object lies to another one, and from when to when that is known to have held.

    :param name: as it is said
    :param other: its id
    :param since_ns: when both were there first, as far as that was seen
    :param until_ns: when the first of them was seen there last; None: both are still there
    """

    name: RelationName
    other: str
    other_name: str
    since_ns: int
    until_ns: int | None

    def held(self, after_ns: int | None, before_ns: int | None) -> bool:
        """Tell whether it held at some time of a window; without a window, whether it holds."""
        if after_ns is None and before_ns is None:
            return self.until_ns is None
        ended = self.until_ns is not None and after_ns is not None and self.until_ns < after_ns
        return not ended and (before_ns is None or self.since_ns <= before_ns)


@dataclass(frozen=True, slots=True)
class Stay:
    """For how long an object was at one place.

    :param since_ns: when it was seen there first
    :param until_ns: when it was seen there last; None: it is still there
    :param at: the middle of its box [m] in the map
    :param came: it had been elsewhere before; else it may have been there before it was seen first
    """

    of: KnownObject
    since_ns: int
    until_ns: int | None
    at: Point
    came: bool = False


def stays_of(known: KnownObject) -> tuple[Stay, ...]:
    """Return where an object was and is, oldest first: it moves, and it is taken away and put back."""
    seen, since_ns, found = known.facts.intervals, known.facts.intervals[0][0], list[Stay]()
    for left_ns, came_ns, at, _ in known.moves:
        found.append(Stay(known, since_ns, max(left_ns, since_ns), at, bool(found)))
        since_ns = came_ns
    last_ns = seen[-1][1] if known.missing_ns is not None else None
    found.append(Stay(known, since_ns, last_ns, known.position, bool(found)))
    for gone_ns, empty_ns in known.facts.absences:
        for i, stay in enumerate(found):
            if stay.since_ns < gone_ns and (stay.until_ns is None or empty_ns < stay.until_ns):
                left_ns = max((min(end, gone_ns) for start, end in seen if start <= gone_ns), default=gone_ns)
                back_ns = min(
                    (max(start, empty_ns) for start, end in seen if end >= empty_ns), default=empty_ns
                )
                before, after = replace(stay, until_ns=left_ns), replace(stay, since_ns=back_ns, came=True)
                found[i : i + 1] = before, after
                break
    return tuple(found)


class Relations:
    """The relations of objects to each other. People, animals and what has no measured place have none.

    :param known: all of one map
    """

    def __init__(self, known: Iterable[KnownObject]) -> None:
        still = [one for one in known if one.facts.measured and one.name not in TRANSIENT]
        self._stays = [stay for one in still for stay in stays_of(one)]
        self._rows: dict[str, list[int]] = {}
        for row, stay in enumerate(self._stays):
            self._rows.setdefault(stay.of.id, []).append(row)
        self._at = np.array([stay.at for stay in self._stays], np.float64).reshape(-1, 3)
        half = np.array([stay.of.size for stay in self._stays], np.float64).reshape(-1, 3) / 2.0
        self._low, self._high = self._at - half, self._at + half
        self._std = np.array([stay.of.facts.std for stay in self._stays], np.float64)
        heads = [spelled(stay.of.name).split()[-1:] for stay in self._stays]
        self._seat, self._table, self._shelf = (
            np.array([bool(names.intersection(head)) for head in heads], np.bool_)
            for names in (_SEATS, _TABLES, _SHELVES)
        )

    def of(self, known: KnownObject) -> list[ObjectRelation]:
        """Return how an object lies to others: what it is on or in first, of each the nearest first."""
        rows = self._rows.get(known.id, [])
        return [
            ObjectRelation(name, self._stays[j].of.id, self._stays[j].of.name, *span)
            for i, j, names, span in self._related(rows, range(len(self._stays)))
            for name in names[:1]
        ]

    def to(self, anchor: KnownObject, name: str) -> list[tuple[KnownObject, ObjectRelation]]:
        """Return what lies so to an object, the nearest first.

        :param name: one of RELATION_NAMES; what is on the boards of a shelf is in it, too
        """
        return [
            (self._stays[i].of, ObjectRelation(as_said, anchor.id, anchor.name, *span))
            for i, _, names, span in self._related(range(len(self._stays)), self._rows.get(anchor.id, []))
            for as_said in names
            if as_said == name
        ]

    def _related(
        self, rows: Sequence[int], others: Sequence[int]
    ) -> Iterator[tuple[int, int, tuple[RelationName, ...], tuple[int, int | None]]]:
        """Yield the pairs of stays in relation: what it is called, and from when to when it held."""
        kinds, gaps = self._kinds(np.array(rows, np.intp), np.array(others, np.intp))
        found = np.argwhere(kinds)
        for i, j in sorted(found.tolist(), key=lambda at: (kinds[tuple(at)] == _NEXT, gaps[tuple(at)])):
            row, other = rows[i], others[j]
            span = self._span(row, other)
            if span and (kinds[i, j] != _NEXT or self._in_one_room(row, other)):
                yield row, other, _NAMES[kinds[i, j]], span

    def _kinds(self, rows: NDArray[np.intp], others: NDArray[np.intp]) -> tuple[NDArray[np.int8], _Numbers]:
        """Return how stays lie to others, and how far apart they are [m], both of shape (rows, others)."""
        low, high = self._low[rows][:, None], self._high[rows][:, None]
        low_2, high_2 = self._low[others], self._high[others]
        apart = np.maximum(np.maximum(low_2 - high, low - high_2), 0.0)[..., :2]
        far = np.hypot(apart[..., 0], apart[..., 1])
        shared = np.minimum(high, high_2)[..., 2] - np.maximum(low, low_2)[..., 2]
        level = np.abs(low - low_2)[..., 2] <= LEVEL_M
        level |= shared >= np.minimum(high - low, high_2 - low_2)[..., 2] / 2.0
        carried = self._carried(rows, others)
        beside = (far <= NEXT_M) & level & (self._carried(others, rows).T == 0)
        return np.where((carried == 0) & beside, _NEXT, carried).astype(np.int8), far

    def _carried(self, rows: NDArray[np.intp], others: NDArray[np.intp]) -> NDArray[np.int8]:
        """Return which stays are on, in or under which other ones, shape (rows, others); 0: they are not."""
        low, high = self._low[rows][:, None], self._high[rows][:, None]
        low_2, high_2 = self._low[others], self._high[others]
        off = TOLERANCE_M + SIGMAS * np.hypot(self._std[rows][:, None], self._std[others])
        aside = np.abs(self._at[rows][:, None] - self._at[others])[..., :2]
        over = (aside <= (high_2 - low_2)[..., :2] / 2.0 + off[..., None]).all(axis=-1)
        over &= np.prod(high_2 - low_2, axis=-1) > np.prod(high - low, axis=-1)
        bottom, top, bottom_2, top_2 = (edge[..., 2] for edge in (low, high, low_2, high_2))
        seat, table, shelf = self._seat[others], self._table[others], self._shelf[others]
        seated = seat & (bottom - bottom_2 >= SEAT * (top_2 - bottom_2))
        within = np.select([seated, seat | table, shelf], [_ON, _UNDER, _ON_BOARD], _IN)
        on = over & (np.abs(bottom - top_2) <= off) & (top > top_2)
        inside = over & (bottom >= bottom_2 - off) & (bottom + top <= 2.0 * top_2)
        below = over & (top <= bottom_2 + off) & (top >= bottom_2 - BELOW_M)
        kinds = np.select(
            [on, inside, below], [np.full_like(within, _ON), within, np.full_like(within, _UNDER)], 0
        )
        return np.asarray(kinds, np.int8)

    def _span(self, row: int, other: int) -> tuple[int, int | None] | None:
        """Return from when to when two stays held at once; None: they did not.

        What was there when it was seen first may have been there before.
        """
        stays = self._stays[row], self._stays[other]
        if stays[0].of is stays[1].of:
            return None
        ends = [stay.until_ns for stay in stays if stay.until_ns is not None]
        until_ns = min(ends, default=None)
        came_ns = max((stay.since_ns for stay in stays if stay.came), default=None)
        if came_ns is not None and until_ns is not None and came_ns > until_ns:
            return None
        since_ns = max(stay.since_ns for stay in stays) if came_ns is None else came_ns
        return since_ns if until_ns is None else min(since_ns, until_ns), until_ns

    def _in_one_room(self, row: int, other: int) -> bool:
        """Tell whether one of two stays was seen from nearer to the other one: there is no wall between."""
        for stay, its in ((self._stays[row], self._stays[other]), (self._stays[other], self._stays[row])):
            eyes = [eye for _, at, eye in stay.of.sightings if distance(at, stay.at) <= NEXT_M]
            if not eyes or any(distance(eye, its.at) <= distance(eye, stay.at) for eye in eyes):
                return True
        return False
