"""Drives that repeat themselves become one memory: a patrol's thousand goals are not a thousand memories.

What leads to the same place for the fourth time within the hour is part of the third, which has the times of
all. What failed, and what was done with hands or words, is kept one by one.
"""

from collections.abc import Iterable
from dataclasses import replace

from remembr_ros.geometry import distance
from remembr_ros.memory.consolidation.rule import Consolidation
from remembr_ros.memory.deeds.deed import each_time, facts_of
from remembr_ros.memory.model.record import Memory

AMONG = 100  # deeds nearest in time, one of which may go on: a patrol has no more places
SINGLE = 3  # so often within the hour it is news
MOST_TIMES = 500  # of one memory


def may_repeat(memory: Memory) -> bool:
    """Tell whether a memory is a deed of the kind that repeats itself."""
    facts = facts_of(memory)
    return facts is not None and facts.kind == 'go' and facts.outcome == 'succeeded'


def absorb_deed(known: Iterable[Memory], new: Memory, config: Consolidation) -> Memory | None:
    """Return the stored deed that a new one is part of, as it is from now on; None: it is one of its own.

    A stored deed that holds the new one already comes back unchanged.

    :param known: deeds of the same robot and map
    :param new: one that may repeat itself
    """
    since_ns = new.end_ns - config.max_span_ns
    same = [
        memory
        for memory in known
        if since_ns <= memory.start_ns <= new.start_ns and _is_same(memory, new, config)
    ]
    time = (new.start_ns, new.end_ns)
    for memory in same:
        if time in _times(memory):
            return memory
    if len(same) < SINGLE or new.id in {memory.id for memory in same}:
        return None
    last = max(same, key=lambda memory: (memory.start_ns, memory.id))
    times = sorted([*_times(last), time])
    if len(times) > MOST_TIMES:
        return None
    return replace(
        last,
        end_ns=max(last.end_ns, new.end_ns),
        travelled=last.travelled + new.travelled,
        merged=last.merged + 1,
        facts={**last.facts, 'times': [list(one) for one in times]},
    )


def _times(memory: Memory) -> list[tuple[int, int]]:
    return [(one.start_ns, one.end_ns) for one in each_time(memory)]


def _is_same(memory: Memory, new: Memory, config: Consolidation) -> bool:
    alike = all(
        getattr(memory, name) == getattr(new, name) for name in ('caption', 'robot', 'map_id', 'frame_id')
    )
    if not alike or not may_repeat(memory) or memory.pose is None or new.pose is None:
        return alike and may_repeat(memory) and memory.pose is new.pose
    return distance(memory.pose.position, new.pose.position) <= config.stands_within_m
