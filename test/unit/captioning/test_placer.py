import numpy as np

from remembr_ros.captioning.placer import Placer
from remembr_ros.captioning.pose_buffer import NO_POSE, PAUSE, PoseBuffer
from remembr_ros.captioning.segmenter import Segmenter, SegmenterConfig
from remembr_ros.geometry import Lost, Pose, StampedPose
from remembr_ros.images import Frame
from remembr_ros.timestamps import NS

IMAGE = np.zeros((8, 8, 3), np.uint8)


def frame(second: float) -> Frame:
    return Frame(round(second * NS), lambda: IMAGE)


def pose(second: float, x: float) -> StampedPose:
    return StampedPose(round(second * NS), Pose(x, 0.0))


def placer() -> Placer:
    return Placer(Segmenter(SegmenterConfig(length_s=1.0)), PoseBuffer(hold_s=3600.0))


def test_a_segment_in_which_the_robot_was_lost_does_not_wait_and_has_no_place():
    placing = placer()
    placing.add(pose(0.0, 5.0))
    assert placing.add(Lost(NS)) == []
    for second in (1.0, 1.5, 2.0):  # the third begins the next segment
        placing.add(frame(second))
    (placed,) = placing.add(Lost(2 * NS))
    assert (placed.segment.start_ns, placed.pose) == (NS, None)


def test_a_segment_that_ends_before_the_robot_was_lost_keeps_its_place():
    placing = placer()
    placing.add(pose(0.0, 5.0))
    for second in (0.0, 0.5, 1.0):
        placing.add(frame(second))
    (placed,) = placing.add(Lost(2 * NS))
    assert placed.pose is not None
    assert placed.pose.x == 5.0


def test_being_lost_after_time_jumped_back_places_what_was_before_the_jump():
    placing = placer()
    placing.add(pose(100.0, 5.0))
    placing.add(frame(100.0))
    (placed,) = placing.add(Lost(0))
    assert placed.pose is not None
    assert placed.pose.x == 5.0


def test_a_jump_that_nobody_drives_is_not_travelled_and_why_there_is_no_place_is_told():
    placing = Placer(Segmenter(SegmenterConfig(length_s=1.0)), PoseBuffer())
    (early,) = placing.add(frame(0.0)) + placing.flush()
    assert (early.pose, early.why) == (None, NO_POSE)
    for second, x in ((10.0, 0.0), (10.5, 1.0), (10.9, 1e5)):
        placing.add(pose(second, x))
        placing.add(frame(second))
    (placed,) = placing.flush()
    assert placed.travelled == 1.0
    for second, x in ((15.0, 0.0), (15.5, 1e5)):
        placing.add(pose(second, x))
        placing.add(frame(second))
    (placed,) = placing.flush()
    assert placed.pose is not None
    assert (placed.pose.x, placed.travelled) == (1e5, 0.0)
    placing.add(frame(20.0))
    (late,) = placing.flush()
    assert late.why == PAUSE
