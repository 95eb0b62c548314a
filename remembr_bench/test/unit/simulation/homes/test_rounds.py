import math
from itertools import pairwise

import pytest

from remembr_bench.simulation.homes.layout import generate_home
from remembr_bench.simulation.homes.rounds import SPEED_M_PER_S, TURN_RAD_PER_S, drive
from remembr_ros.geometry import wrap_angle


@pytest.mark.parametrize('rate_hz', [2.0, 7.3])
def test_the_robot_drives_and_turns_as_fast_as_it_can_and_no_faster(rate_hz):
    visit = generate_home(2).visits[1]
    frames = list(drive(visit, rate_hz))
    assert frames[0][0] == visit.start_ns
    for (before_ns, a), (after_ns, b) in pairwise(frames):
        assert after_ns - before_ns == pytest.approx(1e9 / rate_hz, abs=1)
        assert math.dist(a.position, b.position) <= SPEED_M_PER_S / rate_hz + 1e-9
        assert abs(wrap_angle(b.yaw - a.yaw)) <= TURN_RAD_PER_S / rate_hz + 1e-9


def test_it_looks_around_wherever_it_stops():
    visit = generate_home(2).visits[0]
    for x, y, turns in visit.corners:
        if turns:
            yaws = [pose.yaw for _, pose in drive(visit, 4.0) if math.dist(pose.position[:2], (x, y)) < 1e-6]
            gaps = [b - a for a, b in pairwise(sorted(yaws))]
            assert max(gaps) <= TURN_RAD_PER_S / 4.0 + 1e-9
            assert max(yaws) - min(yaws) > math.tau - 0.3
