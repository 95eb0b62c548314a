"""A launch file that runs for real: processes in a domain of their own."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import rclpy
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.srv import GetParameters
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from remembr_ros.errors import NodeUnavailable
from remembr_ros.nodes.base.lifecycle import call, end_spin, spin
from test.domains import domains

TIMEOUT_S = 90.0
# A client that gives up sooner costs the node that answers it 10 s each time: see fast_dds.xml.
ANSWER_S = 15.0
DOMAINS = domains()

RUN = """
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
# As ros2 launch --noninteractive: it hands SIGINT on, which a terminal sends to all.
service = LaunchService(noninteractive=sys.argv[2] == 'noninteractive')
source = PythonLaunchDescriptionSource(sys.argv[1])
arguments = [tuple(argument.split(':=', 1)) for argument in sys.argv[3:]]
service.include_launch_description(
    LaunchDescription([IncludeLaunchDescription(source, launch_arguments=arguments)])
)
sys.exit(service.run())
"""


class Launched:
    """A launch file that runs.

    :param name: of the launch file, without its ending; or the path of another one
    :param interactive: false: SIGINT goes to the launch file alone, which hands it on
    :param arguments: of the launch file
    """

    def __init__(
        self, prefix: Path, folder: Path, name: str, *, interactive: bool = True, **arguments: str
    ) -> None:
        self.domain = next(DOMAINS)
        environment = dict(os.environ)
        environment['ROS_DOMAIN_ID'] = self.domain
        environment['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
        prefixes = [str(prefix), environment.get('AMENT_PREFIX_PATH', '')]
        environment['AMENT_PREFIX_PATH'] = os.pathsep.join(filter(None, prefixes))
        environment['ROS_LOG_DIR'] = str(folder / 'log')
        environment['OMP_NUM_THREADS'] = '1'
        self._output = folder / f'output_{self.domain}.txt'
        file = (
            prefix / 'share' / 'remembr_ros' / 'launch' / (f'{name}.launch.py' if '/' not in name else name)
        )
        mode = 'interactive' if interactive else 'noninteractive'
        given = [f'{key}:={value}' for key, value in arguments.items()]
        with self._output.open('wb') as log:
            self.process = subprocess.Popen(
                [sys.executable, '-c', RUN, str(file), mode, *given],
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=folder,
                start_new_session=True,
            )
        os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
        rclpy.init(domain_id=int(self.domain))
        self.node = Node('launch_test')
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=spin, args=(self._executor, self._ended))
        self._thread.start()

    @property
    def text(self) -> str:
        """What the launch file and its nodes have printed."""
        return self._output.read_text()

    def wait(self, condition: Callable[[], Any], what: str, timeout_s: float = TIMEOUT_S) -> Any:
        """Return the condition's first true value."""
        deadline = time.monotonic() + timeout_s
        pause = threading.Event()
        while True:
            if value := condition():
                return value
            assert time.monotonic() < deadline, f'{what}: not within {timeout_s} s\n{self.text}'
            assert self.process.poll() is None, self.text
            pause.wait(0.05)

    def wait_active(self, *names: str) -> None:
        """Wait until these nodes are active."""
        for name in names:
            self.wait(lambda name=name: self.state(name) == State.PRIMARY_STATE_ACTIVE, f'{name} active')

    def state(self, name: str) -> int | None:
        """Return a node's state; None if it does not tell."""
        response = self._call(GetState, f'{name}/get_state', GetState.Request(), ANSWER_S)
        return response.current_state.id if response is not None else None

    def configure(self, name: str) -> bool:
        """Ask a node to configure itself, as `ros2 lifecycle set` does; return whether it did."""
        return self.change(name, Transition.TRANSITION_CONFIGURE)

    def change(self, name: str, transition: int) -> bool:
        """Ask a node for a transition; return whether it was made."""
        request = ChangeState.Request(transition=Transition(id=transition))
        return bool(self._call(ChangeState, f'{name}/change_state', request, TIMEOUT_S).success)

    def parameters(self, node: str, *names: str) -> list[Any]:
        """Return a node's parameters: texts, or booleans."""
        request = GetParameters.Request(names=list(names))
        values = self.wait(
            lambda: self._call(GetParameters, f'{node}/get_parameters', request, ANSWER_S),
            f'{node} parameters',
        ).values
        return [value.bool_value if value.type == 1 else value.string_value for value in values]

    def pid_of(self, executable: str) -> int:
        """Return the process of a node, as the launch file's log tells it last."""
        found = re.findall(rf'\[{executable}-\d+\]: process started with pid \[(\d+)\]', self.text)
        return int(found[-1])

    @property
    def started(self) -> list[str]:
        """The executables of which a process was started, one for each time."""
        return re.findall(r'\[(\w+)-\d+\]: process started with pid', self.text)

    @property
    def finished(self) -> list[str]:
        """The executables of which a process has ended as it should."""
        return re.findall(r'\[(\w+)-\d+\]: process has finished cleanly', self.text)

    def interrupt(self, timeout_s: float = 40.0) -> float:
        """Do what Ctrl-C does in a terminal; return how long it took to end with exit code 0 [s]."""
        os.killpg(self.process.pid, signal.SIGINT)
        return self._end(timeout_s)

    def interrupt_alone(self, timeout_s: float = 40.0) -> float:
        """Do what docker stop does with stop_signal SIGINT: only the launch file gets it; see interrupt()."""
        self.process.send_signal(signal.SIGINT)
        return self._end(timeout_s)

    def _end(self, timeout_s: float) -> float:
        started = time.monotonic()
        assert self.process.wait(timeout_s) == 0, self.text
        return time.monotonic() - started

    def close(self) -> None:
        """End everything."""
        end_spin(self._executor, self._ended, self._thread)
        self.node.destroy_node()
        rclpy.shutdown()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10.0)

    def _call(self, kind: Any, name: str, request: Any, timeout_s: float) -> Any:
        try:
            return call(self.node, kind, name, request, time.monotonic() + timeout_s)
        except NodeUnavailable:
            return None
