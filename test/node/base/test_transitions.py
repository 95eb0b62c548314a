"""Every transition of the four nodes: what fails can be tried again, and what was taken is given back."""

import gc
import subprocess
import sys
import weakref
from pathlib import Path

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetAvailableTransitions, GetState
from rclpy.lifecycle import TransitionCallbackReturn

from remembr_ros.nodes.agent.node import AgentNode
from remembr_ros.nodes.captioner.node import CaptionerNode
from remembr_ros.nodes.memory.node import MemoryNode
from remembr_ros.nodes.speech import node as speech_node
from remembr_ros.nodes.speech.node import SpeechNode
from test.node.speech.test_node import Loud, Whisper

KINDS = [CaptionerNode, MemoryNode, AgentNode, SpeechNode]
SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE
HEAVY = {
    CaptionerNode: lambda node: node._captioner,
    MemoryNode: lambda node: node._store,
    AgentNode: lambda node: node._agent,
    SpeechNode: lambda node: node._transcriber,
}


@pytest.fixture
def make(robot, tmp_path, monkeypatch):
    monkeypatch.setattr(speech_node, 'WhisperTranscriber', Whisper)
    monkeypatch.setattr(speech_node, 'SileroStream', Loud)
    options = {
        CaptionerNode: {'captioner': 'scene_text', 'pose_source': 'pose'},
        MemoryNode: {'uri': str(tmp_path / 'm.db'), 'embedder': 'hashing'},
        AgentNode: {'pose_source': 'pose'},
        SpeechNode: {},
    }
    return lambda kind: robot.make(kind, robot='alice', **options[kind])


def step(node, name: str) -> TransitionCallbackReturn:
    return getattr(node, f'trigger_{name}')()


def entities(node) -> list[int]:
    """Return how many of each kind of thing a node has that somebody else could notice."""
    kinds = (node.subscriptions, node.publishers, node.services, node.clients, node.timers)
    return [len(list(kind)) for kind in kinds]


def test_an_agent_that_cannot_be_configured_gives_back_what_it_took(robot, capfd):
    node = robot.make(AgentNode, pose_source='none', llm_url='bad')
    before = entities(node)
    assert step(node, 'configure') == FAILURE
    assert entities(node) == before
    said = capfd.readouterr().err
    assert 'cannot configure: ' in said
    assert 'cannot clean up' not in said


def test_a_parameter_that_does_not_exist_is_told_with_the_nearest_that_does(robot, capfd):
    robot.make(AgentNode, pose_sourc='none', colour='red', **{'qos_overrides./tf.subscription.depth': 3})
    said = capfd.readouterr().err
    assert 'ignored: colour, pose_sourc (did you mean pose_source?)' in said
    assert 'qos_overrides' not in said


@pytest.mark.parametrize('kind', KINDS)
def test_an_activation_that_fails_leaves_nothing_and_can_be_tried_again(make, monkeypatch, capfd, kind):
    node = make(kind)
    assert step(node, 'configure') == SUCCESS
    before = entities(node)
    with monkeypatch.context() as broken:
        subscribe, calls = node.topics.subscribe, []

        def fail_the_last(*args, **options):
            calls.append(args)
            # The first one works, so that there is something to give back, where there are several.
            if len(calls) > 1 or kind in (MemoryNode, AgentNode):
                raise OSError('no more topics')
            return subscribe(*args, **options)

        broken.setattr(node.topics, 'subscribe', fail_the_last)
        assert step(node, 'activate') == FAILURE
    assert 'cannot activate: OSError: no more topics' in capfd.readouterr().err
    assert entities(node) == before
    assert step(node, 'activate') == SUCCESS


@pytest.mark.parametrize('kind', KINDS)
def test_deactivate_and_cleanup_give_back_what_was_taken(make, kind):
    node = make(kind)
    before = entities(node)
    for _ in range(2):
        assert step(node, 'configure') == SUCCESS
        configured = entities(node)
        assert step(node, 'activate') == SUCCESS
        assert step(node, 'deactivate') == SUCCESS
        assert entities(node) == configured
        assert step(node, 'cleanup') == SUCCESS
        assert entities(node) == before


