"""Drives that repeat themselves become one memory: a patrol's thousand goals are not a thousand memories.

What leads to the same place for the fourth time within the hour is part of the third, which has the times of
all. What failed, and what was done with hands or words, is kept one by one.
"""

from collections.abc import Iterable
from dataclasses import replace

from remembr_ros.geometry import distance
from remembr_ros.memory.consolidation.rule import Consolidation
from remembr_ros.memory.deeds.deed import DeedFacts, facts_of
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
    """
    facts = facts_of(new)
    if facts is None or not may_repeat(new):
        return None
    time = (new.start_ns, new.end_ns)
    earliest_ns, latest_ns = new.end_ns - config.max_span_ns, new.start_ns
    same = [
        (memory, other)
        for memory in known
        if earliest_ns <= memory.start_ns <= latest_ns
        and (other := facts_of(memory)) is not None
        and _is_same(memory, other, new, facts, config)
    ]
    for memory, other in same:
        if time in _times(memory, other):
            return memory
    if len(same) < SINGLE or new.id in {memory.id for memory, _ in same}:
        return None
    memory, other = max(same, key=lambda one: (one[0].start_ns, one[0].id))
    times = sorted([*_times(memory, other), time])
    if len(times) > MOST_TIMES:
        return None
    return replace(
        memory,
        end_ns=max(memory.end_ns, new.end_ns),
        travelled=memory.travelled + new.travelled,
        merged=memory.merged + 1,
        facts={**memory.facts, 'times': [list(one) for one in times]},
    )


def _times(memory: Memory, facts: DeedFacts) -> list[tuple[int, int]]:
    return list(facts.times or [(memory.start_ns, memory.end_ns)])


def _is_same(memory: Memory, other: DeedFacts, new: Memory, facts: DeedFacts, config: Consolidation) -> bool:
    if memory.caption != new.caption or other.kind != facts.kind or other.outcome != facts.outcome:
        return False
    if (memory.robot, memory.map_id, memory.frame_id) != (new.robot, new.map_id, new.frame_id):
        return False
    if memory.pose is None or new.pose is None:
        return memory.pose is new.pose
    return distance(memory.pose.position, new.pose.position) <= config.stands_within_m
