"""Times at which nothing was seen: refused where they come in."""

import logging
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.errors import BagUnreadable, InvalidRequest, StoreUnavailable
from remembr_ros.memory.exchange.json_lines import Header, PortableMemory
from remembr_ros.memory.exchange.transfer import import_memories, write
from remembr_ros.memory.model.engine import Entry
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.model.storable import storable
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.pending.spool import Spool
from remembr_ros.memory.pending.writer import SpoolingWriter
from remembr_ros.memory.store import MemoryStore
from remembr_ros.timestamps import NS, parse_time
from test.patience import holds_within

Make = Callable[..., Memory]

DAY_NS = 86_400 * NS


def times(text: str) -> dict[str, int]:
    return {'start_ns': parse_time(text), 'end_ns': parse_time(text)}


@pytest.mark.parametrize(
    'stamp',
    [
        '2100-01-01',
        '2038-01-19T03:14:08',
        '9223372036',
        '1980-01-06',
        '1999-12-31T23:59:59',
        '1972-01-01',
        '0',
    ],
)
def test_a_time_of_no_robot_is_refused_with_what_to_do(make: Make, stamp: str) -> None:
    with pytest.raises(InvalidRequest, match=r'm7 .* from 2000-01-01 to 2038-01-19.*check the clock'):
        storable(make(7, **times(stamp)))


@pytest.mark.parametrize(
    'stamp', ['2038-01-19T03:14:07.999', '2000-01-01', '2026-10-17', '0.000000001', '86400']
)
def test_times_of_robots_and_of_simulations_are_stored(make: Make, stamp: str) -> None:
    memory = make(7, **times(stamp))
    assert storable(memory) == memory


def test_a_simulation_may_begin_at_zero(make: Make) -> None:
    assert storable(make(7, start_ns=0)).start_ns == 0


def test_a_memory_that_ends_after_messages_end_is_refused(make: Make) -> None:
    with pytest.raises(InvalidRequest, match='2038'):
        storable(make(7, end_ns=parse_time('2038-01-20')))


def test_no_way_in_takes_a_time_after_2038(store: MemoryStore, make: Make, tmp_path: Path) -> None:
    late = make(1, **times('2100-01-01'))

    def away(_: object) -> list[Memory]:
        raise StoreUnavailable('the server is away')

    spooling = SpoolingWriter(away, Spool(tmp_path / 'spool'))
    with pytest.raises(InvalidRequest, match='2038'):
        spooling.add([Observation(late)])
    spooling.close()
    with pytest.raises(InvalidRequest, match='2038'):
        store.add([Observation(make(0)), Observation(late)])
    with pytest.raises(InvalidRequest, match='2038'):
        store.put([Entry(late, np.ones((1, 64), np.float32))])
    assert store.all() == []


def test_an_import_leaves_out_what_makes_no_sense_and_says_so(
    store: MemoryStore, make: Make, tmp_path: Path
) -> None:
    good = [make(i) for i in range(70)]
    bad = [make(100 + i, **times('2100-01-01')) for i in range(65)]
    write(tmp_path / 'm.jsonl', Header(count=135), map(PortableMemory, [*good[:3], *bad, *good[3:]]))
    message = '65 memories are left out, the first because memory m100 .*2038.* The other 70 are stored'
    for _ in range(2):
        with pytest.raises(BagUnreadable, match=message):
            import_memories(store, tmp_path / 'm.jsonl')
        assert store.all() == good


def test_one_that_came_into_a_spool_all_the_same_does_not_stop_the_others(
    make: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    spool = Spool(tmp_path / 'spool')
    spool.append([Observation(make(1, **times('2100-01-01'))), Observation(make(2))])
    spool.close()
    with open_store(str(tmp_path / 'm.db'), HashingEmbedder(64)) as store, caplog.at_level(logging.ERROR):
        spooling = SpoolingWriter(store.add, Spool(tmp_path / 'spool'))
        assert holds_within(20.0, lambda: not spooling.state().spooled)
        spooling.close()
        assert [memory.id for memory in store.all()] == ['m2']
    assert 'memory m1 can never be stored' in caplog.text
