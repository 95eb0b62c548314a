"""Parameters that can be changed while a node is active, those that cannot, and what is refused."""

import pytest
from rcl_interfaces.srv import DescribeParameters
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from std_msgs.msg import String
from visualization_msgs.msg import MarkerArray

from remembr_msgs.msg import Memory as MemoryMsg
from remembr_ros.memory.retention import RetentionPolicy
from remembr_ros.nodes.agent.node import AgentNode
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.conversions import time_from_msg
from remembr_ros.nodes.captioner.node import CaptionerNode
from remembr_ros.nodes.memory.node import MemoryNode
from remembr_ros.nodes.speech import node as speech_node
from remembr_ros.nodes.speech.node import SpeechNode
from remembr_ros.speech.attention import Verdict
from remembr_ros.speech.transcriber import Transcript
from remembr_ros.timestamps import NS
from test.node.agent.fake_agent import FakeAgent
from test.node.captioner.test_node import Drive, jpeg
from test.node.memory.test_keeping import caption
from test.node.speech.test_node import Loud, Whisper


def change(node, **values):
    """Set parameters together; return what rclpy says of it."""
    return node.set_parameters_atomically([Parameter(name, value=value) for name, value in values.items()])


@pytest.fixture
def speech(robot, monkeypatch):
    monkeypatch.setattr(speech_node, 'WhisperTranscriber', Whisper)
    monkeypatch.setattr(speech_node, 'SileroStream', Loud)
    return robot.start(SpeechNode)


def start(robot, tmp_path, kind):
    options = {
        CaptionerNode: {'captioner': 'none', 'pose_source': 'none'},
        MemoryNode: {'uri': str(tmp_path / 'm.db'), 'embedder': 'hashing'},
        AgentNode: {'pose_source': 'none'},
    }
    return robot.start(kind, **options[kind])


FIXED = [
    (CaptionerNode, {'captioner': 'recorded'}),
    (MemoryNode, {'uri': 'elsewhere.db'}),
    (MemoryNode, {'read_only': True}),
    (AgentNode, {'navigation': 'none'}),
    (AgentNode, {'timeout': 5.0, 'nav2_namespace': '/robot1'}),
]


@pytest.mark.parametrize(('kind', 'values'), FIXED, ids=[next(reversed(values)) for _, values in FIXED])
def test_what_is_read_on_configure_is_refused_with_what_to_do_and_all_stays(robot, tmp_path, kind, values):
    node = start(robot, tmp_path, kind)
    before = node.parameters
    result = change(node, **values)
    assert (result.successful, node.parameters) == (False, before)
    assert f'{next(reversed(values))} is read on configure: deactivate and clean up' in result.reason
    for step in ('deactivate', 'cleanup'):
        assert getattr(node, f'trigger_{step}')() == TransitionCallbackReturn.SUCCESS
    assert change(node, **values).successful


WRONG = [
    (AgentNode, {'time_zone': 'Mars/Olympus'}, 'Mars/Olympus'),
    (AgentNode, {'timeout': 1e9}, 'range'),
    (AgentNode, {'goal_order': 'random'}, 'one of'),
    (AgentNode, {'max_goal_distance': float('nan')}, 'range'),
    (AgentNode, {'keep_out': ['0 0, 1 1']}, 'keep-out polygon'),
    (AgentNode, {'goal_clearance': -1.0}, 'range'),
    (MemoryNode, {'marker_count': -1}, 'range'),
    (CaptionerNode, {'segment_length': 0.0}, 'range'),
]


@pytest.mark.parametrize(('kind', 'values', 'reason'), WRONG, ids=[next(iter(v)) for _, v, _ in WRONG])
def test_what_makes_no_sense_is_refused_while_active(robot, tmp_path, kind, values, reason):
    node = start(robot, tmp_path, kind)
    before = node.parameters
    result = change(node, **values)
    assert (result.successful, node.parameters) == (False, before)
    assert reason in result.reason


def test_a_description_says_when_a_value_counts(robot, tmp_path):
    start(robot, tmp_path, AgentNode)
    names = ['timeout', 'llm', 'autostart']
    request = DescribeParameters.Request(names=names)
    described = robot.call(DescribeParameters, 'agent/describe_parameters', request)
    ends = [descriptor.description.rpartition('(')[2] for descriptor in described.descriptors]
    assert ends == ['takes effect at once)', 'read on configure)', 'read at the start)']


