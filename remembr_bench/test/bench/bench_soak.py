"""A day of the demo building, at the highest rate that is stable: what grows besides the database?

The tour is driven again and again in simulated time; the driver waits as soon as what is stored is further
behind than LEAD_S, so that nothing queues up. Three node processes, a question every few seconds. The
captions are those of a perfect captioner, from the recording's truth, because a model would set the rate.

A day takes hours. Shorter: REMEMBR_BENCH_SOAK_HOURS=1 python -m test.bench soak
"""

import os
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from test.bench.figure import Figure
from test.bench.processes import usage

ON_REQUEST = True
"""Runs only when it is named: it takes too long for all the others to wait."""

HOURS = float(os.environ.get('REMEMBR_BENCH_SOAK_HOURS', '24'))
EMBEDDER = os.environ.get('REMEMBR_BENCH_SOAK_EMBEDDER', 'hashing')

LEAD_S = 15.0
"""Simulated time that may be driven ahead of what is stored [s]: five segments."""

SAMPLE_S = 2.0
ASK_S = 3.0
STALL_S = 60.0
WARM = 0.25
"""Share of the run in which buffers and caches may still fill."""

NODES = ('memory', 'captioner', 'agent')
TOPICS = ('images', 'captions', 'memories', 'answers')
QUESTIONS = ('Where is the lift?', 'When did you see the printer?', 'Did you see a swimming pool?')

MOST_MB = 1.0
"""Growth of a node that has no database, per simulated hour; of less than LONG_H it is only reported."""

LONG_H = 6.0

MORE = {'memory': 8, 'captioner': 3, 'agent': 3}
"""Open files, and threads, that a node may have more at the end; libraries start some late."""


@dataclass
class Sample:
    """What there was at one moment.

    :param hours: simulated, since the start
    :param seconds: of wall time, since the start
    :param taken: of each node: resident memory [MB], open files, threads
    :param counts: messages so far, of each topic
    """

    hours: float
    seconds: float
    taken: dict[str, tuple[float, int, int]]
    counts: dict[str, int]


@dataclass
class Soak:
    """The nodes as processes, and what is known of them. Use as a context manager."""

    folder: Path
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(TOPICS, 0))
    refused: int = 0
    samples: list[Sample] = field(default_factory=list)
    stored_ns: int = 0
    """Stamp of the end of what was stored last."""

    def __enter__(self) -> 'Soak':
        import rclpy
        from rclpy.executors import SingleThreadedExecutor

        os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
        os.environ['ROS_DOMAIN_ID'] = str(1 + os.getpid() % 80)
        rclpy.init()
        self.node = rclpy.create_node('soak', namespace='/remembr')
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)
        self._thread = threading.Thread(target=self._executor.spin, daemon=True)
        self._thread.start()
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._news = threading.Condition()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        import rclpy

        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            try:
                process.wait(20.0)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._executor.shutdown()
        self._thread.join(5.0)
        self.node.destroy_node()
        rclpy.shutdown()

    def start(self, name: str, **parameters: Any) -> None:
        """Start a node by its name."""
        values = [part for key, value in parameters.items() for part in ('-p', f'{key}:={value}')]
        reliable = 'qos_overrides./remembr/image/compressed.subscription.reliability:=reliable'
        command = [sys.executable, '-m', f'remembr_ros.nodes.{name}.node', '--ros-args', *values]
        command += ['-p', 'use_sim_time:=true', '-p', reliable]
        with (self.folder / f'{name}.log').open('wb') as log:
            self._processes[name] = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)

    def bring_up(self) -> None:
        """Configure and activate the nodes, and connect with them."""
        from sensor_msgs.msg import CompressedImage

        from remembr_msgs.msg import Memory as MemoryMsg
        from remembr_msgs.srv import Ask
        from remembr_ros.nodes.base import qos
        from remembr_ros.nodes.base.lifecycle import bring_up

        self.node.create_subscription(MemoryMsg, 'memories', self._on_memory, qos.CAPTIONS)
        self.node.create_subscription(MemoryMsg, 'captions', self._on_caption, qos.CAPTIONS, raw=True)
        self._ask = self.node.create_client(Ask, 'ask')
        self.images = self.node.create_publisher(CompressedImage, 'image/compressed', 10)
        bring_up(self.node, [f'/remembr/{name}' for name in NODES], 120.0)
        self._wait(lambda: self.images.get_subscription_count() > 0, 'the captioner')

    def drive(self, hours: float) -> None:
        """Drive the tour for so many simulated hours, and sample meanwhile."""
        from geometry_msgs.msg import PoseWithCovarianceStamped
        from rosgraph_msgs.msg import Clock
        from sensor_msgs.msg import CompressedImage

        from remembr_bench.simulation.tour_bag import START_NS
        from remembr_ros.nodes.base.conversions import time_to_msg

        clock = self.node.create_publisher(Clock, '/clock', 10)
        poses = self.node.create_publisher(PoseWithCovarianceStamped, 'pose_with_covariance', 10)
        began = next_sample = next_question = time.monotonic()
        for since_ns, message in self.tour.laps(round(hours * 3600e9)):
            now_ns = START_NS + since_ns
            self._wait(lambda now=now_ns: now - self.stored_ns < LEAD_S * 1e9, 'what was driven to be stored')
            if isinstance(message, CompressedImage):
                clock.publish(Clock(clock=time_to_msg(now_ns)))
                self.images.publish(message)
                self.counts['images'] += 1
            else:
                poses.publish(message)
            if (now := time.monotonic()) >= next_sample:
                next_sample = now + SAMPLE_S
                self._sample(since_ns / 3600e9, now - began)
            if now >= next_question:
                next_question = now + ASK_S
                self._put_question()
        self._sample(since_ns / 3600e9, time.monotonic() - began)

    def make_tour(self, hours: float) -> Path:
        """Render the tour; return the file of its captions."""
        from remembr_bench.simulation.tour_bag import START_NS
        from test.bench.soak_tour import record_tour

        self.tour = record_tour(self.folder / 'tour')
        self.stored_ns = START_NS
        path = self.folder / 'captions.json'
        self.tour.write_captions(path, round(hours * 3600e9))
        return path

    def _sample(self, hours: float, seconds: float) -> None:
        taken = {name: usage(process.pid) for name, process in self._processes.items()}
        self.samples.append(Sample(hours, seconds, taken, dict(self.counts)))
        if int(hours) > int(self.samples[-2].hours if len(self.samples) > 1 else 0.0):
            sizes = ', '.join(f'{name} {size:.1f} MB' for name, (size, _, _) in taken.items())
            print(f'{hours:.2f} h in {seconds:.0f} s: {sizes}', file=sys.stderr, flush=True)

    def _put_question(self) -> None:
        from remembr_msgs.srv import Ask

        request = Ask.Request(question=QUESTIONS[self.counts['answers'] % len(QUESTIONS)])
        self._ask.call_async(request).add_done_callback(self._on_answer)

    def _on_answer(self, future: Any) -> None:
        self.counts['answers'] += 1
        response = future.result()
        if response.error_code != 0:
            self.refused += 1
            print(f'a question was refused: {response.error_msg}', file=sys.stderr, flush=True)

    def _on_caption(self, _: bytes) -> None:
        self.counts['captions'] += 1

    def _on_memory(self, memory: Any) -> None:
        with self._news:
            self.counts['memories'] += 1
            self.stored_ns = max(self.stored_ns, memory.end.sec * 10**9 + memory.end.nanosec)
            self._news.notify_all()

    def _wait(self, condition: Any, what: str) -> None:
        deadline = time.monotonic() + STALL_S
        with self._news:
            while not condition():
                self._news.wait(0.1)
                dead = [name for name, process in self._processes.items() if process.poll() is not None]
                if dead or time.monotonic() > deadline:
                    raise RuntimeError(f'{dead or what}: it does not go on; see the logs in {self.folder}')


