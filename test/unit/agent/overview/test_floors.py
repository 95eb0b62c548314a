"""Floors by the names of maps, by height, and by what captions and signs say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.agent.overview.floors import floors_in, levels_of, on_floor, without_floors
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import NS


def memories(*of: tuple[float, str], map_id: str = '', robot: str = 'r') -> list[Memory]:
    """Return one memory for each height [m] and caption, 3 s apart."""
    return [
        Memory(
            f'{map_id}{robot}{i:02}',
            robot,
            i * 3 * NS,
            (i + 1) * 3 * NS,
            caption,
            Pose(i, 0.0, z),
            map_id=map_id,
        )
        for i, (z, caption) in enumerate(of)
    ]


def ids(found) -> list[str]:
    return [memory.id for memory in found.memories]


@pytest.mark.parametrize(
    ('text', 'floors'),
    [
        ('What did you see on the second floor?', {2}),
        ('the 2nd floor', {2}),
        ('floor 2', {2}),
        ('FLOOR TWO', {2}),
        ('second_floor', {2}),
        ('level-3', {3}),
        ('3rd storey', {3}),
        ('tenth floor and the ground floor', {10, 0}),
        ('the basement', {-1}),
        ('21st floor', {21}),
        ('the floor is wet', set()),
        ('3 floor lamps', set()),
        ('floor plan 2b', set()),
        ('second door', set()),
        ('a floor in 2 colours', set()),
    ],
)
def test_floors_are_read_in_words_and_digits(text: str, floors: set[int]) -> None:
    assert floors_in(text) == floors
    assert floors_in(without_floors(text)) == set()


@given(st.text(max_size=60))
def test_any_text_is_read(text: str) -> None:
    floors_in(text)


def test_the_name_of_a_map_says_it() -> None:
    of = {name: memories((0.0, 'A hall.'), map_id=name) for name in ('floor_1', 'campus_L2', '2F', 'yard')}
    everything = [memory for some in of.values() for memory in some]
    found = on_floor(everything, 2)
    assert (sorted(ids(found)), found.by) == (['2Fr00', 'campus_L2r00'], 'map')
    assert on_floor(everything, 7) == on_floor(everything, 8)
    assert (on_floor(everything, 7).memories, on_floor(everything, 7).by) == ((), 'map')


HOUSE = [(0.0, 'A hall.')] * 5 + [(1.9, 'A lift.')] + [(3.8, 'An office.')] * 5 + [(7.6, 'A roof.')] * 4


def test_height_says_it_counted_from_the_ground() -> None:
    found = on_floor(memories(*HOUSE), 2)
    assert {memory.caption for memory in found.memories} == {'An office.'}
    assert found.by == 'height'
    assert {memory.caption for memory in on_floor(memories(*HOUSE), 3).memories} == {'A roof.'}
    assert {memory.caption for memory in on_floor(memories(*HOUSE), 0).memories} <= {'A hall.', 'A lift.'}
    assert on_floor(memories(*HOUSE), 4).memories == ()


def test_below_the_ground_is_the_basement() -> None:
    with_cellar = [(-3.0, 'Boilers.')] * 4 + HOUSE
    assert {m.caption for m in on_floor(memories(*with_cellar), -1).memories} == {'Boilers.'}
    assert 'A hall.' in {m.caption for m in on_floor(memories(*with_cellar), 1).memories}


def test_signs_say_with_which_number_floors_begin() -> None:
    signed = [(z, 'You are on the first floor.' if z == 3.8 else caption) for z, caption in HOUSE]
    assert {m.caption for m in on_floor(memories(*signed), 2).memories} == {'A roof.'}
    assert {m.caption for m in on_floor(memories(*signed), 0).memories} <= {'A hall.', 'A lift.'}


def test_on_a_hill_heights_tell_no_floors() -> None:
    hill = [(0.07 * i, 'A road.') for i in range(100)]
    assert levels_of(memories(*hill)) == []
    assert (on_floor(memories(*hill), 2).memories, on_floor(memories(*hill), 2).by) == ((), '')


def test_a_lift_is_no_floor() -> None:
    assert levels_of(memories(*HOUSE)) == pytest.approx([0.0, 3.8, 7.6])


def test_without_heights_captions_and_signs_say_it() -> None:
    said = [
        'A hall.',
        'A sign: floor 2.',
        'An office.',
        'Another.',
        'Still on floor 2.',
        'Level 3.',
        'A door.',
    ]
    found = on_floor(memories(*((0.0, caption) for caption in said)), 2)
    assert [memory.caption for memory in found.memories] == said[1:5]
    assert found.by == 'text'
    assert on_floor(memories((0.0, 'A hall.')), 2).by == ''


def test_what_one_robot_read_says_nothing_of_another_one() -> None:
    mine = memories((0.0, 'Floor 2.'), (0.0, 'A door.'), (0.0, 'Floor 2.'))
    other = memories((0.0, 'Outside.'), (0.0, 'Outside.'), robot='s')
    assert {memory.robot for memory in on_floor([*mine, *other], 2).memories} == {'r'}
