"""Objects: things with an id, each kept as one memory of the source `object`, rewritten when it changes.

The memory's pose is the middle of the object's box, its sentence what it is and near what; what more is known
are its facts. All places in the facts are relative to the pose: when a map is moved, nothing but the pose is.
"""

import base64
import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from remembr_ros.geometry import Point, Pose
from remembr_ros.memory.matching.terms import everyday_names
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.model.record import OBJECT, Memory
from remembr_ros.timestamps import NS

_log = logging.getLogger(__name__)

SIGHTINGS = 16  # of an object that are kept, the first and the last among them
ALIASES = 500  # ids that are remembered, the latest ones
MOVES = 100  # that are remembered, the latest ones
STATES = 50  # that are remembered, the latest ones
MAX_NAMED = 200  # characters of what a person calls it, and of a state
INTERVALS = 100  # in which it was seen that are kept, the first one and the newest ones
TRANSIENT = frozenset((
    *('person', 'man', 'woman', 'child', 'cat', 'dog', 'bird', 'horse', 'sheep', 'cow', 'elephant', 'bear'),
    *('zebra', 'giraffe', 'bicycle', 'car', 'motorcycle', 'motorbike', 'bus', 'truck', 'train', 'boat'),
    *('airplane', 'aeroplane', 'robot'),
))  # fmt: skip
"""Classes of COCO and VOC that go where they want: that one is not where it was is no news."""
ONE_INTERVAL_NS = 60 * NS  # sightings that lie no further apart belong to one

Interval = tuple[int, int]
"""First and last stamp [ns]."""
Sighting = tuple[int, Point, Point]
"""Stamp [ns], where the object was then and where the camera was [m] in the map."""
Move = tuple[int, int, Point, Point]
"""When it was seen last where it was, and first where it is [ns]; from where to where [m] in the map."""

_Time = Annotated[int, Field(ge=0, lt=2**63)]
_Metres = Annotated[float, Field(ge=-1e9, le=1e9)]
_Place = tuple[_Metres, _Metres, _Metres]


class ObjectFacts(BaseModel):
    """What is known of an object beside its memory. Places are metres from its pose along the pose's axes.

    :param labels: what it was called, with the sum of the scores of each
    :param size: of its box
    :param std: of its place, one standard deviation [m]
    :param measured: by depth; False: it lies somewhere within sight, in the direction of its place
    :param observations: how often it was seen
    :param intervals: in which it was seen, first and last stamp [ns] of each, oldest first
    :param sightings: some of them, oldest first: stamp [ns], where it was, where the camera was
    :param colour: plain name; empty: it has none, or several
    :param appearance: unit vector to compare it by, little-endian 16-bit floats, base64; empty: not known
    :param aliases: ids of others that turned out to be this one
    :param looked: when its place was last in sight [ns]
    :param absences: in which its place was empty, first and last look [ns] at that, oldest first
    :param moves: when it was seen last where it was, and first where it came to [ns], and both places
    :param states: since when it was open, closed, in hand, normal, or other words [ns], and the id of the
        deed that left it so; oldest first
    :param named: what a person calls it; empty: nobody said
    :param taken: when a person said that it is not there any more [ns]; 0: nobody did
    :param deleted: when a person said that there is no such thing [ns]: it stays, lest it is found again
    :param apart: ids of others that a person told from it
    :param classes: what whoever detected it looks for, itself among them; empty: not known
    :param kept: until when all that was seen is stored, and until when this was seen [ns]: where no object
        has a first one that reaches this second one, a kill left out others; both 0: not known
    """

    model_config = ConfigDict(extra='ignore', allow_inf_nan=False, frozen=True)
    labels: dict[str, Annotated[float, Field(gt=0.0)]] = Field(min_length=1)
    size: _Place
    std: Annotated[float, Field(gt=0.0, le=1e6)]
    measured: bool = True
    observations: Annotated[int, Field(ge=1)]
    intervals: Annotated[tuple[tuple[_Time, _Time], ...], Field(min_length=1)]
    sightings: tuple[tuple[_Time, _Place, _Place], ...] = ()
    colour: str = ''
    appearance: str = ''
    aliases: tuple[str, ...] = ()
    looked: _Time = 0
    absences: tuple[tuple[_Time, _Time], ...] = ()
    moves: tuple[tuple[_Time, _Time, _Place, _Place], ...] = ()
    states: tuple[tuple[_Time, Annotated[str, Field(max_length=MAX_NAMED)], str], ...] = ()
    named: Annotated[str, Field(max_length=MAX_NAMED)] = ''
    taken: _Time = 0
    deleted: _Time = 0
    apart: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    kept: tuple[_Time, _Time] = (0, 0)


