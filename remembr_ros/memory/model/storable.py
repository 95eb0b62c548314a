"""What a memory may hold, so that every engine can keep it: limits, and memories made to fit them."""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import check_point
from remembr_ros.memory.model import codec
from remembr_ros.memory.model.record import MAX_NAME, SOURCES, Memory, check_name
from remembr_ros.timestamps import EARLIEST_NS, LATEST_NS, MAX_NS, format_iso, is_stamp

MAX_TEXT = 60_000  # bytes of a caption that a VARCHAR field (65,535 bytes) holds beside its scene text
MAX_CAMERA = 64  # bytes of a camera's name
MAX_FACTS = 45_000  # bytes as JSON: what a field of JSON (65,536 bytes) holds, and a message carries
_ID = re.compile(r'[A-Za-z0-9][A-Za-z0-9._-]{0,63}')


def is_id(text: str) -> bool:
    """Tell whether a text can be the id of a memory; it becomes part of file names and of filters."""
    return _ID.fullmatch(text) is not None


def storable(memory: Memory) -> Memory:
    """Return the memory as it fits the fields: long texts are cut, what is no Unicode is replaced.

    :raises InvalidRequest: it makes no sense, or is of a time when no robot saw anything
    """
    if not is_id(memory.id):
        raise InvalidRequest(
            f'{memory.id!r} is not the id of a memory (at most 64 letters, digits, dots, dashes and '
            'underscores); see memory_id()'
        )
    check_name('robot', memory.robot)
    check_name('map id', memory.map_id)
    check_name('frame_id', memory.frame_id)
    check_name('camera', memory.camera, MAX_CAMERA)
    if memory.source not in SOURCES:
        raise InvalidRequest(f'{memory.source!r} is not a source; there are {", ".join(SOURCES)}')
    if not 0 <= memory.start_ns <= memory.end_ns <= MAX_NS:
        raise InvalidRequest(f'memory {memory.id} ends before it starts, or its times are out of range')
    for ns in (memory.start_ns, memory.end_ns):
        # A simulation may begin at zero; what ends there was not stamped.
        if not is_stamp(ns) and (ns or not memory.end_ns):
            raise InvalidRequest(
                f'memory {memory.id} is of {format_iso(ns)}; give a time from {format_iso(EARLIEST_NS)[:10]} '
                f'to {format_iso(LATEST_NS)[:10]}, where the seconds of ROS end, or of the first year after '
                '1970 for simulated time, and check the clock that stamped it'
            )
    if not 1 <= memory.merged <= MAX_NS:
        raise InvalidRequest(f'memory {memory.id} stands for {memory.merged} segments; give at least 1')
    if memory.pose is not None:
        check_point(memory.pose.position)
        if not math.isfinite(memory.pose.yaw):
            raise InvalidRequest(f'memory {memory.id} has the yaw {memory.pose.yaw}; give radians')
    if not (math.isfinite(memory.travelled) and memory.travelled >= 0.0):
        raise InvalidRequest(f'memory {memory.id} has travelled {memory.travelled}; give metres')
    try:
        size = codec.facts_size(memory.facts)
    except ValueError as error:
        raise InvalidRequest(f'memory {memory.id}: {error}') from error
    if size > MAX_FACTS:
        raise InvalidRequest(f'memory {memory.id} has facts of {size} bytes; give at most {MAX_FACTS}')
    return replace(
        memory,
        caption=cut(memory.caption),
        captioner=cut(memory.captioner, MAX_NAME),
        scene_text=_cut_all(memory.scene_text),
    )


def cut(text: str, size: int = MAX_TEXT) -> str:
    """Return the text, cut at size bytes without splitting a character."""
    return text.encode('utf-8', errors='replace')[:size].decode('utf-8', errors='ignore')


def _cut_all(texts: Sequence[str]) -> tuple[str, ...]:
    """Return as many of the texts as a JSON field holds, the last one cut."""
    kept = []
    room = MAX_TEXT
    for text in texts:
        whole = cut(text, room)
        # A control character takes six bytes as JSON.
        fitting = whole if _json_size(whole) <= room else cut(whole, room // 6)
        if text and not fitting:
            break
        kept.append(fitting)
        room -= _json_size(fitting)
        if room <= 0:
            break
    return tuple(kept)


def _json_size(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False).encode()) + 1
