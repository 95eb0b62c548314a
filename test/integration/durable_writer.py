"""A process that writes to a memory until it is killed, and checks before that what the one before it left.

    python -m test.integration.durable_writer PATH SEED LEFT STAYS

LEFT is JSON: per id the states that are allowed, null: it is not there. Lines on standard output, each a word
and JSON: opening; checked (what is there); then for each write
'begins' with what becomes of which id, and 'done' when it returned; 'closing' at the end if STAYS is not 1.
"""

import json
import random
import sqlite3
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace

import numpy as np

from remembr_ros.errors import StoreUnavailable
from remembr_ros.geometry import Pose
from remembr_ros.images import encode_jpeg
from remembr_ros.memory.embedded import index, passage_index, sqlite_file
from remembr_ros.memory.matching.ranking import passages
from remembr_ros.memory.model.recall import ANYTHING, Query
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.store import MemoryStore

State = list[int] | None
"""Version of the caption and merged; None: not there."""

SECOND = 10**9
WRITES = 60
"""Of a round that ends by itself."""


def memory(number: int, version: int, merged: int) -> Memory:
    sentences = [f'Room number{number} has a thing{number}v{version}.', f'A lamp is above it {number}.']
    start_ns = (1 + number) * 10 * SECOND
    return Memory(
        f'm{number}',
        'r',
        start_ns,
        start_ns + merged * SECOND // 100,
        ' '.join(sentences[: 1 + version % 2]),
        Pose(float(number), 0.0),
        merged=merged,
    )


def image(number: int) -> bytes:
    return encode_jpeg(np.full((8, 8, 3), number % 256, np.uint8))


def make_small(put: Callable[[object, str, object], None] = setattr) -> None:
    """Let clusters be built, the log be put into the file, and the cache be saved with few memories."""
    put(sqlite_file, 'CHECKPOINT', 8)
    put(index, 'SAVED_EACH', 20)
    put(passage_index, 'FEW', 60)
    put(passage_index, 'GROWTH', 2)
    put(passage_index, 'READ_AT_ONCE', 20)


def opened(path: str, deadline_sec: float = 60.0) -> MemoryStore:
    """Open the memory of a killed process, which may still be ending."""
    deadline = time.monotonic() + deadline_sec
    while True:
        try:
            return open_store(path, 'hashing-64')
        except StoreUnavailable as error:
            if time.monotonic() > deadline or 'another process has it' not in str(error):
                raise


def check(store: MemoryStore, left: Mapping[str, Sequence[State]]) -> dict[str, State]:
    """Return the state of every memory, after looking at it in every way."""
    there = store.all()
    states: dict[str, State] = dict.fromkeys(left)
    for one in there:
        version = int(one.caption.split('.')[0].rsplit('v', 1)[1])
        assert one.id not in states or states[one.id] is None, f'{one.id} is there twice'
        states[one.id] = [version, one.merged]
        expected = memory(int(one.id[1:]), version, one.merged)
        assert one.caption == expected.caption
        assert one.end_ns == expected.end_ns
    assert set(states) == set(left), set(states) ^ set(left)
    wrong = {i: (state, left[i]) for i, state in states.items() if state not in left[i]}
    assert not wrong, f'is, may be: {wrong}'
    _check_vectors(store, there)
    _check_rows(store, there)
    _check_recall(store, there)
    return states


def _check_vectors(store: MemoryStore, there: Sequence[Memory]) -> None:
    vectors = store.engine.vectors([one.id for one in there])
    for one in there:
        expected = store.embedder.embed([passage.text for passage in passages(one)])
        assert vectors[one.id].shape == expected.shape, one
        assert np.allclose(vectors[one.id], expected, atol=2e-3), one


