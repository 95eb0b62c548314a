"""Notes of a memory that comes from somebody else: nothing but its own files is read or deleted."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from remembr_ros.errors import StoreUnavailable
from remembr_ros.memory.write_ahead_log import ChangePlan, WriteAheadLog

NAME = '0' * 32


def test_a_folder_that_is_a_link_is_not_looked_into(tmp_path: Path) -> None:
    theirs = tmp_path / 'theirs'
    theirs.mkdir()
    for name in ('film.part', 'x.rows', f'{NAME}.part', f'{NAME}.rows'):
        (theirs / name).write_text('{}')
    before = sorted(theirs.iterdir())
    (tmp_path / 'undone').symlink_to(theirs)
    log = WriteAheadLog(tmp_path / 'undone')
    assert log.take_unfinished() == []
    assert 'is a link, which is not followed' in log.problem
    with pytest.raises(StoreUnavailable, match='is a link'):
        log.begin(ChangePlan(ids=('m1',)))
    assert sorted(theirs.iterdir()) == before


def test_files_of_other_names_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / 'film.part').write_text('{}')
    assert WriteAheadLog(tmp_path).take_unfinished() == []
    assert (tmp_path / 'film.part').exists()


@pytest.mark.parametrize(
    'make',
    [
        lambda path: path.symlink_to('/dev/zero'),
        lambda path: path.symlink_to('/etc/hostname'),
        os.mkfifo,
        lambda path: path.mkdir(),
        lambda path: (path.touch(), os.truncate(path, 2**40)),
    ],
    ids=['device', 'link', 'pipe', 'folder', 'vast'],
)
def test_what_is_no_file_of_bounded_size_is_told_and_not_read(
    tmp_path: Path, make: Callable[[Path], object]
) -> None:
    make(tmp_path / f'{NAME}.begun')
    log = WriteAheadLog(tmp_path)
    assert log.take_unfinished() == []
    assert 'move it away' in log.problem
    assert os.path.lexists(tmp_path / f'{NAME}.begun')
