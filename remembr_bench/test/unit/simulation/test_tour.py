import itertools
import math

import numpy as np
import pytest

from remembr_bench.simulation.floor_plan import generate_building
from remembr_bench.simulation.tour import CRUISE_M_PER_S, Tour
from remembr_ros.geometry import wrap_angle

ROBOT_RADIUS_M = 0.3
ROBOT_HEIGHT_M = 1.3


@pytest.fixture(scope='module', params=range(4))
def building(request):
    return generate_building(request.param)


@pytest.fixture(scope='module')
def tour(building):
    return Tour(building)


def test_tour_takes_about_two_minutes(tour):
    assert 90.0 < tour.duration_s < 130.0
    poses = [tour.pose_at(t) for t in np.arange(0.0, tour.duration_s, 0.1)]
    assert 60.0 < sum(math.dist(a.position, b.position) for a, b in itertools.pairwise(poses)) < 100.0


def test_robot_never_touches_anything(building, tour):
    solids = [solid for solid in building.solids() if solid.low[2] < ROBOT_HEIGHT_M]
    low = np.array([solid.low[:2] for solid in solids])
    high = np.array([solid.high[:2] for solid in solids])
    for t in np.arange(0.0, tour.duration_s, 0.2):
        pose = tour.pose_at(t)
        gap = np.maximum(0.0, np.maximum(low - (pose.x, pose.y), (pose.x, pose.y) - high))
        assert np.hypot(gap[:, 0], gap[:, 1]).min() > ROBOT_RADIUS_M, (t, pose)


def test_motion_is_smooth(tour):
    step = 0.05
    poses = [tour.pose_at(t) for t in np.arange(0.0, tour.duration_s + step, step)]
    for a, b in itertools.pairwise(poses):
        assert math.dist(a.position, b.position) <= CRUISE_M_PER_S * step * 1.01
        assert abs(wrap_angle(b.yaw - a.yaw)) <= 1.2 * step


def test_robot_faces_the_way_it_drives(tour):
    for t in np.arange(1.0, tour.duration_s - 1.0, 0.5):
        a, b = tour.pose_at(t - 0.05), tour.pose_at(t + 0.05)
        if math.dist(a.position, b.position) > 0.01:
            heading = math.atan2(b.y - a.y, b.x - a.x)
            assert abs(wrap_angle(heading - tour.pose_at(t).yaw)) < 0.1


def test_robot_stands_at_both_ends_and_outside_the_tour(building, tour):
    first, last = building.route[0], building.route[-1]
    assert tour.pose_at(-5.0) == tour.pose_at(0.0)
    assert tour.pose_at(tour.duration_s + 5.0) == tour.pose_at(tour.duration_s)
    assert tour.pose_at(0.0).position == pytest.approx((first.x, first.y, 0.0))
    assert tour.pose_at(tour.duration_s).position == pytest.approx((last.x, last.y, 0.0))


def test_robot_dwells_where_the_route_says_so(building, tour):
    times = np.arange(0.0, tour.duration_s, 0.1)
    for stop in building.route:
        if stop.dwell_s:
            here = [t for t in times if math.dist(tour.pose_at(t).position, (stop.x, stop.y, 0.0)) < 0.005]
            assert len(here) * 0.1 == pytest.approx(stop.dwell_s, abs=0.5)
