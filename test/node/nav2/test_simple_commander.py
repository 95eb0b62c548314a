"""Driving by a class that is not ours: what it does wrong is told in time, and harms nobody else."""

import os
import re
import subprocess
import sys
import threading
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from rclpy.lifecycle import TransitionCallbackReturn

pytest.importorskip('nav2_msgs', reason='needs nav2_msgs: make setup, or install ros-$ROS_DISTRO-nav2-msgs')

from remembr_msgs.action import Ask as AskAction
from remembr_ros.nodes.agent.node import AgentNode
from test.node.agent.fake_agent import Asker, FakeAgent
from test.node.nav2.basic_navigator import BasicNavigator, shut_down
from test.node.nav2.fake_nav2 import FakeNav2

CODES = AskAction.Result
ROOT = Path(__file__).parents[3]


class Spoilt(BasicNavigator):
    """Does what it is told to, for all that are made of it."""

    went: list[str] = []  # noqa: RUF012
    wrong = ''
    go_on = threading.Event()

    def goToPose(self, pose: Any, behavior_tree: str = '') -> bool:  # noqa: N802
        self.went.append('goToPose')
        if self.wrong == 'hangs':
            self.go_on.wait()
        if self.wrong == 'fails':
            raise ValueError('the dock is closed')
        if self.wrong == 'fails after':
            super().goToPose(pose)
            raise ValueError('no lights')
        if self.wrong == 'stays':
            return True
        if self.wrong == 'forgets':
            super().goToPose(pose)
            return False
        return super().goToPose(pose)

    def isTaskComplete(self) -> bool:  # noqa: N802
        if self.wrong == 'fails on the way':
            raise ValueError('the way')
        return super().isTaskComplete()

    def getFeedback(self) -> Any:  # noqa: N802
        if self.wrong == 'tells nonsense':
            raise ValueError('no feedback')
        return super().getFeedback()


@pytest.fixture
def spoilt():
    Spoilt.went, Spoilt.wrong, Spoilt.go_on = [], '', threading.Event()
    yield Spoilt
    Spoilt.go_on.set()


@pytest.fixture
def nav2(robot):
    return robot.add(FakeNav2())


@pytest.fixture
def agent(robot, spoilt, nav2):
    node = robot.start(
        AgentNode,
        pose_source='none',
        navigation='simple_commander',
        simple_commander_class=f'{__name__}:Spoilt',
        nav2_server_timeout=0.5,
        nav2_silence_timeout=1.0,
    )
    node._agent = FakeAgent()
    yield node
    spoilt.go_on.set()
    shut_down(node)


@pytest.fixture
def asker(robot, agent):
    made = Asker(robot)
    yield made
    made.client.destroy()


@pytest.fixture
def active(robot, agent):
    robot.wait(agent._navigator._nav2._one.is_ready, 'Nav2 is active')


def drive(asker: Asker) -> Any:
    return asker.result(asker.send('Take me to the lift', navigate=True)).result


@pytest.mark.usefixtures('active')
def test_a_class_of_ones_own_sends_the_goal(spoilt, nav2, asker):
    nav2.behaviour = 'arrive'
    assert drive(asker).error_code == CODES.NONE
    assert spoilt.went == ['goToPose']


@pytest.mark.usefixtures('active')
def test_a_class_that_forgets_to_return_drives_all_the_same(spoilt, nav2, asker):
    spoilt.wrong, nav2.behaviour = 'forgets', 'arrive'
    assert drive(asker).error_code == CODES.NONE


def test_nav2_that_is_not_active_yet_gets_no_goal(robot, nav2, spoilt, asker, agent):
    agent.trigger_deactivate()
    agent.trigger_cleanup()
    nav2.state = 'inactive'
    assert agent.trigger_configure() == TransitionCallbackReturn.SUCCESS
    assert agent.trigger_activate() == TransitionCallbackReturn.SUCCESS
    agent._agent = FakeAgent()
    assert drive(asker).error_code == CODES.NAV_UNAVAILABLE
    assert spoilt.went == []
    nav2.state, nav2.behaviour = 'active', 'arrive'
    robot.wait(agent._navigator._nav2._one.is_ready, 'Nav2 is active')
    assert drive(asker).error_code == CODES.NONE


@pytest.mark.usefixtures('active')
def test_a_call_that_hangs_is_told_in_time_and_what_waited_behind_it_is_not_sent(robot, spoilt, nav2, asker):
    spoilt.wrong = 'hangs'
    for _ in range(2):
        assert drive(asker).error_code == CODES.NAV_TIMEOUT
    assert spoilt.went == ['goToPose']
    spoilt.wrong = ''
    spoilt.go_on.set()
    robot.wait(lambda: nav2.runs, 'the goal that hung')
    robot.wait(lambda: nav2.runs[0].end == 'cancel', 'nobody wants it any more')
    nav2.behaviour = 'arrive'
    assert drive(asker).error_code == CODES.NONE
    assert spoilt.went == ['goToPose'] * 2


