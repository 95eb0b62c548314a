"""The way of a question to Nav2 and back, over the wire: action servers of Nav2's names, types and fields."""

import math
import os
import re
import subprocess
import sys
import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from action_msgs.srv import CancelGoal
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import PoseStamped
from rclpy.lifecycle import TransitionCallbackReturn
from std_srvs.srv import Trigger

from test.node.action_client import ActionClient

pytest.importorskip('nav2_msgs', reason='needs nav2_msgs: make setup, or install ros-$ROS_DISTRO-nav2-msgs')

from nav2_msgs.action import NavigateToPose

from remembr_msgs.action import Ask as AskAction
from remembr_msgs.srv import Ask
from remembr_ros.agent.model.answer import Kind
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.recall import Hit
from remembr_ros.nodes.agent.node import AgentNode
from remembr_ros.timestamps import NS
from test.node.agent.fake_agent import ABORTED, CANCELED, LIFT, SUCCEEDED, Asker, FakeAgent, FakeMemoryNode
from test.node.base.test_managed_node_live_parameters import change
from test.node.nav2 import fake_nav2
from test.node.nav2.basic_navigator import shut_down
from test.node.nav2.fake_nav2 import FakeNav2
from test.patience import patiently

CODES = AskAction.Result
SERVER_S = 0.5
SILENCE_S = 1.0
LATE_S = 1.5
"""On a busy machine a deadline is kept this much later."""

PLACES = tuple(
    Hit(replace(LIFT, id=f'lift-{i}', pose=Pose(10.0 * x, 2.0, 0.0, 1.0)), 0.9)
    for i, x in enumerate((3, 1, 2))
)


@pytest.fixture(params=['nav2', 'simple_commander'])
def navigation(request):
    """Parameters for one of the ways to drive by Nav2."""
    given = {'navigation': request.param}
    if request.param == 'simple_commander' and find_spec('nav2_simple_commander') is None:
        given['simple_commander_class'] = 'test.node.nav2.basic_navigator:BasicNavigator'
    return given


@pytest.fixture
def start(robot, navigation):
    """Start an agent node that drives by Nav2."""
    agents, nodes = [], []

    def start(**parameters):
        waits = {'nav2_server_timeout': SERVER_S, 'nav2_silence_timeout': SILENCE_S, **parameters}
        node = robot.start(AgentNode, pose_source='none', **navigation, **waits)
        agents.append(FakeAgent())
        node._agent = agents[-1]
        nodes.append(node)
        return node

    yield start
    for agent in agents:
        agent.release.set()
    shut_down(*nodes)


@pytest.fixture
def nav2(robot):
    return robot.add(FakeNav2())


@pytest.fixture
def asker(robot):
    made = []

    def make():
        made.append(Asker(robot))
        return made[0]

    yield make
    for one in made:
        one.client.destroy()


class Scene:
    """An agent, Nav2 and an asker that know each other."""

    def __init__(self, robot, agent, nav2, asker) -> None:
        self.robot, self.agent, self.nav2, self.asker = robot, agent, nav2, asker
        known = agent._navigator._nav2
        robot.wait(lambda: known._one.is_ready() and known._several.is_ready(), 'Nav2 is discovered')

    def drive(self, question: str = 'Take me to the lift', **fields):
        """Ask, and return the handle when Nav2 drives."""
        count = len(self.nav2.runs)
        handle = self.asker.send(question, navigate=True, **fields)
        self.robot.wait(lambda: len(self.nav2.runs) > count, 'Nav2 drives')
        return handle

    def idle(self) -> None:
        self.robot.wait(lambda: len(self.agent._navigator) == 0, 'nothing is awaited any more')


@pytest.fixture
def scene(robot, start, nav2, asker):
    return Scene(robot, start(), nav2, asker())


