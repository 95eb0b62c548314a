"""One memory used by many threads at once, opened several times in one process, and closed while in use."""

import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from remembr_ros.errors import StoreUnavailable
from remembr_ros.memory.consolidation.rule import Consolidation
from remembr_ros.memory.embedded import passage_index
from remembr_ros.memory.matching.ranking import passages
from remembr_ros.memory.model.recall import Query
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.store import MemoryStore
from test.integration.durable_writer import check, memory

READERS = 8
SECONDS = 10.0


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / 'memory.db')


@pytest.fixture
def store(path: str) -> Iterator[MemoryStore]:
    with open_store(path, 'hashing-64') as opened:
        yield opened


def add(store: MemoryStore, *numbers: int) -> None:
    store.add([Observation(memory(number, 0, 1)) for number in numbers])


def assert_whole(store: MemoryStore, found: Memory) -> None:
    """A reader sees a memory as some writer left it: with the texts, the times and the place of one state."""
    number, version = int(found.id[1:]), int(found.caption.split('.')[0].rsplit('v', 1)[1])
    assert replace(found, keyframes=()) == memory(number, version, found.merged)


def test_a_writer_a_deleter_and_eight_readers_do_not_disturb_each_other(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passage_index, 'FEW', 200)
    monkeypatch.setattr(passage_index, 'GROWTH', 2)
    monkeypatch.setattr(passage_index, 'READ_AT_ONCE', 20)
    there: dict[str, list[int]] = {}
    lock, end = threading.Lock(), time.monotonic() + SECONDS
    written = 0

    def write() -> None:
        nonlocal written
        while time.monotonic() < end:
            versions = {written + i: 0 for i in range(5)}
            store.add([Observation(memory(n, v, 1)) for n, v in versions.items()])
            with lock:
                there.update({f'm{n}': [0, 1] for n in versions})
                written += 5
            changed = memory(written - 2, 1, 1)
            store.add([Observation(changed)])
            grown = memory(written - 5, 0, 2)
            store.engine.update([grown])
            with lock:
                there.update({changed.id: [1, 1], grown.id: [0, 2]})

    def delete() -> None:
        chance = random.Random(0)
        while time.monotonic() < end:
            with lock:
                settled = sorted(there)[:-10]
                chosen = chance.sample(settled, min(2, len(settled)))
            # The writer is not at these any more.
            chosen = [i for i in chosen if int(i[1:]) < written - 10]
            store.forget(chosen, leave_traces=True)
            with lock:
                for memory_id in chosen:
                    del there[memory_id]

    def read(seed: int) -> int:
        chance, count = random.Random(seed), 0
        while time.monotonic() < end:
            number = chance.randrange(written + 1)
            for hit in (
                *store.find(Query(f'thing{number}v0', limit=5)),
                *store.find(Query(place=(float(number), 0.0, 0.0), limit=5)),
                *store.find(Query(time_ns=memory(number, 0, 1).start_ns, limit=5)),
                *store.find(Query(limit=3)),
            ):
                assert_whole(store, hit.memory)
            assert store.count() >= 0
            for found in store.get([f'm{number}']):
                vectors = store.engine.vectors([found.id]).get(found.id)
                again = store.get([found.id])
                if vectors is not None and again and again[0].caption == found.caption:
                    assert len(vectors) == len(passages(found))
            count += 1
        return count

    with open_store(path, 'hashing-64') as store, ThreadPoolExecutor(READERS + 2) as pool:
        working = [pool.submit(write), pool.submit(delete), *(pool.submit(read, i) for i in range(READERS))]
        results = [future.result(timeout=SECONDS + 30.0) for future in working]
        assert written > 20
        assert min(filter(None, results)) > 3
    with open_store(path, 'hashing-64') as store:
        check(store, {memory_id: [state] for memory_id, state in there.items()})


def forever(act: Callable[[], object]) -> None:
    while True:
        act()


