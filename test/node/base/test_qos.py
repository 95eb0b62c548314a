"""Publishers of every quality of service: heard where that is possible, and told of where it is not."""

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import OccupancyGrid
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import Int16MultiArray, String
from tf2_msgs.msg import TFMessage

from remembr_msgs.msg import Memory as MemoryMsg
from remembr_ros.nodes.agent.node import AgentNode
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.memory.node import MemoryNode
from remembr_ros.nodes.speech import node as speech_node
from remembr_ros.nodes.speech.node import SpeechNode
from test.node.agent.fake_agent import FakeAgent
from test.node.captioner.test_node import Drive, amcl, jpeg, pose, transform
from test.node.memory.test_keeping import caption
from test.node.speech.test_node import Loud, Whisper, utterance

BEST_EFFORT = QoSProfile(depth=100, reliability=ReliabilityPolicy.BEST_EFFORT)
RELIABLE = QoSProfile(depth=100, reliability=ReliabilityPolicy.RELIABLE)
LATCHED = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
BOTH = pytest.mark.parametrize('profile', [BEST_EFFORT, RELIABLE], ids=['best_effort', 'reliable'])


class Told:
    """What diagnostics say of a node."""

    def __init__(self, robot, name: str) -> None:
        self._heard = robot.listen(DiagnosticArray, '/diagnostics')
        self._name = f'/remembr/{name}: status'
        self._robot = robot

    def problem(self, *words: str) -> DiagnosticStatus:
        """Wait until diagnostics warn of the node with these words."""

        def found() -> list[DiagnosticStatus]:
            last = [status for array in self._heard for status in array.status if status.name == self._name]
            return [status for status in last[-1:] if all(word in status.message for word in words)]

        status = self._robot.wait(found, f'{words} in diagnostics')[0]
        assert status.level == DiagnosticStatus.WARN
        return status

    def none(self, word: str) -> None:
        """Wait until the newest diagnostics of the node do not have this word."""
        seen = len(self._heard)

        def gone() -> bool:
            new = [s for array in self._heard[seen:] for s in array.status if s.name == self._name]
            return bool(new) and word not in new[-1].message

        self._robot.wait(gone, f'no {word} in diagnostics')


def test_captions_at_best_effort_are_reported_as_long_as_somebody_publishes_them(robot, tmp_path, capfd):
    told = Told(robot, 'memory')
    robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing')
    wrong = robot.client.create_publisher(MemoryMsg, 'captions', BEST_EFFORT)
    remedy = 'qos_overrides./remembr/captions.subscription.reliability: best_effort'
    status = told.problem('/remembr/captions is not heard from /remembr/test_client', 'best effort', remedy)
    assert 'storing' in status.message, 'what the node does is told as well'
    assert remedy in capfd.readouterr().err
    robot.client.destroy_publisher(wrong)
    told.none('not heard')


def test_the_remedy_that_is_reported_works(robot, tmp_path):
    override = Parameter('qos_overrides./remembr/captions.subscription.reliability', value='best_effort')
    node = MemoryNode(
        parameter_overrides=[
            Parameter('uri', value=str(tmp_path / 'm.db')),
            Parameter('embedder', value='hashing'),
            override,
        ]
    )
    robot.add(node)
    node.trigger_configure()
    node.trigger_activate()
    stored = robot.listen(MemoryMsg, 'memories')
    robot.talk(MemoryMsg, 'captions', BEST_EFFORT).publish(caption(0, 'a red door'))
    robot.wait(lambda: stored, 'a memory')


def test_an_override_leaves_other_nodes_alone(robot, tmp_path):
    override = Parameter('qos_overrides./remembr/captions.subscription.reliability', value='best_effort')
    uri, embedder = Parameter('uri', value=str(tmp_path / 'm.db')), Parameter('embedder', value='hashing')
    node = robot.add(MemoryNode(parameter_overrides=[uri, embedder, override]))
    node.trigger_configure()
    node.trigger_activate()
    assert qos.CAPTIONS.reliability == ReliabilityPolicy.RELIABLE


@pytest.mark.parametrize('topic', ['map', 'global_costmap/costmap'])
def test_a_map_that_is_not_kept_for_late_comers_is_reported(robot, topic):
    told = Told(robot, 'agent')
    robot.start(AgentNode, pose_source='none')
    robot.client.create_publisher(OccupancyGrid, topic, RELIABLE)
    told.problem(f'/remembr/{topic} is not heard', 'volatile', '.durability: volatile')