def test_the_robot_arrives_and_tells_of_its_way(scene):
    scene.nav2.behaviour = 'drive'
    handle = scene.drive()
    told = scene.robot.wait(
        lambda: [f for f in scene.asker.feedback if not math.isnan(f.distance_remaining)], 'progress'
    )[0]
    assert told.stage == 'navigating'
    assert 0.0 < told.distance_remaining <= 10.0
    assert told.estimated_time_remaining == Duration(sec=7, nanosec=500_000_000)
    assert (told.recoveries, told.places_remaining, told.memories_found) == (2, 1, 1)
    scene.nav2.finish(scene.nav2.runs[0], 'arrive')
    result = scene.asker.result(handle)
    assert (result.status, result.result.error_code) == (SUCCEEDED, CODES.NONE)
    pose = scene.nav2.runs[0].request.pose
    assert (pose.header.frame_id, pose.pose.position.x, pose.pose.position.y) == ('map', 4.0, 2.0)
    assert pose.pose.orientation.z == pytest.approx(math.sin(0.5))
    scene.idle()


def test_progress_comes_at_a_rate_for_people(scene):
    handle = scene.drive()
    scene.robot.wait(lambda: scene.nav2.runs[0].ticks > 60, 'Nav2 has told 60 times')
    scene.nav2.finish(scene.nav2.runs[0], 'arrive')
    scene.asker.result(handle)
    told = [f for f in scene.asker.feedback if not math.isnan(f.distance_remaining)]
    assert 1 <= len(told) < 20


@pytest.mark.parametrize(
    ('behaviour', 'code', 'says'),
    [
        ('reject', CODES.NAV_REJECTED, 'refused'),
        ('abort', CODES.NAV_ABORTED, '104.*no valid path'),
        ('silent', CODES.NAV_TIMEOUT, 'nav2_silence_timeout'),
        ('mute', CODES.NAV_TIMEOUT, 'did not say'),
    ],
)
def test_what_nav2_does_has_its_code_in_time(scene, behaviour, code, says):
    scene.nav2.behaviour = behaviour
    started = time.monotonic()
    result = scene.asker.result(scene.asker.send('Take me to the lift', navigate=True))
    assert time.monotonic() - started < patiently(max(SERVER_S, SILENCE_S) + LATE_S)
    assert (result.status, result.result.error_code) == (ABORTED, code)
    assert re.search(says, result.result.error_msg)
    assert result.result.answer.evidence[0].id == 'lift-1'
    if behaviour == 'silent':
        scene.robot.wait(lambda: scene.nav2.runs[0].end == 'cancel', 'the goal is cancelled in Nav2')
    scene.nav2.answer()
    scene.idle()


def test_a_goal_that_nav2_accepts_too_late_is_cancelled(scene):
    scene.nav2.behaviour = 'mute'
    result = scene.asker.result(scene.asker.send('Take me to the lift', navigate=True))
    assert result.result.error_code == CODES.NAV_TIMEOUT
    scene.nav2.behaviour = 'drive'
    scene.nav2.answer()
    scene.robot.wait(lambda: scene.nav2.runs, 'the late acceptance')
    scene.robot.wait(lambda: scene.nav2.runs[0].end == 'cancel', 'the goal is cancelled in Nav2')
    scene.idle()


def test_without_nav2_the_asker_is_told_in_time(robot, start, asker):
    start()
    started = time.monotonic()
    result = asker().result(asker().send('Take me to the lift', navigate=True))
    assert time.monotonic() - started < patiently(SERVER_S + LATE_S)
    assert (result.status, result.result.error_code) == (ABORTED, CODES.NAV_UNAVAILABLE)
    assert '/navigate_to_pose' in result.result.error_msg


def test_when_nav2_is_shut_down_on_the_way_the_asker_is_told(scene):
    handle = scene.drive()
    started = time.monotonic()
    scene.nav2.go_away()
    result = scene.asker.result(handle)
    assert time.monotonic() - started < patiently(2 * SILENCE_S + LATE_S)
    assert result.result.error_code in (CODES.NAV_UNAVAILABLE, CODES.NAV_TIMEOUT)
    scene.idle()


