import math
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembr_ros.captioning.pose_buffer import PoseBuffer
from remembr_ros.errors import StalePose
from remembr_ros.geometry import Pose, StampedPose
from remembr_ros.timestamps import NS

T0 = 1_700_000_000_000_000_000


def at(seconds: float, x: float = 0.0, yaw: float = 0.0, frame_id: str = 'map') -> StampedPose:
    return StampedPose(T0 + round(seconds * NS), Pose(x, 0.0, 0.0, yaw), frame_id)


def filled(*poses: StampedPose, **options: float) -> PoseBuffer:
    buffer = PoseBuffer(**options)
    for pose in poses:
        buffer.add(pose)
    return buffer


def x_at(buffer: PoseBuffer, seconds: float) -> float:
    return buffer.at(T0 + round(seconds * NS)).pose.x


def test_between_two_poses_it_interpolates_and_stamps_with_the_asked_time():
    buffer = filled(at(0, 0.0), at(1, 10.0))
    pose = buffer.at(T0 + NS // 4)
    assert pose.pose.x == pytest.approx(2.5)
    assert (pose.stamp_ns, pose.frame_id) == (T0 + NS // 4, 'map')


def test_yaw_turns_the_short_way_round():
    buffer = filled(at(0, yaw=math.radians(170)), at(1, yaw=math.radians(-170)))
    assert abs(buffer.at(T0 + NS // 2).pose.yaw) == pytest.approx(math.pi)


@pytest.mark.parametrize(('seconds', 'x'), [(-0.5, 1.0), (0.0, 1.0), (1.0, 2.0), (1.5, 2.0)])
def test_near_the_ends_the_nearest_pose_counts(seconds: float, x: float):
    assert x_at(filled(at(0, 1.0), at(1, 2.0)), seconds) == x


@pytest.mark.parametrize(('seconds', 'says'), [(-0.6, '0.60 s after'), (1.75, '0.75 s before')])
def test_stale_pose_says_how_old(seconds: float, says: str):
    with pytest.raises(StalePose, match=says):
        x_at(filled(at(0), at(1)), seconds)


def test_without_any_pose_it_says_what_to_check():
    with pytest.raises(StalePose, match='publishing'):
        PoseBuffer().at(T0)


def test_large_hole_is_not_interpolated():
    buffer = filled(at(0, 1.0), at(10, 2.0))
    assert x_at(buffer, 0.5) == 1.0
    assert x_at(buffer, 9.5) == 2.0
    with pytest.raises(StalePose):
        x_at(buffer, 5.0)
    assert x_at(filled(at(0, 1.0), at(2, 2.0)), 1.0) == 1.5


def test_held_pose_stays_valid_until_a_newer_one():
    buffer = filled(at(0, 1.0), hold_s=60.0)
    assert x_at(buffer, 59.0) == 1.0
    with pytest.raises(StalePose):
        x_at(buffer, 61.0)
    with pytest.raises(StalePose):
        x_at(buffer, -1.0)
    buffer.add(at(50, 2.0))
    assert x_at(buffer, 40.0) == 1.0, 'longer ago than the history, but it was held then'
    assert x_at(buffer, 49.6) == 2.0
    assert x_at(filled(at(0, 1.0), hold_s=math.inf), 1e6) == 1.0


def test_order_and_duplicates_do_not_matter():
    buffer = filled(at(1, 10.0), at(0.5, 99.0), at(0.5, 5.0), at(0, 0.0), at(1, 10.0))
    assert len(buffer._poses) == 3
    assert x_at(buffer, 0.25) == pytest.approx(2.5)
    assert x_at(buffer, 0.75) == pytest.approx(7.5)


def test_jump_back_in_time_forgets_everything():
    buffer = filled(at(100, 1.0), at(101, 2.0), at(10, 3.0))
    assert x_at(buffer, 10) == 3.0
    assert len(buffer._poses) == 1
    with pytest.raises(StalePose):
        x_at(buffer, 101)


def test_change_of_frame_forgets_everything():
    buffer = filled(at(0, 1.0), at(0.1, 2.0, frame_id='map2'))
    assert len(buffer._poses) == 1
    assert buffer.at(T0).frame_id == 'map2'


@pytest.mark.parametrize('bad', [math.nan, math.inf, -math.inf])
def test_poses_that_are_not_finite_are_ignored(bad: float):
    buffer = filled(at(0, 1.0), at(0.1, bad), at(0.2, 1.0, yaw=bad))
    assert len(buffer._poses) == 1
    assert x_at(buffer, 0.1) == 1.0


@pytest.mark.parametrize('bad', [1e300, -1.001e9])
def test_poses_beyond_any_map_are_ignored(bad: float):
    buffer = filled(at(0, 1.0), at(0.1, bad))
    assert len(buffer._poses) == 1
    assert x_at(buffer, 0.1) == 1.0


def test_history_is_bounded():
    buffer = PoseBuffer(history_s=5.0)
    for i in range(2_000):
        buffer.add(at(i / 50, float(i)))
    assert len(buffer._poses) <= 5 * 50 + 2
    assert x_at(buffer, 1_800 / 50) == 1_800.0
    assert buffer.newest_ns == at(1_999 / 50).stamp_ns


@settings(max_examples=100)
@given(st.permutations(range(10)), st.integers(0, 900_000_000))
def test_arrival_order_within_a_second_does_not_change_the_answer(order: list[int], offset_ns: int):
    buffer = filled(*(at(i / 10, float(i)) for i in order))
    assert buffer.at(T0 + offset_ns).pose.x == pytest.approx(offset_ns / 1e8)


def test_reading_while_adding_always_gives_a_pose_on_the_line():
    buffer = filled(at(0, 0.0), history_s=0.5)
    wrong: list[float] = []

    def read() -> None:
        while (newest_ns := buffer.newest_ns) is not None and newest_ns < at(20).stamp_ns:
            try:
                pose = buffer.at(newest_ns - 5_000_000)
            except StalePose:
                continue  # the writer was half a second of history faster
            if abs(pose.pose.x - (pose.stamp_ns - T0) / NS) > 0.5:
                wrong.append(pose.pose.x)

    reader = threading.Thread(target=read)
    reader.start()
    for i in range(1, 2_001):
        buffer.add(at(i / 100, i / 100))
    reader.join(timeout=10.0)
    assert not reader.is_alive()
    assert wrong == []


def lost_between(**options) -> PoseBuffer:
    """Return a buffer with poses at 0, 1 and 4 s; from 2 s on the robot is lost."""
    poses = PoseBuffer(**options)
    for second in (0, 1):
        poses.add(StampedPose(second * NS, Pose(float(second), 0.0)))
    for second in (2, 3):
        poses.lose(second * NS)
    poses.add(StampedPose(4 * NS, Pose(4.0, 0.0)))
    return poses


@pytest.mark.parametrize('tenth', [16, 20, 25, 30, 34])
def test_while_the_robot_is_lost_no_pose_is_held_or_interpolated(tenth):
    poses = lost_between(hold_s=3600.0, max_age_s=0.5, max_interpolation_s=10.0)
    if tenth == 16:  # not lost yet
        assert poses.at(tenth * NS // 10).pose.x == 1.0
        return
    with pytest.raises(StalePose):
        poses.at(tenth * NS // 10)


def test_after_it_was_lost_the_next_pose_counts():
    poses = lost_between(hold_s=3600.0)
    assert [poses.at(ns).pose.x for ns in (4 * NS, 36 * NS // 10, 100 * NS)] == [4.0, 4.0, 4.0]
    assert poses.newest_ns == 4 * NS


def test_a_better_pose_of_the_same_time_takes_the_place_of_being_lost():
    poses = PoseBuffer()
    poses.lose(NS)
    poses.add(StampedPose(NS, Pose(1.0, 0.0)))
    assert poses.at(NS).pose.x == 1.0


def test_only_being_lost_is_no_pose():
    poses = PoseBuffer(hold_s=3600.0)
    poses.lose(NS)
    with pytest.raises(StalePose):
        poses.at(NS)


def test_a_jump_that_nobody_drives_is_not_interpolated():
    buffer = PoseBuffer()
    for second, x in ((0, 0.0), (1, 1e5)):
        buffer.add(StampedPose(T0 + second * NS, Pose(x, 0.0)))
    assert [buffer.at(T0 + tenth * NS // 10).pose.x for tenth in (4, 6)] == [0.0, 1e5]