def run() -> list[Figure]:
    """Drive for HOURS and compare the end with the start."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Soak(folder) as soak:
            captions = soak.make_tour(HOURS)
            soak.start('memory', uri=folder / 'm.db', embedder=EMBEDDER, max_age_days=36500.0)
            soak.start('captioner', captioner='recorded', captioner_captions=captions, pose_hold=2.0)
            soak.start('agent')
            soak.bring_up()
            soak.drive(HOURS)
        disk_mb = sum(f.stat().st_size for f in folder.glob('m.db*/**/*') if f.is_file()) / 1e6
        disk_mb += sum(f.stat().st_size for f in folder.glob('m.db*') if f.is_file()) / 1e6
        keyframes_mb = sum(f.stat().st_size for f in folder.glob('m.db.keyframes/**/*') if f.is_file()) / 1e6
    return figures(soak, disk_mb - keyframes_mb)


def figures(soak: Soak, database_mb: float) -> list[Figure]:
    """Return what grew, and the rates at the end against those at the start."""
    samples = soak.samples
    warm = samples[int(WARM * len(samples)) :]
    hours = np.array([sample.hours for sample in warm])
    found = [
        Figure('soak: simulated time', samples[-1].hours, HOURS, 'h', 0.99 * HOURS),
        Figure('soak: database', database_mb / samples[-1].hours, None, 'MB per simulated hour'),
        Figure('soak: questions refused', soak.refused, soak.counts['answers'], 'questions', most=0),
    ]
    first, last = warm[: max(2, len(warm) // 3)], warm[-max(2, len(warm) // 3) :]
    found.append(Figure('soak: times real time', _speed(last), _speed(first), ''))
    for topic in TOPICS:
        found.append(Figure(f'soak: {topic}', _rate(last, topic), _rate(first, topic), 'Hz of wall time'))
    for node in NODES:
        sizes = np.array([sample.taken[node][0] for sample in warm])
        slope = float(np.polyfit(hours, sizes, 1)[0])
        long = HOURS >= LONG_H
        if node == 'memory':
            most = database_mb / samples[-1].hours if long else None
        else:
            most = MOST_MB if long else None
        found.append(Figure(f'soak: {node}, resident', sizes[-1], sizes[0], 'MB'))
        found.append(Figure(f'soak: {node}, growth', slope, None, 'MB per simulated hour', most=most))
        for index, what in ((1, 'open files'), (2, 'threads')):
            start, end = (float(np.median([s.taken[node][index] for s in part])) for part in (first, last))
            found.append(Figure(f'soak: {node}, {what}', end, start, '', most=start + MORE[node]))
    return found


def _speed(samples: list[Sample]) -> float:
    return (samples[-1].hours - samples[0].hours) * 3600.0 / (samples[-1].seconds - samples[0].seconds)


def _rate(samples: list[Sample], topic: str) -> float:
    count = samples[-1].counts[topic] - samples[0].counts[topic]
    return count / (samples[-1].seconds - samples[0].seconds)