def test_when_nav2_is_killed_on_the_way_the_asker_is_told(robot, start, asker):
    agent = start()
    process = subprocess.Popen([sys.executable, fake_nav2.__file__], env=dict(os.environ))
    try:
        robot.wait(agent._navigator._nav2._one.is_ready, 'Nav2 is discovered')
        one = asker()
        handle = one.send('Take me to the lift', navigate=True)
        robot.wait(lambda: any(f.recoveries for f in one.feedback), 'the robot drives')
        process.kill()
        started = time.monotonic()
        result = one.result(handle)
        assert time.monotonic() - started < patiently(SILENCE_S + LATE_S)
        assert result.result.error_code in (CODES.NAV_UNAVAILABLE, CODES.NAV_TIMEOUT)
    finally:
        process.kill()
        process.wait(10.0)


def test_a_drive_that_takes_too_long_ends_and_is_cancelled(robot, start, nav2, asker):
    scene = Scene(robot, start(drive_timeout=0.6), nav2, asker())
    result = scene.asker.result(scene.drive())
    assert result.result.error_code == CODES.NAV_TIMEOUT
    assert 'drive_timeout' in result.result.error_msg
    robot.wait(lambda: nav2.runs[0].end == 'cancel', 'the goal is cancelled in Nav2')
    scene.idle()


def test_a_drive_keeps_the_time_that_it_began_with_and_the_next_has_another(robot, start, nav2, asker):
    scene = Scene(robot, start(drive_timeout=600.0), nav2, asker())
    first = scene.drive()
    assert change(scene.agent, drive_timeout=0.6).successful
    second = scene.asker.result(scene.drive())
    assert scene.asker.result(first).result.error_code == CODES.PREEMPTED
    assert second.result.error_code == CODES.NAV_TIMEOUT
    assert 'within 0.6 s' in second.result.error_msg
    scene.idle()


