import errno
import logging
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Collection, Iterator
from functools import cache
from pathlib import Path

import cv2
import numpy as np
import pytest

from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.keyframes import folder as keyframe_folder
from remembr_ros.memory.keyframes.folder import KeyframeFolder
from test.small_disk import MountRefused, small_disk


@cache
def jpeg(number: int, width: int = 32, height: int = 24, quality: int = 90) -> bytes:
    """A picture of noise, another one for each number."""
    image = np.random.default_rng(number).integers(0, 256, (height, width, 3), np.uint8)
    return cv2.imencode('.jpg', image, [cv2.IMWRITE_JPEG_QUALITY, quality])[1].tobytes()


def nobody(_: Collection[str]) -> set[str]:
    return set()


def named(*names: str) -> Callable[[Collection[str]], set[str]]:
    return set(names).intersection


make = KeyframeFolder


@pytest.fixture(autouse=True)
def all_of_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyframe_folder, 'RESERVE_BYTES', 0)


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob('*') if path.is_file()}


def age(folder: Path, seconds: float = 1e6) -> None:
    then = time.time() - seconds
    for path in folder.rglob('*'):
        if path.is_file():
            os.utime(path, (then, then))


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_keyframes_come_back_by_name(tmp_path: Path) -> None:
    folder = make(tmp_path / 'k')
    assert folder.totals() == (0, 0)
    names = folder.put([jpeg(1), jpeg(2)])
    assert [folder.get(name) for name in names] == [jpeg(1), jpeg(2)]
    assert folder.totals()[0] == 2
    assert folder.totals()[1] == len(jpeg(1)) + len(jpeg(2))
    assert folder.problem == ''


def test_a_folder_holds_few_files_however_many_there_are(tmp_path: Path) -> None:
    (name,) = make(tmp_path).put([jpeg(1)])
    assert len(name) == 36
    assert [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob('*.jpg')] == [
        f'{name[:2]}/{name}'
    ]


def test_the_same_image_is_stored_once(tmp_path: Path) -> None:
    folder = make(tmp_path)
    (name,) = folder.put([jpeg(1), jpeg(1)])
    before = (tmp_path / name[:2] / name).stat().st_ino
    assert folder.put([jpeg(1)]) == (name,)
    assert (tmp_path / name[:2] / name).stat().st_ino == before, 'not written anew'
    assert folder.totals() == (1, len(jpeg(1)))


def test_no_images_make_no_folder(tmp_path: Path) -> None:
    folder = make(tmp_path / 'k')
    assert folder.put([]) == ()
    assert (folder.totals()[0], folder.collect(nobody), folder.remove([], nobody)) == (0, 0, 0)
    assert not (tmp_path / 'k').exists()


def test_a_memory_keeps_its_first_images(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyframe_folder, 'MAX_PER_MEMORY', 2)
    folder = make(tmp_path)
    names = folder.put([jpeg(i) for i in range(5)])
    assert [folder.get(name) for name in names] == [jpeg(0), jpeg(1)]


@pytest.mark.parametrize(
    'data', [b'', b'jpeg', b'\x89PNG\r\n\x1a\n' + bytes(40), jpeg(1)[:4], b'\xff\xd8\xff']
)
def test_what_is_no_jpeg_is_refused_and_nothing_is_stored(tmp_path: Path, data: bytes) -> None:
    folder = make(tmp_path)
    with pytest.raises(InvalidRequest, match='JPEG'):
        folder.put([jpeg(1), data])
    assert files(tmp_path) == set()


def test_a_large_image_is_reduced_the_same_way_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyframe_folder, 'MAX_WIDTH', 64)
    folder = make(tmp_path)
    (name,) = folder.put([jpeg(1, 200, 100)])
    image = cv2.imdecode(np.frombuffer(folder.get(name), np.uint8), cv2.IMREAD_COLOR)
    assert image.shape == (32, 64, 3)
    assert folder.put([jpeg(1, 200, 100)]) == (name,)
    assert folder.totals()[0] == 1


