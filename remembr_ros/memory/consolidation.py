"""Stays in which nothing changes become one memory: a parked night must not dilute what the robot saw.

After the design's rule: while the robot stands and sees the same, the last memory is extended.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from remembr_ros.embedding.embedder import Embedder
from remembr_ros.geometry import distance, wrap_angle
from remembr_ros.memory.record import Memory
from remembr_ros.timestamps import NS

STANDS_WITHIN_M = 0.5
STANDS_WITHIN_RAD = math.radians(20.0)
"""The robot stands while it moves and turns by no more."""

ALIKE = 0.9
"""Cosine of two captions that say the same."""

MAX_GAP_NS = 60 * NS
"""After a longer time without memories a stay is another stay."""


def consolidate(memories: Sequence[Memory], embedder: Embedder, alike: float = ALIKE) -> list[Memory]:
    """Return the memories with those that repeat the one before merged into it.

    A merged memory keeps the first one's id, pose, caption and scene text; its end and the number of segments
    that it stands for grow. What is unplaced is not merged: nothing tells whether the robot stood.

    :param memories: of one robot, in the order of time
    :param alike: captions with at least this cosine say the same
    """
    if not memories:
        return []
    vectors = embedder.embed([memory.caption for memory in memories])
    merged = [memories[0]]
    first = 0  # of the stay: drifting by small steps is a change, too
    for index, memory in enumerate(memories[1:], 1):
        last = merged[-1]
        similarity = float(np.dot(vectors[first], vectors[index]))
        if _stands(memories[first], memory) and similarity >= alike and _follows(last, memory):
            merged[-1] = replace(
                last,
                end_ns=max(last.end_ns, memory.end_ns),
                merged=last.merged + memory.merged,
                travelled=last.travelled + memory.travelled,
            )
        else:
            merged.append(memory)
            first = index
    return merged


def _stands(a: Memory, b: Memory) -> bool:
    if a.pose is None or b.pose is None or (a.robot, a.map_id, a.source) != (b.robot, b.map_id, b.source):
        return False
    turned = abs(wrap_angle(a.pose.yaw - b.pose.yaw))
    return distance(a.pose.position, b.pose.position) <= STANDS_WITHIN_M and turned <= STANDS_WITHIN_RAD


def _follows(last: Memory, memory: Memory) -> bool:
    same_text = set(last.scene_text) == set(memory.scene_text)
    return same_text and memory.start_ns - last.end_ns <= MAX_GAP_NS
