"""What objects lie on, in, under and next to, and when: from their boxes, as far as these are known."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Point, distance
from remembr_ros.memory.objects.known import TRANSIENT, KnownObject

RelationName = Literal['on', 'in', 'under', 'next to']
RELATION_NAMES: tuple[RelationName, ...] = get_args(RelationName)

TOLERANCE_M, SIGMAS = 0.03, 2.0  # by which boxes may miss each other, and standard deviations of both places
BELOW_M = 1.0  # what is further below a thing is not under it
NEXT_M, LEVEL_M = 0.5, 0.15  # between the boxes of what is next to each other, and between what they stand on
SEAT, TOP = 0.3, 0.6  # of its height, from where on one sits on a thing with a back, and is on a table
DEEP_M = 0.1  # a thing that others are in is as deep as this
_SEATS = frozenset(('armchair', 'bed', 'bench', 'chair', 'couch', 'sofa'))
_TABLES = frozenset(('desk', 'stool', 'table'))
_SHELVES = frozenset(('bookcase', 'bookshelf', 'rack', 'shelf', 'shelves', 'tray'))
"""What is within their boxes is on or under them, or on a board. A table's goes as high as things on it."""
_NAMES: tuple[tuple[RelationName, ...], ...] = ((), ('on',), ('in',), ('under',), ('next to',), ('on', 'in'))
_ON, _IN, _UNDER, _NEXT, _ON_BOARD = range(1, 6)

