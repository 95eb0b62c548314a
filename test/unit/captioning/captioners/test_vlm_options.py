from pathlib import Path

import pytest

from remembr_ros.captioning.captioners.vlm_options import MAX_CHARACTERS, read_prompt
from remembr_ros.errors import InvalidRequest


def test_the_package_has_a_prompt_that_asks_for_what_is_remembered() -> None:
    prompt = read_prompt()
    for word in ('people', 'objects', 'sign', 'happen', 'place'):
        assert word in prompt


def test_a_prompt_is_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / 'prompt.md'
    file.write_text('\n Beschreibe, was du siehst: Türen. \n', encoding='utf-8')
    assert read_prompt(str(file)) == 'Beschreibe, was du siehst: Türen.'


@pytest.mark.parametrize(
    ('content', 'says'),
    [
        (None, 'cannot be read: No such file'),
        (b'', 'is empty'),
        (b' \n\t', 'is empty'),
        (b'\xff\xfe\x00', 'no text'),
        (b'x' * (MAX_CHARACTERS + 1), 'shorten it'),
    ],
)
def test_a_prompt_of_no_use_is_refused(tmp_path: Path, content: bytes | None, says: str) -> None:
    file = tmp_path / 'prompt.md'
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InvalidRequest, match=says) as caught:
        read_prompt(str(file))
    assert str(file) in str(caught.value)


def test_a_folder_is_no_prompt(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match='directory'):
        read_prompt(str(tmp_path))
