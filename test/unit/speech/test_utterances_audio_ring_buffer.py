import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.speech.utterances import Tape


@given(st.lists(st.tuples(st.integers(0, 40_000), st.floats(0.0, 1.0)), max_size=12))
def test_what_is_kept_is_what_was_added(steps):
    tape, stream = Tape(), np.zeros(0, np.float32)
    for count, share in steps:
        new = np.arange(stream.size, stream.size + count, dtype=np.float32)
        stream = np.concatenate([stream, new])
        tape.append(new)
        tape.forget(round(share * stream.size))
        assert tape.end == stream.size
        np.testing.assert_array_equal(tape.piece(0, tape.end), stream[tape.start :])
        middle = (tape.start + tape.end) // 2
        np.testing.assert_array_equal(tape.piece(middle, tape.end + 5), stream[middle:])


def test_a_long_stream_needs_no_more_memory_than_what_is_kept():
    tape = Tape()
    for _ in range(1_000):
        tape.append(np.ones(1_600, np.float32))
        tape.forget(tape.end - 3_200)
    assert tape.end - tape.start == 3_200
    assert tape._room.size <= 1 << 16


def test_nothing_is_kept_of_what_was_never_there():
    tape = Tape()
    tape.append(np.ones(10, np.float32))
    tape.forget(100)
    assert (tape.start, tape.end, tape.piece(0, 10).size) == (10, 10, 0)
