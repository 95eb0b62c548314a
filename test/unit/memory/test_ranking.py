import pytest

from remembr_ros.geometry import Pose
from remembr_ros.memory.ranking import content_stems, coverage, diversify, newest_first, score, stem, words
from remembr_ros.memory.recall import Hit
from remembr_ros.memory.record import Memory

HOUR = 3_600_000_000_000


def memory(name: str, start_ns: int = 0, x: float | None = 0.0, **changes: str) -> Memory:
    pose = None if x is None else Pose(x, 0.0)
    fields = {'robot': 'r', 'caption': '', **changes}
    return Memory(id=name, start_ns=start_ns, end_ns=start_ns + 1, pose=pose, **fields)


def names(hits: list[Hit]) -> list[str]:
    return [hit.memory.id for hit in hits]


@pytest.mark.parametrize(
    ('plural', 'singular'),
    [
        ('signs', 'sign'),
        ('boxes', 'box'),
        ('batteries', 'battery'),
        ('benches', 'bench'),
        ('glass', 'glass'),
        ('bus', 'bus'),
    ],
)
def test_plural_meets_singular(plural: str, singular: str) -> None:
    assert stem(plural) == stem(singular)


def test_words_are_lower_case_letters_and_digits() -> None:
    assert words("The robot's ROOM-417B, café!") == ['the', 'robot', 'room', '417b', 'café']


def test_stop_words_count_only_where_there_is_nothing_else() -> None:
    assert content_stems('Where is the red sofa?') == {'red', 'sofa'}
    assert content_stems('where is it') == {'where', 'is', 'it'}


def test_coverage_looks_at_caption_and_scene_text() -> None:
    seen = Memory('m', 'r', 0, 0, 'A red sofa.', scene_text=('Room 417B',))
    assert coverage(content_stems('sofas in room 417b'), seen) == 1.0
    assert coverage(content_stems('a green sofa'), seen) == 0.5
    assert coverage(frozenset(), seen) == 0.0


def test_a_score_lies_between_zero_and_one() -> None:
    assert score(-0.5, 0.0) == 0.0
    assert score(1.5, 1.0) == pytest.approx(1.0)
    assert score(0.5, 0.5) == pytest.approx(0.5)


def test_one_parked_hour_shows_once_before_others() -> None:
    parked = [Hit(memory(f'p{i}', i * 3), 0.9) for i in range(5)]
    elsewhere = Hit(memory('e', 0, x=5.0), 0.5)
    assert names(diversify([*parked, elsewhere], 3)) == ['p0', 'e', 'p1']


@pytest.mark.parametrize(
    'other',
    [
        memory('b', x=1.5),
        memory('b', 2 * HOUR),
        memory('b', x=None),
        memory('b', robot='s'),
        memory('b', map_id='floor2'),
        memory('b', source='person'),
    ],
)
def test_another_place_time_robot_map_or_source_is_another_stay(other: Memory) -> None:
    hits = [Hit(memory('a'), 0.9), Hit(memory('a2', 10), 0.8), Hit(other, 0.7)]
    assert names(diversify(hits, 2)) == ['a', 'b']


def test_diversity_never_returns_fewer_than_there_are() -> None:
    hits = [Hit(memory(f'p{i}', i), 1.0 - i / 10) for i in range(4)]
    assert names(diversify(hits, 10)) == ['p0', 'p1', 'p2', 'p3']


def test_newest_first_breaks_ties_by_start_and_id() -> None:
    a, b = memory('a', 5), memory('b', 5)
    longer = Memory('c', 'r', 1, 6, '')
    assert [m.id for m in newest_first([longer, b, a])] == ['a', 'b', 'c']
