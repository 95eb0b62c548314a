"""Small files that become large ones, and files of another shape: refused in time, with a reason."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remembr_ros.errors import BagUnreadable, RemembrError
from remembr_ros.memory.exchange import captions_file, json_lines, transfer
from remembr_ros.memory.exchange.json_lines import PortableMemory

Command = Callable[..., tuple[int, str, str]]

HEADER = json.dumps({'format': 'remembr_ros memories', 'version': 1}).encode()
LINE = {'id': 'm1', 'robot': 'r', 'start_ns': 1, 'end_ns': 2, 'caption': 'a door'}
NS = 1_000_000_000


def refused(path: Path, message: str = '.') -> int:
    """Read until it is refused; return how many memories came before."""
    found: list[PortableMemory] = []
    with pytest.raises(BagUnreadable, match=message) as caught:
        found.extend(transfer.read(path)[1])
    assert str(path) in str(caught.value)
    return len(found)


# Lines


@pytest.mark.parametrize(
    ('content', 'message'),
    [
        (b'\n' * 2**20, 'lines before line 1002 are blank'),
        (b' \t\r\n' * 2**18, 'lines before line 1002 are blank'),
        (b'{"caption": "' + b'a' * json_lines.MAX_LINE, 'longer than'),
        (b'{"a": [' + b'[],' * 2**20 + b'[]]}\n', 'more than 262144 values'),
        (b'{"a": {' + b'"b": {},' * 2**18 + b'"c": 0}}\n', 'values'),
    ],
)
@pytest.mark.parametrize('opened', [open, gzip.open])
def test_lines_that_fill_memory_or_time_are_refused(
    tmp_path: Path, content: bytes, message: str, opened: Any
) -> None:
    for name, whole in (('m', HEADER + b'\n' + content), ('header', content)):
        if content.strip()[:1] != b'{' and name == 'header':
            continue  # no file of memories begins like that
        with opened(tmp_path / name, 'wb') as file:
            file.write(whole)
        assert refused(tmp_path / name, message) == 0


def test_memories_that_are_all_alike_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, 'PLAUSIBLE_BYTES', 2**20)
    line = json.dumps({**LINE, 'caption': 'a' * 2**14}).encode()
    with gzip.open(tmp_path / 'm.gz', 'wb') as file:
        file.write(b'\n'.join([HEADER, *[line] * 1000]))
    assert refused(tmp_path / 'm.gz', 'came out of a file of') < 600


def test_blank_lines_between_memories_are_passed_over(tmp_path: Path) -> None:
    lines = [HEADER.decode(), *[json.dumps({**LINE, 'id': f'm{i}'}) for i in range(5)]]
    (tmp_path / 'm').write_text(('\n' * 900).join([*lines, '{"end": 5}', '']))
    assert len(list(transfer.read(tmp_path / 'm')[1])) == 5


# Captions and graphs of others

SEGMENT = {'position': [0, 1, 2], 'time': 5.5, 'start_time': 5, 'end_time': 6, 'caption': 'a door'}


@pytest.mark.parametrize('digits', [400, 5000])
@pytest.mark.parametrize('field', ['position', 'time', 'start_time', 'end_time', 'theta'])
def test_numbers_of_hundreds_of_digits_are_refused(tmp_path: Path, field: str, digits: int) -> None:
    number = '9' * digits
    value = f'[{number}, 1, 2]' if field == 'position' else number
    others = json.dumps({name: value for name, value in SEGMENT.items() if name != field})
    (tmp_path / 'c.json').write_text(f'[{{"{field}": {value}, {others[1:]}]')
    assert refused(tmp_path / 'c.json') == 0


@pytest.mark.parametrize('depth', [500, 2000, 100_000])
@pytest.mark.parametrize('around', ['{}', '[{{"caption": {}}}]', '[{{"position": {}}}]'])
def test_captions_that_are_nested_are_refused(tmp_path: Path, depth: int, around: str) -> None:
    (tmp_path / 'c.json').write_text(around.format('[' * depth + ']' * depth))
    assert refused(tmp_path / 'c.json') == 0


def test_captions_of_too_many_values_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(captions_file, 'MAX_VALUES', 1000)
    (tmp_path / 'c.json').write_text(json.dumps([SEGMENT] * 200))
    assert refused(tmp_path / 'c.json', 'in parts') == 0
    monkeypatch.setattr(captions_file, 'MAX_VALUES', 10**9)
    monkeypatch.setattr(captions_file, 'MAX_BYTES', 1000)
    assert refused(tmp_path / 'c.json', 'in parts') == 0


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)
FUZZ = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


def read_or_refused(path: Path) -> None:
    try:
        list(transfer.read(path)[1])
    except RemembrError:
        return


@FUZZ
@given(segment=st.dictionaries(st.sampled_from([*SEGMENT, 'theta']), VALUES), rest=VALUES)
def test_any_captions_are_read_or_refused(tmp_path: Path, segment: dict[str, Any], rest: Any) -> None:
    for content in ([{**SEGMENT, **segment}], [segment, rest], [rest]):
        (tmp_path / 'c.json').write_text(json.dumps(content))
        read_or_refused(tmp_path / 'c.json')


@FUZZ
@given(
    changes=st.dictionaries(st.sampled_from([*LINE, 'pose', 'vectors', 'images', 'end', 'merged']), VALUES)
)
def test_any_lines_are_read_or_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    head = {
        'format': 'remembr_ros memories',
        'version': 1,
        'vectors': True,
        'dimension': 2,
        'keyframes': True,
    }
    (tmp_path / 'm').write_text(
        '\n'.join(map(json.dumps, [{**head, **changes}, {**LINE, **changes}, changes]))
    )
    read_or_refused(tmp_path / 'm')


WORDS = [
    *(
        'node',
        'edge',
        'graph',
        '[',
        ']',
        'id',
        'label',
        'caption',
        'position',
        'x',
        'y',
        'timestamp',
        'source',
    ),
    *(
        'target',
        '0',
        '1',
        '-1.5',
        '1E400',
        '9' * 400,
        '9' * 5000,
        '"A road."',
        '"2023-12"',
        '"&#x110000;"',
        '"',
    ),
]


@FUZZ
@given(words=st.lists(st.sampled_from(WORDS), max_size=30))
def test_any_graph_is_read_or_refused(tmp_path: Path, words: list[str]) -> None:
    pytest.importorskip('networkx', reason='graphs are read with networkx')
    node = 'graph [ node [ id 0 label "0" caption "A road." position [ x 1.0 y 2.0 ]'
    for content in (f'graph [ {" ".join(words)} ]', f'{node} {" ".join(words)} ] ]'):
        (tmp_path / 'g.gml').write_text(content)
        read_or_refused(tmp_path / 'g.gml')
