"""A memory in plain types and back: for databases, journals, spools, files and messages alike.

Plain are str, int, float, bool, None, and lists and dicts of these: what JSON has.
"""

import json
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import MAX_NS

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