@dataclass(frozen=True, slots=True)
class KnownObject:
    """One thing: its memory, and the facts of that.

    :ivar memory: its id stays the same, also when the thing moves; start and end are when it was seen first
        and last
    """

    memory: Memory
    facts: ObjectFacts

    @property
    def id(self) -> str:
        return self.memory.id

    @property
    def name(self) -> str:
        """What a person calls it, else the detector."""
        return self.facts.named or self.recognised_as

    @property
    def recognised_as(self) -> str:
        """What the detector called it most surely and most often, as people write it."""
        return everyday_names(best_label(self.facts.labels))[0]

    @property
    def position(self) -> Point:
        """Middle of its box [m] in the map."""
        return self._pose.position

    @property
    def size(self) -> Point:
        """Of its box [m], along the axes of the map."""
        x, y, z = self.facts.size
        cosine, sine = abs(math.cos(self._pose.yaw)), abs(math.sin(self._pose.yaw))
        return (cosine * x + sine * y, sine * x + cosine * y, z)

    @property
    def sightings(self) -> tuple[Sighting, ...]:
        """Some of them, oldest first."""
        return tuple((ns, self._in_map(at), self._in_map(eye)) for ns, at, eye in self.facts.sightings)

    @property
    def moves(self) -> tuple[Move, ...]:
        """How it was found elsewhere than before, oldest first."""
        return tuple((left, came, self._in_map(a), self._in_map(b)) for left, came, a, b in self.facts.moves)

    @property
    def missing_ns(self) -> int | None:
        """When its place was found empty, after it was seen last; None: it was not."""
        since = [first for first, last in self.facts.absences[-1:] if last > self.facts.intervals[-1][1]]
        return since[0] if since else None

    @property
    def state(self) -> tuple[str, int]:
        """How what was done to it left it, and since when [ns]; empty and 0: unknown."""
        since_ns, state, _ = self.facts.states[-1] if self.facts.states else (0, '', '')
        return state, since_ns

    def seen_within(self, after_ns: int | None, before_ns: int | None) -> list[Interval]:
        """Return the intervals in which it was seen that reach into a window, open where None."""
        return [
            (start, end)
            for start, end in self.facts.intervals
            if (after_ns is None or end >= after_ns) and (before_ns is None or start <= before_ns)
        ]

    @property
    def presence(self) -> Literal['present', 'missing', 'seen']:
        """Whether it is there, as far as anybody knows; 'seen' of what is not expected to stay."""
        if self.name in TRANSIENT:
            return 'seen'
        return 'present' if self.missing_ns is None else 'missing'

    def _in_map(self, place: Point) -> Point:
        return self._pose.in_map(place)

    def relative(self, place: Point) -> Point:
        """Return a place [m] in the map from its pose, along the pose's axes."""
        return self._pose.relative(place)

    def placed_at(self, place: Point) -> 'KnownObject':
        """Return it at another place [m] in the map, with all that is told of other places where it was."""
        dx, dy, dz = self.relative(place)

        def off(at: Point) -> Point:
            return (at[0] - dx, at[1] - dy, at[2] - dz)

        sightings = tuple((ns, off(at), off(eye)) for ns, at, eye in self.facts.sightings)
        moves = tuple((left, came, off(a), off(b)) for left, came, a, b in self.facts.moves)
        facts = self.facts.model_copy(update={'sightings': sightings, 'moves': moves})
        pose = replace(self._pose, x=place[0], y=place[1], z=place[2])
        return KnownObject(replace(self.memory, pose=pose, facts=facts.model_dump(mode='json')), facts)

    @property
    def appearance(self) -> NDArray[np.float32] | None:
        """Unit vector to compare it by; None: not known."""
        data = base64.b64decode(self.facts.appearance)
        return np.frombuffer(data, '<f2').astype(np.float32) if data else None

    @property
    def _pose(self) -> Pose:
        return self.memory.pose or Pose(0.0, 0.0)