@pytest.mark.parametrize('limit', [20_000, 2_000])
def test_a_heavy_image_is_made_lighter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    monkeypatch.setattr(keyframe_folder, 'MAX_BYTES_EACH', limit)
    folder = make(tmp_path)
    (name,) = folder.put([jpeg(1, 200, 150, 100)])
    assert len(jpeg(1, 200, 150, 100)) > 20_000
    assert len(folder.get(name)) <= limit
    assert cv2.imdecode(np.frombuffer(folder.get(name), np.uint8), cv2.IMREAD_COLOR) is not None


NO_NAMES = [
    '../secret',
    '/etc/passwd',
    'a/b.jpg',
    '..',
    '.',
    '',
    'a\0b',
    'secret',
    f'{"a" * 32}.jpg/..',
    'a_1.jpg\n',
]


@pytest.mark.parametrize('name', [*NO_NAMES, 'none_0.jpg', f'{"0" * 32}.jpg'])
def test_names_that_are_no_keyframes_are_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / 'secret').write_bytes(b'secret')
    folder = make(tmp_path / 'k')
    folder.put([jpeg(1)])
    with pytest.raises(InvalidRequest):
        folder.get(name)


def test_removing_stays_inside_the_folder_and_passes_over_missing_ones(tmp_path: Path) -> None:
    (tmp_path / 'secret').write_bytes(b'secret')
    folder = make(tmp_path / 'k')
    (a,), (b,) = folder.put([jpeg(1)]), folder.put([jpeg(2)])
    assert folder.remove([*NO_NAMES, 'none_0.jpg', a], nobody) == 1
    assert (tmp_path / 'secret').exists()
    assert files(tmp_path / 'k') == {b}
    assert folder.totals() == (1, len(jpeg(2)))


def test_an_image_that_another_memory_names_stays(tmp_path: Path) -> None:
    folder = make(tmp_path)
    shared, own = folder.put([jpeg(1), jpeg(2)])
    assert folder.remove([shared, own], named(shared)) == 1
    assert files(tmp_path) == {shared}


def test_what_is_put_while_others_are_removed_stays(tmp_path: Path) -> None:
    folder = make(tmp_path, clock=Clock())
    names = folder.put([jpeg(1)])

    def meanwhile(_: Collection[str]) -> set[str]:
        assert folder.put([jpeg(1)]) == names  # by another memory, which the answer does not know
        return set()

    assert folder.remove(names, meanwhile) == 0
    assert files(tmp_path) == set(names)
    assert folder.remove(names, nobody) == 1


def test_orphans_are_collected_and_what_is_named_stays(tmp_path: Path) -> None:
    first = make(tmp_path)
    a, b, c = first.put([jpeg(i) for i in range(3)])
    age(tmp_path)
    folder = make(tmp_path)
    assert folder.collect(named(b)) == 2
    assert files(tmp_path) == {b}
    assert folder.totals()[0] == 1
    assert folder.collect(named(b)) == 0
    assert {a, c}.isdisjoint(files(tmp_path))


def test_the_young_are_not_collected_by_either_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyframe_folder, 'GRACE_S', 100.0)
    clock = Clock()
    folder = make(tmp_path, clock=clock)
    names = folder.put([jpeg(1)])
    assert folder.collect(nobody) == 0
    age(tmp_path)  # the wall clock jumps ahead
    clock.now = 99.0
    assert folder.collect(nobody) == 0, 'put 99 s ago'
    clock.now = 101.0
    other = make(tmp_path)
    assert other.put([jpeg(1)]) == names, 'found, and young again'
    assert folder.collect(nobody) == 0, 'another process put it just now'
    age(tmp_path)
    assert folder.collect(nobody) == 1


