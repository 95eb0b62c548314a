"""Conversions between memories, observations, hits, outlines and their messages."""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sensor_msgs.msg import CompressedImage

from remembr_msgs.msg import Memory as MemoryMsg
from remembr_msgs.srv import Outline as OutlineSrv
from remembr_ros import errors
from remembr_ros.geometry import MAX_COORDINATE, StampedPose, is_place
from remembr_ros.memory.model.codec import FIELDS, LISTS, checked, to_plain
from remembr_ros.memory.model.outline import MAX_ID, Outline, make_outline
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import SOURCES, Memory, Observation, memory_id
from remembr_ros.nodes.base.conversions import (
    check_caption,
    frame_name,
    point_from_msg,
    pose_from_msg,
    stamped_pose_to_msg,
    time_from_msg,
    time_to_msg,
)

_AS_THEY_ARE = [
    n for n in FIELDS if n not in {'start_ns', 'end_ns', 'pose', 'frame_id', 'travelled', 'facts'}
]
OUTLINE_PAGE = 20_000  # memories; two megabytes


def memory_to_msg(memory: Memory, keyframes: Iterable[bytes] = ()) -> MemoryMsg:
    """Return a memory as a message.

    :param keyframes: on their way to the store, JPEG
    :raises InvalidRequest: a time that no message can hold
    """
    plain = to_plain(memory)
    msg = MemoryMsg(
        **{name: plain[name] for name in _AS_THEY_ARE},
        start=time_to_msg(memory.start_ns),
        end=time_to_msg(memory.end_ns),
        placed=memory.pose is not None,
        facts=json.dumps(plain['facts'], ensure_ascii=False) if memory.facts else '',
        # An integer, which the message class takes, ends the process when it is sent.
        travelled=float(memory.travelled),
        distance=math.nan,
        time_offset=math.nan,
    )
    if memory.pose is not None:
        msg.pose = stamped_pose_to_msg(StampedPose(memory.start_ns, memory.pose, memory.frame_id))
    for jpeg in keyframes:
        keyframe = CompressedImage(format='jpeg', data=jpeg)
        keyframe.header.stamp = msg.start
        msg.keyframe_images.append(keyframe)
    return msg


def memory_from_msg(msg: MemoryMsg) -> Memory:
    """Return the memory of a message; an empty id is derived from robot, source, start and camera.

    :raises InvalidRequest: the message makes no sense
    """
    start_ns, end_ns = time_from_msg(msg.start), time_from_msg(msg.end)
    source = msg.source or 'captioner'
    pose = pose_from_msg(msg.pose.pose) if msg.placed else None
    if end_ns < start_ns:
        raise errors.InvalidRequest(f'the memory ends ({end_ns} ns) before it starts ({start_ns} ns)')
    if start_ns < 0:
        raise errors.InvalidRequest(f'the memory starts at {start_ns} ns, before 1970')
    if source not in SOURCES:
        raise errors.InvalidRequest(f'source {source!r} is none of {", ".join(SOURCES)}')
    if pose is not None and not is_place(pose):
        raise errors.InvalidRequest('the pose of the memory is no place; leave placed false without a pose')
    if not math.isfinite(msg.travelled) or msg.travelled < 0.0:
        raise errors.InvalidRequest(f'travelled is {msg.travelled} m')
    fields = {name: getattr(msg, name) for name in _AS_THEY_ARE}
    fields |= {'id': caption_id(msg), 'source': source, 'merged': max(1, msg.merged)}
    fields['travelled'] = msg.travelled
    fields |= {name: list(fields[name]) for name in LISTS}
    fields |= {'start_ns': start_ns, 'end_ns': end_ns, 'frame_id': frame_name(msg.pose.header.frame_id)}
    try:
        memory = checked({**fields, 'facts': json.loads(msg.facts or '{}')})
    except (ValueError, RecursionError) as error:
        raise errors.InvalidRequest('the facts of the memory are no JSON object') from error
    return replace(memory, pose=pose)


