"""A robot's nodes as processes, looked at by two browsers: one that may act, and one that may look."""

import socket
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: make setup')

from geometry_msgs.msg import PoseStamped
from std_msgs.msg import String

from remembr_msgs.srv import Remember
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.lifecycle import bring_up
from test.browser.served import eventually, results, settled
from test.node.conftest import processes, robot  # noqa: F401  fixtures

TOKENS = {right: f'{right}-0123456789abcdef' for right in ('look', 'act')}


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(('127.0.0.1', 0))
        return int(taken.getsockname()[1])


def logged_in(look: Any, address: str, right: str) -> Any:
    """Return the page of somebody with a token."""
    page = look(address, forgiven='401')
    page.get_by_role('dialog').get_by_label('Token').fill(TOKENS[right])
    page.get_by_role('button', name='Log in').click()
    return settled(page)


@pytest.fixture
def address(robot: Any, processes: Any, tmp_path: Path) -> str:  # noqa: F811
    """Where the page of a robot is that remembers a lift."""
    tokens = tmp_path / 'tokens'
    tokens.write_text(''.join(f'{right} {token}\n' for right, token in TOKENS.items()))
    tokens.chmod(0o600)
    port = free_port()
    processes.start('memory', uri=tmp_path / 'm.db', embedder='hashing')
    processes.start('agent', navigation='goal_pose')
    processes.start('web', port=port, token_file=tokens)
    bring_up(robot.client, ['/remembr/memory', '/remembr/agent', '/remembr/web'], 120.0)
    for i, text in enumerate(('The lift with two doors.', 'The printer.')):
        request = Remember.Request(text=text, use_pose=True)
        request.pose.header.frame_id = 'map'
        request.pose.pose.position.x, request.pose.pose.orientation.w = 4.0 + i, 1.0
        assert robot.call(Remember, 'remember', request).id
    return f'http://127.0.0.1:{port}'


@pytest.mark.timeout(300)
def test_go_there_ends_as_a_goal_once_a_person_has_said_yes(address: str, robot: Any, look: Any) -> None:  # noqa: F811
    goals = robot.listen(PoseStamped, 'goal_pose', qos.ANSWERS)
    acting, looking = (logged_in(look, address, right) for right in ('act', 'look'))
    results(acting).get_by_text('lift').first.click()
    acting.get_by_role('button', name='Go there').click()
    bar = acting.get_by_role('region', name='Drive')
    bar.get_by_role('button', name='Drive').wait_for()
    # The other one sees the goal, and may not say yes.
    looking.get_by_role('region', name='Drive').get_by_text('4.0').first.wait_for()
    assert looking.get_by_role('button', name='Drive', exact=True).count() == 0
    assert goals == []
    bar.get_by_role('button', name='Drive').click()
    goal = robot.wait(lambda: goals and goals[0], 'a goal')
    assert (goal.header.frame_id, goal.pose.position.x) == ('map', 4.0)
    # Refused, nothing is driven.
    acting.get_by_role('button', name='Back to the list').click()
    results(acting).get_by_text('printer').first.click()
    acting.get_by_role('button', name='Go there').click()
    bar.get_by_role('button', name='No', exact=True).click()
    eventually(acting, '!document.querySelector("#drive [data-stage], #drive").textContent.includes("?")')
    assert len(goals) == 1


@pytest.mark.timeout(300)
def test_both_see_what_is_forgotten_and_what_others_ask(address: str, robot: Any, look: Any) -> None:  # noqa: F811
    acting, looking = (logged_in(look, f'{address}/?view=ask', right) for right in ('act', 'look'))
    robot.talk(String, 'question').publish(String(data='Where is the lift?'))
    for page in (acting, looking):
        page.get_by_text('Where is the lift?').first.wait_for()
        page.get_by_role('list', name='Evidence').first.wait_for()
    acting.goto(f'{address}/?view=search')
    results(acting).get_by_text('printer').first.click()
    acting.get_by_role('button', name='Forget').click()
    acting.get_by_role('dialog').get_by_role('button', name='Forget').click()
    for page in (acting, looking):
        eventually(page, 'document.querySelector("#count").textContent.startsWith("1 ")')