def test_the_time_for_the_answer_does_not_end_the_drive(scene):
    handle = scene.drive(timeout=Duration(nanosec=NS // 5))
    scene.robot.wait(lambda: scene.nav2.runs[0].ticks > 60, 'the robot has driven for longer than that')
    scene.nav2.finish(scene.nav2.runs[0], 'arrive')
    assert scene.asker.result(handle).result.error_code == CODES.NONE


def test_cancelling_the_question_cancels_the_drive(scene):
    handle = scene.drive()
    handle.cancel_goal_async()
    result = scene.asker.result(handle)
    assert (result.status, result.result.error_code) == (CANCELED, CODES.CANCELLED)
    assert result.result.answer.evidence[0].id == 'lift-1'
    scene.robot.wait(lambda: scene.nav2.runs[0].end == 'cancel', 'the goal is cancelled in Nav2')
    scene.idle()


def test_cancelling_the_question_before_nav2_answers_cancels_the_goal(scene):
    scene.nav2.behaviour = 'mute'
    handle = scene.asker.send('Take me to the lift', navigate=True)
    scene.robot.wait(lambda: scene.nav2.asked, 'Nav2 is asked')
    handle.cancel_goal_async()
    assert scene.asker.result(handle).result.error_code == CODES.CANCELLED
    scene.nav2.behaviour = 'drive'
    scene.nav2.answer()
    scene.robot.wait(
        lambda: scene.nav2.runs and scene.nav2.runs[0].end == 'cancel', 'it is cancelled in Nav2'
    )
    scene.idle()


def test_a_cancel_that_nav2_refuses_is_said_aloud(scene, capfd):
    scene.nav2.heeds_cancel = False
    handle = scene.drive()
    handle.cancel_goal_async()
    assert scene.asker.result(handle).result.error_code == CODES.CANCELLED
    scene.idle()
    assert 'the robot may still be driving' in capfd.readouterr().err


@pytest.mark.parametrize('step', ['deactivate', 'shutdown'])
def test_taking_the_node_out_of_service_cancels_the_drive(scene, step):
    handle = scene.drive()
    assert getattr(scene.agent, f'trigger_{step}')() == TransitionCallbackReturn.SUCCESS
    if step == 'deactivate':
        assert scene.asker.result(handle).result.error_code == CODES.CANCELLED
        assert scene.agent.trigger_cleanup() == TransitionCallbackReturn.SUCCESS
    scene.robot.wait(lambda: scene.nav2.runs[0].end == 'cancel', 'the goal is cancelled in Nav2')


def test_after_a_cleanup_the_node_drives_again(scene):
    scene.drive()
    agent = scene.agent
    for name in ('deactivate', 'cleanup', 'configure', 'activate'):
        assert getattr(agent, f'trigger_{name}')() == TransitionCallbackReturn.SUCCESS
    agent._agent = FakeAgent()
    again = Scene(scene.robot, agent, scene.nav2, Asker(scene.robot))
    scene.nav2.behaviour = 'arrive'
    assert again.asker.result(again.drive()).result.error_code == CODES.NONE
    again.asker.client.destroy()


def test_a_newer_question_takes_the_place_of_the_older(scene):
    first = scene.drive()
    second = scene.drive('Take me to the printer')
    result = scene.asker.result(first)
    assert (result.status, result.result.error_code) == (ABORTED, CODES.PREEMPTED)
    assert 'newer question' in result.result.error_msg
    scene.nav2.finish(scene.nav2.runs[1], 'arrive')
    assert scene.asker.result(second).result.error_code == CODES.NONE
    scene.idle()


def test_a_newer_question_that_drives_nowhere_leaves_the_older_alone(scene):
    first = scene.drive()
    scene.nav2.behaviour = 'reject'
    assert (
        scene.asker.result(scene.asker.send('there?', navigate=True)).result.error_code == CODES.NAV_REJECTED
    )
    assert scene.asker.result(scene.asker.send('where?')).result.error_code == CODES.NONE
    scene.nav2.finish(scene.nav2.runs[0], 'arrive')
    assert scene.asker.result(first).result.error_code == CODES.NONE


def test_a_goal_that_somebody_else_gives_nav2_is_told_as_preemption(scene):
    handle = scene.drive()
    client = ActionClient(scene.robot.client, NavigateToPose, '/navigate_to_pose')
    sent = client.send_goal_async(NavigateToPose.Goal(pose=PoseStamped()))
    result = scene.asker.result(handle)
    assert (result.status, result.result.error_code) == (ABORTED, CODES.PREEMPTED)
    assert 'somebody else' in result.result.error_msg
    scene.robot.wait(sent.done, 'the goal is taken')
    client.destroy()


def test_a_goal_that_somebody_else_cancels_in_nav2_is_told_as_cancelled(scene):
    handle = scene.drive()
    # What a stop button does: a cancel of all goals.
    client = scene.robot.client.create_client(CancelGoal, '/navigate_to_pose/_action/cancel_goal')
    assert client.wait_for_service(20.0)
    client.call_async(CancelGoal.Request())
    result = scene.asker.result(handle)
    assert (result.status, result.result.error_code) == (ABORTED, CODES.NAV_CANCELLED)


def test_a_service_call_returns_when_the_robot_drives_and_stop_ends_that(scene):
    response = scene.robot.call(Ask, 'ask', Ask.Request(question='Take me to the lift', navigate=True))
    assert (response.error_code, response.answer.evidence[0].id) == (Ask.Response.NONE, 'lift-1')
    assert len(scene.agent._navigator) == 1
    stopped = scene.robot.call(Trigger, 'agent/stop', Trigger.Request())
    assert stopped.success
    scene.robot.wait(lambda: scene.nav2.runs[0].end == 'cancel', 'the goal is cancelled in Nav2')
    scene.idle()
    assert not scene.robot.call(Trigger, 'agent/stop', Trigger.Request()).success


def test_a_service_call_is_told_what_kept_the_robot_from_driving(scene):
    scene.nav2.behaviour = 'reject'
    response = scene.robot.call(Ask, 'ask', Ask.Request(question='Take me to the lift', navigate=True))
    assert response.error_code == Ask.Response.NAV_REJECTED


def every(agent) -> None:
    """Have the fake agent answer with several places."""
    fields = {'evidence': PLACES, 'pose': PLACES[0].memory.pose, 'every_place': True}
    agent._agent.answer = replace(agent._agent.answer, kind=Kind.POSITION, **fields)


def test_several_places_are_waypoints_in_the_shortest_order(scene):
    every(scene.agent)
    handle = scene.drive()
    run = scene.nav2.runs[0]
    assert run.name == 'follow_waypoints'
    assert [pose.pose.position.x for pose in run.request.poses] in ([10.0, 20.0, 30.0], [30.0, 20.0, 10.0])
    scene.robot.wait(
        lambda: any(f.places_remaining == 1 for f in scene.asker.feedback), 'the last place is next'
    )
    assert {f.places_remaining for f in scene.asker.feedback if f.stage == 'navigating'} == {3, 2, 1}
    scene.nav2.finish(run, 'arrive')
    assert scene.asker.result(handle).result.error_code == CODES.NONE


@pytest.mark.parametrize('end', ['arrive', 'abort'])
def test_places_that_were_missed_are_named(scene, end):
    every(scene.agent)
    scene.nav2.missed = [1]
    handle = scene.drive()
    scene.nav2.finish(scene.nav2.runs[0], end)
    result = scene.asker.result(handle).result
    assert result.error_code == CODES.NAV_ABORTED
    assert 'of 3 places, number 2' in result.error_msg


def test_waypoints_are_ended_before_a_single_place_is_driven_to(scene):
    every(scene.agent)
    first = scene.drive('Visit all lifts')
    scene.agent._agent.answer = FakeAgent().answer
    second = scene.drive()
    assert scene.asker.result(first).result.error_code == CODES.PREEMPTED
    assert scene.nav2.events == ['accept follow_waypoints', 'cancel', 'cancel', 'accept navigate_to_pose']
    scene.nav2.finish(scene.nav2.runs[1], 'arrive')
    assert scene.asker.result(second).result.error_code == CODES.NONE
    scene.idle()


def test_a_question_for_every_place_is_understood_without_a_language_model(
    robot, nav2, asker, monkeypatch, navigation
):
    for name in ('OPENAI_API_KEY', 'REMEMBR_LLM', 'REMEMBR_LLM_URL'):
        monkeypatch.delenv(name, raising=False)
    robot.add(FakeMemoryNode([hit.memory for hit in PLACES]))
    scene = Scene(robot, robot.start(AgentNode, pose_source='none', **navigation), nav2, asker())
    handle = scene.drive('Visit all the places where you saw a lift')
    assert [len(run.request.poses) for run in nav2.runs if run.name == 'follow_waypoints'] == [3]
    nav2.finish(nav2.runs[0], 'arrive')
    result = scene.asker.result(handle).result
    assert (result.error_code, len(result.answer.evidence), result.answer.planner) == (
        CODES.NONE,
        3,
        'offline',
    )


def test_sigterm_on_the_way_cancels_the_drive(robot, processes, navigation, monkeypatch):
    monkeypatch.setenv('PYTHONPATH', str(Path(__file__).parents[3]), prepend=os.pathsep)
    nav2 = robot.add(FakeNav2())
    robot.add(FakeMemoryNode([LIFT]))
    # As ros2 launch names and places nodes.
    place = ('-r', '__node:=agent', '-r', '__ns:=/remembr')
    given = {**navigation, 'nav2_server_timeout': 10.0}  # BasicNavigator alone waits for 2 s
    agent = processes.start('agent', *place, autostart='true', pose_source='none', **given)
    one = Asker(robot)
    one.send('Take me to the lift', navigate=True)
    robot.wait(lambda: nav2.runs, 'the robot drives')
    agent.terminate()
    robot.wait(lambda: nav2.runs[0].end == 'cancel', 'the goal is cancelled in Nav2')
    assert agent.wait(10.0) == 0, processes.log('agent')
    one.client.destroy()


def test_without_nav2_msgs_configure_says_what_to_install(robot, monkeypatch, capfd, navigation):
    monkeypatch.setitem(sys.modules, 'nav2_msgs.action', None)
    node = robot.make(AgentNode, pose_source='none', **navigation)
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
    assert 'ros-$ROS_DISTRO-nav2-msgs' in capfd.readouterr().err
