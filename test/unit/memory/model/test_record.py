from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.memory.model.record import SOURCES, memory_id
from remembr_ros.memory.model.storable import is_id

keys = st.tuples(st.text(max_size=20), st.sampled_from(SOURCES), st.integers(0, 2**63 - 1))


@given(keys, keys)
def test_the_same_segment_has_the_same_id_and_another_one_another(a: tuple, b: tuple) -> None:
    assert (memory_id(*a) == memory_id(*b)) == (a == b)


@given(keys)
def test_an_id_can_be_stored(key: tuple) -> None:
    assert is_id(memory_id(*key))


def test_ids_stay_what_they_are_in_stored_collections() -> None:
    assert memory_id('robbie', 'captioner', 1_700_000_000_000_000_000) == 'd4ab56b1580fa20425f9'
