"""Captions files in upstream's format, as memories: one record per segment of a drive.

[{"id", "position": [x, y, z] [m], "time" [Unix s, mean], "start_time", "end_time", "caption", ...}, ...]
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from remembr_ros.errors import BagUnreadable, InvalidRequest
from remembr_ros.geometry import Pose, mean_pose
from remembr_ros.memory.record import Memory, memory_id
from remembr_ros.timestamps import NS, from_seconds

ROBOT = 'coda'


@dataclass(frozen=True, slots=True)
class TimedMemory:
    """A memory with its mean time, which is what windows are cut by."""

    memory: Memory
    mean_ns: int


def timed(memory: Memory) -> TimedMemory:
    """Return a memory with the middle of its time for its mean."""
    return TimedMemory(memory, (memory.start_ns + memory.end_ns) // 2)


def read_captions(path: Path, name: str) -> list[TimedMemory]:
    """Return the captions in the order of time.

    :param name: of the sequence; becomes the map of the memories
    :raises BagUnreadable: the file is missing, damaged or in another format
    """
    if not path.is_file():
        there = ', '.join(sorted(file.stem for file in path.parent.glob('*caption*.json'))) or 'none'
        raise BagUnreadable(
            f'there is no {path}; name a captions file with --captions (there: {there}), '
            'or remember a recording with --bag'
        )
    content = read_json(path)
    segments = []
    try:
        for entry in content:
            x, y, z = (float(value) for value in entry['position'])
            if not all(map(math.isfinite, (x, y, z))):
                raise BagUnreadable(f'{path}: {entry["position"]} is not a position')
            yaw = float(entry.get('theta') or 0.0)
            start_ns, end_ns = from_seconds(entry['start_time']), from_seconds(entry['end_time'])
            memory = Memory(
                id=memory_id(f'{ROBOT}/{name}', 'captioner', start_ns),
                robot=ROBOT,
                start_ns=start_ns,
                end_ns=end_ns,
                caption=str(entry['caption']),
                pose=Pose(x, y, z, yaw if math.isfinite(yaw) else 0.0),
                map_id=name,
                captioner=path.stem,
            )
            segments.append(TimedMemory(memory, from_seconds(entry['time'])))
    except (KeyError, TypeError, ValueError, AttributeError, InvalidRequest) as error:
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


def joined(segments: Sequence[TimedMemory], length_s: float) -> list[TimedMemory]:
    """Return longer segments: those that begin within length_s of the first of them become one.

    Captions are joined, the pose is the mean. A captioner that sees longer segments may say less: what is
    compared is how the memory is cut.
    """
    groups: list[list[TimedMemory]] = []
    for segment in segments:
        # A tenth less: segments of 3 s begin 2.9 to 3.1 s apart.
        if groups and segment.memory.start_ns - groups[-1][0].memory.start_ns < (length_s - 0.3) * NS:
            groups[-1].append(segment)
        else:
            groups.append([segment])
    return [_one(group) if len(group) > 1 else group[0] for group in groups]


def _one(group: Sequence[TimedMemory]) -> TimedMemory:
    memories = [segment.memory for segment in group]
    poses = [memory.pose for memory in memories if memory.pose is not None]
    memory = replace(
        memories[0],
        end_ns=memories[-1].end_ns,
        caption='\n\n'.join(memory.caption for memory in memories),
        scene_text=tuple(dict.fromkeys(text for memory in memories for text in memory.scene_text)),
        pose=mean_pose(poses) if poses else None,
        travelled=sum(memory.travelled for memory in memories),
    )
    return TimedMemory(memory, sum(segment.mean_ns for segment in group) // len(group))


def read_json(path: Path) -> Any:
    """Return what a JSON file holds.

    :raises BagUnreadable: it is missing or no JSON
    """
    try:
        return json.loads(path.read_text(encoding='utf-8'))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise BagUnreadable(f'{path} cannot be read as JSON: {error}') from error