def test_segments_have_their_new_length_and_keyframes_at_once(robot):
    drive = Drive(robot, pose_source='none', sample_rate=4.0, segment_length=10.0)
    drive.image(jpeg(0.0))
    assert change(drive.node, segment_length=1.0, keyframes=1).successful
    for i in range(1, 9):
        drive.image(jpeg(0.25 * i))
    robot.wait(lambda: len(drive.captions) == 2, 'two segments of a second')
    first = drive.captions[0]
    assert time_from_msg(first.end) - time_from_msg(first.start) < NS
    assert [len(msg.keyframe_images) for msg in drive.captions] == [1, 1]


def test_a_shorter_silence_ends_a_segment_at_once(robot):
    drive = Drive(robot, pose_source='none', flush_after=600.0)
    drive.image(jpeg(0.0))
    assert change(drive.node, flush_after=0.1).successful
    robot.wait(lambda: drive.captions, 'the segment')


def test_retention_and_markers_follow(robot, tmp_path):
    node = start(robot, tmp_path, MemoryNode)
    seen = robot.listen(MarkerArray, 'memory_markers', qos.MARKERS)
    captions = robot.talk(MemoryMsg, 'captions')
    for i in range(4):
        captions.publish(caption(10 * i, f'thing number {i}', 10.0 * i))

    def shown() -> int:
        return sum(len(marker.points) for marker in seen[-1].markers) if seen else 0

    robot.wait(lambda: shown() == 4, 'four markers')
    assert change(node, marker_count=2).successful
    robot.wait(lambda: shown() == 2, 'the newest two')
    assert change(node, marker_count=100).successful
    robot.wait(lambda: shown() == 4, 'all of them again')
    assert node.diagnose()[2]['last retention'] == 'off'
    assert change(node, max_memories=3, max_age_days=0.0).successful
    assert node._housekeeping._policy == RetentionPolicy(max_memories=3)
    node._housekeeping.retain()
    robot.wait(lambda: shown() == 3, 'three left')


def test_the_agent_asks_and_drives_by_the_new_values(robot, tmp_path):
    node = start(robot, tmp_path, AgentNode)
    node._agent = FakeAgent()
    question = robot.talk(String, 'question')
    assert change(
        node,
        timeout=7.0,
        recall_timeout=0.25,
        time_zone='Asia/Tokyo',
        max_goal_distance=3.0,
        require_map=True,
    ).successful
    question.publish(String(data='Where is the lift?'))
    robot.wait(lambda: node._agent.questions, 'the question')
    asked, timeout_s = node._agent.questions[0]
    assert (str(asked.zone), timeout_s) == ('Asia/Tokyo', pytest.approx(7.0, abs=0.5))
    assert node._recall.timeout_s == 0.25
    rules = node._navigator._rules
    assert (rules.max_distance_m, rules.require_map) == (3.0, True)


def test_speech_is_judged_by_the_new_values(robot, speech):
    def verdict() -> Verdict:
        return speech._attention.judge(Transcript('Robot, where am I?', 'en', 0.9), 0, NS).verdict

    assert verdict() is Verdict.QUESTION
    assert change(speech, wake_phrases='computer').successful
    assert verdict() is Verdict.OTHER
    assert change(speech, min_confidence=0.95).successful
    assert verdict() is Verdict.UNSURE


@pytest.mark.parametrize('values', [{'wake_phrases': '!?'}, {'min_confidence': 1.5}], ids=['phrase', 'range'])
def test_speech_refuses_what_makes_no_sense_and_goes_on(speech, values):
    before = speech.parameters
    result = change(speech, **values)
    assert (result.successful, speech.parameters) == (False, before)
    assert result.reason


def test_a_value_that_was_set_stays_through_the_life_cycle(robot, tmp_path):
    node = start(robot, tmp_path, AgentNode)
    assert change(node, timeout=7.0).successful
    for step in ('deactivate', 'cleanup', 'configure', 'activate'):
        assert getattr(node, f'trigger_{step}')() == TransitionCallbackReturn.SUCCESS
    assert node.parameters.timeout == 7.0


@pytest.mark.parametrize('value', [1000001.0, 1000000.5, -1e-9, 1e9, float('inf')])
def test_a_range_ends_where_it_says(robot, value):
    node = robot.start(AgentNode, pose_source='none')
    result = change(node, max_goal_distance=value)
    assert (result.successful, node.parameters.max_goal_distance) == (False, 0.0)
    assert 'max_goal_distance' in result.reason
    assert change(node, max_goal_distance=1000000.0).successful
