"""A person's note as a memory."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory, Observation, memory_id
from remembr_ros.memory.model.storable import storable
from remembr_ros.memory.store import MemoryStore
from remembr_ros.timestamps import MAX_NS

MAX_BYTES = 60_000  # of a note, as UTF-8: what the store keeps of a caption
MAX_AT_ONCE = 10_000  # notes of one robot within as many nanoseconds; more are not written by people


def store_note(opened: Callable[[], MemoryStore], text: str, robot: str, ns: int, **about: Any) -> Memory:
    """Store a note; what makes no sense is said before the store is opened, and maybe made.

    Arguments and errors are those of note, errors also those of MemoryStore.add. Call it under one lock.
    """
    noted = partial(note, text, robot, ns, **about)
    storable(noted(existing=lambda _: None))
    store = opened()
    memory = noted(existing=lambda identity: next(iter(store.get([identity])), None))
    return store.add([Observation(memory)])[0]


def note(
    text: str,
    robot: str,
    stamp_ns: int,
    *,
    existing: Callable[[str], Memory | None],
    pose: Pose | None = None,
    frame_id: str = 'map',
    map_id: str = '',
) -> Memory:
    """Return what is remembered of a note.

    Two notes of the same instant are two memories: the later one is moved on to the next free nanosecond. The
    same text again, at the same instant, is the same memory. Call it and store the result under one lock.

    :param stamp_ns: when it was noted, nanoseconds since the Unix epoch
    :param existing: returns the stored memory of an id, None if there is none
    :param pose: the place that the note is about; None: none
    :param frame_id: the frame of the pose
    :param map_id: the map that the pose refers to; empty if there is only one
    :raises InvalidRequest: the text is empty or too long, the time is out of range, or the pose is not finite
    """
    text = text.encode('utf-8', 'replace').decode().strip()  # half a character cannot be stored
    if not text:
        raise InvalidRequest('a note needs a text; say what shall be remembered')
    size = len(text.encode())
    if size > MAX_BYTES:
        raise InvalidRequest(f'the note has {size} bytes, at most {MAX_BYTES} are kept; write several notes')
    if pose is not None and not all(map(math.isfinite, (*pose.position, pose.yaw))):
        raise InvalidRequest(f'the pose of the note, {pose}, is not finite; leave it out to note no place')
    if pose is not None and not frame_id:
        raise InvalidRequest("the pose of the note has no frame; name it, such as 'map'")
    for ns in range(stamp_ns, stamp_ns + MAX_AT_ONCE):
        if not 0 <= ns <= MAX_NS:
            raise InvalidRequest(
                f'{stamp_ns} ns is no time of a note; give nanoseconds since 1970, until {MAX_NS}'
            )
        identity = memory_id(robot, 'person', ns)
        known = existing(identity)
        if known is None or known.caption == text:
            return Memory(
                id=identity,
                robot=robot,
                start_ns=ns,
                end_ns=ns,
                caption=text,
                pose=pose,
                frame_id=frame_id,
                map_id=map_id,
                source='person',
            )
    raise InvalidRequest(
        f'there are {MAX_AT_ONCE} notes from {stamp_ns} ns on, does the clock stand still? '
        'Give the note another time'
    )
