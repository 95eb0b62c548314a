"""Recordings as people have them: merged, compressed, copied in part, left by a crash, fetched halfway."""

import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from remembr_ros.bags.reader import open_bag
from remembr_ros.errors import BagUnreadable
from remembr_ros.images import Frame

from .conftest import jpeg

S = 1_000_000_000


def write(out: Any, t0: int, count: int = 24) -> Any:
    with out:
        for number in range(count):
            out.compressed('/image', t0 + number * S)
            out.tf(t0 + number * S, 'map', 'base_link', (number, 0, 0))
    return out


def seen(path: Path) -> tuple[int, int]:
    """Return how many images can be decoded, and how many poses there are."""
    with open_bag(path) as reader:
        events = list(reader.events())
    frames = [event for event in events if isinstance(event, Frame)]
    assert all(frame.decode().size for frame in frames)
    return len(frames), len(events) - len(frames)


# mcap


def with_header(out: Any, profile: bytes) -> Path:
    """Return an mcap file with another profile, its header as long as before."""
    content = out.file.read_bytes()
    end = 17 + int.from_bytes(content[9:17], 'little')
    new = len(profile).to_bytes(4, 'little') + profile
    rest = end - 17 - len(new) - 4
    out.file.write_bytes(content[:17] + new + rest.to_bytes(4, 'little') + b'x' * rest + content[end:])
    return out.file


@pytest.mark.parametrize('profile', [b'', b'ros1', b'px4', b'of-somebody'])
def test_the_profile_does_not_matter(bag: Any, t0: int, profile: bytes) -> None:
    assert seen(with_header(write(bag(), t0), profile)) == (24, 24)


@pytest.mark.parametrize('schema', [b'ros2msg', b'protob\xff'])
def test_channels_of_others_are_left_out(bag: Any, t0: int, schema: bytes) -> None:
    with bag() as out:
        out.other('/status', 'std_msgs/msg/String', 'json', b'{"all": "well"}', t0)
        out.compressed('/image', t0 + 1)
        out.tf(t0 + 2, 'map', 'base_link')
    content = out.file.read_bytes()
    at = content.rindex(b'std_msgs/msg/String', 0, content.rindex(b'/status'))
    found = content.index(b'ros2msg', at)
    assert content[found : found + 7] == b'ros2msg'
    out.file.write_bytes(content[:found] + schema + content[found + 7 :])
    assert seen(out.file) == (1, 1)
    with pytest.raises(BagUnreadable, match=r'no topic.*of no use: /status \(json\)'):
        open_bag(out.file, image_topic='/status')


def test_an_mcap_of_ros_1_is_read(bag: Any, t0: int) -> None:
    old = bag('ros1')
    with bag() as out:
        for number in range(3):
            header = old.header(t0 + number * S, 'cam')
            pixels = np.frombuffer(jpeg(), np.uint8)
            image = old.make('sensor_msgs/msg/CompressedImage', header, 'jpeg', pixels)
            data = bytes(old.store.serialize_ros1(image, image.__msgtype__))
            out.other('/image', 'sensor_msgs/msg/CompressedImage', 'ros1', data, t0 + number * S)
    assert seen(with_header(out, b'ros1')) == (3, 0)


# Compression


@pytest.mark.parametrize('kind', ['mcap', 'sqlite3'])
@pytest.mark.parametrize('compression', ['message', 'file'])
@pytest.mark.parametrize('bare', [True, False])
def test_what_was_compressed_is_read_without_metadata(
    bag: Any, t0: int, kind: str, compression: str, bare: bool
) -> None:
    out = write(bag(kind, compression), t0)
    (out.path / 'metadata.yaml').unlink()
    assert seen(out.file if bare else out.path) == (24, 24)


def test_of_a_file_that_was_being_compressed_the_whole_one_is_read(bag: Any, t0: int) -> None:
    out = write(bag('mcap'), t0)
    (out.path / 'metadata.yaml').unlink()
    out.file.with_name(f'{out.file.name}.zstd').write_bytes(b'\x28\xb5\x2f\xfd cut off')
    assert seen(out.path) == (24, 24)


