import math
import random

from remembr_bench.simulation.floor_plan import generate_building
from remembr_bench.simulation.tour import Tour
from remembr_bench.simulation.tour_bag import drifting_odometry
from remembr_ros.geometry import Pose


def test_odometry_drifts_a_little_and_repeatably():
    tour = Tour(generate_building(0))
    true = [tour.pose_at(i / 20) for i in range(int(tour.duration_s * 20))]
    drifted = drifting_odometry(true, random.Random(3))
    assert drifted == drifting_odometry(true, random.Random(3))
    assert drifted != drifting_odometry(true, random.Random(4))
    assert drifted[0] == Pose(0.0, 0.0)
    end = true[0].in_map(drifted[-1].position)
    assert 0.01 < math.dist(end, true[-1].position) < 5.0


def test_standing_robot_does_not_drift():
    still = [Pose(2.0, 3.0, 0.0, 1.0)] * 50
    assert drifting_odometry(still, random.Random(0)) == [Pose(0.0, 0.0)] * 50