def known_objects(memories: Iterable[Memory], *, deleted: bool = False) -> list[KnownObject]:
    """Return the objects among memories, seen last first, without those that turned out to be another one.

    One whose facts are damaged is left out, and logged.

    :param deleted: those, too, of which a person said that there is no such thing
    """
    found = []
    for memory in memories:
        if memory.source != OBJECT or memory.pose is None:
            continue
        try:
            facts = ObjectFacts.model_validate(dict(memory.facts))
            if not np.isfinite(np.frombuffer(base64.b64decode(facts.appearance, validate=True), '<f2')).all():
                raise ValueError('its appearance is not finite')
        except (ValidationError, ValueError) as error:
            _log.warning('memory %s has facts of no object: %s', memory.id, str(error).split('\n')[0])
            continue
        found.append(KnownObject(memory, facts))
    # A kill between the two writes of a merger leaves both.
    merged = {alias for known in found for alias in known.facts.aliases}
    listed = [thing for thing in found if thing.id not in merged and (deleted or not thing.facts.deleted)]
    return sorted(listed, key=lambda thing: (-thing.memory.end_ns, thing.id))


def seen_in(memory: Memory, scope: Scope) -> list[Memory]:
    """Return an object once for each time within a scope's in which it was seen, with that for its own.

    Nobody may have seen it for days between its first and its last sighting. Other memories stay as they are.
    """
    known = known_objects([memory])
    if not known:
        return [memory]
    times = known[0].seen_within(scope.after_ns, scope.before_ns)
    return [replace(memory, start_ns=start_ns, end_ns=end_ns) for start_ns, end_ns in times]


def best_label(scores: Mapping[str, float]) -> str:
    """Return the label with the best score, of equal ones the first of the alphabet."""
    return min(scores, key=lambda label: (-scores[label], label))


def interval_added(intervals: Sequence[Interval], stamp_ns: int) -> tuple[Interval, ...]:
    """Return the intervals with one more sighting; of too many the first one and the newest."""
    if intervals and 0 <= stamp_ns - intervals[-1][1] <= ONE_INTERVAL_NS:
        return (*intervals[:-1], (intervals[-1][0], stamp_ns))
    return fewer(joined((*intervals, (stamp_ns, stamp_ns)), ONE_INTERVAL_NS))


def fewer(intervals: tuple[Interval, ...]) -> tuple[Interval, ...]:
    """Return as many intervals as are kept, in their order: the first one and the newest."""
    return intervals if len(intervals) <= INTERVALS else (intervals[0], *intervals[1 - INTERVALS :])


def joined(intervals: Iterable[Interval], gap_ns: int = 0) -> tuple[Interval, ...]:
    """Return intervals in their order, those that lie no further apart than this as one."""
    found: list[Interval] = []
    for start, end in sorted(intervals):
        if found and start - found[-1][1] <= gap_ns:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return tuple(found)


def thinned(sightings: Iterable[Sighting]) -> tuple[Sighting, ...]:
    """Return at most SIGHTINGS of them, by time: the first, the last, and those that lie furthest apart."""
    kept = sorted(sightings)
    while len(kept) > SIGHTINGS:
        gaps = [kept[i + 1][0] - kept[i - 1][0] for i in range(1, len(kept) - 1)]
        del kept[1 + gaps.index(min(gaps))]
    return tuple(kept)
