"""Goals: which poses reach them, and how far one has to drive at least."""

import math

import pytest

from remembr_bench.evaluation.tasks.goals import (
    Goal,
    Predicate,
    Quantifier,
    Reached,
    Standing,
    Where,
    length,
    nearest_pose,
    reached,
    shortest,
    spl,
    standing,
)
from remembr_bench.simulation.ways import Ways
from remembr_ros.geometry import Pose
from test.task_world import TaskWorld, thing

CUP, TABLE = Predicate(Where.AT_OBJECT, 'red cup'), Predicate(Where.AT_RECEPTACLE, 'table')
STUDY = Predicate(Where.IN_ROOM, 'study')
WORLD = TaskWorld(thing('red cup', 1.0, 2.0), thing('table', 6.0, 3.0, 'receptacle'))
BY_CUP, BY_TABLE = Pose(2.0, 2.0, yaw=math.pi), Pose(6.0, 2.2, yaw=math.pi / 2)
START = Pose(3.0, 1.0)
YES, NO = Reached(success=True, distance=True, seen=True), Reached(success=False, distance=False, seen=False)


@pytest.mark.parametrize(
    ('pose', 'predicate', 'near', 'seen'),
    [
        (BY_CUP, CUP, True, True),
        (Pose(3.1, 2.0, yaw=math.pi), CUP, False, True),  # 2.1 m
        (Pose(2.0, 2.0, yaw=math.pi - math.radians(44)), CUP, True, False),  # out of the picture
        (Pose(2.0, 2.0, yaw=math.pi - math.radians(46)), CUP, False, False),
        (BY_TABLE, TABLE, True, True),
        (Pose(6.0, 2.2, yaw=math.pi / 2 + math.radians(85)), TABLE, True, False),
        (Pose(6.0, 1.8, yaw=math.pi / 2), TABLE, False, True),  # 1.2 m: .2 m from any viewpoint
        (Pose(6.0, 1.0), STUDY, True, True),
        (BY_CUP, STUDY, False, False),
        (BY_CUP, Predicate(Where.AT_OBJECT, 'gone'), False, False),
    ],
)
def test_what_holds_at_a_pose(pose: Pose, predicate: Predicate, near: bool, seen: bool) -> None:
    found = standing(pose, predicate, WORLD)
    assert found == Standing(near, seen)
    assert found.succeeds is (near and seen)


def test_of_a_goal_with_one_place_the_first_pose_counts_and_any_part_will_do() -> None:
    goal = Goal(Quantifier.EXISTS, (CUP, TABLE))
    assert reached(goal, [BY_TABLE], WORLD) == YES
    assert reached(goal, [BY_CUP, START], WORLD) == YES
    assert reached(goal, [START, BY_CUP], WORLD) == NO
    assert reached(goal, [], WORLD) == NO


def test_all_parts_have_to_be_reached_and_no_pose_may_be_of_no_use() -> None:
    goal = Goal(Quantifier.ALL, (CUP, TABLE))
    assert reached(goal, [BY_TABLE, BY_CUP], WORLD) == YES
    assert reached(goal, [BY_TABLE], WORLD) == NO
    assert reached(goal, [BY_TABLE, START, BY_CUP], WORLD) == NO


def test_an_order_has_to_be_kept() -> None:
    goal = Goal(Quantifier.ALL_IN_ORDER, (CUP, TABLE))
    assert reached(goal, [BY_CUP, BY_TABLE], WORLD) == YES
    assert reached(goal, [BY_CUP, BY_CUP, BY_TABLE], WORLD) == YES
    assert reached(goal, [BY_TABLE, BY_CUP], WORLD) == NO
    assert reached(goal, [BY_CUP], WORLD) == NO
    assert reached(goal, [BY_CUP, BY_TABLE, BY_CUP], WORLD) == NO
    both = Goal(Quantifier.ALL_IN_ORDER, (CUP, Predicate(Where.IN_ROOM, 'kitchen'), STUDY))
    assert reached(both, [BY_CUP, BY_TABLE], WORLD) == YES  # one pose reaches the first two


def test_distance_and_sight_are_told_apart() -> None:
    goal = Goal(Quantifier.EXISTS, (CUP,))
    far = reached(goal, [Pose(3.1, 2.0, yaw=math.pi)], WORLD)
    assert far == Reached(success=False, distance=False, seen=True)


def test_the_nearest_pose_that_succeeds_is_found_through_the_door() -> None:
    pose = nearest_pose(TABLE, START, WORLD)
    assert pose is not None
    assert standing(pose, TABLE, WORLD).succeeds
    assert length(START, [pose], WORLD) < length(START, [BY_TABLE], WORLD)
    assert length(START, [pose], WORLD) > math.dist((3.0, 1.0), (6.0, 3.0)) - 1.0
    room = nearest_pose(STUDY, START, WORLD)
    assert room is not None
    assert 4.0 <= room.x <= 4.4
    assert nearest_pose(Predicate(Where.IN_ROOM, 'attic'), START, WORLD) is None


def test_the_shortest_way_knows_all() -> None:
    one = shortest(Goal(Quantifier.EXISTS, (CUP, TABLE)), START, WORLD)
    assert one == pytest.approx(shortest(Goal(Quantifier.EXISTS, (CUP,)), START, WORLD))
    both = shortest(Goal(Quantifier.ALL, (TABLE, CUP)), START, WORLD)
    ordered = shortest(Goal(Quantifier.ALL_IN_ORDER, (TABLE, CUP)), START, WORLD)
    assert one < both < ordered
    assert shortest(Goal(Quantifier.ALL, (CUP, Predicate(Where.AT_OBJECT, 'gone'))), START, WORLD) == math.inf


def test_success_is_weighted_by_the_way() -> None:
    assert spl(success=True, driven_m=4.0, shortest_m=2.0) == 0.5
    assert spl(success=True, driven_m=1.0, shortest_m=2.0) == 1.0  # no better than the best
    assert spl(success=True, driven_m=0.0, shortest_m=0.0) == 1.0
    assert spl(success=False, driven_m=2.0, shortest_m=2.0) == 0.0
    assert spl(success=True, driven_m=math.inf, shortest_m=2.0) == 0.0


def test_what_is_behind_a_wall_is_not_near() -> None:
    world = TaskWorld(thing('red cup', 3.9, 3.0), thing('door', 3.9, 0.5))
    predicate = Predicate(Where.AT_OBJECT, 'red cup')
    beside_it, behind = Pose(2.9, 3.0, yaw=0.0), Pose(4.9, 3.0, yaw=math.pi)
    assert standing(beside_it, predicate, world).near
    assert not standing(behind, predicate, world).near, '1 m off, and 5 m of way'
    assert standing(Pose(4.9, 0.5, yaw=math.pi), Predicate(Where.AT_OBJECT, 'door'), world).near


def test_a_corner_that_is_cut_off_is_not_where_one_can_be() -> None:
    world = TaskWorld(thing('red cup', 0.5, 3.5))
    world.grid.cells[50:52, :22] = 100
    world.grid.cells[50:, 20:22] = 100
    cut_off = TaskWorld(thing('red cup', 0.5, 3.5))
    cut_off._ways = Ways(world.grid, 0.2)
    assert math.dist(cut_off.beside('red cup'), (0.5, 3.5)) > 0.7, 'outside of the corner'
    assert math.dist(TaskWorld(thing('red cup', 0.5, 3.5)).beside('red cup'), (0.5, 3.5)) < 0.2