@pytest.mark.usefixtures('active')
def test_a_drive_is_cancelled_while_the_class_waits_for_the_next(robot, nav2, asker):
    first = asker.send('Take me to the lift', navigate=True)
    robot.wait(lambda: nav2.runs, 'the robot drives')
    nav2.behaviour = 'mute'
    asked = nav2.asked
    asker.send('Take me to the printer', navigate=True)
    robot.wait(lambda: nav2.asked > asked, 'Nav2 says neither yes nor no')
    first.cancel_goal_async()
    assert asker.result(first).result.error_code == CODES.CANCELLED
    robot.wait(lambda: nav2.runs[0].end == 'cancel', 'the robot stops')
    nav2.answer()


@pytest.mark.usefixtures('active')
def test_what_a_nav2_that_has_gone_will_not_answer_is_not_awaited_for_ever(robot, nav2, asker, agent):
    sent = asker.send('Take me to the lift', navigate=True)
    robot.wait(lambda: nav2.runs, 'the robot drives')
    awaited = agent._navigator._nav2._one._commander._awaited
    robot.wait(lambda: awaited, 'the commander has heard that its goal was accepted')
    nav2.go_away()
    assert asker.result(sent).result.error_code in (CODES.NAV_UNAVAILABLE, CODES.NAV_TIMEOUT)
    robot.wait(lambda: not awaited, 'the thread rests')


@pytest.mark.usefixtures('active')
@pytest.mark.parametrize(
    ('wrong', 'code', 'says'),
    [
        ('fails', CODES.NAV_UNAVAILABLE, 'Spoilt failed: ValueError: the dock is closed'),
        ('fails after', CODES.NAV_UNAVAILABLE, 'Spoilt failed: ValueError: no lights'),
        ('stays', CODES.NAV_REJECTED, 'refused the goal'),
        ('fails on the way', CODES.NAV_UNAVAILABLE, 'Spoilt failed: ValueError: the way'),
        ('tells nonsense', CODES.NAV_UNAVAILABLE, 'Spoilt failed: ValueError: no feedback'),
    ],
)
def test_a_class_that_does_something_wrong_is_named(robot, spoilt, nav2, asker, *, wrong, code, says):
    spoilt.wrong = wrong
    result = drive(asker)
    assert result.error_code == code
    assert says in result.error_msg
    if nav2.runs:
        robot.wait(lambda: nav2.runs[0].end == 'cancel', 'what was sent is cancelled')
    spoilt.wrong, nav2.behaviour = '', 'arrive'
    assert drive(asker).error_code == CODES.NONE


@pytest.mark.parametrize(
    ('given', 'says'),
    [
        ('no_such_package.navigator:Mine', 'ros-$ROS_DISTRO-nav2-simple-commander'),
        ('test.node.nav2.basic_navigator:None', "give simple_commander_class as 'module:Class'"),
        ('test.node.nav2.basic_navigator', "give simple_commander_class as 'module:Class'"),
        ('pathlib:Path', 'derives from BasicNavigator'),
    ],
)
def test_configure_says_what_is_wrong_with_the_class(robot, capfd, given, says):
    choice = {'navigation': 'simple_commander', 'simple_commander_class': given}
    node = robot.make(AgentNode, pose_source='none', **choice)
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
    assert says in capfd.readouterr().err


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """Where a program finds nav2_simple_commander."""
    if find_spec('nav2_simple_commander') is None:
        folder = tmp_path / 'nav2_simple_commander'
        folder.mkdir()
        (folder / '__init__.py').touch()
        (folder / 'robot_navigator.py').write_text(
            'from test.node.nav2.basic_navigator import BasicNavigator\n'
        )
    monkeypatch.setenv('PYTHONPATH', f'{tmp_path}{os.pathsep}{ROOT}', prepend=os.pathsep)


@pytest.mark.usefixtures('packages')
@pytest.mark.parametrize(
    ('sure', 'code', 'end'), [(0.9, 0, 'TaskResult.SUCCEEDED'), (0.2, 1, 'I do not know')]
)
def test_the_example_asks_and_drives(robot, nav2, sure, code, end):
    nav2.behaviour = 'arrive'
    node = robot.start(AgentNode, pose_source='none')
    node._agent = FakeAgent()
    node._agent.answer = replace(node._agent.answer, confidence=sure)
    (program,) = re.findall(r'```python\n(.*?)```', (ROOT / 'docs' / 'navigation.md').read_text(), re.DOTALL)
    assert len(program.splitlines()) <= 30
    command = [sys.executable, '-c', program, 'Where', 'is', 'the', 'lift?']
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == code, ran.stderr
    assert 'over there' in ran.stdout
    assert end in ran.stdout + ran.stderr
    assert [run.request.pose.pose.position.x for run in nav2.runs] == ([4.0] if code == 0 else [])
