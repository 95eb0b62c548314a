import errno
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembr_ros.memory.embedded.index_files import SCALE, SLOT, Damaged, IndexFiles
from remembr_ros.memory.embedded.scalar_index import Columns
from remembr_ros.memory.matching.bm25 import WordIndex
from remembr_ros.memory.model.record import Memory

D = 8
NAMES = ('slots.bin', 'memories.bin', 'terms.txt', 'passages.i16')
Make = Callable[..., Memory]


def run(rng: np.random.Generator, rows: int) -> np.ndarray:
    return (rng.integers(-SCALE, SCALE + 1, (rows, D)) * (1.0 / SCALE)).astype(np.float32)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(3)


class Written:
    """Memories in files, and what was written."""

    def __init__(self, folder: Path) -> None:
        self.files = IndexFiles(folder, D)
        self.columns = Columns()
        self.words = WordIndex()
        self.memories: list[Memory] = []
        self.runs: list[np.ndarray] = []

    def add(self, memories: list[Memory], runs: list[np.ndarray]) -> None:
        known = len(self.words.terms)
        slots = [self.columns.add(memory, volume=slot % 3) for slot, memory in enumerate(memories)]
        postings = []
        for slot, memory in zip(slots, memories, strict=True):
            of_one, length = self.words.add(slot, memory.caption)
            self.columns.table[slot]['length'], self.columns.table[slot]['paragraphs'] = length, 1
            postings.append(of_one)
        self.files.add_terms(self.words.terms[known:])
        self.files.append(self.columns.table, slots, memories, postings, runs)
        self.memories += memories
        self.runs += runs

    def reopened(self) -> tuple[IndexFiles, np.ndarray, set[int]]:
        """Open what is on the disk, as after kill -9: nothing is saved first."""
        files = IndexFiles(self.files.folder, D)
        slots, terms, postings, volumes = files.load(0)
        live = np.flatnonzero(slots['live'])
        assert [files.memory(slots[slot]) for slot in live] == [self.memories[slot] for slot in live]
        for slot in live:
            first, rows = int(slots['first'][slot]), int(slots['rows'][slot])
            assert np.allclose(files.read(np.arange(first, first + rows)), self.runs[slot])
        again = WordIndex()
        again.load(terms, live, slots['length'][live], slots['words'][live], postings)
        of_these = WordIndex()
        for slot in live.tolist():
            of_these.add(slot, self.memories[slot].caption)
        if len(live):
            found = [words._scored('door 1 2 3 seven')[0] for words in (again, of_these)]
            assert np.allclose(*found)
        return files, slots, volumes


@pytest.fixture
def written(tmp_path: Path, make: Make, rng: np.random.Generator) -> Written:
    found = Written(tmp_path)
    found.add([make(i, caption=f'The door {i}.') for i in range(4)], [run(rng, 1 + i) for i in range(4)])
    return found


def test_a_slot_lies_within_a_page() -> None:
    assert 4096 % SLOT.itemsize == 0


def test_rows_come_back_in_any_choice_as_they_were_given(written: Written) -> None:
    rows = np.concatenate(written.runs)
    assert np.allclose(written.files.read(np.arange(10)), rows)
    assert np.allclose(written.files.read(np.array([0, 2, 4])), rows[[0, 2, 4]])
    assert written.files.read(np.array([], np.int64)).shape == (0, D)


def test_all_comes_back_and_more_can_be_written(
    written: Written, make: Make, rng: np.random.Generator
) -> None:
    written.add([make(7, caption='Seven.')], [run(rng, 2)])
    _, slots, volumes = written.reopened()
    assert slots['live'].all()
    assert volumes == set()


