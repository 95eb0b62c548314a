"""The graph that `remembr demo` runs: three node processes, a bag player, and a client that asks."""

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import rclpy
from geometry_msgs.msg import PoseStamped
from rclpy.qos import QoSHistoryPolicy, QoSProfile

from remembr_msgs.msg import Memory as MemoryMsg
from remembr_msgs.srv import Ask
from remembr_ros.agent.model.answer import Answer, Question
from remembr_ros.embedding.embedders import OFFLINE
from remembr_ros.errors import NodeUnavailable, RemembrError
from remembr_ros.geometry import StampedPose
from remembr_ros.memory.model.record import Memory
from remembr_ros.nodes.agent.ask_request import answer_from_msg
from remembr_ros.nodes.base.conversions import stamped_pose_from_msg
from remembr_ros.nodes.base.lifecycle import bring_up, call, spinning
from remembr_ros.nodes.base.memory_conversion import memory_from_msg

NAMESPACE = '/remembr'
NODES = ('memory', 'captioner', 'agent')
ANSWER_S = 120.0
STOP_S = 15.0


class DemoGraph:
    """The node processes and a node of this process's own that talks to them. Use as a context manager.

    :param folder: where the nodes' logs go
    :param memory: file of the database
    """

    def __init__(self, folder: Path, memory: Path) -> None:
        self._folder = folder
        self._memory = memory
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._memories: dict[str, Memory] = {}
        self._goals: list[StampedPose] = []
        self._news = threading.Condition()
        # A domain of its own, on this machine only: a demo must not talk to a robot nearby.
        os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
        domain = os.environ.setdefault('ROS_DOMAIN_ID', str(81 + os.getpid() % 20))
        self._context = rclpy.Context()
        rclpy.init(context=self._context, domain_id=int(domain))
        self._node = rclpy.create_node('demo', context=self._context, namespace=NAMESPACE)
        self._end = contextlib.ExitStack()
        self._end.callback(rclpy.try_shutdown, context=self._context)

    def __enter__(self) -> 'DemoGraph':
        self._end.enter_context(spinning(self._node))
        self._end.callback(self._end_processes)
        images = ('image/compressed', '/camera/image_raw/compressed')
        pose = ('pose_with_covariance', '/amcl_pose')
        self._start('memory', {'uri': str(self._memory), 'embedder': OFFLINE})
        self._start('captioner', {'queue_size': 1000, 'drain_timeout': 60.0}, images, pose)
        self._start('agent', {}, pose)
        keep_all = QoSProfile(depth=1000, history=QoSHistoryPolicy.KEEP_ALL)
        self._node.create_subscription(MemoryMsg, 'memories', self._on_memory, keep_all)
        self._node.create_subscription(PoseStamped, 'goal_pose', self._on_goal, 10)
        return self

    def __exit__(self, *_: object) -> None:
        self._end.close()

    def _end_processes(self) -> None:
        for process in self._processes.values():
            process.terminate()
        deadline = time.monotonic() + STOP_S
        for process in self._processes.values():
            try:
                process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    @property
    def memories(self) -> list[Memory]:
        """What the memory node has stored since the start."""
        with self._news:
            return list(self._memories.values())

    def bring_up(self, timeout_s: float = 120.0) -> None:
        """Configure and activate the nodes; loading the models takes most of it.

        :raises NodeUnavailable: a node did not start; the message names its log
        """
        try:
            bring_up(self._node, [f'{NAMESPACE}/{name}' for name in NODES], timeout_s)
        except NodeUnavailable as error:
            raise NodeUnavailable(f'{error} (logs: {self._folder})') from error

    def play(self, bag: Path, rate: float, on_stored: Callable[[int], object]) -> None:
        """Play a bag, and wait until all that it shows is stored.

        :param rate: times real speed
        :param on_stored: told how many memories there are, a few times a second
        :raises RemembrError: the player or a node failed; the message names its log
        """
        settings = {'bag': str(bag), 'rate': rate, 'wait_for_subscribers': 20.0}
        self._start('bag_player', settings, sim_time=False)
        self._finish('bag_player', on_stored)
        end = [sys.executable, '-m', 'remembr_ros.nodes.replay.bag_end', f'{NAMESPACE}/captioner']
        self._run('bag_end', [*end, '--patience', '120'])
        self._finish('bag_end', on_stored)

    def ask(self, question: Question, navigate: bool = False) -> tuple[Answer, StampedPose | None]:
        """Ask the agent; return the answer and the goal that was published.

        :raises RemembrError: there is no answer
        """
        before = len(self._goals)
        request = Ask.Request(question=question.text, navigate=navigate)
        try:
            response = call(self._node, Ask, f'{NAMESPACE}/ask', request, time.monotonic() + ANSWER_S)
        except NodeUnavailable as error:
            raise NodeUnavailable(f'{error} (logs: {self._folder})') from error
        if response.error_code not in (Ask.Response.NONE, Ask.Response.NO_PLACE):
            raise RemembrError(f'error {response.error_code}: {response.error_msg}')
        if navigate and response.answer.kind == response.answer.POSITION:
            with self._news:
                self._news.wait_for(lambda: len(self._goals) > before, 5.0)
        return answer_from_msg(response.answer), self._goals[-1] if len(self._goals) > before else None

    def _start(
        self, name: str, parameters: Mapping[str, object], *remaps: tuple[str, str], sim_time: bool = True
    ) -> None:
        arguments = ['-r', f'__ns:={NAMESPACE}', '-p', f'use_sim_time:={str(sim_time).lower()}']
        for parameter, value in parameters.items():
            arguments += ['-p', f'{parameter}:={value}']
        for source, target in remaps:
            arguments += ['-r', f'{source}:={target}']
        room = 'replay' if name == 'bag_player' else name
        self._run(name, [sys.executable, '-m', f'remembr_ros.nodes.{room}.node', '--ros-args', *arguments])

    def _run(self, name: str, command: list[str]) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / f'{name}.log').open('wb') as log:
            self._processes[name] = subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL
            )

    def _finish(self, name: str, on_stored: Callable[[int], object]) -> None:
        while (code := self._processes[name].poll()) is None:
            with self._news:
                self._news.wait(0.2)
            for node in NODES:
                if (ended := self._processes[node].poll()) is not None:
                    raise RemembrError(
                        f'the {node} node ended with {ended}; see {self._folder / f"{node}.log"}'
                    )
            on_stored(len(self._memories))
        if code != 0:
            raise RemembrError(f'{name} failed; see {self._folder / f"{name}.log"}')

    def _on_memory(self, message: MemoryMsg) -> None:
        with self._news, contextlib.suppress(RemembrError):
            memory = memory_from_msg(message)
            self._memories[memory.id] = memory  # one that was extended comes again
            self._news.notify_all()

    def _on_goal(self, message: PoseStamped) -> None:
        with self._news:
            self._goals.append(stamped_pose_from_msg(message, 0))
            self._news.notify_all()
