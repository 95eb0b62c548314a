"""Which messages are poses, and which are none."""

from typing import Any

from remembr_ros.bags.reader import BagReader, open_bag
from remembr_ros.geometry import StampedPose

S = 1_000_000_000


def read(reader: BagReader) -> list[StampedPose]:
    with reader as bag:
        return [event for event in bag.events() if isinstance(event, StampedPose)]


def fixes(bag: Any, t0: int, *places: tuple[float, float, int]) -> tuple[BagReader, list[StampedPose]]:
    """Read fixes of latitude, longitude and status, one in a second."""
    with bag() as out:
        out.compressed('/image', t0)
        for second, (latitude, longitude, status) in enumerate(places):
            out.fix('/fix', t0 + second * S, latitude, longitude, status=status)
    reader = open_bag(out.path)
    return reader, read(reader)


def test_fixes_of_zero_are_none(bag: Any, t0: int) -> None:
    reader, poses = fixes(bag, t0, (0.0, 0.0, 0), (-0.0, 0.0, 0), (47.0, 8.0, 0), (47.00001, 8.0, 0))
    assert reader.datum == (47.0, 8.0, 0.0)
    assert [round(pose.pose.y, 1) for pose in poses] == [0.0, 1.1]
    assert dict(reader.left_out) == {'of exactly 0, 0, which receivers report before their first fix': 2}


def test_a_status_that_nobody_set_is_no_lack_of_a_fix(bag: Any, t0: int) -> None:
    reader, poses = fixes(bag, t0, (47.0, 8.0, -2), (47.00001, 8.0, -2), (47.00002, 8.0, -1))
    assert len(poses) == 2
    assert dict(reader.left_out) == {'without a fix (status -1)': 1}


def test_one_wrong_fix_is_left_out(bag: Any, t0: int) -> None:
    reader, poses = fixes(bag, t0, (47.0, 8.0, 0), (48.0, 8.0, 0), (47.00001, 8.0, 0), (47.00002, 8.0, 0))
    assert [round(pose.pose.y, 1) for pose in poses] == [0.0, 1.1, 2.2]
    assert sum(reader.left_out.values()) == 1


def test_where_the_next_ones_agree_the_robot_is_there(bag: Any, t0: int) -> None:
    _, poses = fixes(bag, t0, (47.0, 8.0, 0), (47.00001, 8.0, 0), (48.0, 8.0, 0), (48.00001, 8.0, 0))
    assert [round(pose.pose.y, -3) for pose in poses] == [0.0, 0.0, 111_000.0]


def test_a_first_fix_that_was_wrong_is_no_origin(bag: Any, t0: int) -> None:
    reader, poses = fixes(bag, t0, (12.0, 8.0, 0), (47.0, 8.0, 0), (47.00001, 8.0, 0), (47.00002, 8.0, 0))
    assert reader.datum == (47.00001, 8.0, 0.0)
    assert [round(pose.pose.y, 1) for pose in poses[1:]] == [0.0, 1.1]


def test_a_pose_with_covariance_is_held_as_amcl_means_it(bag: Any, t0: int) -> None:
    with bag() as out:
        out.compressed('/image', t0)
        out.pose_with_covariance('/amcl_pose', t0, (1, 2, 0))
    with open_bag(out.path) as reader:
        assert reader.hold_s == 600.0
    with open_bag(out.path, poses=False) as reader:
        assert reader.hold_s == 0.0
