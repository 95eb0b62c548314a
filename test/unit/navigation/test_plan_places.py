"""From a named place to a free pose in it."""

import math

import pytest

from remembr_ros.agent.model.answer import Answer, Kind
from remembr_ros.errors import GoalRejected
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.places.place import NamedPlace, place
from remembr_ros.navigation.plan import Rules, plan_goals
from remembr_ros.navigation.terrain import KeepOut, Terrain
from test.unit.navigation.test_plan_objects import room

KITCHEN = place('kitchen', outline=[(0, 0), (4, 0), (4, 4), (0, 4)])


def goal(named: NamedPlace, terrain: Terrain, here: Pose | None = None) -> Pose:
    answer = Answer(Kind.POSITION, '', 'rules', pose=named.pose, evidence=(Hit(named.memory, 1.0),))
    (found,) = plan_goals(answer, Rules(), terrain, here=here).goals
    return found.pose


def test_the_middle_where_it_is_free():
    assert goal(KITCHEN, room()).position == (2.0, 2.0, 0.0)
    assert goal(KITCHEN, Terrain()).position == (2.0, 2.0, 0.0)
    assert goal(KITCHEN, room(), Pose(-2.0, 2.0)).yaw == 0.0
    assert goal(KITCHEN, room(), Pose(2.0, -2.0)).yaw == pytest.approx(math.pi / 2)


def test_else_what_is_free_in_it_though_it_is_nearer_outside():
    found = goal(KITCHEN, room((0.5, 0.0, 4.0, 4.0)))
    assert 0.0 <= found.x <= 0.5
    assert 0.0 <= found.y <= 4.0
    dock = place('dock', center=(0.0, 0.0), radius=1.0)
    found = goal(dock, room((-0.8, -0.8, 0.8, 0.8)))
    assert 0.8 <= math.hypot(found.x, found.y) <= 1.0


@pytest.mark.parametrize(
    'terrain',
    [
        room((-0.5, -0.5, 4.5, 4.5)),
        Terrain(map=room().map, keep_out=(KeepOut.parse('-1 -1, 5 -1, 5 5, -1 5'),)),
        room((-0.5, -0.5, 4.5, 0.0), (-0.5, 4.0, 4.5, 4.5), (-0.5, 0.0, 0.0, 4.0), (4.0, 0.0, 4.5, 4.0)),
    ],
)
def test_where_nothing_is_free_or_can_be_reached_there_is_no_goal(terrain: Terrain):
    with pytest.raises(GoalRejected, match='no place in the kitchen is free and can be reached'):
        goal(KITCHEN, terrain, Pose(-2.0, -2.0))


def test_a_place_on_another_map_is_no_goal():
    upper = place('kitchen', outline=KITCHEN.outline, map_id='upper')
    answer = Answer(
        Kind.POSITION, '', 'rules', pose=upper.pose, map_id='upper', evidence=(Hit(upper.memory, 1.0),)
    )
    with pytest.raises(GoalRejected, match="on the map 'upper'"):
        plan_goals(answer, Rules(), room())
