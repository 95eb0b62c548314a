"""Real nodes in a domain of their own, driven by one executor thread."""

import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'  # nothing leaves this machine

rclpy = pytest.importorskip('rclpy', reason='needs ROS 2: make setup')

with warnings.catch_warnings():
    # The generators' parser, which comes along with every message, uses deprecated modules.
    warnings.simplefilter('ignore')
    import rosidl_generator_py  # noqa: F401

from geometry_msgs.msg import PoseStamped  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.lifecycle import TransitionCallbackReturn  # noqa: E402
from rclpy.node import Node  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402

from remembr_ros.nodes.base.lifecycle import call, end_spin, spin  # noqa: E402
from test.domains import domains  # noqa: E402

DOMAINS = domains()
TIMEOUT_S = 20.0


class Robot:
    """A ROS context with an executor that spins in a thread, and a node to talk to the others with."""

    def __init__(self) -> None:
        os.environ['ROS_DOMAIN_ID'] = next(DOMAINS)
        rclpy.try_shutdown()  # a robot that could not be made or closed fails its own test only
        rclpy.init()
        self.executor = SingleThreadedExecutor()
        self._ended = threading.Event()
        self.nodes: list[Node] = []
        self.client = self.add(Node('test_client', namespace='/remembr'))
        self._thread = threading.Thread(target=spin, args=(self.executor, self._ended))
        self._thread.start()

    def add(self, node: Any) -> Any:
        self.executor.add_node(node)
        self.nodes.append(node)
        return node

    def start(self, make: Callable[..., Any], **parameters: Any) -> Any:
        """Make a node with these parameters, configure and activate it."""
        node = self.make(make, **parameters)
        assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
        assert node.trigger_activate() == TransitionCallbackReturn.SUCCESS
        return node

    def make(self, make: Callable[..., Any], **parameters: Any) -> Any:
        overrides = [Parameter(name, value=value) for name, value in parameters.items()]
        return self.add(make(parameter_overrides=overrides))

    def wait(self, condition: Callable[[], Any], what: str, timeout_s: float = TIMEOUT_S) -> Any:
        """Return the condition's first true value."""
        deadline = time.monotonic() + timeout_s
        pause = threading.Event()
        while time.monotonic() < deadline:
            if value := condition():
                return value
            pause.wait(0.01)
        raise AssertionError(f'{what}: not within {timeout_s} s')

    def listen(self, kind: Any, topic: str, qos: Any = 100) -> list[Any]:
        """Return a list that the topic's messages are appended to."""
        heard: list[Any] = []
        self.client.create_subscription(kind, topic, heard.append, qos)
        return heard

    def talk(self, kind: Any, topic: str, qos: Any = 1000, timeout_s: float = TIMEOUT_S) -> Any:
        """Return a publisher that somebody is listening to."""
        publisher = self.client.create_publisher(kind, topic, qos)
        self.wait(lambda: publisher.get_subscription_count() > 0, f'a subscriber of {topic}', timeout_s)
        return publisher

    def call(self, kind: Any, name: str, request: Any, timeout_s: float = TIMEOUT_S) -> Any:
        """Call a service, once."""
        deadline = time.monotonic() + timeout_s
        full = name if name.startswith('/') else f'/remembr/{name}'
        return call(self.client, kind, full, request, deadline)

    def close(self) -> None:
        for node in self.nodes[1:]:
            if hasattr(node, 'finalized') and not node.finalized:
                node.trigger_shutdown()
        end_spin(self.executor, self._ended, self._thread, wait_s=10.0)
        assert not self._thread.is_alive()
        for node in self.nodes:
            node.destroy_node()
        rclpy.shutdown()


class Processes:
    """Node processes, ended with the test; what they print goes to files, and is shown where a test fails."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: list[subprocess.Popen[bytes]] = []

    def start(self, name: str, *arguments: str, **parameters: Any) -> 'subprocess.Popen[bytes]':
        """Start remembr_ros.nodes.<name>.node with ROS arguments such as '-r', 'a:=b'."""
        values = [part for key, value in parameters.items() for part in ('-p', f'{key}:={value}')]
        return self.start_module(
            f'remembr_ros.nodes.{name}.node', '--ros-args', *arguments, *values, log=name
        )

    def start_module(self, module: str, *arguments: str, log: str = '') -> 'subprocess.Popen[bytes]':
        """Start any module as a process."""
        name = log or module.rpartition('.')[2]
        command = [sys.executable, '-m', module, *arguments]
        environment = os.environ | {'PYTHONPATH': os.pathsep.join(filter(None, sys.path))}
        with open(self._folder / f'{name}.log', 'ab') as file:
            process = subprocess.Popen(
                command, stdout=file, stderr=subprocess.STDOUT, cwd=self._folder, env=environment
            )
        self._running.append(process)
        return process

    def log(self, name: str) -> str:
        return (self._folder / f'{name}.log').read_text()

    def close(self) -> None:
        for process in self._running:
            if process.poll() is None:
                process.kill()
            process.wait(10.0)
        for file in sorted(self._folder.glob('*.log')):
            sys.stderr.write(f'--- {file.name}\n{file.read_text(errors="replace")}\n')


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    made = Processes(tmp_path)
    yield made
    made.close()


@pytest.fixture
def robot() -> Iterator[Robot]:
    made = Robot()
    yield made
    made.close()


@pytest.fixture
def goals(robot):
    """Goals that are sent, once the agent has answered a call.

    DDS takes seconds at times to tell the agent of who listens, and a goal does not come again. Of the same
    process readers are told of in their order: who answers knows of this one, too.
    """
    return robot.listen(PoseStamped, 'goal_pose')
