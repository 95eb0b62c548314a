"""Poses that are poor or missing: what is remembered of such times, and what is answered."""

import pytest
from geometry_msgs.msg import PoseStamped, PoseWithCovarianceStamped
from nav_msgs.msg import Odometry
from rclpy.parameter import Parameter
from sensor_msgs.msg import NavSatFix, NavSatStatus
from tf2_msgs.msg import TFMessage

from remembr_msgs.action import Ask as AskAction
from remembr_msgs.msg import Answer as AnswerMsg
from remembr_msgs.msg import Memory as MemoryMsg
from remembr_msgs.srv import Ask
from remembr_ros.nodes.agent.node import AgentNode
from remembr_ros.nodes.base.conversions import time_to_msg
from remembr_ros.nodes.base.managed_node import Level
from remembr_ros.nodes.memory.node import MemoryNode
from remembr_ros.timestamps import NS
from test.node.captioner.test_node import T0, Drive, amcl, at, jpeg, odometry, transform


def uncertain(msg: PoseWithCovarianceStamped | Odometry, std_m: float):
    msg.pose.covariance[0] = msg.pose.covariance[7] = std_m**2
    return msg


SOURCES = pytest.mark.parametrize(
    ('source', 'topic', 'make'),
    [('pose_with_covariance', 'pose_with_covariance', amcl), ('odometry', 'odom', odometry)],
    ids=['pose_with_covariance', 'odometry'],
)


@SOURCES
def test_while_localisation_is_poor_a_memory_has_no_place_and_that_is_told(robot, source, topic, make):
    drive = Drive(robot, pose_source=source, pose_hold=3600.0)
    drive.pose(uncertain(make(0.0), 0.2), topic)
    drive.image(jpeg(0.0))
    drive.flush()
    drive.pose(uncertain(make(1.0), 5.0), topic)
    drive.image(jpeg(3.0))
    drive.flush()
    robot.wait(lambda: len(drive.captions) == 2, 'two captions')
    assert [msg.placed for msg in drive.captions] == [True, False], 'nor is the last good pose held'
    level, message, values = drive.node.diagnose()
    assert (level, values['poses too uncertain']) == (Level.WARN, 1)
    assert 'localisation is poor' in message
    assert '5 m, at most 1 m' in message
    drive.pose(uncertain(make(6.0), 0.2), topic)
    drive.image(jpeg(6.0))
    drive.flush()
    robot.wait(lambda: len(drive.captions) == 3, 'the third caption')
    assert drive.captions[2].placed
    assert drive.node.diagnose()[0] == Level.OK


@SOURCES
def test_a_segment_without_a_place_names_the_cause_and_no_other(robot, capfd, source, topic, make):
    drive = Drive(robot, pose_source=source)
    drive.pose(uncertain(make(0.0), 5.0), topic)
    drive.image(jpeg(0.0))
    drive.pose(uncertain(make(6.0), 0.2), topic)  # the segment is placed when localisation is good again
    drive.flush()
    robot.wait(lambda: len(drive.captions) == 1, 'a caption')
    assert 'localisation is poor' in drive.node.diagnose()[1]
    told = capfd.readouterr().err
    assert '1 segments have no place: localisation is poor' in told
    assert 'check its topic' not in told


def test_the_last_segment_names_the_cause_too(robot, capfd):
    drive = Drive(robot, pose_source='odometry')
    drive.pose(uncertain(odometry(0.0), 5.0), 'odom')
    drive.image(jpeg(0.0))
    drive.node.trigger_deactivate()
    assert '1 segments have no place: localisation is poor' in capfd.readouterr().err


def test_of_a_time_before_localisation_was_poor_that_is_not_the_cause(robot, capfd):
    drive = Drive(robot, pose_source='odometry')
    drive.image(jpeg(0.0))
    drive.flush()
    assert 'segments have no place: no pose near the images, from odometry; check' in capfd.readouterr().err
    drive.pose(uncertain(odometry(6.0), 5.0), 'odom')
    assert 'no pose near' in drive.node.diagnose()[1]


