"""Turns observations into stored memories: vectors, keyframes, merging."""

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

import numpy as np

from remembr_ros.embedding.embedder import MOST_BYTES, Embedder, RememberedEmbedder
from remembr_ros.memory.consolidation.merging import merge_stays
from remembr_ros.memory.consolidation.rule import Consolidation
from remembr_ros.memory.deeds.object_ids import (
    names_objects,
    with_object_ids,
    with_states,
    with_stored_states,
)
from remembr_ros.memory.keyframes.folder import KeyframeFolder
from remembr_ros.memory.matching.ranking import passages
from remembr_ros.memory.model.engine import Engine, Entry
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.model.record import OBJECT, Memory, Observation
from remembr_ros.memory.model.storable import storable
from remembr_ros.memory.objects.known import known_objects

Dropping = Callable[[Engine, Collection[str]], AbstractContextManager[None]]


class Intake:
    """Stores observations; one at a time may be at it.

    :param embedder: returns the embedder, which is loaded when the first new memory comes
    :param keyframes: where images are kept
    :param rule: returns when a stay goes on; None: everything is a memory of its own
    """

    def __init__(
        self,
        embedder: Callable[[], Embedder],
        keyframes: KeyframeFolder,
        rule: Callable[[], Consolidation] | None,
    ) -> None:
        self._embedder = embedder
        self._remembered: RememberedEmbedder | None = None
        self.vector_bytes = MOST_BYTES
        """Of vectors that are kept for when their texts come again; set before anything is stored."""
        self._keyframes = keyframes
        self._rule = rule

    def store(
        self,
        engine: Engine,
        observations: Sequence[Observation],
        dropping: Dropping,
        gone: Sequence[str] = (),
    ) -> list[Memory]:
        """Store memories; storing one again changes nothing.

        :param dropping: deletes keyframes after what happens meanwhile, where no memory names them any more
        :param gone: ids of memories that are deleted with it
        :return: the memories as stored, in the order given
        :raises InvalidRequest: a memory makes no sense; nothing is stored
        :raises StoreUnavailable: the database does not work; calling again with the same memories is safe
        """
        observations = [replace(o, memory=storable(o.memory)) for o in observations]
        last = {o.memory.id: o for o in observations}  # of two with one id the last counts
        states: dict[str, Memory] = {}
        if any(names_objects(o.memory) for o in last.values()):
            things = known_objects(engine.select(Scope(source=OBJECT)))
            stored_so = {memory.id: memory for memory in engine.get(list(last))}
            last = {
                name: replace(o, memory=with_object_ids(o.memory, things, stored_so.get(name)))
                for name, o in last.items()
            }
            states = {state.id: state for state in with_states((o.memory for o in last.values()), things)}
            last = {name: Observation(memory) for name, memory in states.items()} | last
        known = {memory.id: memory for memory in engine.get(list(last))}
        last = {
            name: replace(o, memory=with_stored_states(o.memory, states.get(name, known.get(name))))
            for name, o in last.items()
        }
        new = [o for memory_id, o in last.items() if not self._is_stored(o, known.get(memory_id))]
        # An object is rewritten often, and its sentence seldom changes: its vectors stay, which are the cost.
        fresh = [o for o in new if not _says_the_same(o.memory, known.get(o.memory.id))]
        entries = embedded([o.memory for o in fresh], self._remembering()) if fresh else []
        written = {o.memory.id: self._with_keyframes(o) for o in new}
        kept = [replace(entry, memory=written[entry.memory.id]) for entry in entries]
        new_text = {entry.memory.id for entry in entries}
        changed = [memory for name, memory in written.items() if name not in new_text]
        before = [known[name] for name in written if name in known] + [*written.values()]
        stored = known | written
        if self._rule and kept:
            merged = merge_stays(engine, kept, self._rule())
            kept, changed = merged.new, [*changed, *merged.changed.values()]
            before += engine.get(list(merged.changed)) if merged.changed else []
            stored |= merged.of
        before += engine.get(gone) if gone else []
        after = [*changed, *(entry.memory for entry in kept)]
        with dropping(engine, _named(before) - _named(after)):
            if changed or kept or gone:
                engine.put(kept, changed, gone)
        stored |= {entry.memory.id: entry.memory for entry in kept}
        return [stored[o.memory.id] for o in observations]

    def _remembering(self) -> Embedder:
        if self._remembered is None:
            self._remembered = RememberedEmbedder(self._embedder(), self.vector_bytes)
        return self._remembered

    def _with_keyframes(self, observation: Observation) -> Memory:
        if not observation.images:
            return observation.memory
        return replace(observation.memory, keyframes=self._keyframes.put(observation.images))

    def _is_stored(self, observation: Observation, known: Memory | None) -> bool:
        """Tell whether the store has an observation, with its keyframes or as the first one of a stay."""
        memory = observation.memory
        if known is None:
            return False
        if observation.images:
            if known.merged == memory.merged and len(known.keyframes) != len(observation.images):
                return False
            memory = replace(memory, keyframes=known.keyframes)
        if self._rule and known.merged > memory.merged:
            memory = replace(memory, end_ns=known.end_ns, merged=known.merged, travelled=known.travelled)
            memory = replace(memory, keyframes=known.keyframes)
        return known == memory


def _says_the_same(memory: Memory, known: Memory | None) -> bool:
    """Tell whether an object's passages, and so its vectors, are those that are stored."""
    if known is None or memory.source != OBJECT:
        return False
    return (memory.caption, memory.scene_text) == (known.caption, known.scene_text)


def _named(memories: Sequence[Memory]) -> set[str]:
    return {name for memory in memories for name in memory.keyframes}


def embedded(memories: Sequence[Memory], embedder: Embedder) -> list[Entry]:
    """Return memories with the vectors of their passages."""
    texts = [[passage.text for passage in passages(memory)] or [''] for memory in memories]
    vectors = embedder.embed([text for of_one in texts for text in of_one])
    ends = np.cumsum([len(text) for text in texts])
    return list(map(Entry, memories, np.split(vectors, ends[:-1])))
