import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.agent.chat.loose_json import objects_in, read_object
from test.patience import patiently

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('{"a": 1}', {'a': 1}),
        (' {"a": 1} \n', {'a': 1}),
        ("{'a': 'b'}", {'a': 'b'}),
        ("{'a': 'the robot's lift', 'b': 1}", {'a': "the robot's lift", 'b': 1}),
        ("{'a': 'he said \"b\"'}", {'a': 'he said "b"'}),
        (r"{'a': 'it\'s'}", {'a': "it's"}),
        ('{"a": "a, ] b, }",}', {'a': 'a, ] b, }'}),
        ('{"a": True, "b": False, "c": None}', {'a': True, 'b': False, 'c': None}),
        ('{"a": [1, 2,], }', {'a': [1, 2]}),
        ('{"a": [1, {"b": 2', {'a': [1, {'b': 2}]}),
        ('{"a": [1, 2}', {'a': [1, 2]}),
        ('{"a": 1}}', {'a': 1}),
        ('{"a": "one\ntwo"}', {'a': 'one\ntwo'}),
        (r'{"a": "50\%"}', {'a': '50%'}),
        ('{a: 1, b: "c"}', {'a': 1, 'b': 'c'}),
        ('{"a": -1.5e3}', {'a': -1500.0}),
        (json.dumps('{"a": 1}'), {'a': 1}),
        (json.dumps("{'a': 1,}"), {'a': 1}),
        ('```json\n{"a": 1}\n```', {'a': 1}),
        ('```\n{"a": 1,}```', {'a': 1}),
        ('{"a": 1}{"a": 2}', {'a': 1}),
        ('{}', {}),
        ('', None),
        ('[]', None),
        ('null', None),
        ('{"a": "unfinished', None),
        ('{"a": 1} and more', None),
        ('{', {}),
        ('{"a" 1}', None),
        ('{]', None),
        ('{"a":' * 100_000, None),
        ('[' * 100_000, None),
    ],
)
def test_an_object_is_read_as_models_write_it(text: str, expected: dict[str, Any] | None) -> None:
    assert read_object(text) == expected


def test_what_cannot_follow_ends_an_object() -> None:
    text = '{"a": {"b": 1} {"c": 2} so {\'d\': 3 I hope'
    assert [data for data, _, _ in objects_in(text)] == [{'a': {'b': 1}}, {'b': 1}, {'c': 2}, {'d': 3}]


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_json_is_read_as_it_is(data: dict[str, Any]) -> None:
    assert read_object(json.dumps(data)) == data
    assert read_object(json.dumps(data)[:-1]) in (data, None)


@given(st.text(alphabet='{}[]",:\'ab1 \n\\', max_size=1_000))
def test_anything_is_read_without_an_error(text: str) -> None:
    read_object(text)
    list(objects_in(text))


@pytest.mark.parametrize(
    'piece', ['{', "{'", '{"a": \'b\' ', "'   ", '{"a":[', '{a:', '{"a": 1, ', '\\', "{'a'b"]
)
def test_no_text_takes_long(piece: str) -> None:
    text = (piece * 20_000)[:20_000]
    began = time.monotonic()
    list(objects_in(text))
    read_object(text)
    assert time.monotonic() - began < patiently(2.0)