@given(st.sampled_from(NAMES), st.data())
@settings(max_examples=150, deadline=None)
def test_what_was_cut_off_or_flipped_anywhere_is_known_and_the_rest_is_whole(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    folder, rng = tmp_path_factory.mktemp('index'), np.random.default_rng(1)
    written = Written(folder)
    texts = [f'The door {i} is the {i * i}th.' for i in range(5)]
    memories = [Memory(f'm{i}', 'r', i, i + 1, text) for i, text in enumerate(texts)]
    written.add(memories, [run(rng, 1 + i % 3) for i in range(5)])
    written.files.close()
    path = folder / name
    content = bytearray(path.read_bytes())
    if data.draw(st.booleans()):
        content = content[: data.draw(st.integers(0, len(content) - 1))]
    else:
        content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(content)
    files = IndexFiles(folder, D)
    try:
        slots, *_, volumes = files.load(5)
    except Damaged:
        return
    finally:
        files.close()
    lost = np.flatnonzero(~slots['live'])
    assert {int(slot) % 3 for slot in lost} == volumes
    again, _, more = written.reopened()
    assert not more
    again.close()


def test_what_a_power_failure_left_unwritten_is_noticed(written: Written) -> None:
    with (written.files.folder / 'passages.i16').open('rb+') as raw:  # the blocks of the second never were
        raw.seek(2 * D)
        raw.write(bytes(2 * 2 * D))
    _, slots, volumes = written.reopened()
    assert slots['live'].tolist() == [True, False, True, True]
    assert volumes == {1}


def traces(written: Written) -> list[bytes]:
    vectors = np.rint(written.runs[2] * SCALE).astype('<i2').tobytes()
    return [vectors, b'The door 2', b'm2']


def test_nothing_of_the_erased_stays(written: Written) -> None:
    written.files.erase(written.columns.table, 2)
    for name in NAMES:
        content = (written.files.folder / name).read_bytes()
        assert not any(trace in content for trace in traces(written))
    files, slots, volumes = written.reopened()
    assert slots['live'].tolist() == [True, True, False, True]
    assert files.rows == 10
    assert volumes == set()


def test_of_what_was_erased_in_part_nothing_stays_either(written: Written) -> None:
    vectors = written.files.folder / 'passages.i16'
    whole = vectors.read_bytes()
    vectors.write_bytes(whole[: 3 * 2 * D] + bytes(2 * D) + whole[4 * 2 * D :])
    assert written.reopened()[1]['live'].tolist() == [True, True, False, True]
    assert vectors.read_bytes() == whole[: 3 * 2 * D] + bytes(3 * 2 * D) + whole[6 * 2 * D :]


def test_what_could_not_be_erased_is_still_known_when_it_is_opened_again(
    written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int, data: bytes, offset: int) -> int:
        raise OSError(errno.ENOSPC, 'No space left on device')

    with monkeypatch.context() as patched:
        patched.setattr(os, 'pwrite', full)
        with pytest.raises(OSError, match='No space'):
            written.files.erase(written.columns.table, 2)
    assert written.columns.table['live'].tolist() == [True, True, False, True]
    assert written.reopened()[1]['live'].all()


def test_a_memory_that_grows_moves_and_leaves_nothing(written: Written, make: Make) -> None:
    for caption in ('The door 2.', 'A long text. ' * 100, 'The door 2.'):
        merged = make(2, caption='The door 2.', keyframes=(caption,), merged=3)
        written.memories[2] = merged
        written.files.rewrite(written.columns.table, 2, merged)
        assert written.reopened()[1]['live'].all()
    assert b'A long text' not in (written.files.folder / 'memories.bin').read_bytes()


def test_of_a_replacement_that_was_cut_off_the_newer_counts(
    written: Written, make: Make, rng: np.random.Generator
) -> None:
    written.add([make(1, caption='Another door.')], [run(rng, 1)])
    assert written.reopened()[1]['live'].tolist() == [True, False, True, True, True]


def test_terms_that_are_written_anew_keep_their_numbers(written: Written) -> None:
    written.files.erase(written.columns.table, 2)
    written.words.remove(2)
    written.words.purge()
    written.files.replace_terms(written.words.terms)
    assert (written.files.folder / 'terms.txt').read_text().split().count('2') == 0
    assert written.reopened()[1]['live'].tolist() == [True, True, False, True]
