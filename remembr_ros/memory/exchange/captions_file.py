"""Captions files in upstream's format, as memories: one record per segment of a drive.

[{"id", "position": [x, y, z] [m], "theta" [rad], "time" [Unix s, mean], "caption", "file_start", "file_end",
"text_embedding", ...}, ...]. A segment begins with the picture "file_start", "SECONDS.pkl", and ends with
"file_end", unless "start_time" and "end_time" say so. Embeddings are made anew.
"""

import json
import math
import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

from remembr_ros.errors import BagUnreadable, InvalidRequest
from remembr_ros.geometry import Pose, is_place, listed
from remembr_ros.memory.model.record import Memory, memory_id
from remembr_ros.timestamps import NS, from_seconds

ROBOT = 'coda'

# In a file without its embeddings; each value takes up to seventy bytes. An hour of captions has 40,000.
MAX_BYTES, MAX_VALUES = 2**26, 2**22
_CHUNK = 2**20  # bytes read at once: with embeddings a file may be larger than the memory
_EMBEDDING = re.compile(rb'("text_embedding"\s*:\s*)\[[^\[\]]*\]')  # in a text its quotes would be escaped

_PICTURE = re.compile(r'(?:.*/)?(\d+(?:\.\d+)?)(?:\.[a-z]+)?')
_HALF_NS = 3 * NS // 2  # of upstream's segments
_NO_HEADING = 3.14  # what upstream writes into each record: no heading of this file is known


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
        no_heading = all(entry.get('theta') == _NO_HEADING for entry in content)
        for entry in content:
            x, y, z = map(float, listed(entry['position']))
            if not all(map(math.isfinite, (x, y, z))):
                raise BagUnreadable(f'{path}: {entry["position"]} is not a position')
            yaw = 0.0 if no_heading else float(entry.get('theta') or 0.0)
            pose = Pose(x, y, z, yaw if math.isfinite(yaw) else 0.0)
            mean_ns = from_seconds(entry['time'])
            start_ns, end_ns = _span(entry, mean_ns)
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
            segments.append(TimedMemory(memory, mean_ns))
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


def _span(entry: dict[str, Any], mean_ns: int) -> tuple[int, int]:
    """Return start and end of a segment [ns]: as it says, by its pictures, or around its mean."""
    if 'start_time' in entry or 'end_time' in entry:
        return from_seconds(entry['start_time']), from_seconds(entry['end_time'])
    first, last = (_PICTURE.fullmatch(str(entry.get(name))) for name in ('file_start', 'file_end'))
    if first and last and float(first[1]) <= mean_ns / NS <= float(last[1]):  # else its pictures are numbered
        return from_seconds(float(first[1])), from_seconds(float(last[1]))
    return max(mean_ns - _HALF_NS, 0), mean_ns + _HALF_NS


def _without_embeddings(file: IO[bytes]) -> bytes:
    """Return at least so much of a JSON file that MAX_BYTES are exceeded, with null for each embedding."""
    kept, rest = bytearray(), b''
    while len(kept) + len(rest) <= MAX_BYTES and (chunk := file.read(_CHUNK)):
        rest += chunk
        whole = rest.rfind(b']') + 1  # an embedding has one at its end alone
        kept += _EMBEDDING.sub(rb'\1null', rest[:whole])
        rest = rest[whole:]
    return bytes(kept + rest)


def read_json(path: Path) -> Any:
    """Return what a JSON file holds.

    :raises BagUnreadable: it is missing, no JSON, or would fill the memory
    """
    try:
        with path.open('rb') as file:
            data = _without_embeddings(file)
        values = sum(data.count(mark) for mark in (b',', b'[', b'{'))
        if len(data) > MAX_BYTES or values > MAX_VALUES:
            raise BagUnreadable(
                f'{path} has more than {MAX_BYTES} bytes or {MAX_VALUES} values; read it in parts'
            )
        return json.loads(data)
    # ValueError: also numbers of thousands of digits. RecursionError: nested a thousand times.
    except (OSError, ValueError, RecursionError) as error:
        raise BagUnreadable(f'{path} cannot be read as JSON: {error}') from error