def caption_id(msg: MemoryMsg) -> str:
    """Return the id of the memory that a caption asks for, whatever else it says."""
    return msg.id or memory_id(msg.robot, msg.source or 'captioner', time_from_msg(msg.start), msg.camera)


def observation_to_msg(observation: Observation) -> MemoryMsg:
    """Return an observation as a message with an empty id, for the memory node to store."""
    msg = memory_to_msg(observation.memory, observation.images)
    msg.id = ''
    return msg


def observation_from_msg(msg: MemoryMsg) -> Observation:
    """Return the observation of a message; any names of keyframes are left out.

    :raises InvalidRequest: the message makes no sense
    """
    check_caption(msg)
    msg.keyframes = []
    position = point_from_msg(msg.pose.pose.position)
    # A corrupt pose is none, and what was seen is true without; one of no numbers is refused below.
    msg.placed = msg.placed and not MAX_COORDINATE < max(map(abs, position)) < math.inf
    return Observation(memory_from_msg(msg), tuple(bytes(image.data) for image in msg.keyframe_images))


def hit_to_msg(hit: Hit) -> MemoryMsg:
    """Return a found memory as a message."""
    msg = memory_to_msg(hit.memory)
    msg.score = float(hit.score)
    msg.distance = math.nan if hit.distance_m is None else float(hit.distance_m)
    msg.time_offset = math.nan if hit.offset_s is None else float(hit.offset_s)
    msg.place = hit.place
    msg.passages = list(hit.passages)
    return msg


def hit_from_msg(msg: MemoryMsg) -> Hit:
    """Return the found memory of a message.

    :raises InvalidRequest: the message makes no sense
    """
    return Hit(
        memory_from_msg(msg),
        msg.score,
        None if math.isnan(msg.distance) else msg.distance,
        None if math.isnan(msg.time_offset) else msg.time_offset,
        msg.place,
        tuple(msg.passages),
    )


def fill_page(outline: Outline, request: OutlineSrv.Request, response: OutlineSrv.Response) -> None:
    """Fill the page that a request asks for into a response."""
    begin = 0
    if request.after_id or request.after_ns:
        # Where it would stand: it may be gone.
        begin = int(np.searchsorted(outline.start_ns, request.after_ns, 'left'))
        same = int(np.searchsorted(outline.start_ns, request.after_ns, 'right'))
        begin += int(np.searchsorted(outline.ids[begin:same], request.after_id.encode(), 'right'))
    page = slice(begin, begin + min(request.limit or OUTLINE_PAGE, OUTLINE_PAGE))
    response.total = len(outline.ids)
    response.names = list(outline.names)
    response.ids = [memory_id.decode() for memory_id in outline.ids[page].tolist()]
    response.start, response.end = outline.start_ns[page].tolist(), outline.end_ns[page].tolist()
    for name in ('x', 'y', 'z', 'robot', 'map_id', 'source'):
        setattr(response, name, getattr(outline, name)[page].tolist())


def outline_from_pages(pages: Sequence[OutlineSrv.Response]) -> Outline:
    """Return the outline that these pages, in their order, tell."""
    texts = list(dict.fromkeys(text for page in pages for text in page.names))
    number = {text: i for i, text in enumerate(texts)}
    renumber = [np.array([number[text] for text in page.names], np.int64) for page in pages]

    def column(name: str, kind: type) -> Any:
        return np.concatenate([np.asarray(getattr(page, name), kind) for page in pages])

    def renumbered(name: str) -> Any:
        numbered = zip(renumber, pages, strict=True)
        return np.concatenate([to[np.asarray(getattr(page, name), np.int64)] for to, page in numbered])

    ids = np.array([memory_id.encode() for page in pages for memory_id in page.ids], f'S{MAX_ID}')
    points = np.stack([column(axis, np.float64) for axis in 'xyz'], axis=1)
    # One and the same table of names: the columns need no other.
    names = [(renumbered(name), texts) for name in ('robot', 'map_id', 'source')]
    return make_outline(ids, column('start', np.int64), column('end', np.int64), points, names)
