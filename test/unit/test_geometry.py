import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import (
    Point,
    Pose,
    RigidTransform,
    check_point,
    circular_mean,
    compose,
    distance,
    interpolate,
    inverse,
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


quaternions = st.tuples(*[st.floats(-1.0, 1.0)] * 4).filter(lambda q: math.hypot(*q) > 0.1)
rigid = st.builds(
    lambda t, q: RigidTransform(t, tuple(value / math.hypot(*q) for value in q)),
    st.tuples(*[st.floats(-1e4, 1e4)] * 3),
    quaternions,
)
points = st.tuples(*[st.floats(-1e4, 1e4)] * 3)


def undone(transform: RigidTransform) -> RigidTransform:
    return RigidTransform(*inverse((transform.translation, transform.rotation)))


def composed(first: RigidTransform, *others: RigidTransform) -> RigidTransform:
    for other in others:
        first = RigidTransform(
            *compose((first.translation, first.rotation), (other.translation, other.rotation))
        )
    return first


@given(rigid, points)
def test_the_inverse_of_a_transform_leads_back(transform: RigidTransform, point: Point) -> None:
    assert undone(transform).point(transform.point(point)) == pytest.approx(point, rel=1e-9, abs=1e-7)
    there_and_back = composed(undone(transform), transform)
    assert there_and_back.point(point) == pytest.approx(point, rel=1e-9, abs=1e-7)


@given(rigid, rigid, rigid, points)
def test_transforms_are_composed_from_the_right(
    a: RigidTransform, b: RigidTransform, c: RigidTransform, point: Point
) -> None:
    assert composed(a, b).point(point) == pytest.approx(a.point(b.point(point)), rel=1e-9, abs=1e-7)
    left, right = composed(composed(a, b), c), composed(a, composed(b, c))
    assert left.point(point) == pytest.approx(right.point(point), rel=1e-9, abs=1e-7)


@given(rigid, points, points)
def test_a_transform_keeps_distances(transform: RigidTransform, a: Point, b: Point) -> None:
    moved = distance(transform.point(a), transform.point(b))
    assert moved == pytest.approx(distance(a, b), rel=1e-9, abs=1e-7)


@given(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3), st.floats(-math.pi, math.pi), poses)
def test_three_numbers_and_seven_say_the_same(x: float, y: float, yaw: float, pose: Pose) -> None:
    planar = RigidTransform.parse([x, y, yaw])
    full = RigidTransform.parse([x, y, 0.0, *quaternion_from_yaw(yaw)])
    assert planar.pose(pose).position == pytest.approx(full.pose(pose).position, rel=1e-9, abs=1e-6)
    assert apart(planar.pose(pose).yaw, pose.yaw + yaw) < 1e-9
    assert planar.pose(pose).z == pose.z


def test_a_transform_is_read_from_words() -> None:
    assert RigidTransform.parse(['1', '-2.5', '0']) == RigidTransform((1.0, -2.5, 0.0))
    rounded = RigidTransform.parse('1 2 3 0 0 0.707 0.707'.split())
    assert math.hypot(*rounded.rotation) == pytest.approx(1.0, abs=1e-15)
    assert rounded.pose(Pose(1.0, 0.0)).yaw == pytest.approx(math.pi / 2)


@pytest.mark.parametrize(
    ('numbers', 'remedy'),
    [
        ([], '3 .x y yaw. or 7'),
        ([1.0, 2.0], '3 .x y yaw. or 7'),
        (['1', 'two', '3'], 'give numbers'),
        ([1.0, 2.0, math.nan], 'radians'),
        ([1.0, math.inf, 0.0], 'metres'),
        ([0.0] * 7, 'x y z w'),
        ([0.0, 0.0, 0.0, 0.0, 0.0, 90.0, 0.0], 'x y z w'),
    ],
)
def test_what_is_no_transform_is_refused(numbers: list[float | str], remedy: str) -> None:
    with pytest.raises(InvalidRequest, match=remedy):
        RigidTransform.parse(numbers)


def test_a_tilted_map_keeps_the_heading_on_its_ground() -> None:
    pitched = RigidTransform((0.0, 0.0, 0.0), (0.0, math.sin(0.25), 0.0, math.cos(0.25)))
    assert pitched.pose(Pose(0.0, 0.0, 0.0, 0.0)).yaw == pytest.approx(0.0)
    assert pitched.pose(Pose(0.0, 0.0, 0.0, math.pi / 2)).yaw == pytest.approx(math.pi / 2)
    upright = RigidTransform((0.0, 0.0, 0.0), (0.0, -math.sin(math.pi / 4), 0.0, math.cos(math.pi / 4)))
    assert upright.pose(Pose(1.0, 0.0)) == Pose(*upright.point((1.0, 0.0, 0.0)), 0.0), 'straight up'


@pytest.mark.parametrize(
    'point', [(1.0, 2.0), (1.0, 2.0, 3.0, 4.0), (math.nan, 0.0, 0.0), (0.0, 0.0, 2e9), (0.0, -math.inf, 0.0)]
)
def test_what_is_no_position_is_refused(point: tuple) -> None:
    with pytest.raises(InvalidRequest, match='not a position'):
        check_point(point)
