import json
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from remembr_ros.errors import StoreMismatch, StoreUnavailable
from remembr_ros.memory.embedded.journal import Change, Journal
from remembr_ros.memory.model.codec import to_plain
from remembr_ros.memory.model.engine import Entry
from remembr_ros.memory.model.record import Memory

Make = Callable[..., Memory]


def test_a_change_is_pending_until_it_ends(tmp_path: Path, make: Make) -> None:
    vectors = np.random.default_rng(0).normal(size=(3, 8)).astype(np.float32)
    change = Change(((2, Entry(make(1), vectors)),), ((0, make(2, merged=7)),), ((1, 'm3'),))
    journal = Journal(tmp_path / 'journal', 'a memory')
    assert journal.pending is None
    journal.begin(change)
    found = Journal(tmp_path / 'journal', 'a memory').pending
    assert found is not None
    assert (found.updated, found.deleted) == (change.updated, change.deleted)
    ((number, entry),) = found.replaced
    assert (number, entry.memory) == (2, make(1))
    assert np.array_equal(entry.vectors, vectors)
    journal.end()
    assert journal.pending is None
    assert Journal(tmp_path / 'journal', 'a memory').pending is None
    assert not (tmp_path / 'journal').read_bytes()  # what was deleted cannot be read here


def test_a_note_that_was_cut_off_anywhere_is_none(tmp_path: Path, make: Make) -> None:
    path = tmp_path / 'journal'
    Journal(path, 'a memory').begin(Change(updated=((0, make(2)),)))
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        assert Journal(path, 'a memory').pending is None


def test_where_nothing_can_be_noted_that_is_said(tmp_path: Path, make: Make) -> None:
    journal = Journal(tmp_path / 'none' / 'journal', 'a memory')
    with pytest.raises(StoreUnavailable, match='make room'):
        journal.begin(Change(updated=((0, make(2)),)))
    assert journal.pending is None


WHOLE = {'of': 'a memory', 'replaced': [], 'updated': [], 'deleted': []}
ROW = to_plain(Memory('m1', 'r', 1, 2, 'a door'))


def noted(value: object) -> bytes:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return b'%08x\n' % zlib.crc32(data) + data


@pytest.mark.parametrize(
    'content',
    [
        *(b'{"version": 3}', b'SQLite format 3\0', b'deadbeef\n{"other": 1}', b'\n\n'),
        *map(noted, [b'[' * 100_000, b'{', b'1' * 5_000, b'\xff\xfe', [], None, 7, 'text', {}]),
        *map(noted, [{**WHOLE, 'of': 'another'}, {**WHOLE, 'of': None}]),
        *map(noted, [{**WHOLE, 'more': 1}, {**WHOLE, 'deleted': {}}, {**WHOLE, 'deleted': [['0', 'm1']]}]),
        *(noted({**WHOLE, 'deleted': [[number, 'm1']]}) for number in (-1, 1.5, 2**64, None)),
        *(noted({**WHOLE, 'updated': [[0, row]]}) for row in ({}, [], {**ROW, 'caption': 5})),
        *(noted({**WHOLE, 'updated': [[0, {**ROW, 'end_ns': end}]]}) for end in ('2', 2**70, -1)),
        *(
            noted({**WHOLE, 'updated': [[0, {**ROW, name: float('nan')}]]})
            for name in ('travelled', 'merged')
        ),
        *(noted({**WHOLE, 'replaced': [[0, ROW, text, 8]]}) for text in ('?', 'AAAA', 5)),
        *(
            noted({**WHOLE, 'updated': [[0, {**ROW, 'facts': facts}]]})
            for facts in ([], {'size': float('nan')})
        ),
        noted({**WHOLE, 'replaced': [[0, ROW, '', 0]]}),
    ],
    ids=lambda content: f'{zlib.crc32(content):08x}',
)
def test_a_file_of_another_shape_is_said_and_stays(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / 'journal'
    path.write_bytes(content)
    with pytest.raises(StoreMismatch, match='move the file away'):
        Journal(path, 'a memory')
    assert path.read_bytes() == content


@pytest.mark.parametrize('size', range(0, 30, 3))
def test_zeros_after_a_power_cut_are_a_note_that_was_cut_off(tmp_path: Path, make: Make, size: int) -> None:
    path = tmp_path / 'journal'
    Journal(path, 'a memory').begin(Change(updated=((0, make(2)),)))
    whole = path.read_bytes()
    path.write_bytes(whole[:size] + bytes(len(whole) - size))
    assert Journal(path, 'a memory').pending is None
    assert not path.read_bytes()
