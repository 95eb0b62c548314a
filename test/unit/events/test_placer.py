import pytest

from remembr_ros.captioning.pose_buffer import PoseBuffer
from remembr_ros.events.placer import HISTORY_S, DeedPlacer
from remembr_ros.geometry import Lost, Pose, StampedPose
from remembr_ros.memory.deeds.deed import deed
from remembr_ros.timestamps import NS
from test.unit.events.messages import T


def placer(**how) -> DeedPlacer:
    return DeedPlacer(PoseBuffer(HISTORY_S, hold_s=how.pop('hold_s', 0.0)), 'cellar', **how)


def at(second: float, x: float, frame: str = 'map') -> StampedPose:
    return StampedPose(T + round(second * NS), Pose(x, 0.0), frame)


def test_begin_end_and_the_way_between():
    made = placer()
    for tick in range(6000):
        made.add(at(tick / 20, min(tick / 20, 100.0)))
    made.put(deed(T + 10 * NS, T + 110 * NS, kind='go'))
    (found,) = made.take(T + 111 * NS)
    assert found.pose.x == pytest.approx(100.0)
    assert found.began == pytest.approx((10.0, 0.0, 0.0))
    assert (found.travelled, found.map_id) == (pytest.approx(90.0), 'cellar')


def test_poses_are_waited_for_but_not_long():
    made = placer()
    made.add(at(0, 0.0))
    made.put(deed(T, T + NS, kind='go'))
    assert made.take(T + NS) == []
    made.add(at(1, 5.0))
    assert made.take(T + NS)[0].pose.x == 5.0
    made.put(deed(T + 8 * NS, kind='go'))
    assert made.take(T + 9 * NS) == []
    assert made.take(T + 10 * NS)[0].pose is None


def test_what_is_told_with_a_place_or_of_another_map_keeps_what_it_has():
    made = placer()
    made.add(at(0, 1.0))
    told = deed(T, kind='pick', pose=Pose(9.0, 9.0), map_id='attic')
    other = deed(T, kind='pick', map_id='attic')
    assert [made.placed(one) for one in (told, other)] == [told, other]
    assert made.placed(deed(T, kind='pick', map_id='cellar')).pose.x == 1.0


def test_a_silent_source_holds_and_a_lost_robot_is_nowhere():
    made = placer(hold_s=600.0)
    made.add(at(0, 1.0))
    assert made.placed(deed(T + 100 * NS, kind='pick')).pose.x == 1.0
    made.add(Lost(T + 200 * NS))
    assert made.placed(deed(T + 300 * NS, kind='pick')).pose is None


def test_a_begin_in_another_frame_is_none():
    made = placer()
    made.add(at(0, 1.0, 'odom'))
    made.add(at(10, 1.0))
    found = made.placed(deed(T, T + 10 * NS, kind='go'))
    assert (found.began, found.frame_id) == (None, 'map')


def test_a_goal_in_another_frame_than_the_pose_is_none():
    made = placer()
    made.add(at(0, 1.0, 'odom'))
    goal = (5.0, 0.0, 0.0)
    assert made.placed(deed(T, kind='go', goal=goal)).goal is None
    assert made.placed(deed(T, kind='go', goal=goal, frame_id='odom')).goal == goal


def test_all_is_handed_out_at_the_end():
    made = placer()
    made.put(deed(T, kind='go'))
    assert len(made.flush()) == 1
    assert made.flush() == []
