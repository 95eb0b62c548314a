"""A memory: what was seen, over which time, where."""

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Pose, RigidTransform

# Caption of a segment that no captioner described: place, time and keyframes are kept all the same.
UNCAPTIONED = '(not captioned)'
CAPTIONER = 'captioner'
PERSON = 'person'
OBJECT = 'object'  # of what is known of a thing: it lasts, while the others happened
AGENT = 'agent'  # of what the robot did itself, and of the days that it sums up
PLACE = 'place'  # of what people call a part of a map: found only where it is asked for
SOURCES = (CAPTIONER, PERSON, OBJECT, AGENT, PLACE)
MAX_NAME = 200  # bytes of a robot's or map's name
_UNQUOTABLE = re.compile(r'[\x00-\x1f\x7f\ud800-\udfff]')  # control characters, and lone surrogates


@dataclass(frozen=True, slots=True)
class Memory:
    """What a robot remembers of one segment of time.

    :param id: see :func:`memory_id`
    :param robot: name of the robot that remembers
    :param start_ns: stamp of the first frame, nanoseconds since the Unix epoch
    :param end_ns: stamp of the last frame
    :param caption: what was seen, in sentences
    :param pose: mean pose over the segment in the map frame; None: unplaced
    :param frame_id: the map frame
    :param map_id: the map that the pose refers to; empty if there is only one
    :param travelled: path length driven during the segment [m]
    :param scene_text: what could be read in the scene, one entry per sign or label
    :param captioner: name of the captioner that wrote the caption
    :param camera: which camera saw it; empty if the robot has only one
    :param source: one of SOURCES
    :param keyframes: names of the JPEG files in the keyframe folder
    :param merged: how many segments this memory stands for
    :param facts: what more is known, a JSON object with a schema per source; of captions nothing
    """

    id: str
    robot: str
    start_ns: int
    end_ns: int
    caption: str
    pose: Pose | None = None
    frame_id: str = 'map'
    map_id: str = ''
    travelled: float = 0.0
    scene_text: tuple[str, ...] = ()
    captioner: str = ''
    camera: str = ''
    source: str = 'captioner'
    keyframes: tuple[str, ...] = ()
    merged: int = 1
    facts: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def is_captioned(self) -> bool:
        """Whether somebody said what was seen."""
        return self.caption != UNCAPTIONED


@dataclass(frozen=True, slots=True)
class Observation:
    """A memory on its way to the store, with the frames that shall be kept beside it.

    :param memory: without keyframe names; the store fills them in
    :param images: the keyframes, best first: JPEG bytes
    :param heard_ns: when this machine heard of it [ns since the Unix epoch]: what was forgotten since then is
        not stored; 0: somebody wants it stored, whatever was forgotten
    """

    memory: Memory
    images: tuple[bytes, ...] = ()
    heard_ns: int = 0


def memory_id(robot: str, source: str, start_ns: int, other: str = '') -> str:
    """Return the id of a memory: the same segment gets the same id, however often it is ingested.

    :param other: what tells it from others of the same start, such as the camera
    """
    origin = f'{robot}\0{source}\0{start_ns}' + (f'\0{other}' if other else '')
    return hashlib.sha256(origin.encode()).hexdigest()[:20]


def check_plain(text: str) -> None:
    """Check that a text can be part of what a database is asked.

    :raises InvalidRequest: it has control characters
    """
    if _UNQUOTABLE.search(text):
        raise InvalidRequest(f'{text!r} has line breaks or control characters; use a plain name')


def check_name(kind: str, name: str, most: int = MAX_NAME) -> None:
    """Check that the name of a robot, a map or a camera can be stored and searched.

    :param most: bytes that it may have
    :raises InvalidRequest: it is too long or has control characters
    """
    check_plain(name)
    if len(name.encode()) > most:
        raise InvalidRequest(f'the {kind} {name[:40]!r}... is longer than {most} bytes')


def moved(
    memory: Memory,
    transform: RigidTransform | None = None,
    *,
    map_id: str | None = None,
    frame_id: str | None = None,
) -> Memory:
    """Return a memory as it is placed in another map.

    Its id stays, as do the texts, and so its vectors.

    :param transform: where the memory's map is in the other one; None: in the same place
    :param map_id: the other map's name; None: as before
    :param frame_id: the other map's frame; None: as before
    :raises InvalidRequest: the frame has no name, or the place would be out of range
    """
    if frame_id is not None and not frame_id:
        raise InvalidRequest("a frame needs a name, such as 'map'")
    pose = memory.pose
    if pose is not None and transform is not None:
        pose = transform.pose(pose)
        if not all(map(math.isfinite, (*pose.position, pose.yaw))):
            raise InvalidRequest(
                f'memory {memory.id} at {memory.pose} would be at {pose}; check the transform, in metres'
            )
    return replace(
        memory,
        pose=pose,
        map_id=memory.map_id if map_id is None else map_id,
        frame_id=memory.frame_id if frame_id is None else frame_id,
    )
