import numpy as np

from remembr_ros.agent.model.answer import Question
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.places.place import place
from remembr_ros.memory.places.places import NOWHERE, Places
from remembr_ros.navigation.grid import Grid
from remembr_ros.places.naming import name_here, proposed_rooms, room_around
from remembr_ros.timestamps import NS

T0 = 1_700_000_000 * NS


def three_rooms() -> Grid:
    """A corridor of 12 m by 2 m, and above it three rooms of 4 m by 4 m with doors; cells of 5 cm."""
    cells = np.full((124, 244), 100, np.int8)
    cells[2:42, 2:242] = 0
    for i in range(3):
        cells[44:122, 2 + 80 * i : 80 + 80 * i] = 0
        cells[42:44, 32 + 80 * i : 50 + 80 * i] = 0
    return Grid(cells, 0.05, Pose(0.0, 0.0))


def memory(
    i: int, x: float, y: float, *, yaw: float = 0.0, text: str = 'A wall.', signs: tuple[str, ...] = ()
) -> Memory:
    at_ns = T0 + i * NS
    return Memory(f'm{i}', 'r', at_ns, at_ns, text, Pose(x, y, 0.0, yaw), scene_text=signs)


def names(memories, known=NOWHERE) -> dict[str, tuple[int, int]]:
    """By name, where the middle of each proposed room is, in metres."""
    found = proposed_rooms(three_rooms(), known, memories)
    return {one.name: (round(one.pose.x), round(one.pose.y)) for one in found}


def test_rooms_without_a_name():
    found = proposed_rooms(three_rooms(), NOWHERE, [])
    assert sorted(one.name for one in found) == [f'unnamed {i}' for i in range(1, 5)]
    assert {one.facts.guessed for one in found} == {'the map shows a room'}


def test_what_was_seen_in_a_room_and_read_at_its_door():
    seen = [
        *(memory(i, 2.0, 4.0, text='A sink and a stove in the kitchen.') for i in range(3)),
        memory(3, 2.0, 4.0),
        memory(4, 4.0, 1.0, signs=('ROOM 117',)),
        memory(5, 5.0, 1.5, yaw=1.57, signs=('ROOM 117', 'EXIT')),
        memory(6, 9.0, 1.5, yaw=1.57, signs=('ROOM 118',)),
    ]
    told = names(seen)
    assert told['kitchen'] == (2, 4)
    assert told['ROOM 117'] == (6, 4)
    assert told['ROOM 118'] == (10, 4)
    assert [one for one in told if one.startswith('unnamed')] == ['unnamed 1']
    why = {one.name: one.facts.guessed for one in proposed_rooms(three_rooms(), NOWHERE, seen)}
    assert why['kitchen'] == '3 of 4 memories made there say so'
    assert why['ROOM 117'] == '"ROOM 117" was read there 2 times'


def test_of_another_map_nothing_is_told():
    seen = [memory(i, 2.0, 4.0, text='The kitchen.') for i in range(3)]
    (kitchen,) = [one for one in proposed_rooms(three_rooms(), NOWHERE, seen) if one.name == 'kitchen']
    assert kitchen.memory.map_id == ''
    upper = proposed_rooms(three_rooms(), NOWHERE, seen, 'upper')
    assert {one.name[:7] for one in upper} == {'unnamed'}
    assert {one.memory.map_id for one in upper} == {'upper'}


def test_what_has_a_name_is_left_out_and_its_name_is_taken():
    seen = [memory(i, 6.0, 4.0, text='The kitchen.') for i in range(3)]
    known = Places([place('Kitchen', outline=[(0.1, 2.2), (4, 2.2), (4, 6), (0.1, 6)]).memory])
    told = names(seen, known)
    assert len(told) == 3
    assert 'kitchen' not in told


def test_the_room_around_a_point():
    around = room_around((2.0, 4.0, 0.3), three_rooms())
    assert around['z'] == 0.3
    assert len(around['outline']) >= 4
    assert room_around((2.0, 4.0, 0.3)) == {'center': (2.0, 4.0, 0.3), 'radius': 2.0}
    assert room_around((2.0, 4.0, 0.3), three_rooms(), 0.5)['radius'] == 0.5
    assert room_around((50.0, 4.0, 0.0), three_rooms())['radius'] == 2.0


def test_naming_where_a_question_is_asked():
    stored = []
    question = Question('This is the lab.', T0, Pose(6.0, 4.0), map_id='m')
    named = name_here('lab', question, stored.append, three_rooms())
    assert stored == [named]
    assert (named.name, named.memory.map_id, named.memory.start_ns) == ('lab', 'm', T0)
    assert 5.0 < named.pose.x < 7.0
