"""Merging what repeats itself into the memories of a store, while it is stored."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from remembr_ros.memory.consolidation.rule import NEAREST, Consolidation, Scene, absorb, scene_of
from remembr_ros.memory.model.engine import Engine, Entry
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.model.record import Memory

KEYFRAMES = 2
"""Of a stay."""

MOST_CAMERAS = 6
"""Of a robot; of more, a stay may end where it need not."""


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


class Stays:
    """Extends the last memory while a robot stands and sees the same.

    All that it goes by is stored, so that it goes on after a restart.

    :param rule: returns when a stay goes on; called once, when there is something to merge
    """

    def __init__(self, rule: Callable[[], Consolidation]) -> None:
        self._rule = rule
        self._config: Consolidation | None = None

    def merge(self, engine: Engine, entries: Sequence[Entry]) -> Merged:
        """Return what becomes of new memories; nothing is written.

        :raises StoreUnavailable: the database does not work
        """
        if not entries:
            return Merged()
        config = self._config = self._config or self._rule()
        merged = Merged()
        mine: dict[str, Entry] = {}
        for entry in sorted(entries, key=lambda e: (e.memory.start_ns, -e.memory.end_ns, e.memory.id)):
            memory = entry.memory
            whole = absorb(self._around(engine, memory, merged, mine), scene_of(entry), config)
            if whole is None:
                mine[memory.id] = entry
                continue
            known = mine[whole.id].memory if whole.id in mine else merged.changed.get(whole.id)
            known = known or next(iter(engine.get([whole.id])), None)
            if whole != known:
                whole = replace(whole, keyframes=repick(whole.keyframes, memory.keyframes, KEYFRAMES))
                if whole.id in mine:
                    mine[whole.id] = replace(mine[whole.id], memory=whole)
                else:
                    merged.changed[whole.id] = whole
            merged.of[memory.id] = whole
        merged.new = list(mine.values())
        latest = {memory_id: e.memory for memory_id, e in mine.items()} | merged.changed
        merged.of = {part: latest.get(whole.id, whole) for part, whole in merged.of.items()}
        return merged

    def _around(self, engine: Engine, memory: Memory, merged: Merged, mine: dict[str, Entry]) -> list[Scene]:
        """Return the scenes nearest in time, stored ones and new ones, as they are now."""
        scope = Scope(robots=(memory.robot,), map_id=memory.map_id, source=memory.source)
        # Those of its camera among those of all.
        among = NEAREST * MOST_CAMERAS if memory.camera else NEAREST
        stored = [
            m for m in engine.nearest_in_time(memory.start_ns, scope, among) if m.camera == memory.camera
        ][:NEAREST]
        vectors = engine.vectors([m.id for m in stored])
        scenes = [
            scene_of(Entry(merged.changed.get(m.id, m), vectors[m.id]))
            for m in stored
            if m.id in vectors and m.id not in mine
        ]
        return scenes + [scene_of(entry) for entry in list(mine.values())[-NEAREST:]]


def repick(kept: Sequence[str], new: Sequence[str], limit: int) -> tuple[str, ...]:
    """Return the keyframes of a memory that goes on: how it began, then how it was last, then what else fits.

    :param kept: names of those that it has; the first shows how it began
    :param new: names of those of what it is extended by, best first
    :param limit: at most so many
    """
    wanted = [*kept[:1], *new[:1], *new[1:], *kept[1:]]
    return tuple(dict.fromkeys(wanted))[:limit]
