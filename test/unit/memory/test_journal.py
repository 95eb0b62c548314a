from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from remembr_ros.errors import StoreUnavailable
from remembr_ros.memory.engine import Entry
from remembr_ros.memory.journal import Change, Journal
from remembr_ros.memory.record import Memory

Make = Callable[..., Memory]


def test_a_change_is_pending_until_it_ends(tmp_path: Path, make: Make) -> None:
    vectors = np.random.default_rng(0).normal(size=(3, 8)).astype(np.float32)
    change = Change(((2, Entry(make(1), vectors)),), ((0, make(2, merged=7)),), ((1, 'm3'),))
    journal = Journal(tmp_path / 'journal')
    assert journal.pending is None
    journal.begin(change)
    found = Journal(tmp_path / 'journal').pending
    assert found is not None
    assert (found.updated, found.deleted) == (change.updated, change.deleted)
    ((number, entry),) = found.replaced
    assert (number, entry.memory) == (2, make(1))
    assert np.array_equal(entry.vectors, vectors)
    journal.end()
    assert journal.pending is None
    assert Journal(tmp_path / 'journal').pending is None
    assert not (tmp_path / 'journal').read_bytes()  # what was deleted cannot be read here


def test_a_note_that_was_cut_off_anywhere_is_none(tmp_path: Path, make: Make) -> None:
    path = tmp_path / 'journal'
    Journal(path).begin(Change(updated=((0, make(2)),)))
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        assert Journal(path).pending is None


def test_where_nothing_can_be_noted_that_is_said(tmp_path: Path, make: Make) -> None:
    journal = Journal(tmp_path / 'none' / 'journal')
    with pytest.raises(StoreUnavailable, match='make room'):
        journal.begin(Change(updated=((0, make(2)),)))
    assert journal.pending is None
