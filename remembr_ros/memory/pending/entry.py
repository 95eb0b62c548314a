"""The file format of a spool: a frame with a checksum per observation."""

import json
import mmap
import struct
import zlib
from collections.abc import Iterator

from remembr_ros.memory.model.codec import from_plain, to_plain
from remembr_ros.memory.model.record import Observation

MAGIC = b'remembr spool 2\n'
MARKER = b'\x9eobs'  # where a frame can begin: found again after one that is damaged
# Before each entry: the marker, its state, its length, and the CRC-32 of length and entry.
FRAME = struct.Struct('<4sBII')
STATE = 4  # [byte] of the state in a frame
DRAINED = 0xFF  # the state of an entry that was dropped; no bit alone makes 0 this


def entry_checksum(data: bytes) -> int:
    """Return the checksum of an entry: of its length, too, by which the next one is found."""
    return zlib.crc32(data, zlib.crc32(len(data).to_bytes(4, 'little')))


def frames(content: mmap.mmap) -> Iterator[tuple[int, int, bytes | None]]:
    """Yield start and end of each frame with its entry, and with None those of what lies between them."""
    at = begin = len(MAGIC)
    while at < len(content):
        data = _entry(content, at)
        if data is not None:
            if begin < at:
                yield begin, at, None
            begin = at + FRAME.size + len(data)
            yield at, begin, data
            at = begin
        else:
            found = content.find(MARKER, at + 1)
            at = found if found > 0 else len(content)
    if begin < at:
        yield begin, at, None


def _entry(content: mmap.mmap, at: int) -> bytes | None:
    """Return the entry of the frame at a byte; None: there is no whole one."""
    start = at + FRAME.size
    if start >= len(content):
        return None
    _, _, length, checksum = FRAME.unpack(content[at:start])
    if not 0 < length <= len(content) - start:
        return None
    data = content[start : start + length]
    return data if entry_checksum(data) == checksum else None


def encode(observation: Observation) -> bytes:
    """Return an observation as bytes: a line of JSON with the sizes of the images, then the images."""
    head = {**to_plain(observation.memory), 'images': [len(image) for image in observation.images]}
    head['heard_ns'] = observation.heard_ns
    return b'\n'.join((json.dumps(head).encode(), b''.join(observation.images)))


def decode(data: bytes) -> Observation:
    """Return the observation that :func:`encode` made bytes of."""
    line, _, rest = data.partition(b'\n')
    head = json.loads(line)
    images = []
    for size in head['images']:
        images.append(rest[:size])
        rest = rest[size:]
    return Observation(from_plain(head), tuple(images), head.get('heard_ns', 0))
