"""Merges repeated scenes and repeated drives into the memories of a store, while they are stored."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from remembr_ros.geometry import distance
from remembr_ros.memory.consolidation.rule import NEAREST, Consolidation, Scene, absorb, scene_of
from remembr_ros.memory.deeds.deed import each_time, facts_of
from remembr_ros.memory.model.engine import Engine, Entry
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.model.record import AGENT, Memory

KEYFRAMES = 2  # of a stay
MOST_CAMERAS = 6  # of a robot; of more, a stay may end where it need not


@dataclass(slots=True)
class Merged:
    """What becomes of new memories.

    :param new: those that are memories of their own
    :param changed: stored memories that were extended, by id
    :param of: the memory that each of the others is part of, by id of the other
    """

    new: list[Entry] = field(default_factory=list)
    changed: dict[str, Memory] = field(default_factory=dict)
    of: dict[str, Memory] = field(default_factory=dict)


def merge_stays(engine: Engine, entries: Sequence[Entry], config: Consolidation) -> Merged:
    """Return what becomes of new memories: the last one is extended while a robot stands and sees the same.

    Nothing is written. All that it goes by is stored, so that it goes on after a restart.

    :raises StoreUnavailable: the database does not work
    """
    merged = Merged()
    mine: dict[str, Entry] = {}
    for entry in sorted(entries, key=lambda e: (e.memory.start_ns, -e.memory.end_ns, e.memory.id)):
        memory = entry.memory
        if memory.source == AGENT:
            around = _deeds_around(engine, memory, merged, mine) if may_repeat(memory) else []
            whole = absorb_deed(around, memory, config)
        else:
            whole = absorb(_around(engine, memory, merged, mine), scene_of(entry), config)
        if whole is None:
            mine[memory.id] = entry
            continue
        known = mine[whole.id].memory if whole.id in mine else merged.changed.get(whole.id)
        known = known or next(iter(engine.get([whole.id])), None)
        if whole != known:
            # How it began, how it was last, then what else fits.
            keyframes = dict.fromkeys([*whole.keyframes[:1], *memory.keyframes, *whole.keyframes[1:]])
            whole = replace(whole, keyframes=tuple(keyframes)[:KEYFRAMES])
            if whole.id in mine:
                mine[whole.id] = replace(mine[whole.id], memory=whole)
            else:
                merged.changed[whole.id] = whole
        merged.of[memory.id] = whole
    merged.new = list(mine.values())
    latest = {memory_id: e.memory for memory_id, e in mine.items()} | merged.changed
    merged.of = {part: latest.get(whole.id, whole) for part, whole in merged.of.items()}
    return merged


def _around(engine: Engine, memory: Memory, merged: Merged, mine: dict[str, Entry]) -> list[Scene]:
    """Return the scenes nearest in time, stored ones and new ones, as they are now."""
    scope = Scope(robots=(memory.robot,), map_id=memory.map_id, source=memory.source)
    # Those of its camera among those of all.
    among = engine.nearest_in_time(
        memory.start_ns, scope, NEAREST * MOST_CAMERAS if memory.camera else NEAREST
    )
    stored = [m for m in among if m.camera == memory.camera][:NEAREST]
    vectors = engine.vectors([m.id for m in stored])
    scenes = [
        scene_of(Entry(merged.changed.get(m.id, m), vectors[m.id]))
        for m in stored
        if m.id in vectors and m.id not in mine
    ]
    return scenes + [scene_of(entry) for entry in list(mine.values())[-NEAREST:]]


def _deeds_around(engine: Engine, memory: Memory, merged: Merged, mine: dict[str, Entry]) -> list[Memory]:
    """Return the deeds nearest in time, stored ones and new ones, as they are now."""
    scope = Scope(robots=(memory.robot,), map_id=memory.map_id, source=AGENT)
    near = {m.id: m for m in engine.nearest_in_time(memory.start_ns, scope, AMONG)}
    new = {name: entry.memory for name, entry in mine.items() if entry.memory.source == AGENT}
    return list((near | merged.changed | new).values())


AMONG = 100  # deeds nearest in time, one of which may go on: a patrol has no more places
SINGLE = 3  # so often within the hour it is news
MOST_TIMES = 500  # of one memory


def may_repeat(memory: Memory) -> bool:
    """Tell whether a memory is a deed of the kind that repeats itself."""
    facts = facts_of(memory)
    return facts is not None and facts.kind == 'go' and facts.outcome == 'succeeded'


def absorb_deed(known: Iterable[Memory], new: Memory, config: Consolidation) -> Memory | None:
    """Return the stored deed that a new one is part of, as it is from now on; None: it is one of its own.

    What leads to the same place for the fourth time within the hour is part of the third, which has the times
    of all. What failed, and what was done with hands or words, is kept one by one. A stored deed that holds
    the new one already comes back unchanged.

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
        facts={**last.facts, 'times': [list(span) for span in times]},
    )


def _times(memory: Memory) -> list[tuple[int, int]]:
    return [(time.start_ns, time.end_ns) for time in each_time(memory)]


def _is_same(memory: Memory, new: Memory, config: Consolidation) -> bool:
    alike = all(
        getattr(memory, name) == getattr(new, name) for name in ('caption', 'robot', 'map_id', 'frame_id')
    )
    if not alike or not may_repeat(memory) or memory.pose is None or new.pose is None:
        return alike and may_repeat(memory) and memory.pose is new.pose
    return distance(memory.pose.position, new.pose.position) <= config.stands_within_m