def test_unpacked_files_are_gone_afterwards(
    bag: Any, t0: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr('tempfile.tempdir', str(tmp_path))
    out = write(bag('sqlite3', 'file'), t0)
    with open_bag(out.path) as reader:
        next(reader.events())
        assert list(tmp_path.glob('remembr-bag-*'))
    assert not list(tmp_path.glob('remembr-bag-*'))


def test_a_compression_that_is_not_known_is_named(bag: Any, t0: int) -> None:
    out = write(bag('mcap', 'file'), t0)
    metadata = out.path / 'metadata.yaml'
    metadata.write_text(metadata.read_text().replace('compression_format: zstd', 'compression_format: lz4'))
    with pytest.raises(BagUnreadable, match="'lz4' is not supported"):
        open_bag(out.path)


# SQLite


def killed(file: Path, mode: str, sql: str, *, commit: bool) -> None:
    """Change a database in a process that is killed with its change beside the file."""
    program = (
        'import os, sqlite3, sys\n'
        'base = sqlite3.connect(sys.argv[1], isolation_level=None)\n'
        "base.execute('PRAGMA journal_mode = ' + sys.argv[2])\n"
        "base.execute('PRAGMA wal_autocheckpoint = 0')\n"
        "base.execute('PRAGMA cache_size = 1')\n"  # so that what is not committed is in the file, too
        "base.execute('BEGIN')\n"
        'base.execute(sys.argv[3])\n'
        "sys.argv[4] and base.execute('COMMIT')\n"
        'os._exit(9)\n'
    )
    command = [sys.executable, '-c', program, str(file), mode, sql, 'yes' if commit else '']
    assert subprocess.run(command, check=False).returncode == 9


@pytest.mark.parametrize('bare', [True, False])
def test_what_a_killed_recorder_left_beside_its_database_is_read(
    bag: Any, t0: int, bare: bool, caplog: pytest.LogCaptureFixture
) -> None:
    out = write(bag('sqlite3'), t0)
    file = out.file
    (out.path / 'metadata.yaml').unlink()
    with sqlite3.connect(file) as base:
        base.execute('CREATE TABLE late AS SELECT * FROM messages WHERE timestamp >= ?', (t0 + 8 * S,))
        base.execute('DELETE FROM messages WHERE timestamp >= ?', (t0 + 8 * S,))
    base.close()
    killed(file, 'wal', 'INSERT INTO messages SELECT * FROM late', commit=True)
    before = {each.name: each.read_bytes() for each in out.path.iterdir()}
    assert seen(file if bare else out.path) == (24, 24)
    assert f'read with {file.name}-wal, from a copy' in caplog.text
    assert {each.name: each.read_bytes() for each in out.path.iterdir()} == before


def test_what_was_not_committed_is_not_read(bag: Any, t0: int) -> None:
    out = write(bag('sqlite3'), t0)
    killed(out.file, 'delete', 'DELETE FROM messages', commit=False)
    assert Path(f'{out.file}-journal').stat().st_size
    assert seen(out.path) == (24, 24)


def test_fewer_messages_than_metadata_counts_are_told(
    bag: Any, t0: int, caplog: pytest.LogCaptureFixture
) -> None:
    out = write(bag('sqlite3'), t0)
    with sqlite3.connect(out.file) as base:
        base.execute('DELETE FROM messages WHERE timestamp >= ?', (t0 + 8 * S,))
    base.close()
    assert seen(out.path) == (8, 8)
    assert 'holds 16 of the 48 messages that its metadata.yaml counts' in caplog.text


# What stands in for a recording


@pytest.mark.parametrize(
    ('content', 'remedy'),
    [
        (b'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n', 'git lfs pull'),
        (b'/annex/objects/SHA256E-s9--0.mcap\n', 'git annex get'),
        (b'<!DOCTYPE html><html>', 'web page'),
    ],
)
@pytest.mark.parametrize('name', ['drive.mcap', 'drive.db3', 'drive.bag', 'drive_0.mcap.zstd'])
def test_what_stands_in_for_a_recording_is_named(
    tmp_path: Path, content: bytes, remedy: str, name: str
) -> None:
    (tmp_path / name).write_bytes(content)
    for path in (tmp_path / name, *([] if name.endswith('.bag') else [tmp_path])):
        with pytest.raises(BagUnreadable, match=remedy) as refused:
            open_bag(path)
        assert 'damaged' not in str(refused.value)


def test_a_full_disk_of_temporary_files_is_named(bag: Any, t0: int, monkeypatch: pytest.MonkeyPatch) -> None:
    out = write(bag('mcap', 'file'), t0)

    def full(*_: object) -> None:
        raise OSError(28, 'No space left on device')

    monkeypatch.setattr('shutil.copyfileobj', full)
    with pytest.raises(BagUnreadable, match=r'no space for a copy of .*TMPDIR') as refused:
        open_bag(out.path)
    assert 'damaged' not in str(refused.value)


def test_damaged_images_of_all_sizes_have_one_reason(bag: Any, t0: int) -> None:
    with bag() as out:
        for number in range(5):
            out.compressed('/image', t0 + number * S, bytes(100 + number))
    with open_bag(out.path) as reader:
        for event in reader.events():
            assert isinstance(event, Frame)
            with pytest.raises(ValueError, match='damaged'):
                event.decode()
    assert dict(reader.undecoded) == {"the compressed image ('jpeg', 100 bytes) is damaged or no image": 5}


@pytest.mark.parametrize(
    'error', [OSError(28, 'No space left'), sqlite3.OperationalError('database or disk is full')]
)
def test_a_disk_that_is_full_for_what_lies_beside_a_database_is_named(
    bag: Any, t0: int, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    out = write(bag('sqlite3'), t0)
    killed(out.file, 'delete', 'DELETE FROM messages', commit=False)

    def full(*_: object) -> None:
        raise error

    monkeypatch.setattr('remembr_ros.bags.unpacking._settled', full)
    with pytest.raises(BagUnreadable, match='no space for a copy of'):
        open_bag(out.path)
