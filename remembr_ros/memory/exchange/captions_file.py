"""Captions files in upstream's format, as memories: one record per segment of a drive.

[{"id", "position": [x, y, z] [m], "time" [Unix s, mean], "start_time", "end_time", "caption", ...}, ...]
"""

import json
import math
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from remembr_ros.errors import BagUnreadable, InvalidRequest
from remembr_ros.geometry import Pose, is_place
from remembr_ros.memory.model.record import Memory, memory_id
from remembr_ros.timestamps import NS, from_seconds

ROBOT = 'coda'

# In a file, which is read as a whole; each value takes up to seventy bytes. An hour of captions has 40,000.
MAX_BYTES, MAX_VALUES = 2**26, 2**22


@dataclass(frozen=True, slots=True)
class TimedMemory:
    """A memory with its mean time, which is what windows are cut by."""

    memory: Memory
    mean_ns: int


def read_captions(path: Path, name: str) -> list[TimedMemory]:
    """Return the captions in the order of time.

    :param name: of the sequence; becomes the map of the memories
    :raises BagUnreadable: the file is missing, damaged or in another format
    """
    if not path.is_file():
        names = ', '.join(sorted(file.stem for file in path.parent.glob('*caption*.json'))) or 'none'
        raise BagUnreadable(
            f'there is no {path}; name a captions file with --captions (there: {names}), '
            'or remember a recording with --bag'
        )
    content = read_json(path)
    segments = []
    try:
        for entry in content:
            x, y, z = map(float, entry['position'])
            if not all(map(math.isfinite, (x, y, z))):
                raise BagUnreadable(f'{path}: {entry["position"]} is not a position')
            yaw = float(entry.get('theta') or 0.0)
            pose = Pose(x, y, z, yaw if math.isfinite(yaw) else 0.0)
            start_ns, end_ns = from_seconds(entry['start_time']), from_seconds(entry['end_time'])
            memory = Memory(
                id=memory_id(f'{ROBOT}/{name}', 'captioner', start_ns),
                robot=ROBOT,
                start_ns=start_ns,
                end_ns=end_ns,
                caption=str(entry['caption']),
                pose=pose if is_place(pose) else None,
                map_id=name,
                captioner=path.stem,
            )
            segments.append(TimedMemory(memory, from_seconds(entry['time'])))
    # OverflowError: an integer that is no float. RecursionError: a caption that is nested.
    except (
        *(KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError),
        InvalidRequest,
    ) as error:
        raise BagUnreadable(f"{path} is not in the format of upstream's captions: {error!r}") from error
    if not segments:
        raise BagUnreadable(f'{path} holds no captions')
    segments.sort(key=lambda s: s.memory.start_ns)
    for before, after in pairwise(segments):
        same = before.memory.start_ns == after.memory.start_ns
        if same or before.memory.end_ns >= after.memory.end_ns or before.mean_ns > after.mean_ns:
            raise BagUnreadable(
                f'{path}: the segments at {before.memory.start_ns / NS} and '
                f'{after.memory.start_ns / NS} s do not follow each other; repair or caption anew'
            )
    return segments


def read_json(path: Path) -> Any:
    """Return what a JSON file holds.

    :raises BagUnreadable: it is missing, no JSON, or would fill the memory
    """
    try:
        with path.open('rb') as file:
            data = file.read(MAX_BYTES + 1)
        values = sum(data.count(mark) for mark in (b',', b'[', b'{'))
        if len(data) > MAX_BYTES or values > MAX_VALUES:
            raise BagUnreadable(
                f'{path} has more than {MAX_BYTES} bytes or {MAX_VALUES} values; read it in parts'
            )
        return json.loads(data.decode())
    # ValueError: also numbers of thousands of digits. RecursionError: nested a thousand times.
    except (OSError, ValueError, RecursionError) as error:
        raise BagUnreadable(f'{path} cannot be read as JSON: {error}') from error