@pytest.mark.parametrize(
    ('name', 'namespace'),
    [
        ('_NODE_NAME_UNKNOWN_', '_NODE_NAMESPACE_UNKNOWN_'),
        ('_CREATED_BY_BARE_DDS_APP_', '_CREATED_BY_BARE_DDS_APP_'),
    ],
)
def test_a_publisher_whose_node_is_not_known_is_told_so(robot, monkeypatch, name, namespace):
    told = Told(robot, 'agent')
    node = robot.start(AgentNode, pose_source='none')
    infos = node.get_publishers_info_by_topic

    def without_names(topic):
        found = infos(topic)
        for info in found:
            info.node_name, info.node_namespace = name, namespace
        return found

    monkeypatch.setattr(node, 'get_publishers_info_by_topic', without_names)
    robot.client.create_publisher(OccupancyGrid, 'map', RELIABLE)
    status = told.problem('/remembr/map is not heard from a publisher whose node is not known: ', 'volatile')
    assert name not in status.message


@BOTH
def test_images_are_heard_at_any_reliability(robot, profile):
    drive = Drive(robot, pose_source='none')
    drive.say('image/compressed', jpeg(0.0), profile)
    robot.wait(lambda: drive.node._frames, 'the image')


@BOTH
def test_transforms_are_heard_at_any_reliability(robot, profile):
    drive = Drive(robot, pose_source='tf')
    talker = robot.client.create_publisher(TFMessage, '/tf', profile)
    moved = TFMessage(transforms=[transform(0, 'map', 'base_link', 1.0)])
    robot.wait(
        lambda: talker.publish(moved) or drive.node._placer.poses.newest_ns is not None, 'a pose from /tf'
    )


@pytest.mark.parametrize(
    'profile', [BEST_EFFORT, RELIABLE, LATCHED], ids=['best_effort', 'reliable', 'latched']
)
@pytest.mark.parametrize(('source', 'make'), [('pose', pose), ('pose_with_covariance', amcl)])
def test_poses_are_heard_however_they_are_published_and_nothing_is_complained_of(
    robot, capfd, source, make, profile
):
    drive = Drive(robot, pose_source=source)
    drive.say(source, make(0.0, 3.0) if make is pose else make(0.0), profile)
    robot.wait(lambda: drive.node._placer.poses.newest_ns, 'the pose')
    assert drive.node.topics.problem() == ''
    logged = capfd.readouterr().err.splitlines()
    assert [line for line in logged if '[remembr.captioner]' in line and 'QoS' in line] == []


def test_a_pose_that_was_published_before_the_node_came_is_heard(robot):
    talker = robot.client.create_publisher(PoseStamped, 'pose', LATCHED)
    talker.publish(pose(0.0, 3.0))
    drive = Drive(robot, pose_source='pose')
    robot.wait(lambda: drive.node._placer.poses.newest_ns, 'the pose')


@BOTH
def test_sound_is_heard_at_any_reliability(robot, monkeypatch, profile):
    monkeypatch.setattr(speech_node, 'WhisperTranscriber', Whisper)
    monkeypatch.setattr(speech_node, 'SileroStream', Loud)
    node = robot.start(SpeechNode)
    talker = robot.client.create_publisher(Int16MultiArray, 'audio', profile)
    sound = utterance()[0]
    robot.wait(
        lambda: talker.publish(sound) or node._listening.meter.loudness_db > -60.0, 'sound at the level meter'
    )


@BOTH
def test_questions_are_heard_at_any_reliability(robot, profile):
    node = robot.start(AgentNode, pose_source='none')
    node._agent = FakeAgent()
    talker = robot.client.create_publisher(String, 'question', profile)
    robot.wait(
        lambda: talker.publish(String(data='Where is the lift?')) or node._agent.questions, 'the question'
    )


def test_subscriptions_are_gone_after_deactivation(robot):
    drive = Drive(robot, pose_source='pose')
    assert drive.node.topics._subscriptions
    drive.node.trigger_deactivate()
    drive.node.trigger_cleanup()
    assert drive.node.topics._subscriptions == []
    topics = [s.topic_name for s in drive.node.subscriptions if '/remembr/' in s.topic_name]
    assert topics == []
