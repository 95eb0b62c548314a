"""The codec of a memory: plain types and back, for databases, journals, spools, files, messages, JSON.

Plain are str, int, float, bool, None, and lists and dicts of these: what JSON has.
"""

import json
from collections.abc import Mapping
from typing import Annotated, Any, cast

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from remembr_ros.geometry import Pose
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import MAX_NS, format_iso

Texts = Annotated[tuple[str, ...], Field(strict=False)]
Time = Annotated[int, Field(ge=0, le=MAX_NS)]


class _Model(BaseModel):
    # What a later program adds is passed over.
    model_config = ConfigDict(strict=True, extra='ignore', allow_inf_nan=False)


class PoseRecord(_Model):
    """Metres and radians."""

    x: float
    y: float
    z: float
    yaw: float


class MemoryRecord(_Model):
    """The fields of a Memory in plain types, in the order of a file; times are integer nanoseconds."""

    id: str
    robot: str
    start_ns: Time
    end_ns: Time
    pose: PoseRecord | None = None
    frame_id: str = 'map'
    map_id: str = ''
    travelled: float = 0.0
    caption: str
    scene_text: Texts = ()
    captioner: str = ''
    camera: str = ''
    source: str = 'captioner'
    keyframes: Texts = ()
    merged: Annotated[int, Field(ge=1, le=MAX_NS)] = 1
    facts: dict[str, Any] = {}


FIELDS = tuple(MemoryRecord.model_fields)
LISTS = ('scene_text', 'keyframes')
AXES = tuple(PoseRecord.model_fields)


def to_plain(memory: Memory) -> dict[str, Any]:
    """Return a memory in plain types, with FIELDS in their order."""
    plain = {name: getattr(memory, name) for name in FIELDS}
    plain |= {name: list(plain[name]) for name in LISTS}
    plain['pose'] = {axis: getattr(memory.pose, axis) for axis in AXES} if memory.pose else None
    return plain


def from_plain(plain: Mapping[str, Any]) -> Memory:
    """Return the memory that to_plain made plain; other fields are passed over, and nothing is checked."""
    fields = {name: plain[name] for name in FIELDS}
    fields |= {name: tuple(fields[name]) for name in LISTS}
    return Memory(**{**fields, 'pose': Pose(**fields['pose']) if fields['pose'] else None})


def checked(plain: Mapping[str, Any]) -> Memory:
    """Return the memory that somebody else wrote in plain types; what is missing is as in MemoryRecord.

    :raises ValueError: a field is missing or of another kind, a number is not finite, or the facts are no
        JSON
    """
    found = MemoryRecord.model_validate(plain).model_dump()
    facts_size(found['facts'])
    return from_plain(found)


def facts_size(facts: Mapping[str, Any]) -> int:
    """Return how many bytes facts take as JSON.

    :raises ValueError: they are none, or would not come back as they were: tuples, numbers as keys
    """
    if not facts:
        return 2
    try:
        data = json.dumps(facts, ensure_ascii=False, allow_nan=False).encode()
        same = json.loads(data) == facts
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f'its facts are no JSON: {error}') from error
    if not same:
        raise ValueError('its facts hold more than JSON does')
    return len(data)


class MemoryJson(TypedDict):
    """A memory. Times are ISO 8601 in UTC, position and travelled in metres, yaw in radians; position and yaw
    are null where nobody knows them. merged says for how many segments it stands, keyframes names its
    pictures, facts what more is known."""

    id: str
    robot: str
    map: str
    frame_id: str
    start: str
    end: str
    position: list[float] | None
    yaw: float | None
    travelled: float
    caption: str
    scene_text: list[str]
    captioner: str
    camera: str
    source: str
    keyframes: list[str]
    merged: int
    facts: dict[str, Any]


class HitJson(MemoryJson):
    """A recalled memory: its score from 0 to 1, metres from the asked place, seconds from the asked time, the
    name of the place that it was made in (empty: it has none), and which of its sentences or signs is nearest
    to the asked text; null: none was asked, or none is."""

    score: float
    distance: float | None
    time_offset_sec: float | None
    place: str
    sentence: str | None


def memory_json(memory: Memory) -> MemoryJson:
    """Return a memory as every verb prints it with --json."""
    plain = to_plain(memory)
    pose = plain.pop('pose')
    written: dict[str, Any] = {
        'map': plain.pop('map_id'),
        'start': format_iso(plain.pop('start_ns')),
        'end': format_iso(plain.pop('end_ns')),
        'position': position_json(memory.pose),
        'yaw': pose and pose['yaw'],
    }
    return cast(MemoryJson, {name: (plain | written)[name] for name in MemoryJson.__annotations__})


def hit_json(hit: Hit) -> HitJson:
    """Return a recalled memory as `remembr recall --json` prints it."""
    return {
        **memory_json(hit.memory),
        'score': hit.score,
        'distance': hit.distance_m,
        'time_offset_sec': hit.offset_s,
        'place': hit.place,
        'sentence': next(iter(hit.passages), None),
    }


def position_json(pose: Pose | None) -> list[float] | None:
    """Return where a pose is [m]."""
    return list(pose.position) if pose else None
