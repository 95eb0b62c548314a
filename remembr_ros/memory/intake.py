"""What becomes of observations: vectors, keyframes, stays, and memories in a database."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from remembr_ros.embedding.embedder import Embedder
from remembr_ros.memory import schema
from remembr_ros.memory.engine import Engine, Entry
from remembr_ros.memory.keyframes import KeyframeFolder
from remembr_ros.memory.record import Memory, Observation
from remembr_ros.memory.sentences import passages
from remembr_ros.memory.stays import Stays


class Intake:
    """Stores observations; one at a time may be at it.

    :param embedder: returns the embedder, which is loaded when the first new memory comes
    :param keyframes: where images are kept
    :param stays: merges what repeats itself; None: everything is a memory of its own
    """

    def __init__(
        self, embedder: Callable[[], Embedder], keyframes: KeyframeFolder, stays: Stays | None
    ) -> None:
        self._embedder = embedder
        self._keyframes = keyframes
        self._stays = stays

    def store(self, engine: Engine, observations: Sequence[Observation]) -> tuple[list[Memory], list[Memory]]:
        """Store memories; storing one again changes nothing.

        :return: the memories as stored, in the order given; and the former ones in whose place some are
        :raises InvalidRequest: a memory makes no sense; nothing is stored
        :raises StoreUnavailable: the database does not work; calling again with the same memories is safe
        """
        observations = [replace(o, memory=schema.storable(o.memory)) for o in observations]
        last = {o.memory.id: o for o in observations}  # of two with one id the last counts
        known = {memory.id: memory for memory in engine.get(list(last))}
        new = [o for memory_id, o in last.items() if not self._is_stored(o, known.get(memory_id))]
        entries = embedded([o.memory for o in new], self._embedder()) if new else []
        kept = [
            replace(entry, memory=replace(entry.memory, keyframes=self._keyframes.put(o.images)))
            if o.images
            else entry
            for entry, o in zip(entries, new, strict=True)
        ]
        stored = dict(known)
        if self._stays:
            merged = self._stays.merge(engine, kept)
            kept = merged.new
            engine.update(list(merged.changed.values()))
            stored |= merged.of
        if kept:
            engine.put(kept)
        stored |= {entry.memory.id: entry.memory for entry in kept}
        replaced = [known[entry.memory.id] for entry in kept if entry.memory.id in known]
        return [stored[o.memory.id] for o in observations], replaced

    def _is_stored(self, observation: Observation, known: Memory | None) -> bool:
        """Tell whether the store has an observation, with its keyframes or as the first one of a stay."""
        memory = observation.memory
        if known is None:
            return False
        if observation.images:
            if known.merged == memory.merged and len(known.keyframes) != len(observation.images):
                return False
            memory = replace(memory, keyframes=known.keyframes)
        if self._stays and known.merged > memory.merged:
            memory = replace(memory, end_ns=known.end_ns, merged=known.merged, travelled=known.travelled)
            memory = replace(memory, keyframes=known.keyframes)
        return known == memory


def embedded(memories: Sequence[Memory], embedder: Embedder) -> list[Entry]:
    """Return memories with the vectors of their passages."""
    texts = [[passage.text for passage in passages(memory)] or [''] for memory in memories]
    # Each text once: a robot that drives slowly sees, and says, the same again.
    unique = list(dict.fromkeys(text for of_one in texts for text in of_one))
    vectors = dict(zip(unique, embedder.embed(unique), strict=True))
    return [
        Entry(memory, np.stack([vectors[text] for text in of_one]))
        for memory, of_one in zip(memories, texts, strict=True)
    ]
