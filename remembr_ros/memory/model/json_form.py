"""Memories as JSON, the same for the command line and the page's API."""

from typing import Any, cast

from typing_extensions import TypedDict

from remembr_ros.geometry import Pose
from remembr_ros.memory.model.codec import to_plain
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import format_iso


class MemoryJson(TypedDict):
    """A memory. Times are ISO 8601 in UTC, position and travelled in metres, yaw in radians; position and yaw
    are null where nobody knows them. merged says for how many segments it stands, keyframes names its
    pictures, facts what more is known."""

    id: str
    robot: str
    map_id: str
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
    """A recalled memory: its score from 0 to 1, metres from the asked place, seconds from the asked time, and
    the name of the place that it was made in; empty: it has none."""

    score: float
    distance: float | None
    time_offset_sec: float | None
    place: str


def memory_json(memory: Memory) -> MemoryJson:
    """Return a memory as every verb prints it with --json."""
    plain = to_plain(memory)
    pose = plain.pop('pose')
    told: dict[str, Any] = {
        'start': format_iso(plain.pop('start_ns')),
        'end': format_iso(plain.pop('end_ns')),
        'position': position_json(memory.pose),
        'yaw': pose and pose['yaw'],
    }
    return cast(MemoryJson, {name: (plain | told)[name] for name in MemoryJson.__annotations__})


def hit_json(hit: Hit) -> HitJson:
    """Return a recalled memory as `remembr recall --json` prints it."""
    return {
        **memory_json(hit.memory),
        'score': hit.score,
        'distance': hit.distance_m,
        'time_offset_sec': hit.offset_s,
        'place': hit.place,
    }


def position_json(pose: Pose | None) -> list[float] | None:
    """Return where a pose is [m]."""
    return list(pose.position) if pose else None
