import fcntl
from io import FileIO
from pathlib import Path

import pytest

from remembr_ros.memory.keyframes.files import keyframe_name, read, remove_abandoned, write_whole

JPEG = b'\xff\xd8jpeg'


def test_what_is_being_written_is_not_taken_for_abandoned_at_any_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process looks before the file is locked, once it is, and when it is written."""
    lock, looks = fcntl.flock, []

    def locking(file: FileIO | int, how: int) -> None:
        if how == fcntl.LOCK_EX:
            looks.append(how)
            if len(looks) < 3:
                remove_abandoned(tmp_path)
            lock(file, how)
            remove_abandoned(tmp_path)
        else:
            lock(file, how)

    monkeypatch.setattr(fcntl, 'flock', locking)
    name = keyframe_name(JPEG)
    write_whole(tmp_path, name, JPEG)
    assert read(tmp_path, name) == JPEG
    assert len(looks) == 3
    assert [file.name for file in tmp_path.rglob('*') if file.is_file()] == [name]


def test_what_is_abandoned_is_removed(tmp_path: Path) -> None:
    name = keyframe_name(JPEG)
    write_whole(tmp_path, name, JPEG)
    (tmp_path / name[:2] / 'half.part').write_bytes(b'\xff')
    remove_abandoned(tmp_path)
    assert [file.name for file in tmp_path.rglob('*') if file.is_file()] == [name]