def test_the_frames_that_tf_has_are_listed(robot, capfd):
    drive = Drive(robot, pose_source='tf', base_frame='camera')
    tf = robot.talk(TFMessage, '/tf')
    tf.publish(
        TFMessage(transforms=[transform(0.0, 'map', 'odom', 0.0), transform(0.0, 'odom', 'base_link', 0.0)])
    )
    drive.image(jpeg(0.0))
    robot.wait(lambda: drive.node._pose_source.problem, 'that the frame is missing')
    drive.flush()
    cause = '/tf does not connect map with camera yet; its frames are base_link, map, odom; check map_frame'
    assert cause in drive.node.diagnose()[1]
    told = capfd.readouterr().err
    assert f'segments have no place: {cause}' in told
    assert 'no pose near' not in told


def test_names_of_frames_are_not_obeyed_by_a_terminal(robot, capfd):
    drive = Drive(robot, pose_source='tf', base_frame='camera')
    robot.talk(TFMessage, '/tf').publish(
        TFMessage(transforms=[transform(0.0, 'map', '\x1b]0;owned\x07', 0.0)])
    )
    robot.wait(lambda: drive.node._pose_source.problem, 'that the frame is missing')
    assert '\\u001b]0;owned' in drive.node._pose_source.problem
    assert '\x1b]0;' not in capfd.readouterr().err


def test_what_is_wrong_after_a_loop_of_a_recording_is_the_cause_again(robot):
    source = Drive(robot, pose_source='odometry').node._pose_source
    for stamp_s in (100, 5):
        source._warn(stamp_s * NS, 'localisation is poor')
    assert source.why_none(5 * NS, 10 * NS) == 'localisation is poor'


def test_a_receiver_without_a_fix_is_the_cause(robot):
    drive = Drive(robot, pose_source='navsat')
    fixes = robot.talk(NavSatFix, 'fix')
    fixes.publish(at(NavSatFix(status=NavSatStatus(status=NavSatStatus.STATUS_NO_FIX)), 0.0))
    robot.wait(lambda: drive.node._pose_source.problem, 'that there is no fix')
    drive.image(jpeg(0.0))
    drive.flush()
    assert drive.node.diagnose()[1] == 'the satellite receiver has no fix'


def test_the_size_of_images_is_told_without_one_before(robot, capfd):
    drive = Drive(robot, pose_source='none')
    drive.image(jpeg(0.0))
    drive.flush()
    told = capfd.readouterr().err
    assert 'images of 64 x 48 pixels' in told
    assert 'before' not in told


@SOURCES
def test_the_gate_can_be_opened_while_the_node_runs(robot, source, topic, make):
    drive = Drive(robot, pose_source=source)
    assert drive.node.set_parameters([Parameter('max_position_std', value=0.0)])[0].successful
    drive.pose(uncertain(make(0.0), 500.0), topic)
    drive.image(jpeg(0.0))
    drive.flush()
    robot.wait(lambda: drive.captions, 'a caption')
    assert drive.captions[0].placed


def test_an_agent_that_is_lost_does_not_say_that_it_is_here(robot):
    node = robot.start(AgentNode, pose_source='pose_with_covariance')
    poses = robot.talk(PoseWithCovarianceStamped, 'pose_with_covariance')
    poses.publish(uncertain(amcl(0.0), 0.1))
    robot.wait(lambda: node._here, 'the pose')
    poses.publish(uncertain(amcl(1.0), 3.0))
    robot.wait(lambda: node._here is None, 'the pose to be given up')


