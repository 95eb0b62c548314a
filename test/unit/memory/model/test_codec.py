import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.geometry import Pose
from remembr_ros.memory.model.codec import FIELDS, checked, facts_size, from_plain, to_plain
from remembr_ros.memory.model.record import SOURCES, Memory, Observation
from remembr_ros.memory.pending import spool
from remembr_ros.memory.server import schema
from remembr_ros.timestamps import MAX_NS

numbers = st.floats(-1e6, 1e6)
texts = st.text(st.characters(exclude_categories=['Cs']), max_size=20)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
memories = st.builds(
    Memory,
    id=texts,
    robot=texts,
    start_ns=st.integers(0, MAX_NS),
    end_ns=st.integers(0, MAX_NS),
    caption=texts,
    pose=st.none() | st.builds(Pose, numbers, numbers, numbers, numbers),
    frame_id=texts,
    map_id=texts,
    travelled=numbers,
    scene_text=st.lists(texts, max_size=3).map(tuple),
    captioner=texts,
    camera=texts,
    source=st.sampled_from(SOURCES),
    keyframes=st.lists(texts, max_size=3).map(tuple),
    merged=st.integers(1, MAX_NS),
    facts=st.dictionaries(texts, json_values, max_size=3),
)


@given(memories)
def test_a_memory_comes_back_from_plain_types_as_it_was(memory: Memory) -> None:
    plain = json.loads(json.dumps(to_plain(memory)))
    assert list(plain) == list(FIELDS)
    assert from_plain(plain) == memory
    assert checked(plain) == memory
    assert from_plain({**plain, 'of a later program': 1}) == memory


@given(memories)
def test_rows_and_files_hold_the_whole_memory(memory: Memory) -> None:
    for full_text in (False, True):
        assert schema.memory_from_row(schema.record_row(memory, full_text)) == memory
    assert spool.decode(spool.encode(Observation(memory, (b'jpeg',)))) == Observation(memory, (b'jpeg',))


@given(st.dictionaries(texts, json_values, max_size=3))
def test_the_size_of_facts_is_that_of_their_json(facts: dict[str, Any]) -> None:
    assert facts_size(facts) == len(json.dumps(facts, ensure_ascii=False).encode())


@pytest.mark.parametrize(
    'facts',
    [{'a': float('nan')}, {'a': (1, 2)}, {1: 'a'}, {'a': b'x'}, {'a': '\ud800'}, {'a': {1, 2}}],
    ids=repr,
)
def test_what_is_no_json_is_no_fact(facts: Any) -> None:
    with pytest.raises(ValueError, match='facts'):
        facts_size(facts)


def test_facts_inside_themselves_are_refused() -> None:
    facts: dict[str, Any] = {}
    facts['again'] = facts
    with pytest.raises(ValueError, match='no JSON'):
        facts_size(facts)


@pytest.mark.parametrize(
    'change',
    [
        *({'id': 5}, {'start_ns': -1}, {'start_ns': 1.5}, {'travelled': float('inf')}, {'facts': []}),
        *({'facts': 5}, {'pose': {'x': 1.0}}, {'scene_text': 'EXIT'}, {'merged': 0}),
        {'facts': {'a': float('nan')}},
    ],
    ids=repr,
)
def test_what_somebody_else_wrote_is_checked(change: dict[str, Any]) -> None:
    plain = to_plain(Memory('m1', 'r', 1, 2, 'a door'))
    assert checked({name: plain[name] for name in ('id', 'robot', 'start_ns', 'end_ns', 'caption')})
    with pytest.raises(ValueError, match=r'MemoryRecord|facts'):
        checked(plain | change)
