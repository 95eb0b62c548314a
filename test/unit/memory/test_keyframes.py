import os
from pathlib import Path

import pytest

from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.keyframes import KeyframeFolder


def test_keyframes_come_back_by_name(tmp_path: Path) -> None:
    folder = KeyframeFolder(tmp_path / 'k')
    assert folder.count() == 0
    assert folder.put('m1', [b'a', b'b']) == ('m1_0.jpg', 'm1_1.jpg')
    assert [folder.get('m1_0.jpg'), folder.get('m1_1.jpg')] == [b'a', b'b']
    assert folder.count() == 2


def test_no_images_make_no_folder(tmp_path: Path) -> None:
    assert KeyframeFolder(tmp_path / 'k').put('m1', []) == ()
    assert not (tmp_path / 'k').exists()


def test_a_second_put_replaces(tmp_path: Path) -> None:
    folder = KeyframeFolder(tmp_path)
    folder.put('m1', [b'a'])
    folder.put('m1', [b'c'])
    assert folder.get('m1_0.jpg') == b'c'


@pytest.mark.parametrize('failing', ['replace', 'fsync'])
def test_a_full_disk_leaves_the_old_file_whole_and_nothing_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    folder = KeyframeFolder(tmp_path)
    folder.put('m1', [b'old'])

    def full(*_: object) -> None:
        raise OSError(28, 'No space left on device')

    monkeypatch.setattr(os, failing, full)
    with pytest.raises(OSError, match='No space'):
        folder.put('m1', [b'new'])
    assert [path.name for path in tmp_path.iterdir()] == ['m1_0.jpg']
    assert folder.get('m1_0.jpg') == b'old'


def test_a_disk_that_fills_up_on_the_way_leaves_no_nameless_keyframes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = KeyframeFolder(tmp_path)
    replace = os.replace

    def second_fails(source: str, target: Path) -> None:
        if target.name.endswith('_1.jpg'):
            raise OSError(28, 'No space left on device')
        replace(source, target)

    monkeypatch.setattr(os, 'replace', second_fails)
    with pytest.raises(OSError, match='No space'):
        folder.put('m1', [b'a', b'b'])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize('name', ['../secret', '/etc/passwd', 'a/b.jpg', '..', '.', '', 'a\0b', 'none.jpg'])
def test_names_that_are_no_keyframes_are_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / 'secret').write_bytes(b'secret')
    folder = KeyframeFolder(tmp_path / 'k')
    folder.put('m1', [b'a'])
    with pytest.raises(InvalidRequest):
        folder.get(name)


def test_removing_stays_inside_the_folder_and_passes_over_missing_ones(tmp_path: Path) -> None:
    (tmp_path / 'secret').write_bytes(b'secret')
    folder = KeyframeFolder(tmp_path / 'k')
    folder.put('m1', [b'a', b'b'])
    folder.remove(['../secret', 'missing.jpg', 'm1_0.jpg'])
    assert (tmp_path / 'secret').exists()
    assert [path.name for path in (tmp_path / 'k').iterdir()] == ['m1_1.jpg']
