"""config/sros2/policy.xml allows what the nodes do, and nothing else: compared with the real graph."""

from collections import defaultdict
from types import SimpleNamespace

import pytest
from rclpy.action import get_action_client_names_and_types_by_node, get_action_server_names_and_types_by_node
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter

from remembr_ros.nodes.agent.node import AgentNode
from remembr_ros.nodes.base.parameters import POSE_SOURCES
from remembr_ros.nodes.bringup import plan_nodes
from remembr_ros.nodes.captioner.node import CaptionerNode
from remembr_ros.nodes.events.node import EventsNode
from remembr_ros.nodes.memory.node import MemoryNode
from remembr_ros.nodes.objects.node import ObjectsNode
from remembr_ros.nodes.speech import node as speech_node
from remembr_ros.nodes.speech.node import SpeechNode
from remembr_ros.nodes.web.node import WebNode
from test.policy import policy

NAMESPACE = '/remembr'

NODES = ('memory', 'captioner', 'agent', 'events', 'objects', 'speech', 'web')

Uses = dict[str, set[str]]
"""Full names by what is done with them, as 'publish' or 'request'."""

GRAPH = {
    'publish': 'get_publisher_names_and_types_by_node',
    'subscribe': 'get_subscriber_names_and_types_by_node',
    'reply': 'get_service_names_and_types_by_node',
    'request': 'get_client_names_and_types_by_node',
}
ACTIONS = {
    'execute': get_action_server_names_and_types_by_node,
    'call': get_action_client_names_and_types_by_node,
}
KINDS = {
    'topics': ('publish', 'subscribe'),
    'services': ('reply', 'request'),
    'actions': ('execute', 'call'),
}


def allowed(node: str) -> Uses:
    """Return what the policy allows a node."""
    uses: Uses = defaultdict(set)
    path = f'{NAMESPACE}/{node}' if node in NODES else '/'
    (enclave,) = [one for one in policy().iter('enclave') if one.get('path') == path]
    (profile,) = enclave.iter('profile')
    assert profile.get('node') == node
    for kind, verbs in KINDS.items():
        for group in profile.findall(kind):
            for verb in verbs:
                if group.get(verb) == 'ALLOW':
                    uses[verb] |= {absolute(name.text, node) for name in group}
    return uses


def test_the_process_of_the_launch_file_may_do_what_a_bringup_takes():
    uses = allowed('launch_ros')
    topics = ('transition_event', 'instance')
    assert uses['subscribe'] == {f'{NAMESPACE}/{node}/{topic}' for node in NODES for topic in topics}
    assert uses['request'] == {f'{NAMESPACE}/{node}/change_state' for node in NODES}


def absolute(name: str, node: str) -> str:
    if name.startswith('~'):
        return f'{NAMESPACE}/{node}/{name[1:]}'
    return name if name.startswith('/') else f'{NAMESPACE}/{name}'


def used(robot, node: str) -> Uses:
    """Return what a node does, as the others see it; actions without what they are made of."""
    uses = {
        verb: {name for name, _ in getattr(robot.client, query)(node, NAMESPACE)}
        for verb, query in GRAPH.items()
    }
    uses |= {
        verb: {name for name, _ in query(robot.client, node, NAMESPACE)} for verb, query in ACTIONS.items()
    }
    for verb in GRAPH:
        uses[verb] = {name for name in uses[verb] if '/_action/' not in name}
    # The policy is about the nodes as bringup.launch.py starts them.
    given = {'objects': 'true', 'speech': 'true', 'web': 'true'}
    (plan,) = [plan for plan in plan_nodes(given) if plan.name == node]
    moved = {absolute(name, node): topic for name, topic in plan.remappings.items()}
    return {verb: {moved.get(name, name) for name in names} for verb, names in uses.items()}


def compare(robot, make, node: str, ways, **parameters) -> None:
    """Assert that the policy of a node is the union of what it does with different parameters.

    :param ways: parameters, each of which the node is brought up with
    :param parameters: of all of them
    """
    found: Uses = defaultdict(set)
    made = robot.make(make, use_sim_time=True, **parameters)
    for way in ways:
        assert all(result.successful for result in made.set_parameters(overrides(way)))
        assert made.trigger_configure() == TransitionCallbackReturn.SUCCESS
        assert made.trigger_activate() == TransitionCallbackReturn.SUCCESS
        for verb, names in used(robot, node).items():
            found[verb] |= names
        made.trigger_deactivate()
        made.trigger_cleanup()
    policy = allowed(node)
    if node == 'events':  # which hears whatever tells of deeds
        policy['subscribe'].remove('/*')
    assert {verb: sorted(names) for verb, names in found.items() if names} == {
        verb: sorted(names) for verb, names in policy.items() if names
    }


def overrides(parameters) -> list[Parameter]:
    return [Parameter(name, value=value) for name, value in parameters.items()]


POSES = [{'pose_source': source} for source in POSE_SOURCES]


def test_the_policy_of_the_captioner(robot):
    compare(robot, CaptionerNode, 'captioner', POSES, captioner='none')


def test_the_policy_of_the_events_node(robot):
    compare(robot, EventsNode, 'events', POSES, left_out=['*'])


def test_the_policy_of_the_objects_node(robot):
    ways = [{'detector': name} for name in ('detections', 'detections_3d')]
    compare(robot, ObjectsNode, 'objects', [*POSES, *ways])


def test_the_policy_of_the_memory(robot, tmp_path):
    parameters = {'uri': str(tmp_path / 'memory.db'), 'embedder': 'hashing'}
    compare(robot, MemoryNode, 'memory', [{}, {'follow_pose_graph': True}], **parameters)


def test_the_policy_of_the_agent(robot):
    pytest.importorskip('nav2_msgs', reason='needs nav2_msgs: make setup')
    pytest.importorskip('map_msgs', reason='needs map_msgs: make setup')
    compare(robot, AgentNode, 'agent', [*POSES, {'navigation': 'nav2', 'confirm_goals': True}])


def test_the_policy_of_the_speech_node(robot, monkeypatch):
    class Model:
        runs_on = 'nothing'

        def __init__(self, *_, **__) -> None:
            pass

        def load(self) -> None:
            pass

    speaker = SimpleNamespace(say=lambda text: None, close=lambda: None, stop=lambda: None)
    for name in ('WhisperTranscriber', 'SileroStream'):
        monkeypatch.setattr(speech_node, name, Model)
    monkeypatch.setattr(speech_node, 'UtteranceCutter', lambda **_: SimpleNamespace())
    monkeypatch.setattr(speech_node, 'make_speaker', lambda *_, **__: speaker)
    compare(robot, SpeechNode, 'speech', [{}], tts='espeak-ng')


def test_the_policy_of_the_web_node(robot):
    pytest.importorskip('fastapi', reason='the page needs the extra web')
    compare(robot, WebNode, 'web', POSES, port=0)
