import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.geometry import Pose
from remembr_ros.navigation.plan import AHEAD_M, AT_LEAST_M, approach, place_seen
from test.unit.navigation.grids import POSES, drawn

ROOM = drawn('#######', '#.....#', '#.....#', '#######')


def test_the_thing_seen_is_the_first_obstacle_ahead() -> None:
    x, y = place_seen(Pose(1.5, 1.5, 0.0, 0.0), ROOM)
    assert (x, y) == (pytest.approx(6.0, abs=0.5), pytest.approx(1.5))
    x, y = place_seen(Pose(1.5, 1.5, 0.0, math.pi / 2), ROOM)
    assert (x, y) == (pytest.approx(1.5), pytest.approx(3.0, abs=0.5))


def test_an_obstacle_on_the_pose_itself_is_not_what_was_seen() -> None:
    x, _ = place_seen(Pose(0.5, 1.5, 0.0, 0.0), ROOM)
    assert x == pytest.approx(6.0, abs=0.5)


@given(POSES)
def test_without_a_map_the_thing_is_a_common_distance_ahead(pose: Pose) -> None:
    x, y = place_seen(pose)
    assert math.dist((x, y), (pose.x, pose.y)) == pytest.approx(AHEAD_M)
    assert math.cos(math.atan2(y - pose.y, x - pose.x) - pose.yaw) == pytest.approx(1.0)


@pytest.mark.parametrize('grid', [drawn('###', '###'), drawn('...', '...'), drawn('???')])
def test_where_the_map_shows_nothing_ahead_the_common_distance_holds(grid) -> None:
    assert place_seen(Pose(0.5, 0.5, 0.0, 0.0), grid) == (0.5 + AHEAD_M, 0.5)


@given(POSES, POSES, st.floats(-3, 3), st.floats(-3, 3))
def test_from_another_place_the_robot_faces_the_thing(pose: Pose, thing: Pose, dx: float, dy: float) -> None:
    place = (pose.x + dx, pose.y + dy)
    found = approach(pose, place, (thing.x, thing.y))
    assert (found.x, found.y, found.z) == (*place, pose.z)
    away = math.dist(place, (thing.x, thing.y))
    if away < AT_LEAST_M or place == (pose.x, pose.y):
        assert math.cos(found.yaw - pose.yaw) == pytest.approx(1.0)
    else:
        ahead = (found.x + away * math.cos(found.yaw), found.y + away * math.sin(found.yaw))
        assert ahead == (pytest.approx(thing.x, abs=1e-6), pytest.approx(thing.y, abs=1e-6))


def test_at_the_same_place_the_heading_stays() -> None:
    assert approach(Pose(1.0, 2.0, 0.5, 3.0), (1.0, 2.0), (9.0, 9.0)) == Pose(1.0, 2.0, 0.5, 3.0)
