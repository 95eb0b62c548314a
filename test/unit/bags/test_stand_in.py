"""What lies where a file should be that was never fetched."""

from pathlib import Path

import pytest

from remembr_ros.bags.stand_in import stand_in
from remembr_ros.cli.main import main

POINTER = b'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n'


@pytest.mark.parametrize(
    ('content', 'wanted'),
    [
        (POINTER, 'git lfs pull'),
        (b'/annex/objects/SHA256E-s9--0.mcap\n', 'git annex get'),
        (b' <!DOCTYPE HTML>', 'web page'),
    ],
)
def test_what_stands_in_for_a_file_is_named(tmp_path: Path, content: bytes, wanted: str) -> None:
    (tmp_path / 'file').write_bytes(content)
    assert wanted in stand_in(tmp_path / 'file')


@pytest.mark.parametrize('content', [b'', b'\x89MCAP0\r\n', b'version: 1', b'places: []'])
def test_other_files_may_be_what_they_are_called(tmp_path: Path, content: bytes) -> None:
    (tmp_path / 'file').write_bytes(content)
    assert stand_in(tmp_path / 'file') == ''


@pytest.mark.parametrize(
    'words', [['import'], ['place', 'import'], ['place', 'rooms', '--map'], ['event', '--file']]
)
def test_whatever_file_a_command_cannot_read_is_named_if_it_was_never_fetched(
    tmp_path: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / 'file.yaml'
    file.write_bytes(POINTER)
    assert main([*words, str(file), '--memory', str(tmp_path / 'memory.db')]) != 0
    assert f'{file} is a pointer of Git LFS' in capsys.readouterr().err
