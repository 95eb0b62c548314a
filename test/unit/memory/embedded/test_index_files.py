import errno
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembr_ros.memory.embedded.index_files import ENTRY, SCALE, VectorFile

D = 8


def run(rng: np.random.Generator, rows: int) -> np.ndarray:
    return (rng.integers(-SCALE, SCALE + 1, (rows, D)) * (1.0 / SCALE)).astype(np.float32)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(3)


def reopened(file: VectorFile) -> VectorFile:
    """Open what is on the disk, as after kill -9: nothing is saved first."""
    return VectorFile(file.folder, file.dimension)


def test_rows_come_back_in_any_choice_as_they_were_given(tmp_path: Path, rng: np.random.Generator) -> None:
    file = VectorFile(tmp_path, D)
    first, second = run(rng, 3), run(rng, 2)
    assert file.append(['a', 'b'], [1, 2], [first, second], [1, 1]) == 0
    assert file.append(['c'], [3], [run(rng, 1)], [1]) == 5
    assert np.allclose(file.read(np.arange(5)), np.concatenate([first, second]))
    assert np.allclose(file.read(np.array([0, 2, 4])), np.stack([first[0], first[2], second[1]]))
    assert file.read(np.array([], np.int64)).shape == (0, D)


@given(sizes=st.lists(st.integers(1, 5), min_size=1, max_size=8), data=st.data())
@settings(max_examples=60, deadline=None)
def test_what_was_cut_off_anywhere_is_dropped_and_the_rest_is_whole(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], data: st.DataObject
) -> None:
    folder, rng = tmp_path_factory.mktemp('vectors'), np.random.default_rng(1)
    file = VectorFile(folder, D)
    runs = [run(rng, size) for size in sizes]
    file.append([f'm{i}' for i in range(len(sizes))], sizes, runs, sizes)
    name, whole = data.draw(st.sampled_from([('entries.bin', ENTRY.itemsize), ('vectors.i16', 2 * D)]))
    size = (folder / name).stat().st_size
    kept = data.draw(st.integers(0, size))
    with (folder / name).open('rb+') as raw:
        raw.truncate(kept)
    file.close()
    opened = VectorFile(folder, D)
    n = len(opened.entries)
    ends = np.cumsum(sizes)
    assert n == (
        kept // whole if name == 'entries.bin' else int(np.searchsorted(ends, kept // whole, 'right'))
    )
    assert opened.rows == sum(sizes[:n])
    if n:
        assert np.allclose(opened.read(np.arange(opened.rows)), np.concatenate(runs[:n]))
    opened.append(['next'], [9], [runs[0]], [1])
    assert np.allclose(opened.read(np.arange(opened.rows - sizes[0], opened.rows)), runs[0])
    opened.close()


def test_what_a_power_failure_left_unwritten_is_noticed(tmp_path: Path, rng: np.random.Generator) -> None:
    file = VectorFile(tmp_path, D)
    file.append(['a'], [1], [run(rng, 2)], [1])
    file.save()
    file.append(['b', 'c'], [1, 1], [run(rng, 2), run(rng, 2)], [1, 2])
    with (tmp_path / 'vectors.i16').open('rb+') as raw:  # the blocks of b were never written
        raw.seek(2 * 2 * D)
        raw.write(bytes(2 * 2 * D))
    assert reopened(file).entries['id'].tolist() == [b'a', b'', b'c']


def test_nothing_of_the_erased_stays(tmp_path: Path, rng: np.random.Generator) -> None:
    file = VectorFile(tmp_path, D)
    secret = run(rng, 2)
    file.append(['secret', 'b'], [1, 2], [secret, run(rng, 1)], [1, 1])
    file.erase(0, 0)
    assert np.rint(secret * SCALE).astype('<i2').tobytes() not in (tmp_path / 'vectors.i16').read_bytes()
    assert b'secret' not in (tmp_path / 'entries.bin').read_bytes()
    again = reopened(file)
    assert again.entries['live'].tolist() == [0, 1]
    assert again.rows == 3


def test_of_what_was_erased_in_part_nothing_stays_either(tmp_path: Path, rng: np.random.Generator) -> None:
    file = VectorFile(tmp_path, D)
    file.append(['a', 'b'], [1, 2], [run(rng, 4), run(rng, 2)], [1, 1])
    vectors = tmp_path / 'vectors.i16'
    whole = vectors.read_bytes()
    vectors.write_bytes(bytes(2 * 2 * D) + whole[2 * 2 * D :])
    assert reopened(file).entries['live'].tolist() == [0, 1]
    assert vectors.read_bytes() == bytes(4 * 2 * D) + whole[4 * 2 * D :]


def test_what_could_not_be_erased_is_still_known_when_it_is_opened_again(
    tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = VectorFile(tmp_path, D)
    file.append(['a'], [1], [run(rng, 2)], [1])

    write = os.pwrite

    def full(handle: int, data: bytes, offset: int) -> int:
        if handle == file._vectors:
            raise OSError(errno.ENOSPC, 'No space left on device')
        return write(handle, data, offset)

    with monkeypatch.context() as patched:
        patched.setattr(os, 'pwrite', full)
        file.erase(0, 0)
    assert file.entries['live'].tolist() == [0]
    assert reopened(file).entries['live'].tolist() == [1]


def test_another_dimension_or_a_damaged_state_starts_anew(tmp_path: Path, rng: np.random.Generator) -> None:
    file = VectorFile(tmp_path, D)
    file.append(['a'], [1], [run(rng, 2)], [1])
    file.save()
    generation = file.generation
    assert VectorFile(tmp_path, D).generation == generation
    assert VectorFile(tmp_path, 2 * D).rows == 0
    (tmp_path / 'checkpoint.json').write_text('{"gener')
    assert VectorFile(tmp_path, 2 * D).generation != generation
