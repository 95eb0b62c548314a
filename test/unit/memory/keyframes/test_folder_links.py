"""A keyframe folder of somebody else, with links, devices and pipes where pictures should be."""

import os
import shutil
import time
from collections.abc import Callable, Collection
from pathlib import Path

import cv2
import numpy as np
import pytest

from remembr_ros.errors import InvalidRequest, StoreUnavailable
from remembr_ros.memory.exchange import transfer
from remembr_ros.memory.exchange.transfer import export_memories
from remembr_ros.memory.keyframes import files as keyframe_files
from remembr_ros.memory.keyframes import folder as keyframe_folder
from remembr_ros.memory.keyframes.folder import KeyframeFolder
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.store import MemoryStore

JPEG = cv2.imencode('.jpg', np.full((16, 16, 3), 90, np.uint8))[1].tobytes()
OTHER = cv2.imencode('.jpg', np.full((16, 16, 3), 10, np.uint8))[1].tobytes()
NAME = keyframe_files.keyframe_name(JPEG)

Replace = Callable[[Path, Path], None]


def nobody(_: Collection[str]) -> set[str]:
    return set()


def as_file_link(picture: Path, outside: Path) -> None:
    picture.unlink()
    picture.symlink_to(outside / 'theirs.jpg')


def as_folder_link(picture: Path, outside: Path) -> None:
    shutil.rmtree(picture.parent)
    picture.parent.symlink_to(outside)


def as_root_link(picture: Path, outside: Path) -> None:
    shutil.rmtree(picture.parents[1])
    (outside / NAME[:2]).mkdir()
    (outside / NAME[:2] / NAME).write_bytes(OTHER)
    picture.parents[1].symlink_to(outside)


def as_device(picture: Path, outside: Path) -> None:
    picture.unlink()
    picture.symlink_to('/dev/zero')


def as_pipe(picture: Path, outside: Path) -> None:
    picture.unlink()
    os.mkfifo(picture)


def as_text(picture: Path, outside: Path) -> None:
    picture.write_text('root:x:0:0:root:/root:/bin/bash')


def as_vast_file(picture: Path, outside: Path) -> None:
    os.truncate(picture, keyframe_files.MAX_BYTES + 1)


ALL = [as_file_link, as_folder_link, as_root_link, as_device, as_pipe, as_text, as_vast_file]
LINKS = [as_file_link, as_folder_link, as_root_link]


@pytest.fixture(autouse=True)
def all_of_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyframe_folder, 'RESERVE_BYTES', 0)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """Pictures that are not of this memory, long there."""
    folder = tmp_path / 'outside'
    folder.mkdir()
    for name in (NAME, 'theirs.jpg', 'm1_0.jpg', 'x.part'):
        (folder / name).write_bytes(OTHER)
    return folder


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob('*') if path.is_file()}


def hostile(folder: KeyframeFolder, outside: Path, replace: Replace) -> None:
    assert folder.put([JPEG]) == (NAME,)
    replace(folder.folder / NAME[:2] / NAME, outside)
    then = time.time() - 1e6
    for path in outside.rglob('*'):
        os.utime(path, (then, then))


@pytest.mark.parametrize('replace', ALL)
def test_what_is_no_picture_of_the_memory_is_not_read(
    tmp_path: Path, outside: Path, replace: Replace
) -> None:
    hostile(KeyframeFolder(tmp_path / 'k'), outside, replace)
    with pytest.raises(InvalidRequest, match=f'there is no keyframe .{NAME}'):
        KeyframeFolder(tmp_path / 'k').get(NAME)


@pytest.mark.parametrize('replace', LINKS)
def test_nothing_outside_of_the_memory_is_touched(tmp_path: Path, outside: Path, replace: Replace) -> None:
    hostile(KeyframeFolder(tmp_path / 'k'), outside, replace)
    before = content(outside)
    stamps = {path: path.stat().st_mtime for path in outside.rglob('*')}
    folder = KeyframeFolder(tmp_path / 'k')
    assert folder.totals() == (0, 0)
    folder.collect(nobody)
    assert folder.put([JPEG]) in ((NAME,), ())
    if replace is as_root_link:
        with pytest.raises(NotADirectoryError, match='mount another disk there'):
            folder.remove([NAME, 'm1_0.jpg'], nobody)
    else:
        folder.remove([NAME, 'm1_0.jpg'], nobody)
    assert content(outside) == before
    assert {path: path.stat().st_mtime for path in outside.rglob('*')} == stamps


def test_a_linked_folder_is_told(tmp_path: Path, outside: Path) -> None:
    (tmp_path / 'k').symlink_to(outside)
    folder = KeyframeFolder(tmp_path / 'k')
    assert folder.put([JPEG]) == ()
    assert 'a link, which is not followed; mount another disk there' in folder.problem


def test_a_link_in_place_of_a_picture_is_forgotten_with_it(tmp_path: Path, outside: Path) -> None:
    folder = KeyframeFolder(tmp_path / 'k')
    hostile(folder, outside, as_file_link)
    assert folder.remove([NAME], nobody) == 1
    assert not os.path.lexists(tmp_path / 'k' / NAME[:2] / NAME)
    assert folder.put([JPEG]) == (NAME,)
    assert folder.get(NAME) == JPEG


def test_halves_that_are_pipes_do_not_keep_anybody_waiting(tmp_path: Path) -> None:
    (tmp_path / 'ab').mkdir()
    os.mkfifo(tmp_path / 'ab' / 'x.part')
    assert KeyframeFolder(tmp_path).totals()[0] == 0


@pytest.mark.parametrize('replace', ALL)
def test_an_export_has_no_file_of_somebody_else(
    store: MemoryStore, make: Callable[..., Memory], tmp_path: Path, outside: Path, replace: Replace
) -> None:
    (memory,) = store.add([Observation(make(1), (JPEG,))])
    picture = store.keyframes.folder / NAME[:2] / NAME
    try:
        replace(picture, outside)
        export_memories(store, tmp_path / 'm.jsonl')
        (item,) = transfer.read(tmp_path / 'm.jsonl')[1]
        assert (item.memory.id, item.images) == (memory.id, ())
        before = content(outside)
        if replace is as_root_link:
            with pytest.raises(StoreUnavailable, match='not all of their keyframes'):
                store.forget([memory.id])
            assert 'mount another disk there' in store.problem, 'until it is done'
        else:
            assert store.forget([memory.id]) == 1
        assert content(outside) == before
    finally:
        if store.keyframes.folder.is_symlink():  # the tests share it
            store.keyframes.folder.unlink()
        elif picture.parent.is_symlink():
            picture.parent.unlink()