def _check_rows(store: MemoryStore, there: Sequence[Memory]) -> None:
    """What is in the file itself: each memory once, with its vectors, and no others; and it is whole."""
    path, name = store.info().uri, store.info().collection
    with closing(sqlite3.connect(f'file:{path}?mode=ro', uri=True)) as file:
        records = dict(file.execute(f'SELECT number, id FROM "{name}"'))
        vectors = {number for (number,) in file.execute(f'SELECT number FROM "{name} vectors"')}
        (integrity,) = file.execute('PRAGMA integrity_check').fetchone()
    assert integrity == 'ok'
    assert sorted(records.values()) == sorted(one.id for one in there)
    assert records.keys() == vectors


def _check_recall(store: MemoryStore, there: Sequence[Memory]) -> None:
    assert store.count() == len(there) == store.info().memories
    if there:
        assert store.find(Query(limit=1))[0].memory.id == max(there, key=lambda one: (one.end_ns, one.id)).id
    for one in random.Random(0).sample(list(there), min(8, len(there))):
        assert store.find(Query(one.caption, limit=1))[0].memory == one
        words = f'thing{one.caption.split("thing")[1].split(".")[0]}'
        assert store.engine.with_words(words, ANYTHING, 1) == [one.id]
        assert store.find(Query(place=(float(one.id[1:]), 0.0, 0.0), limit=1))[0].memory == one
        assert store.find(Query(time_ns=one.start_ns, limit=1))[0].memory == one
        if one.keyframes:
            assert store.keyframe(one.id) == image(int(one.id[1:]))


class Writer:
    """Changes a memory at random."""

    def __init__(self, store: MemoryStore, states: Mapping[str, State], seed: int) -> None:
        self._store = store
        self._there = {int(i[1:]): list(state) for i, state in states.items() if state}
        self._next = 1 + max((int(i[1:]) for i in states), default=-1)
        self._random = random.Random(seed)

    def write(self) -> None:
        kinds = [(self._add, 5), (self._replace, 4), (self._extend, 5), (self._forget, 2), (self._erase, 0.3)]
        action = self._random.choices(*zip(*kinds, strict=True))[0] if len(self._there) > 9 else self._add
        action()

    def _add(self) -> None:
        count = self._random.choice([1, 1, 1, 12])
        numbers = range(self._next, self._next + count)
        self._next += count
        self._put({number: [0, 1] for number in numbers})

    def _replace(self) -> None:
        chosen = self._some(self._random.choice([1, 6]))
        self._put({n: [self._there[n][0] + 1, self._there[n][1]] for n in chosen})

    def _put(self, states: dict[int, list[int]]) -> None:
        tell('begins', {f'm{number}': state for number, state in states.items()})
        self._store.add([Observation(memory(n, *state), (image(n),)) for n, state in states.items()])
        self._there |= states
        tell('done')

    def _extend(self) -> None:
        states = {n: [self._there[n][0], self._there[n][1] + 1] for n in self._some(3)}
        tell('begins', {f'm{number}': state for number, state in states.items()})
        known = {one.id: one.keyframes for one in self._store.get([f'm{n}' for n in states])}
        changed = [memory(n, *state) for n, state in states.items()]
        self._store.engine.update([replace(one, keyframes=known[one.id]) for one in changed])
        self._there |= states
        tell('done')

    def _forget(self, *, leave_traces: bool = True) -> None:
        chosen = self._some(3)
        tell('begins', {f'm{number}': None for number in chosen})
        self._store.forget([f'm{number}' for number in chosen], leave_traces=leave_traces)
        for number in chosen:
            del self._there[number]
        tell('done')

    def _erase(self) -> None:
        self._forget(leave_traces=False)

    def _some(self, count: int) -> list[int]:
        return self._random.sample(sorted(self._there), count)


def tell(word: str, value: object = None) -> None:
    sys.stdout.write(f'{word} {json.dumps(value)}\n')
    sys.stdout.flush()


def main() -> None:
    path, seed, left, stays = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]), sys.argv[4] == '1'
    make_small()
    tell('opening')
    store = opened(path)
    states = check(store, left)
    tell('checked', states)
    writer = Writer(store, states, seed)
    for _ in range(10**9 if stays else WRITES):
        writer.write()
    tell('closing')
    store.close()
    tell('closed')


if __name__ == '__main__':
    assert 'torch' not in sys.modules
    main()
