import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Pose
from remembr_ros.memory import notes
from remembr_ros.memory.model.record import Memory, memory_id
from remembr_ros.memory.notes import MAX_BYTES, note
from remembr_ros.timestamps import MAX_NS

NOW = 1_700_000_000_000_000_000


class Notebook:
    """What was noted, by id."""

    def __init__(self) -> None:
        self.memories: dict[str, Memory] = {}

    def write(
        self,
        text: str,
        stamp_ns: int = NOW,
        robot: str = 'robbie',
        pose: Pose | None = None,
        frame_id: str = 'map',
    ) -> Memory:
        memory = note(
            text,
            robot,
            stamp_ns,
            existing=self.memories.get,
            pose=pose,
            frame_id=frame_id,
            map_id='ground floor',
        )
        self.memories[memory.id] = memory
        return memory


def test_a_note_is_a_memory_of_a_person() -> None:
    memory = Notebook().write(' the spare key is here\n', pose=Pose(1.0, 2.0, 0.0, 3.0), frame_id='odom')
    assert memory == Memory(
        id=memory_id('robbie', 'person', NOW),
        robot='robbie',
        start_ns=NOW,
        end_ns=NOW,
        caption='the spare key is here',
        pose=Pose(1.0, 2.0, 0.0, 3.0),
        frame_id='odom',
        map_id='ground floor',
        source='person',
    )


def test_two_notes_of_an_instant_are_two_notes() -> None:
    book = Notebook()
    assert [book.write(text).start_ns - NOW for text in ('a', 'b', 'c')] == [0, 1, 2]
    assert len(book.memories) == 3


def test_the_same_note_again_is_the_same_note() -> None:
    book = Notebook()
    first, second = book.write('a'), book.write('b')
    assert [book.write(text) for text in ('a', ' a ', 'b')] == [first, first, second]
    assert len(book.memories) == 2


def test_robots_do_not_share_an_instant() -> None:
    book = Notebook()
    assert book.write('a', robot='r1').start_ns == book.write('b', robot='r2').start_ns == NOW


@given(st.lists(st.tuples(st.sampled_from('abc'), st.integers(0, 2))))
def test_every_note_is_kept_once(written: list[tuple[str, int]]) -> None:
    book = Notebook()
    for text, offset in written:
        memory = book.write(text, NOW + offset)
        assert memory.caption == text
        assert NOW + offset <= memory.start_ns <= NOW + offset + len(written)
    assert {memory.caption for memory in book.memories.values()} == {text for text, _ in written}


def test_half_a_character_is_replaced_and_the_note_stays_the_same() -> None:
    book = Notebook()
    assert book.write('key \ud83d').caption == 'key ?'
    assert book.write('key \ud83d').start_ns == NOW
    assert book.write('🔑\nin the "drawer"').caption == '🔑\nin the "drawer"'


@pytest.mark.parametrize('text', ['', ' \n', 'x' * (MAX_BYTES + 1), 'ä' * (MAX_BYTES // 2 + 1)])
def test_a_text_without_sense_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest, match='note'):
        Notebook().write(text)


def test_the_longest_note_is_kept_whole() -> None:
    assert Notebook().write('x' * MAX_BYTES).caption == 'x' * MAX_BYTES


@pytest.mark.parametrize('stamp_ns', [-1, MAX_NS + 1])
def test_a_time_out_of_range_is_refused(stamp_ns: int) -> None:
    with pytest.raises(InvalidRequest, match='1970'):
        Notebook().write('a', stamp_ns)


def test_the_last_instant_has_no_next_one() -> None:
    book = Notebook()
    book.write('a', MAX_NS)
    with pytest.raises(InvalidRequest, match='1970'):
        book.write('b', MAX_NS)


@pytest.mark.parametrize('pose', [Pose(math.nan, 0.0), Pose(0.0, math.inf), Pose(0.0, 0.0, 0.0, math.nan)])
def test_a_pose_that_is_not_finite_is_refused(pose: Pose) -> None:
    with pytest.raises(InvalidRequest, match='leave it out'):
        Notebook().write('a', pose=pose)


def test_a_place_needs_a_frame() -> None:
    with pytest.raises(InvalidRequest, match='frame'):
        Notebook().write('a', pose=Pose(0.0, 0.0), frame_id='')
    assert Notebook().write('a', frame_id='').pose is None


def test_looking_for_a_free_instant_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notes, 'MAX_AT_ONCE', 3)
    book = Notebook()
    for text in 'abc':
        book.write(text)
    with pytest.raises(InvalidRequest, match='another time'):
        book.write('d')
