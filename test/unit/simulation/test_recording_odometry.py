import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.geometry import Pose, wrap_angle
from remembr_ros.simulation.floor_plan import generate_building
from remembr_ros.simulation.recording import correction, drifting_odometry
from remembr_ros.simulation.tour import Tour

metres = st.floats(-50.0, 50.0)
angles = st.floats(-math.pi, math.pi)
poses = st.builds(lambda x, y, yaw: Pose(x, y, 0.0, yaw), metres, metres, angles)


@given(poses, poses)
def test_correction_makes_both_poses_the_same(in_map, in_odom):
    shift = correction(in_map, in_odom)
    cosine, sine = math.cos(shift.yaw), math.sin(shift.yaw)
    assert shift.x + in_odom.x * cosine - in_odom.y * sine == pytest.approx(in_map.x, abs=1e-9)
    assert shift.y + in_odom.x * sine + in_odom.y * cosine == pytest.approx(in_map.y, abs=1e-9)
    assert wrap_angle(shift.yaw + in_odom.yaw - in_map.yaw) == pytest.approx(0.0, abs=1e-9)


def test_odometry_drifts_a_little_and_repeatably():
    tour = Tour(generate_building(0))
    true = [tour.pose_at(i / 20) for i in range(int(tour.duration_s * 20))]
    drifted = drifting_odometry(true, random.Random(3))
    assert drifted == drifting_odometry(true, random.Random(3))
    assert drifted != drifting_odometry(true, random.Random(4))
    assert drifted[0] == Pose(0.0, 0.0)
    start = correction(true[0], drifted[0])
    end = correction(true[-1], drifted[-1])
    assert 0.01 < math.dist(start.position, end.position) < 5.0


def test_standing_robot_does_not_drift():
    still = [Pose(2.0, 3.0, 0.0, 1.0)] * 50
    assert drifting_odometry(still, random.Random(0)) == [Pose(0.0, 0.0)] * 50