_Numbers = NDArray[np.float64]
_Related = tuple[tuple[bool, float, float], int, tuple[RelationName, ...], tuple[int, int | None]]


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

    @property
    def words(self) -> str:
        """Such as 'on the dining table'."""
        return f'{self.name} the {self.other_name}'

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
        still = [thing for thing in known if thing.facts.measured and thing.name not in TRANSIENT]
        self._stays = [stay for thing in still for stay in stays_of(thing)]
        self._rows: dict[str, list[int]] = {}
        for row, stay in enumerate(self._stays):
            self._rows.setdefault(stay.of.id, []).append(row)
        self._at = np.array([stay.at for stay in self._stays], np.float64).reshape(-1, 3)
        half = np.array([stay.of.size for stay in self._stays], np.float64).reshape(-1, 3) / 2.0
        self._low, self._high = self._at - half, self._at + half
        self._volume = np.prod(self._high - self._low, axis=1)
        self._std = np.array([stay.of.facts.std for stay in self._stays], np.float64)
        heads = [stay.of.name.split()[-1:] for stay in self._stays]
        self._seat, self._table, self._shelf = (
            np.array([bool(names.intersection(head)) for head in heads], np.bool_)
            for names in (_SEATS, _TABLES, _SHELVES)
        )

    def of(self, known: KnownObject) -> list[ObjectRelation]:
        """Return how an object lies to others: what it is on or in first, else the nearest."""
        found = [pair for row in self._rows.get(known.id, []) for pair in self._related(row)]
        return [
            ObjectRelation(names[0], self._stays[other].of.id, self._stays[other].of.name, *span)
            for _, other, names, span in sorted(found, key=lambda pair: pair[0])
        ]

    def to(self, anchor: KnownObject, name: str) -> list[tuple[KnownObject, ObjectRelation]]:
        """Return what lies so to an object, the nearest first.

        :param name: one of RELATION_NAMES; what is on the boards of a shelf is in it, too
        """
        anchors = self._rows.get(anchor.id, [])
        near = np.zeros(len(self._stays), np.bool_)
        for row in anchors:
            near |= self._far(row) <= NEXT_M
        found = [
            (order, self._stays[row].of, ObjectRelation(as_said, anchor.id, anchor.name, *span))
            for row in np.flatnonzero(near).tolist()
            for order, _, names, span in self._related(row, anchors)
            for as_said in names
            if as_said == name
        ]
        return [(other, relation) for _, other, relation in sorted(found, key=lambda at: at[0])]

    def _related(self, row: int, others: Sequence[int] | None = None) -> Iterator[_Related]:
        """Yield the stays that one lies to: their order, which, how that is called, and when it held."""
        kinds, far = self._kinds(row), self._far(row)
        for other in np.flatnonzero(kinds).tolist() if others is None else others:
            span, kind = self._span(row, other), int(kinds[other])
            if kind and span and (kind != _NEXT or self._in_one_room(row, other)):
                yield (
                    (kind == _NEXT, float(far[other]), -float(self._volume[other])),
                    other,
                    _NAMES[kind],
                    span,
                )

    def _far(self, row: int) -> _Numbers:
        """Return how far the box of each stay is from that of one, in the plane [m]."""
        gaps = np.maximum(np.maximum(self._low - self._high[row], self._low[row] - self._high), 0.0)
        return np.asarray(np.hypot(gaps[:, 0], gaps[:, 1]))

    def _kinds(self, row: int) -> NDArray[np.int8]:
        """Return how a stay lies to each other one; 0: in no relation."""
        every, this = np.arange(len(self._stays)), np.full(len(self._stays), row)
        kinds = self._carried(this, every)
        if np.any((kinds == _ON) & self._table):  # a chair at the table has its back there, too
            kinds[(kinds == _ON) & self._seat] = 0
        low, high, high_2, low_2 = self._low[row, 2], self._high[row, 2], self._high[:, 2], self._low[:, 2]
        shared = np.minimum(high, high_2) - np.maximum(low, low_2)
        level = (np.abs(low - low_2) <= LEVEL_M) | (shared >= np.minimum(high - low, high_2 - low_2) / 2.0)
        beside = (self._far(row) <= NEXT_M) & level & (kinds == 0) & (self._carried(every, this) == 0)
        return np.where(beside, _NEXT, kinds).astype(np.int8)

    def _carried(self, rows: NDArray[np.intp], others: NDArray[np.intp]) -> NDArray[np.int8]:
        """Return whether each of these stays is on, in or under the other one of its pair; 0: it is not."""
        (low, high), (low_2, high_2) = ((self._low[at], self._high[at]) for at in (rows, others))
        off = TOLERANCE_M + SIGMAS * np.hypot(self._std[rows], self._std[others])
        aside = np.abs(self._at[rows] - self._at[others])[:, :2]
        over = (aside <= (high_2 - low_2)[:, :2] / 2.0 + off[:, None]).all(axis=1)
        over &= self._volume[others] > self._volume[rows]
        bottom, top, bottom_2, top_2 = low[:, 2], high[:, 2], low_2[:, 2], high_2[:, 2]
        seat, table, shelf = self._seat[others], self._table[others], self._shelf[others]
        up = bottom - bottom_2 >= np.where(seat, SEAT, TOP) * (top_2 - bottom_2)
        held = top_2 - bottom_2 >= DEEP_M  # nothing is in a flat thing
        within = np.select([seat | table, shelf, held], [np.where(up, _ON, _UNDER), _ON_BOARD, _IN], 0)
        furniture = self._seat[rows] | self._table[rows] | self._shelf[rows]
        on = over & (np.abs(bottom - top_2) <= off) & (top > top_2)
        inside = over & (bottom >= bottom_2 - off) & (bottom + top <= 2.0 * top_2) & ~furniture
        below = over & (top <= bottom_2 + off) & (top >= bottom_2 - BELOW_M)
        return np.where(on, _ON, np.where(inside, within, np.where(below, _UNDER, 0))).astype(np.int8)

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
        """Tell whether no wall is between two stays: one was seen from nearer to the other one, or
        one thing carries both."""
        for stay, its in ((self._stays[row], self._stays[other]), (self._stays[other], self._stays[row])):
            eyes = [eye for _, at, eye in stay.of.sightings if distance(at, stay.at) <= NEXT_M]
            if not eyes or any(distance(eye, its.at) <= distance(eye, stay.at) for eye in eyes):
                return True
        every = np.arange(len(self._stays))
        kinds = [self._carried(np.full(len(every), number), every) for number in (row, other)]
        carry = [np.isin(kind, (_ON, _IN, _ON_BOARD)) for kind in kinds]
        return bool((carry[0] & carry[1]).any())
