import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.geometry import (
    Pose,
    circular_mean,
    distance,
    interpolate,
    mean_pose,
    quaternion_from_yaw,
    wrap_angle,
    yaw_from_quaternion,
)

angles = st.floats(-1e4, 1e4)
coordinates = st.floats(-1e7, 1e7)
poses = st.builds(Pose, coordinates, coordinates, coordinates, st.floats(-3.14, 3.14))


def apart(a: float, b: float) -> float:
    """Return the angle between two directions, 0 to pi."""
    return abs(math.remainder(a - b, math.tau))


@given(angles)
def test_wrapping_keeps_the_direction_and_ends_in_the_half_open_range(angle: float) -> None:
    wrapped = wrap_angle(angle)
    assert -math.pi < wrapped <= math.pi
    assert apart(wrapped, angle) < 1e-9


def test_minus_pi_is_written_as_pi() -> None:
    assert wrap_angle(-math.pi) == math.pi
    assert circular_mean([-math.pi]) == math.pi
    assert yaw_from_quaternion(0.0, 0.0, -1.0, 0.0) == math.pi


@given(angles)
def test_yaw_survives_a_quaternion(yaw: float) -> None:
    assert apart(yaw_from_quaternion(*quaternion_from_yaw(yaw)), yaw) < 1e-9


@given(st.floats(-math.pi, math.pi), st.floats(0.01, 100.0))
def test_the_length_and_the_sign_of_a_quaternion_do_not_matter(yaw: float, length: float) -> None:
    x, y, z, w = quaternion_from_yaw(yaw)
    assert apart(yaw_from_quaternion(length * x, length * y, length * z, length * w), yaw) < 1e-9
    assert apart(yaw_from_quaternion(-x, -y, -z, -w), yaw) < 1e-9


@given(st.floats(-math.pi, math.pi), st.floats(-1.4, 1.4))
def test_pitch_leaves_the_heading_alone(yaw: float, pitch: float) -> None:
    cy, sy, cp, sp = math.cos(yaw / 2), math.sin(yaw / 2), math.cos(pitch / 2), math.sin(pitch / 2)
    assert apart(yaw_from_quaternion(-sp * sy, sp * cy, cp * sy, cp * cy), yaw) < 1e-6


def test_a_null_quaternion_has_heading_zero() -> None:
    assert yaw_from_quaternion(0.0, 0.0, 0.0, 0.0) == 0.0


def test_the_circular_mean_crosses_pi_the_short_way() -> None:
    mean = circular_mean([math.radians(170), math.radians(-170)])
    assert apart(mean, math.pi) < 1e-9
    assert circular_mean([math.radians(10), math.radians(-10)]) == pytest.approx(0.0)


@given(st.floats(-math.pi, math.pi), st.lists(st.floats(0.0, 1.5), min_size=1, max_size=10))
def test_the_mean_of_directions_spread_evenly_is_their_middle(middle: float, spreads: list[float]) -> None:
    mean = circular_mean([middle + sign * spread for spread in spreads for sign in (1, -1)])
    assert apart(mean, middle) < 1e-6
    assert -math.pi < mean <= math.pi


@pytest.mark.parametrize('angles', [[], [0.0, math.pi], [0.0, math.tau / 3, -math.tau / 3]])
def test_directions_without_a_mean_give_zero(angles: list[float]) -> None:
    assert circular_mean(angles) == 0.0


@given(poses, poses)
def test_interpolation_meets_both_ends(a: Pose, b: Pose) -> None:
    for end, fraction in ((a, 0.0), (b, 1.0)):
        pose = interpolate(a, b, fraction)
        assert distance(pose.position, end.position) < 1e-6
        assert apart(pose.yaw, end.yaw) < 1e-9


def test_interpolation_turns_the_short_way_round() -> None:
    pose = interpolate(Pose(0, 0, 0, math.radians(170)), Pose(2, 4, 6, math.radians(-170)), 0.5)
    assert pose.position == (1.0, 2.0, 3.0)
    assert apart(pose.yaw, math.pi) < 1e-9


@given(st.lists(poses, min_size=1, max_size=20))
def test_the_mean_position_lies_between_the_extremes(several: list[Pose]) -> None:
    mean = mean_pose(several)
    for axis in range(3):
        values = [pose.position[axis] for pose in several]
        assert min(values) - 1e-6 <= mean.position[axis] <= max(values) + 1e-6
    assert -math.pi < mean.yaw <= math.pi


def test_the_mean_of_no_poses_is_refused() -> None:
    with pytest.raises(ValueError, match='no poses'):
        mean_pose([])