def test_a_store_that_is_closed_while_readers_are_inside_says_so(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passage_index, 'FEW', 20)  # so that vectors are read from the file
    store = open_store(path, 'hashing-64')
    add(store, *range(40))
    engine = store.engine
    going = threading.Barrier(READERS + 1)

    def read() -> None:
        going.wait(timeout=30.0)
        with pytest.raises(StoreUnavailable, match='closed'):
            forever(lambda: store.find(Query('thing3v0')))

    with ThreadPoolExecutor(READERS) as pool:
        readers = [pool.submit(read) for _ in range(READERS)]
        going.wait(timeout=30.0)
        store.close()
        for reader in readers:
            reader.result(timeout=30.0)
    store.close()  # again does no harm
    # Whoever was inside holds the engine; other files have its descriptors by now.
    others = [Path(path).with_name(f'other{i}').open('w+b') for i in range(20)]
    for use in (
        lambda: engine.put([]),
        lambda: engine.update([memory(3, 0, 5)]),
        lambda: engine.delete(['m3']),
        lambda: engine.vectors(['m3']),
        engine.vacuum,
        lambda: add(store, 99),
        store.count,
    ):
        with pytest.raises(StoreUnavailable, match='closed'):
            use()
    for other in others:
        with other:
            assert not other.read()


@pytest.mark.parametrize('first_closed', [0, 1])
def test_two_stores_on_one_file_share_what_they_know_and_close_in_any_order(
    path: str, first_closed: int
) -> None:
    stays = Consolidation(0.9)
    stores = [open_store(path, 'hashing-64'), open_store(path, 'hashing-64', consolidation=stays)]
    add(stores[0], 1)
    first = memory(50, 0, 1)
    for number in (0, 1):
        again = replace(first, id=f's{number}', start_ns=first.start_ns + number * 10**9)
        again = replace(again, end_ns=again.start_ns + 10**9)
        stores[1].add([Observation(again)])  # this one merges what repeats itself
        assert stores[0].count() == 2
    assert stores[0].get(['s0'])[0].merged == 2
    stores[0].add([Observation(replace(again, id='s2'))])  # this one does not
    assert stores[1].count() == 3
    assert stores[1].forget(['m1']) == 1  # and cleans the file, which both have open
    closer = threading.Thread(target=stores[first_closed].close)
    closer.start()
    closer.join(30.0)
    other = stores[1 - first_closed]
    with pytest.raises(StoreUnavailable, match='closed'):
        stores[first_closed].count()
    add(other, 2)
    assert [one.id for one in other.all()] == ['m2', 's0', 's2']
    other.close()
    with open_store(path) as alone:
        assert [one.id for one in alone.all()] == ['m2', 's0', 's2']


def test_stores_are_opened_and_closed_by_many_threads_at_once(path: str) -> None:
    with open_store(path, 'hashing-64'):
        pass

    def use(number: int) -> None:
        for turn in range(3):
            with open_store(path, 'hashing-64') as store:
                add(store, 10 * number + turn)
                assert store.get([f'm{10 * number + turn}'])

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(use, number) for number in range(4)]:
            done.result(timeout=60.0)
    with open_store(path) as store:
        assert store.count() == 12


def test_a_file_is_cleaned_while_another_collection_in_it_is_open(path: str, store: MemoryStore) -> None:
    add(store, 1, 2)
    with open_store(path, 'hashing-64', collection='others') as other:
        add(other, 3)
        assert store.forget(['m1']) == 1
        add(other, 5)
        assert [one.id for one in other.all()] == ['m3', 'm5']
    assert [one.id for one in store.all()] == ['m2']
    add(store, 4)
    assert store.forget(['m4']) == 1


def test_opening_a_memory_does_not_load_what_it_does_not_need(path: str) -> None:
    code = 'import sys; from remembr_ros.memory.opening import open_store; print(sorted(sys.modules))'
    loaded = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True).stdout
    assert not any(f"'{name}'" in loaded for name in ('torch', 'sentence_transformers', 'faiss', 'pymilvus'))