@pytest.fixture
def unplaced(robot, tmp_path, monkeypatch):
    """A memory of a printer that has no place, and an agent that goes by rules."""
    for name in ('OPENAI_API_KEY', 'REMEMBR_LLM', 'REMEMBR_LLM_URL'):
        monkeypatch.delenv(name, raising=False)
    robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing')
    robot.start(AgentNode, pose_source='none')
    stored = robot.listen(MemoryMsg, 'memories')
    captions = robot.talk(MemoryMsg, 'captions')
    seen = {'robot': 'robot', 'caption': 'There is a sign that says "PRINTER".', 'scene_text': ['PRINTER']}
    captions.publish(MemoryMsg(**seen, start=time_to_msg(T0), end=time_to_msg(T0 + 3 * NS)))
    robot.wait(lambda: stored, 'the memory')
    assert not stored[0].placed


def ask(robot, question: str, **fields) -> Ask.Response:
    return robot.call(Ask, 'ask', Ask.Request(question=question, **fields), 30.0)


def test_a_memory_without_a_place_answers_when_and_what(robot, unplaced):
    when = ask(robot, 'When did you see the printer?').answer
    assert (when.kind, when.time) == (AnswerMsg.TIME, time_to_msg(T0 + 3 * NS))
    assert ask(robot, 'Did you see a printer?').answer.binary


def test_a_memory_without_a_place_never_answers_where_or_becomes_a_goal(robot, unplaced):
    goals = robot.listen(PoseStamped, 'goal_pose')
    where = ask(robot, 'Where is the printer?')
    assert where.answer.kind != AnswerMsg.POSITION
    assert where.answer.pose.header.frame_id == ''
    drive = ask(robot, 'Take me to the printer.', navigate=True)
    assert drive.answer.kind != AnswerMsg.POSITION
    assert drive.error_code == AskAction.Result.NO_PLACE
    assert goals == []


def test_a_fix_of_zeros_is_the_cause_and_no_place(robot):
    drive = Drive(robot, pose_source='navsat')
    fixes = robot.talk(NavSatFix, 'fix')
    fixes.publish(at(NavSatFix(), 0.0))
    robot.wait(lambda: drive.node._pose_source.problem, 'that there is no fix')
    drive.image(jpeg(0.0))
    drive.flush()
    assert 'a fix of exactly 0, 0' in drive.node.diagnose()[1]
    unset = NavSatStatus(status=-2)
    fixes.publish(at(NavSatFix(status=unset, latitude=47.0, longitude=8.0), 3.0))
    robot.wait(lambda: not drive.node._pose_source.problem, 'a fix whose status nobody set')
    drive.image(jpeg(3.0))
    drive.flush()
    robot.wait(lambda: len(drive.captions) == 2, 'two captions')
    assert [msg.placed for msg in drive.captions] == [False, True]


def test_a_camera_that_counts_from_its_start_is_placed_where_it_is(robot, capfd):
    drive = Drive(robot, pose_source='odometry')
    now_ns = drive.node.now_ns()

    def stamped(msg, stamp_ns):
        msg.header.stamp = time_to_msg(stamp_ns)
        return msg

    drive.pose(stamped(odometry(0.0), now_ns), 'odom')
    drive.image(stamped(jpeg(0.0), 5000 * NS))
    drive.flush()
    robot.wait(lambda: len(drive.captions) == 1, 'a caption')
    [caption] = drive.captions
    assert caption.placed
    assert abs(caption.start.sec - now_ns // NS) < 60
    assert '/image/compressed has stamps of 1970-01-01T01:23:20' in capfd.readouterr().err


@SOURCES
def test_a_jump_of_the_robot_in_the_map_is_told(robot, capfd, source, topic, make):
    drive = Drive(robot, pose_source=source)
    for second in (0.0, 1.0, 2.0):
        drive.pose(make(second), topic)
    drive.flush()
    msg = make(2.1)
    msg.pose.pose.position.x += 3.0
    drive.pose(msg, topic)
    told = ''

    def is_told() -> bool:
        nonlocal told
        told += ''.join(capfd.readouterr())
        return 'follow_pose_graph' in told

    robot.wait(is_told, 'a warning')
    assert told.count('m from where it was 0.1 s ago: where that corrected the map') == 1
