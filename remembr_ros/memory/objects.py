"""Objects: things with an id, each kept as one memory of the source `object`, rewritten when it changes.

The memory's pose is where the object is, its sentence what it is and near what; the rest are its facts. All
places in the facts are relative to the pose: when a map is moved, nothing but the pose has to be.
"""

import base64
import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from typing_extensions import TypedDict

from remembr_ros.geometry import Point, Pose, quaternion_from_yaw, rotate
from remembr_ros.memory.matching.terms import content_stems
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import NS, format_iso

_log = logging.getLogger(__name__)

SOURCE = 'object'
SIGHTINGS = 16  # of an object that are kept, the first and the last among them
INTERVALS = 100  # in which it was seen, the newest ones
ONE_INTERVAL_NS = 60 * NS  # sightings that lie no further apart belong to one
LABELS = 8  # that it was called, the most frequent ones

Interval = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Sighting:
    """Once that an object was seen.

    :param position: where it was then [m] in the map
    :param seen_from: where the camera was [m] in the map
    """

    stamp_ns: int
    position: Point
    seen_from: Point


@dataclass(frozen=True, slots=True)
class KnownObject:
    """What is known of one thing.

    :param id: that of its memory; stays the same, also when it moves
    :param labels: what it was called, with the sum of the scores of each
    :param position: middle of its box [m] in the map
    :param size: of its box [m], along the axes of the map
    :param std_m: of the position, one standard deviation [m]
    :param measured: by depth; False: it lies somewhere within sight, in the direction of its position
    :param intervals: in which it was seen, first and last stamp [ns] of each, oldest first
    :param sightings: some of them, oldest first
    :param observations: how often it was seen
    :param colour: plain name; empty: it has none, or several
    :param near: what the nearest larger object is called; empty: there is none near
    :param appearance: unit vector to compare it by; empty: not known
    :param aliases: ids of others that turned out to be this one
    :param keyframes: names of its pictures
    """

    id: str
    robot: str
    labels: Mapping[str, float]
    position: Point
    size: Point
    std_m: float
    intervals: tuple[Interval, ...]
    sightings: tuple[Sighting, ...]
    observations: int
    map_id: str = ''
    frame_id: str = 'map'
    camera: str = ''
    measured: bool = True
    colour: str = ''
    near: str = ''
    appearance: tuple[float, ...] = ()
    aliases: tuple[str, ...] = ()
    keyframes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What it was called most surely and most often."""
        return min(self.labels, key=lambda label: (-self.labels[label], label))

    @property
    def sentence(self) -> str:
        """What it is, and near what, without numbers: it changes seldom, and so do its vectors."""
        what = f'{self.colour} {self.name}'.strip()
        near = f' near the {self.near}' if self.near else ''
        return f'{"An" if what[0].lower() in "aeiou" else "A"} {what}{near}.'


_Time = Annotated[int, Field(ge=0, lt=2**63)]
_Metres = Annotated[float, Field(ge=-1e9, le=1e9)]
_Place = tuple[_Metres, _Metres, _Metres]


class ObjectFacts(BaseModel):
    """The facts of an object's memory. Places are relative to its pose, in metres along the pose's axes.

    :param sightings: stamp [ns], where it was, where the camera was
    :param appearance: little-endian 16-bit floats, base64
    """

    model_config = ConfigDict(extra='ignore', allow_inf_nan=False)
    labels: dict[str, float] = Field(min_length=1)
    size: _Place
    std: Annotated[float, Field(ge=0.0)]
    measured: bool
    observations: Annotated[int, Field(ge=1)]
    intervals: list[tuple[_Time, _Time]] = Field(min_length=1)
    sightings: list[tuple[_Time, _Place, _Place]]
    colour: str = ''
    near: str = ''
    appearance: str = ''
    aliases: list[str] = []


def to_memory(known: KnownObject) -> Memory:
    """Return the memory that an object is kept as."""
    facts = ObjectFacts(
        labels={k: round(v, 3) for k, v in sorted(known.labels.items(), key=lambda kv: -kv[1])[:LABELS]},
        size=_rounded(known.size),
        std=round(known.std_m, 4),
        measured=known.measured,
        observations=known.observations,
        intervals=list(known.intervals[-INTERVALS:]),
        sightings=[
            (s.stamp_ns, _offset(s.position, known.position), _offset(s.seen_from, known.position))
            for s in known.sightings
        ],
        colour=known.colour,
        near=known.near,
        appearance=base64.b64encode(np.asarray(known.appearance, '<f2').tobytes()).decode(),
        aliases=list(known.aliases),
    )
    return Memory(
        id=known.id,
        robot=known.robot,
        start_ns=known.intervals[0][0],
        end_ns=known.intervals[-1][1],
        caption=known.sentence,
        pose=Pose(*_rounded(known.position)),
        frame_id=known.frame_id,
        map_id=known.map_id,
        camera=known.camera,
        source=SOURCE,
        keyframes=known.keyframes,
        facts=facts.model_dump(mode='json'),
    )


def from_memory(memory: Memory) -> KnownObject | None:
    """Return the object that a memory is of; None: of none, or its facts are damaged, which is logged."""
    if memory.source != SOURCE or memory.pose is None:
        return None
    try:
        facts = ObjectFacts.model_validate(dict(memory.facts))
        appearance = np.frombuffer(base64.b64decode(facts.appearance), '<f2').astype(float)
    except (ValidationError, ValueError) as error:
        _log.warning('memory %s has facts that are of no object: %s', memory.id, str(error).split('\n')[0])
        return None
    pose = memory.pose
    turn = quaternion_from_yaw(pose.yaw)

    def in_map(place: Point) -> Point:
        x, y, z = rotate(turn, place)
        return (x + pose.x, y + pose.y, z + pose.z)

    x, y, z = facts.size
    cosine, sine = abs(math.cos(pose.yaw)), abs(math.sin(pose.yaw))
    return KnownObject(
        id=memory.id,
        robot=memory.robot,
        labels=facts.labels,
        position=pose.position,
        size=(cosine * x + sine * y, sine * x + cosine * y, z),
        std_m=facts.std,
        intervals=tuple(facts.intervals),
        sightings=tuple(Sighting(ns, in_map(at), in_map(eye)) for ns, at, eye in facts.sightings),
        observations=facts.observations,
        map_id=memory.map_id,
        frame_id=memory.frame_id,
        camera=memory.camera,
        measured=facts.measured,
        colour=facts.colour,
        near=facts.near,
        appearance=tuple(appearance.tolist()),
        aliases=tuple(facts.aliases),
        keyframes=memory.keyframes,
    )


def known_objects(memories: Iterable[Memory]) -> list[KnownObject]:
    """Return the objects among memories, seen last first, without those that turned out to be another one."""
    found = [known for memory in memories if (known := from_memory(memory))]
    # A kill between the two writes of a merger leaves both.
    merged = {alias for known in found for alias in known.aliases}
    return sorted(
        (known for known in found if known.id not in merged), key=lambda k: (-k.intervals[-1][1], k.id)
    )


def is_called(known: KnownObject, text: str) -> bool:
    """Tell whether a text, such as 'red cups', names an object by its label, and its colour if it has one."""
    asked = content_stems(text)
    label = content_stems(known.name)
    # Detectors write some names without the space: a 'table' is meant by 'diningtable'.
    named = {word for word in asked if any(part == word or part.endswith(word) for part in label if word)}
    return bool(named) and asked - named <= label | content_stems(known.colour)


def interval_added(intervals: Sequence[Interval], stamp_ns: int) -> tuple[Interval, ...]:
    """Return the intervals with one more sighting."""
    return joined((*intervals, (stamp_ns, stamp_ns)), ONE_INTERVAL_NS)


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
    kept = sorted(sightings, key=lambda sighting: sighting.stamp_ns)
    while len(kept) > SIGHTINGS:
        gaps = [kept[i + 1].stamp_ns - kept[i - 1].stamp_ns for i in range(1, len(kept) - 1)]
        del kept[1 + gaps.index(min(gaps))]
    return tuple(kept)


class ObjectJson(TypedDict):
    """An object. Times are ISO 8601 in UTC, position, size and uncertainty metres in the map; uncertainty is
    one standard deviation. presence is 'seen', state 'unknown'."""

    id: str
    robot: str
    map_id: str
    name: str
    colour: str
    position: list[float]
    size: list[float]
    uncertainty: float
    measured: bool
    first_seen: str
    last_seen: str
    presence: str
    state: str
    relations: list[str]
    observations: int
    keyframes: list[str]
    aliases: list[str]


def object_json(known: KnownObject) -> ObjectJson:
    """Return an object as `remembr objects --json` prints it."""
    return {
        'id': known.id,
        'robot': known.robot,
        'map_id': known.map_id,
        'name': known.name,
        'colour': known.colour,
        'position': list(known.position),
        'size': list(known.size),
        'uncertainty': known.std_m,
        'measured': known.measured,
        'first_seen': format_iso(known.intervals[0][0]),
        'last_seen': format_iso(known.intervals[-1][1]),
        'presence': 'seen',
        'state': 'unknown',
        'relations': [],
        'observations': known.observations,
        'keyframes': list(known.keyframes),
        'aliases': list(known.aliases),
    }


def _rounded(point: Point) -> Point:
    x, y, z = (round(value, 4) for value in point)
    return (x, y, z)


def _offset(point: Point, origin: Point) -> Point:
    x, y, z = (round(a - b, 4) for a, b in zip(point, origin, strict=True))
    return (x, y, z)
