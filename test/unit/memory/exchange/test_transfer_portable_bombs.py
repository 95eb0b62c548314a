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
from remembr_ros.memory.exchange import captions_file, json_lines, parquet, transfer
from remembr_ros.memory.exchange.portable_memory import Header, PortableMemory, header_record
from remembr_ros.memory.model.record import Memory

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


# Parquet


def table(rows: list[dict[str, Any]], **columns: Any) -> Any:
    """A table of memories; these columns take the place of those that there are."""
    pa = pytest.importorskip('pyarrow', reason='Parquet takes pyarrow')
    header = Header('e', 2, vectors=True, keyframes=True, count=len(rows))
    made = pa.Table.from_pylist([parquet._row(PortableMemory(Memory(**row)), header) for row in rows])
    for name, values in columns.items():
        array = values if isinstance(values, pa.Array) else pa.array(values)
        made = made.drop_columns([name] if name in made.column_names else []).append_column(name, array)
    return made.replace_schema_metadata({parquet._KEY: json.dumps(header_record(header))})


def rows(count: int) -> list[dict[str, Any]]:
    return [{**LINE, 'id': f'm{i}'} for i in range(count)]


def saved(path: Path, made: Any, **options: Any) -> Path:
    pq = pytest.importorskip('pyarrow.parquet', reason='Parquet takes pyarrow')
    pq.write_table(made, path, compression='zstd', **options)
    return path


@pytest.mark.parametrize('as_dictionary', [True, False])
def test_a_value_that_a_file_repeats_is_not_decoded_for_each_row(tmp_path: Path, as_dictionary: bool) -> None:
    pa = pytest.importorskip('pyarrow', reason='Parquet takes pyarrow')
    caption = pa.DictionaryArray.from_arrays(pa.array([0] * 500, pa.int32()), pa.array(['a' * 2**21]))
    made = table(rows(500), caption=caption if as_dictionary else caption.dictionary_decode())
    path = saved(tmp_path / 'm.parquet', made, dictionary_pagesize_limit=2**30)
    assert path.stat().st_size < 20_000
    before = pa.total_allocated_bytes()
    assert refused(path, 'came out of a file of') < 60
    assert pa.total_allocated_bytes() - before < 2**27


def test_a_column_of_more_than_it_may_take_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, 'MAX_COLUMN_BYTES', 2**20)
    long = saved(tmp_path / 'long', table([{**LINE, 'caption': 'a' * 2**21}]), use_dictionary=False)
    assert refused(long, 'row group has 20971.*smaller row groups') == 0
    many = saved(tmp_path / 'many', table([{**LINE, 'scene_text': ('',) * 2**19}]))
    assert many.stat().st_size < 20_000
    assert refused(many, 'row group has') == 0


@pytest.mark.parametrize(
    'columns',
    [
        {'images': ['text']},
        {'images': [['text']]},
        {'images': [5]},
        {'images': [[b'no picture']]},
        {'vectors': [5]},
        {'vectors': [['x']]},
        {'vectors': [[[1.0, 2.0], [1.0]]]},
        {'vectors': [[1.0]]},
        {'vectors': ['text']},
        {'x': ['east'], 'y': [1.0], 'z': [1.0], 'yaw': [1.0]},
        {'x': [{'a': 1}]},
        {'keyframes': ['a.jpg']},
        {'start_ns': [1.5]},
        {'caption': [None]},
        {'merged': [[1]]},
    ],
)
def test_a_column_of_another_kind_is_named_no_traceback(tmp_path: Path, columns: dict[str, Any]) -> None:
    assert refused(saved(tmp_path / 'm.parquet', table(rows(1), **columns)), 'row 1: ') == 0


@pytest.mark.parametrize('name', ['id', 'x', 'yaw', 'caption', 'end_ns'])
def test_a_column_that_is_missing_is_told(tmp_path: Path, name: str) -> None:
    assert refused(saved(tmp_path / 'm.parquet', table(rows(1)).drop_columns([name])), 'row 1: ') == 0


@pytest.mark.parametrize(
    'header',
    [
        b'[]',
        b'5',
        b'"x"',
        b'null',
        b'{',
        pytest.param(b'[' * 100_000, id='nested'),
        b'{"format": []}',
        b'\xff',
    ],
)
def test_a_parquet_header_that_is_none_is_refused(tmp_path: Path, header: bytes) -> None:
    made = table(rows(1)).replace_schema_metadata({parquet._KEY: header})
    assert refused(saved(tmp_path / 'm.parquet', made), 'not a Parquet file of memories') == 0


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