@pytest.mark.parametrize('kind', KINDS)
def test_cleanup_lets_go_of_models_and_database(robot, make, kind):
    node = make(kind)
    for name in ('configure', 'activate', 'deactivate'):
        assert step(node, name) == SUCCESS
    heavy = weakref.ref(HEAVY[kind](node))
    assert heavy() is not None
    assert step(node, 'cleanup') == SUCCESS

    def gone() -> bool:
        gc.collect()
        return heavy() is None

    robot.wait(gone, 'nobody to hold it')  # a callback that is just at it may, for a moment


def test_after_cleanup_another_process_can_open_the_database(make, tmp_path: Path):
    node = make(MemoryNode)
    for name in ('configure', 'activate', 'deactivate', 'cleanup'):
        assert step(node, name) == SUCCESS
    command = [sys.executable, '-m', 'remembr_ros.cli.main', 'info', '--memory', str(tmp_path / 'm.db')]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60.0, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('stage', ['unconfigured', 'inactive', 'active'])
def test_shutdown_works_in_every_stage_and_gives_back_everything(make, kind, stage):
    node = make(kind)
    before = entities(node)
    for name in {'unconfigured': (), 'inactive': ('configure',), 'active': ('configure', 'activate')}[stage]:
        assert step(node, name) == SUCCESS
    assert step(node, 'shutdown') == SUCCESS
    assert entities(node) == before
    assert node.finalized


@pytest.mark.parametrize('kind', KINDS)
def test_a_stop_that_breaks_is_logged_and_the_node_can_still_be_cleaned_up(make, monkeypatch, capfd, kind):
    node = make(kind)
    for name in ('configure', 'activate'):
        assert step(node, name) == SUCCESS
    with monkeypatch.context() as broken:
        broken.setattr(node, 'stop', lambda: 1 / 0)
        assert step(node, 'deactivate') == SUCCESS
    assert 'cannot deactivate: ZeroDivisionError' in capfd.readouterr().err
    node.stop()
    assert step(node, 'cleanup') == SUCCESS


@pytest.mark.parametrize('kind', KINDS)
def test_diagnostics_name_the_node_and_the_robot_in_every_stage(robot, make, kind):
    heard = robot.listen(DiagnosticArray, '/diagnostics')
    node = make(kind)
    full_name = node.get_fully_qualified_name()
    for name in ('configure', 'activate', None):
        before = len(heard)
        robot.wait(lambda before=before: len(heard) > before + 1, 'diagnostics of this stage')
        status = heard[-1].status[0]
        assert (status.name, status.hardware_id) == (f'{full_name}: status', 'alice')
        if name:
            assert step(node, name) == SUCCESS


IMPOSSIBLE = [
    Transition(id=Transition.TRANSITION_CONFIGURE),
    Transition(id=Transition.TRANSITION_ACTIVATE),
    Transition(id=Transition.TRANSITION_CLEANUP),
    Transition(id=Transition.TRANSITION_UNCONFIGURED_SHUTDOWN),
    Transition(id=Transition.TRANSITION_DESTROY),
    Transition(id=Transition.TRANSITION_ON_ACTIVATE_SUCCESS),
    Transition(id=77),
    Transition(label='configure'),
    Transition(label='fly'),
]


@pytest.mark.parametrize('kind', KINDS)
def test_a_transition_that_is_not_possible_is_refused_and_the_node_stays_as_it_is(robot, make, kind):
    node = make(kind)
    name = node.get_name()
    assert (step(node, 'configure'), step(node, 'activate')) == (SUCCESS, SUCCESS)
    for transition in IMPOSSIBLE:
        request = ChangeState.Request(transition=transition)
        assert not robot.call(ChangeState, f'{name}/change_state', request).success
    state = robot.call(GetState, f'{name}/get_state', GetState.Request()).current_state
    assert state.id == State.PRIMARY_STATE_ACTIVE
    request = GetAvailableTransitions.Request()
    response = robot.call(GetAvailableTransitions, f'{name}/get_available_transitions', request)
    found = response.available_transitions
    assert {one.transition.label for one in found} == {'deactivate', 'shutdown'}
    assert robot.call(
        ChangeState, f'{name}/change_state', ChangeState.Request(transition=Transition(label='shutdown'))
    ).success
    for transition in (*IMPOSSIBLE, Transition(id=Transition.TRANSITION_ACTIVE_SHUTDOWN)):
        request = ChangeState.Request(transition=transition)
        assert not robot.call(ChangeState, f'{name}/change_state', request).success
