import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Pose, RigidTransform, distance, inverse
from remembr_ros.memory.model.record import Memory, moved

coordinates = st.floats(-1e4, 1e4)
angles = st.floats(-math.pi, math.pi)
poses = st.builds(Pose, coordinates, coordinates, coordinates, angles)
planar = st.builds(lambda x, y, yaw: RigidTransform.parse([x, y, yaw]), coordinates, coordinates, angles)


def memory(pose: Pose | None) -> Memory:
    return Memory('m1', 'robbie', 10, 20, 'a door', pose, 'map', 'old', 1.5, ('EXIT',), keyframes=('k.jpg',))


def test_a_map_is_renamed_and_nothing_else_changes() -> None:
    before = memory(Pose(1.0, 2.0, 3.0, 0.5))
    assert moved(before) == before
    assert moved(before, map_id='new') == Memory(
        'm1', 'robbie', 10, 20, 'a door', before.pose, 'map', 'new', 1.5, ('EXIT',), keyframes=('k.jpg',)
    )
    assert moved(before, frame_id='site').frame_id == 'site'
    assert moved(before, map_id='').map_id == '', 'a map of its own'


def test_a_quarter_turn_moves_and_turns() -> None:
    after = moved(memory(Pose(2.0, 0.0, 0.5, 0.0)), RigidTransform.parse([10.0, 20.0, math.pi / 2])).pose
    assert after is not None
    assert after.position == pytest.approx((10.0, 22.0, 0.5))
    assert after.yaw == pytest.approx(math.pi / 2)


def test_what_has_no_place_gets_none() -> None:
    after = moved(memory(None), RigidTransform.parse([10.0, 20.0, 1.0]), map_id='new')
    assert (after.pose, after.map_id) == (None, 'new')


@given(poses, planar)
def test_there_and_back_is_the_same_place(pose: Pose, transform: RigidTransform) -> None:
    back_again = RigidTransform(*inverse((transform.translation, transform.rotation)))
    back = moved(moved(memory(pose), transform), back_again).pose
    assert back is not None
    assert back.position == pytest.approx(pose.position, rel=1e-9, abs=1e-7)
    assert abs(math.remainder(back.yaw - pose.yaw, math.tau)) < 1e-9


@given(poses, poses, planar)
def test_distances_and_turns_stay(a: Pose, b: Pose, transform: RigidTransform) -> None:
    new_a, new_b = moved(memory(a), transform).pose, moved(memory(b), transform).pose
    assert new_a is not None
    assert new_b is not None
    assert distance(new_a.position, new_b.position) == pytest.approx(
        distance(a.position, b.position), rel=1e-9, abs=1e-6
    )
    turned = math.remainder((new_a.yaw - new_b.yaw) - (a.yaw - b.yaw), math.tau)
    assert abs(turned) < 1e-9


def test_a_frame_needs_a_name() -> None:
    with pytest.raises(InvalidRequest, match='name'):
        moved(memory(None), frame_id='')


def test_a_place_out_of_range_is_refused() -> None:
    with pytest.raises(InvalidRequest, match='check the transform'):
        moved(memory(Pose(1.7e308, 0.0)), RigidTransform((1.7e308, 0.0, 0.0)))
