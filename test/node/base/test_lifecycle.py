import threading
import time

import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from lifecycle_msgs.msg import State
from lifecycle_msgs.srv import ChangeState, GetState
from rclpy import executors
from rclpy.node import Node
from std_msgs.msg import String

from remembr_ros.errors import InvalidRequest, NodeUnavailable
from remembr_ros.nodes.agent.parameters import AgentParameters
from remembr_ros.nodes.base import lifecycle
from remembr_ros.nodes.base.lifecycle import autostart, bring_up, call, end_spin, spin, wound_down
from remembr_ros.nodes.base.managed_node import Level, ManagedNode
from test.patience import patiently

NAME = '/remembr/worker'


class Worker(ManagedNode):
    """A node that notes what it is told to do, and fails on request."""

    def __init__(self, **kwargs) -> None:
        super().__init__('worker', AgentParameters, **kwargs)
        self.steps: list[str] = []
        self.failing = ''
        self.error: Exception = InvalidRequest('the plug is out')

    def _step(self, name: str) -> None:
        self.steps.append(name)
        if self.failing == name:
            raise self.error

    def load(self) -> None:
        self._step('load')

    def start(self) -> None:
        self._step('start')
        self.create_subscription(String, 'words', self._listen, 10)

    def stop(self) -> None:
        self._step('stop')

    def release(self) -> None:
        self._step('release')

    def diagnose(self):
        return Level.WARN, 'tired', {'queue': 3}

    def _listen(self, msg: String) -> None:
        self.steps.append(msg.data)
        raise RuntimeError('a bug in a callback')


def test_a_thread_that_is_just_about_to_wait_ends(robot, monkeypatch):
    executor, ended, about_to_wait = executors.SingleThreadedExecutor(), threading.Event(), threading.Event()
    count, pause = executors.NumberOfEntities, threading.Event()

    def gather(*numbers):  # rclpy calls this after it has looked whether it is shut down, and before it waits
        if threading.current_thread() is thread:
            about_to_wait.set()
            ended.wait(20.0)
            pause.wait(0.1)
        return count(*numbers)

    monkeypatch.setattr(executors, 'NumberOfEntities', gather)
    node = Node('waiting')
    executor.add_node(node)
    thread = threading.Thread(target=spin, args=(executor, ended), daemon=True)
    thread.start()
    assert about_to_wait.wait(20.0)
    end_spin(executor, ended, thread, wait_s=20.0)
    assert not thread.is_alive()
    node.destroy_node()


def state_of(node: Node) -> int:
    response = call(node, GetState, f'{NAME}/get_state', GetState.Request(), time.monotonic() + 20.0)
    return response.current_state.id


def test_bring_up_configures_and_activates_and_can_be_repeated(robot):
    worker = robot.make(Worker)
    bring_up(robot.client, [NAME], 20.0)
    assert worker.steps == ['load', 'start']
    bring_up(robot.client, [NAME], 20.0)
    assert worker.steps == ['load', 'start']
    assert state_of(robot.client) == State.PRIMARY_STATE_ACTIVE


def test_bring_up_takes_an_inactive_node_the_rest_of_the_way(robot):
    worker = robot.make(Worker)
    worker.trigger_configure()
    bring_up(robot.client, [NAME], 20.0)
    assert worker.steps == ['load', 'start']


def test_bring_up_takes_a_node_that_starts_itself_meanwhile(robot, monkeypatch):
    worker = robot.make(Worker)

    def overtaken(node, kind, *about, **how):
        if kind is ChangeState and not worker.steps:
            autostart(worker)
        return call(node, kind, *about, **how)

    monkeypatch.setattr(lifecycle, 'call', overtaken)
    bring_up(robot.client, [NAME], 20.0)
    assert worker.steps == ['load', 'start']


@pytest.mark.parametrize(('failing', 'word'), [('load', 'configured'), ('start', 'activated')])
def test_bring_up_says_which_node_refused_what(robot, failing, word):
    robot.make(Worker).failing = failing
    with pytest.raises(NodeUnavailable, match=f'{NAME} could not be {word}'):
        bring_up(robot.client, [NAME], 20.0)


def test_bring_up_of_a_node_that_is_not_there_ends_in_time(robot):
    started = time.monotonic()
    with pytest.raises(NodeUnavailable, match='/remembr/nobody'):
        bring_up(robot.client, ['/remembr/nobody'], 0.5)
    assert time.monotonic() - started < patiently(10.0)


@pytest.mark.parametrize('error', [InvalidRequest('the plug is out'), OSError('the plug is out')])
def test_a_load_that_fails_is_released_logged_and_tried_again(robot, capfd, error):
    worker = robot.make(Worker)
    worker.failing, worker.error = 'load', error
    assert not autostart(worker)
    assert worker.steps == ['load', 'release']
    assert 'the plug is out' in capfd.readouterr().err
    worker.failing = ''
    assert autostart(worker)
    assert worker.steps == ['load', 'release', 'load', 'start']


def test_winding_down_stops_and_releases_once(robot):
    worker = robot.make(Worker)
    assert autostart(worker)
    assert wound_down(robot.executor, worker)
    assert wound_down(robot.executor, worker)
    assert worker.steps == ['load', 'start', 'stop', 'release']


def test_a_callback_that_fails_does_not_end_the_node(robot, capfd):
    worker = robot.start(Worker)
    words = robot.talk(String, 'words')
    for word in ('one', 'two'):
        words.publish(String(data=word))
    robot.wait(lambda: worker.steps[-2:] == ['one', 'two'], 'both words')
    robot.wait(lambda: state_of(robot.client) == State.PRIMARY_STATE_ACTIVE, 'the node is alive')
    assert 'a bug in a callback' in capfd.readouterr().err


def test_diagnostics_say_what_the_node_is_doing(robot):
    heard = robot.listen(DiagnosticArray, '/diagnostics')
    worker = robot.make(Worker)
    robot.wait(lambda: heard, 'diagnostics')
    assert (heard[0].status[0].name, heard[0].status[0].message) == (f'{NAME}: status', 'unconfigured')
    autostart(worker)
    robot.wait(lambda: heard[-1].status[0].message == 'tired', 'diagnostics of the active node')
    status = heard[-1].status[0]
    assert status.level == DiagnosticStatus.WARN
    assert [(value.key, value.value) for value in status.values] == [('queue', '3')]


def test_namespace_is_remembr_unless_it_is_remapped(robot):
    assert robot.make(Worker).get_fully_qualified_name() == NAME
    node = robot.add(Worker(cli_args=['--ros-args', '-r', '__ns:=/r7']))
    assert node.get_fully_qualified_name() == '/r7/worker'
    assert rclpy.ok()
