"""Questions about how the robot moved, asked of the building's tours against what is true of these."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cache
from itertools import pairwise

import numpy as np

from remembr_ros.agent.model.answer import Answer, Question
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.planner import Run
from remembr_ros.geometry import StampedPose, distance, wrap_angle
from remembr_ros.memory.model.record import Memory
from remembr_ros.simulation.floor_plan import generate_building
from remembr_ros.simulation.tour import Tour
from remembr_ros.simulation.truth import RecordingTruth, observe
from remembr_ros.timestamps import NS
from test.unit.agent.listed_recall import ListedRecall

START_NS = 1_772_442_000 * NS  # 2026-03-02 09:00:00
HZ = 5
STEP_S = 0.05


@dataclass(frozen=True)
class Turned:
    """A bend of the tour: from when to when [s], and by how much [degrees], left positive."""

    start: float
    end: float
    degrees: float

    @property
    def side(self) -> str:
        return 'left' if self.degrees > 0 else 'right'


@dataclass(frozen=True)
class Drive:
    """A tour, and what is true of it, from its continuous poses."""

    tour: Tour
    truth: RecordingTruth
    halts: list[tuple[float, float]]
    turns: list[Turned]

    def passed(self, text: str) -> float | None:
        """Return when a sign was readable for the last time [s]; None: it was not, or at several places."""
        signs = [sign for sign in self.truth.signs if sign.text == text]
        if len(signs) != 1 or not signs[0].readable:
            return None
        return (signs[0].readable[-1].end_ns - START_NS) / NS


def _runs(which: list[bool]) -> Iterator[tuple[float, float]]:
    began: int | None = None
    for i, one in enumerate([*which, False]):
        if one and began is None:
            began = i
        if not one and began is not None:
            yield began * STEP_S, (i - 1) * STEP_S
            began = None


@cache
def drive(seed: int) -> Drive:
    building = generate_building(seed)
    tour = Tour(building)
    frames = [
        StampedPose(START_NS + i * NS // HZ, tour.pose_at(i / HZ))
        for i in range(int(tour.duration_s * HZ) + 1)
    ]
    twists = [tour.twist_at(t) for t in np.arange(0.0, tour.duration_s, STEP_S)]

    def yaw(t: float) -> float:
        return tour.pose_at(t).yaw

    turns = []
    for sign in (1, -1):
        for start, end in _runs([sign * twist.turning > 0.05 for twist in twists]):
            turns.append(Turned(start, end, math.degrees(wrap_angle(yaw(end + 0.1) - yaw(start - 0.1)))))
    halts = list(_runs([twist.forward < 0.03 for twist in twists]))
    return Drive(tour, observe(building, frames), halts, sorted(turns, key=lambda turn: turn.start))


@cache
def recall(seed: int) -> ListedRecall:
    """Return the memories of a tour: mean poses and path lengths of its segments, as they are stored."""
    of = drive(seed)
    memories = []
    for i, segment in enumerate(of.truth.segments):
        start, end = (segment.start_ns - START_NS) / NS, (segment.end_ns - START_NS) / NS - 1 / HZ
        path = [of.tour.pose_at(t).position for t in np.linspace(start, max(end, start), 7)]
        memories.append(
            Memory(
                f's{i:02}',
                'robbie',
                segment.start_ns,
                START_NS + round(max(end, start) * NS),
                segment.caption,
                segment.pose,
                travelled=sum(distance(a, b) for a, b in pairwise(path)),
                scene_text=segment.visible_signs,
            )
        )
    return ListedRecall(memories)


def ask(seed: int, text: str) -> Answer:
    now_ns = START_NS + round(drive(seed).tour.duration_s * NS) + 60 * NS
    return OfflinePlanner().answer(Question(text, now_ns), recall(seed), Run(deadline=float('inf')))


def clock(t: float) -> str:
    return datetime.fromtimestamp(START_NS / NS + round(t), timezone.utc).strftime('%H:%M:%S')


def numbers(answer: Answer) -> list[float]:
    return [float(number) for number in re.findall(r'-?\d+(?:\.\d+)?', answer.text)]


SEEDS = range(4)
