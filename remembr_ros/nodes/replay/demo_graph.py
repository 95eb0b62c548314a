"""The graph that `remembr demo` runs: three node processes, a bag player, and a client that asks."""

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import rclpy
from geometry_msgs.msg import PoseStamped
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSHistoryPolicy, QoSProfile
from std_srvs.srv import Trigger

from remembr_msgs.action import Ask
from remembr_msgs.msg import Answer as AnswerMsg
from remembr_msgs.msg import Memory as MemoryMsg
from remembr_ros.agent.model.answer import Answer, Cost, Kind
from remembr_ros.errors import NodeUnavailable, RemembrError
from remembr_ros.geometry import StampedPose
from remembr_ros.memory.model.record import Memory
from remembr_ros.nodes.base.conversions import (
    KINDS,
    duration_from_msg,
    hit_from_msg,
    memory_from_msg,
    pose_from_msg,
    stamped_pose_from_msg,
    time_from_msg,
)
from remembr_ros.nodes.base.lifecycle import bring_up, call

NAMESPACE = '/remembr'
NODES = ('memory', 'captioner', 'agent')
STOP_S = 15.0


class DemoGraph:
    """The node processes and a node of this process's own that talks to them. Use as a context manager.

    :param folder: where the nodes' logs go
    :param memory: file of the database
    :param use_sim_time: the time is the bag's
    """

    def __init__(self, folder: Path, memory: Path) -> None:
        self._folder = folder
        self._memory = memory
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._memories: dict[str, Memory] = {}
        self._stored = 0
        self._captions = 0
        self._goals: list[StampedPose] = []
        self._news = threading.Condition()
        # A domain of its own, on this machine only: a demo must not talk to a robot nearby.
        os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
        domain = os.environ.setdefault('ROS_DOMAIN_ID', str(81 + os.getpid() % 20))
        self._context = rclpy.Context()
        rclpy.init(context=self._context, domain_id=int(domain))
        self._node = rclpy.create_node('demo', context=self._context, namespace=NAMESPACE)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._thread = threading.Thread(target=self._executor.spin, name='demo', daemon=True)

    def __enter__(self) -> 'DemoGraph':
        images, pose = (
            ('image/compressed', '/camera/image_raw/compressed'),
            ('pose_with_covariance', '/amcl_pose'),
        )
        self._start('memory', {'uri': str(self._memory)})
        self._start('captioner', {'queue_size': 1000, 'drain_timeout': 60.0}, images, pose)
        self._start('agent', {}, pose)
        keep_all = QoSProfile(depth=1000, history=QoSHistoryPolicy.KEEP_ALL)
        self._node.create_subscription(MemoryMsg, 'captions', self._on_caption, keep_all)
        self._node.create_subscription(MemoryMsg, 'memories', self._on_memory, keep_all)
        self._node.create_subscription(PoseStamped, 'goal_pose', self._on_goal, 10)
        self._ask = ActionClient(self._node, Ask, 'ask')
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._processes.values():
            process.terminate()
        deadline = time.monotonic() + STOP_S
        for process in self._processes.values():
            try:
                process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._executor.shutdown()
        self._thread.join(2.0)
        self._ask.destroy()
        self._node.destroy_node()
        rclpy.try_shutdown(context=self._context)

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

    def play(self, bag: Path, rate: float, on_stored: Callable[[int], None]) -> None:
        """Play a bag, and wait until all that it shows is stored.

        :param rate: times real speed
        :param on_stored: told how many memories there are, a few times a second
        :raises RemembrError: the player or a node failed; the message names its log
        """
        settings = {'bag': str(bag), 'rate': rate, 'wait_for_subscribers': 20.0}
        player = self._start('bag_player', settings, sim_time=False)
        while player.poll() is None:
            self._wait(0.2)
            on_stored(len(self._memories))
        if player.returncode != 0:
            raise RemembrError(f'the bag player failed; see {self._folder / "bag_player.log"}')
        deadline = time.monotonic() + 180.0
        flush = call(self._node, Trigger, 'captioner/flush', Trigger.Request(), deadline, again_s=30.0)
        if not flush.success:
            raise RemembrError(f'the captioner did not finish: {flush.message}')
        deadline = time.monotonic() + 60.0
        while self._stored < self._captions:
            if time.monotonic() > deadline:
                raise RemembrError(
                    f'{self._captions} captions, but {self._stored} stored; see {self._folder}'
                )
            self._wait(0.2)
            on_stored(len(self._memories))
        on_stored(len(self._memories))

    def ask(self, question: str, navigate: bool = False) -> tuple[Answer, StampedPose | None]:
        """Ask through the action; return the answer and the goal that was published.

        :raises RemembrError: there is no answer
        """
        before = len(self._goals)
        if not self._ask.wait_for_server(10.0):
            raise NodeUnavailable(f'there is no agent; see {self._folder / "agent.log"}')
        goal = Ask.Goal(question=question, navigate=navigate)
        handle = self._result(self._ask.send_goal_async(goal), 10.0)
        if not handle.accepted:
            raise RemembrError('the agent does not take the question')
        result = self._result(handle.get_result_async(), 120.0).result
        if result.error_code not in (Ask.Result.NONE, Ask.Result.NO_PLACE):
            raise RemembrError(f'error {result.error_code}: {result.error_msg}')
        if navigate and result.answer.kind == result.answer.POSITION:
            with self._news:
                self._news.wait_for(lambda: len(self._goals) > before, 5.0)
        return _answer(result.answer), self._goals[-1] if len(self._goals) > before else None

    def _start(
        self, name: str, parameters: dict[str, Any], *remaps: tuple[str, str], sim_time: bool = True
    ) -> 'subprocess.Popen[bytes]':
        arguments = ['-r', f'__ns:={NAMESPACE}', '-p', f'use_sim_time:={str(sim_time).lower()}']
        for parameter, value in parameters.items():
            arguments += ['-p', f'{parameter}:={value}']
        for source, target in remaps:
            arguments += ['-r', f'{source}:={target}']
        room = 'replay' if name == 'bag_player' else name
        command = [sys.executable, '-m', f'remembr_ros.nodes.{room}.node', '--ros-args', *arguments]
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / f'{name}.log').open('wb') as log:
            process = subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL
            )
        self._processes[name] = process
        return process

    def _wait(self, seconds: float) -> None:
        with self._news:
            self._news.wait(seconds)
        self._check_processes()

    def _check_processes(self) -> None:
        for name in NODES:
            code = self._processes[name].poll()
            if code is not None:
                raise RemembrError(f'the {name} node ended with {code}; see {self._folder / f"{name}.log"}')

    def _result(self, future: Any, timeout_s: float) -> Any:
        done = threading.Event()
        future.add_done_callback(lambda _: done.set())
        if not done.wait(timeout_s):
            raise RemembrError(f'the agent did not respond within {timeout_s:.0f} s')
        return future.result()

    def _on_caption(self, _: MemoryMsg) -> None:
        with self._news:
            self._captions += 1

    def _on_memory(self, message: MemoryMsg) -> None:
        with self._news, contextlib.suppress(RemembrError):
            memory = memory_from_msg(message)
            self._memories[memory.id] = memory  # one that was extended comes again
            self._stored += 1
            self._news.notify_all()

    def _on_goal(self, message: PoseStamped) -> None:
        with self._news:
            self._goals.append(stamped_pose_from_msg(message, 0))
            self._news.notify_all()


def _answer(message: AnswerMsg) -> Answer:
    """Return the answer that a message holds."""
    kind = next(kind for kind, number in KINDS.items() if number == message.kind)
    return Answer(
        kind,
        message.text,
        message.planner,
        binary=message.binary if kind is Kind.BINARY else None,
        pose=pose_from_msg(message.pose.pose) if message.pose.header.frame_id else None,
        frame_id=message.pose.header.frame_id,
        map_id=message.map_id,
        time_ns=time_from_msg(message.time) if kind is Kind.TIME else None,
        duration_s=duration_from_msg(message.duration) if kind is Kind.DURATION else None,
        evidence=tuple(hit_from_msg(memory) for memory in message.evidence),
        cost=Cost(message.llm_calls, message.prompt_tokens, message.completion_tokens, message.latency),
    )