def test_an_old_orphan_that_is_put_again_meanwhile_stays(tmp_path: Path) -> None:
    make(tmp_path).put([jpeg(1)])
    age(tmp_path)
    folder = make(tmp_path)

    def meanwhile(_: Collection[str]) -> set[str]:
        folder.put([jpeg(1)])
        age(tmp_path)  # even where the clock jumps at the same time
        return set()

    assert folder.collect(meanwhile) == 0
    assert folder.totals()[0] == 1


def test_a_file_from_the_future_is_collected_in_the_end(tmp_path: Path) -> None:
    make(tmp_path).put([jpeg(1)])
    age(tmp_path, -1e8)
    folder = make(tmp_path)
    assert folder.collect(nobody) == 0
    age(tmp_path, time.time() - next(tmp_path.rglob('*.jpg')).stat().st_mtime + 3700)
    assert folder.collect(nobody) == 1


def test_adding_and_collecting_at_the_same_time_loses_nothing(tmp_path: Path) -> None:
    make(tmp_path).put([jpeg(i) for i in range(10)])
    age(tmp_path)
    folder = make(tmp_path)
    stored: set[str] = set()
    done = threading.Event()

    def add() -> None:
        for i in range(10):
            names = folder.put([jpeg(i)])
            stored.update(names)
        done.set()

    adder = threading.Thread(target=add)
    adder.start()
    while not done.is_set():
        folder.collect(lambda names: {name for name in names if name in stored})
    adder.join(30)
    assert files(tmp_path) == stored
    assert folder.totals()[0] == len(stored) == 10


def test_counts_are_right_after_a_restart_and_halves_are_gone(tmp_path: Path) -> None:
    names = make(tmp_path).put([jpeg(1), jpeg(2)])
    for name in names:
        (tmp_path / name[:2] / 'tmpabc.part').write_bytes(b'half')
    (tmp_path / 'README').write_text('not ours')
    folder = make(tmp_path)
    assert folder.totals() == (2, len(jpeg(1)) + len(jpeg(2)))
    assert files(tmp_path) == {*names, 'README'}


