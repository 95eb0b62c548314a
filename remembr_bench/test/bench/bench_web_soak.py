"""Twenty open pages and twenty requests a second for minutes, over the nodes of a robot that goes on storing.

A caption comes every second; how long the memory node takes to acknowledge it is measured before the pages
are opened, and while they are. Longer or shorter: REMEMBR_BENCH_WEB_MINUTES=1 python -m test.bench web_soak
"""

import os
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote

import numpy as np

from remembr_ros.embedding.embedders import get_embedder
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory, Observation, memory_id
from test.bench.bench_web import PAGES, fill, panned
from test.bench.figure import Figure
from test.bench.load import QUESTIONS, SIDE_M, material
from test.bench.processes import usage
from test.bench.web_server import Client, Events

ON_REQUEST = True
"""Runs only when it is named: it takes too long for all the others to wait."""

MINUTES = float(os.environ.get('REMEMBR_BENCH_WEB_MINUTES', '10'))
MEMORIES = 10_000
REQUESTS_HZ, CONNECTIONS = 20.0, 4
CAPTION_S = 1.0
ALONE_S = min(60.0, 60.0 * MINUTES)
SAMPLE_S = 2.0

MOST_MB = 5.0
"""What the page's server may take more at the end than when a quarter of the time was over."""


@dataclass
class Robot:
    """Memory node and web node as processes, and a captioner in this one. Use as a context manager."""

    folder: Path
    latencies: list[float] = field(default_factory=list)
    """From a caption to its acknowledgement [s]."""

    def __enter__(self) -> 'Robot':
        import rclpy
        from rclpy.executors import SingleThreadedExecutor

        from remembr_msgs.msg import CaptionAck
        from remembr_msgs.msg import Memory as MemoryMsg
        from remembr_ros.nodes.base import qos
        from remembr_ros.nodes.base.conversions import acks_topic

        os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
        os.environ['ROS_DOMAIN_ID'] = str(1 + os.getpid() % 80)
        rclpy.init()
        self._node = rclpy.create_node('soak', namespace='/remembr')
        self._captions = self._node.create_publisher(MemoryMsg, 'captions', qos.CAPTIONS)
        topic = acks_topic(self._captions.topic_name)
        self._node.create_subscription(CaptionAck, topic, self._on_ack, qos.CAPTIONS)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)
        self._spinning = threading.Thread(target=self._executor.spin, daemon=True)
        self._spinning.start()
        self._sent: dict[str, float] = {}
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        import rclpy

        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(20.0)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._executor.shutdown()
        self._spinning.join(5.0)
        self._node.destroy_node()
        rclpy.shutdown()

    def start(self, **parameters: dict[str, Any]) -> None:
        """Start nodes by their names, with their parameters."""
        from remembr_ros.nodes.base.lifecycle import bring_up

        for name, values in parameters.items():
            given = [part for key, value in values.items() for part in ('-p', f'{key}:={value}')]
            command = [sys.executable, '-m', f'remembr_ros.nodes.{name}.node', '--ros-args', *given]
            with (self.folder / f'{name}.log').open('wb') as log:
                self.processes[name] = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        bring_up(self._node, [f'/remembr/{name}' for name in parameters], 120.0)

    def caption(self, text: str) -> None:
        """Send a caption of now."""
        from remembr_ros.nodes.base.memory_conversion import observation_to_msg

        now_ns = time.time_ns()
        key = memory_id('anna', 'captioner', now_ns)
        place = Pose(random.uniform(0.0, SIDE_M), random.uniform(0.0, SIDE_M))
        memory = Memory(key, 'anna', now_ns, now_ns + 10**9, text, place, map_id='campus')
        message = observation_to_msg(Observation(memory))
        self._sent[key] = time.perf_counter()
        self._captions.publish(message)

    def waiting(self) -> int:
        """Return how many captions are not acknowledged."""
        return len(self._sent)

    def _on_ack(self, ack: Any) -> None:
        if (sent := self._sent.pop(ack.id, None)) is not None and ack.result == ack.STORED:
            self.latencies.append(time.perf_counter() - sent)