def test_the_folder_is_not_looked_through_at_every_put(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make(tmp_path)
    folder.put([jpeg(0)])
    monkeypatch.setattr(os, 'scandir', None)
    for i in range(3):
        folder.put([jpeg(i)])
    assert folder.totals()[0] == 3


def _put_forever(path: Path) -> None:
    folder = make(path)
    for i in range(100_000):
        folder.put([jpeg(i)])


def test_a_kill_leaves_whole_files_only(tmp_path: Path) -> None:
    process = multiprocessing.get_context('spawn').Process(target=_put_forever, args=(tmp_path,))
    process.start()
    deadline = time.monotonic() + 60
    while len(list(tmp_path.rglob('*.jpg'))) < 5 and time.monotonic() < deadline:
        os.sched_yield()
    os.kill(process.pid or 0, signal.SIGKILL)
    process.join(30)
    folder = make(tmp_path)
    count = folder.totals()[0]
    assert count >= 5
    assert len(files(tmp_path)) == count, 'no halves'
    for name in files(tmp_path):
        assert folder.put([folder.get(name)]) == (name,), 'its content has its name'
    assert folder.totals()[0] == count
    assert folder.totals()[1] == sum(path.stat().st_size for path in tmp_path.rglob('*.jpg'))


def test_a_file_that_was_cut_short_is_written_again(tmp_path: Path) -> None:
    folder = make(tmp_path)
    (name,) = folder.put([jpeg(1)])
    os.truncate(tmp_path / name[:2] / name, 10)
    folder = make(tmp_path)
    assert folder.totals()[1] == 10
    assert folder.put([jpeg(1)]) == (name,)
    assert folder.get(name) == jpeg(1)
    assert folder.totals() == (1, len(jpeg(1)))


def test_beyond_the_quota_memories_go_on_without_keyframes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    folder = make(tmp_path, quota_bytes=len(jpeg(1)) + len(jpeg(2)) + 10, clock=clock)
    with caplog.at_level(logging.INFO):
        names = folder.put([jpeg(1), jpeg(2), jpeg(3)])
        assert len(names) == 2
        assert 'allowed' in folder.problem
        for _ in range(10):
            clock.now += 1.0
            assert folder.put([jpeg(4)]) == ()
        assert folder.put([jpeg(1)]) == names[:1], 'what is there needs no room'
        assert folder.problem
        assert [record.levelname for record in caplog.records] == ['ERROR']
        folder.remove(names[:1], nobody)
        assert len(folder.put([jpeg(4)])) == 1
        assert folder.problem == ''
        assert [record.levelname for record in caplog.records] == ['ERROR', 'INFO']


def test_the_last_of_the_disk_is_left_to_the_memories(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyframe_folder, 'RESERVE_BYTES', 2**62)
    folder = make(tmp_path)
    assert folder.put([jpeg(1)]) == ()
    assert 'the disk' in folder.problem


@pytest.mark.parametrize('failing', ['replace', 'fsync'])
@pytest.mark.parametrize('code', [errno.ENOSPC, errno.EIO, errno.EROFS])
def test_a_disk_that_fails_leaves_nothing_half_and_recovers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str, code: int
) -> None:
    folder = make(tmp_path)
    names = folder.put([jpeg(1)])

    def fail(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(os, failing, fail)
        assert folder.put([jpeg(2)]) == ()
        assert ('full' in folder.problem) == (code == errno.ENOSPC)
        assert os.strerror(code) in folder.problem
    assert files(tmp_path) == set(names)
    assert folder.get(names[0]) == jpeg(1)
    assert len(folder.put([jpeg(2)])) == 1
    assert folder.problem == ''


def test_a_name_is_not_given_before_its_folder_is_durable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make(tmp_path)
    fsync, synced = os.fsync, []

    def folders_fail(descriptor: int) -> None:
        if os.path.isdir(f'/proc/self/fd/{descriptor}'):
            raise OSError(errno.EIO, 'broken')
        fsync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, 'fsync', folders_fail)
        assert folder.put([jpeg(1)]) == ()
        assert folder.problem
    monkeypatch.setattr(os, 'fsync', lambda d: synced.append(os.readlink(f'/proc/self/fd/{d}')))
    (name,) = folder.put([jpeg(1)])
    assert str(tmp_path / name[:2]) in synced, 'the file is there, but its folder was not durable yet'


@pytest.fixture
def tiny_disk() -> Iterator[Path]:
    try:
        with small_disk('256k') as folder:
            yield folder
    except MountRefused as error:
        pytest.skip(str(error))


def test_a_full_disk_costs_keyframes_only_until_there_is_room(tiny_disk: Path) -> None:
    folder = make(tiny_disk / 'k', quota_bytes=10**9)
    heavy = [jpeg(i, 200, 100, 100) for i in range(20)]
    kept = [name for image in heavy for name in folder.put([image])]
    assert 0 < len(kept) < 20
    assert 'full' in folder.problem
    assert files(tiny_disk) == set(kept), 'no halves'
    assert folder.totals()[1] == sum(path.stat().st_size for path in tiny_disk.rglob('*.jpg'))
    folder.remove(kept[:2], nobody)
    assert len(folder.put([heavy[-1]])) == 1
    assert folder.problem == ''


def test_what_cannot_be_deleted_is_told_and_the_rest_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make(tmp_path)
    names = sorted(folder.put([jpeg(1), jpeg(2), jpeg(3)]))
    unlink = os.unlink

    def denied(path: Path) -> None:
        if path.name == names[0]:
            raise PermissionError(errno.EACCES, 'Permission denied')
        unlink(path)

    monkeypatch.setattr(os, 'unlink', denied)
    with pytest.raises(PermissionError):
        folder.remove(names, nobody)
    assert files(tmp_path) == {names[0]}
    assert folder.totals()[0] == 1