def run() -> list[Figure]:
    """Store without pages, then with them."""
    of = material()
    with tempfile.TemporaryDirectory(prefix='remembr-bench-') as name:
        path = Path(name) / 'memory.db'
        embedder = get_embedder('all-MiniLM-L6-v2')
        fill(of, embedder, MEMORIES, path)
        with socket.create_server(('127.0.0.1', 0)) as free:
            port = free.getsockname()[1]
        with Robot(Path(name)) as robot:
            robot.start(
                memory={'uri': path, 'embedder': embedder.name, 'max_age_days': 36500.0}, web={'port': port}
            )
            texts = cycle(of.captions)
            _store(robot, texts, ALONE_S)
            alone, robot.latencies = robot.latencies, []
            with ExitStack() as open_pages:
                pages = [open_pages.enter_context(closing(Events(port))) for _ in range(PAGES)]
                askers = [Asker(port, number) for number in range(CONNECTIONS)]
                samples = _store(robot, texts, 60.0 * MINUTES)
                for asker in askers:
                    asker.close()
                events = [page.count for page in pages]
            return figures(robot, alone, askers, events, samples)


class Asker:
    """Asks for what pages ask for, at its share of the rate, in a thread."""

    def __init__(self, port: int, number: int) -> None:
        self.took: list[float] = []
        self.failed: list[str] = []
        self._paths = _paths(number)
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._ask, args=(port,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._closed.set()
        self._thread.join(30.0)

    def _ask(self, port: int) -> None:
        client = Client(port)
        due = time.perf_counter()
        for path in self._paths:
            due += CONNECTIONS / REQUESTS_HZ
            if self._closed.wait(max(0.0, due - time.perf_counter())):
                break
            began = time.perf_counter()
            try:
                client.get(path)
            except OSError as error:
                self.failed.append(str(error))
                print(error, file=sys.stderr, flush=True)
                client.close()
                client = Client(port)
            self.took.append(time.perf_counter() - began)
        client.close()


def _paths(number: int) -> Any:
    paths = ['/api/info', '/api/recall?limit=21', '/api/state', '/api/activity?bins=200']
    for box, cell in islice(panned(), 100):
        corners = ','.join(map(str, box))
        paths += [f'/api/cells?box={corners}&cell={cell}', f'/api/track?box={corners}&points=2000']
    paths += [f'/api/recall?text={quote(question)}&limit=21' for question in QUESTIONS]
    random.Random(number).shuffle(paths)
    return cycle(paths)


def _store(robot: Robot, texts: Any, seconds: float) -> list[dict[str, float]]:
    """Send captions for so long; return what the nodes took meanwhile [MB]."""
    samples = []
    began = next_sample = time.perf_counter()
    for number in range(round(seconds / CAPTION_S)):
        robot.caption(next(texts))
        if time.perf_counter() >= next_sample:
            next_sample += SAMPLE_S
            samples.append({name: usage(one.pid)[0] for name, one in robot.processes.items()})
        time.sleep(max(0.0, began + (number + 1) * CAPTION_S - time.perf_counter()))
    return samples


def figures(
    robot: Robot,
    alone: list[float],
    askers: list[Asker],
    events: list[int],
    samples: list[dict[str, float]],
) -> list[Figure]:
    """Return latencies beside those without pages, failures, and what grew."""
    took = [1e3 * seconds for asker in askers for seconds in asker.took]
    failed = sum(len(asker.failed) for asker in askers)
    before, after = (1e3 * np.array(latencies) for latencies in (alone, robot.latencies))
    found = [
        Figure('web soak: time', MINUTES, None, 'min'),
        Figure('web soak: requests', len(took) / (60.0 * MINUTES), None, 'Hz', least=0.95 * REQUESTS_HZ),
        Figure('web soak: requests that failed', failed, len(took), '', most=0),
        Figure('web soak: captions without an answer', robot.waiting(), len(after), '', most=1),
        Figure('web soak: events of the page with the fewest', min(events), None, '', least=10 * MINUTES),
    ]
    for share in (50, 95):
        found.append(Figure(f'web soak: requests, p{share}', float(np.percentile(took, share)), None, 'ms'))
        figure, baseline = (float(np.percentile(times, share)) for times in (after, before))
        title = f'web soak: caption until it is stored, p{share} (baseline: no page open)'
        found.append(Figure(title, figure, baseline, 'ms'))
    for name in robot.processes:
        sizes = [sample[name] for sample in samples]
        quarter = max(1, len(sizes) // 4)
        early, late = (float(np.median(part)) for part in (sizes[quarter : 2 * quarter], sizes[-quarter:]))
        found.append(Figure(f'web soak: {name} node, resident', late, early, 'MB'))
        if name == 'web':
            found.append(Figure('web soak: web node, growth', late - early, None, 'MB', most=MOST_MB))
    return found
