"""Questions about how the robot moved, asked of the building's tours against what is true of these."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest

from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.planner import Run
from remembr_ros.geometry import StampedPose, distance, wrap_angle
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import NS
from test.unit.agent.listed_recall import ListedRecall
from test.unit.agent.overview.driven_tour import driven_m, twist_at

if TYPE_CHECKING:
    from remembr_bench.simulation.tour import Tour
    from remembr_bench.simulation.truth import RecordingTruth

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

    tour: 'Tour'
    truth: 'RecordingTruth'
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
    pytest.importorskip('remembr_bench', reason='needs the worlds of remembr_bench')
    from remembr_bench.simulation.floor_plan import generate_building
    from remembr_bench.simulation.tour import Tour
    from remembr_bench.simulation.truth import observe

    building = generate_building(seed)
    tour = Tour(building)
    frames = [
        StampedPose(START_NS + i * NS // HZ, tour.pose_at(i / HZ))
        for i in range(int(tour.duration_s * HZ) + 1)
    ]
    twists = [twist_at(tour, t) for t in np.arange(0.0, tour.duration_s, STEP_S)]

    def yaw(t: float) -> float:
        return tour.pose_at(t).yaw

    turns = []
    for sign in (1, -1):
        for start, end in _runs([sign * turning > 0.05 for _, turning in twists]):
            turns.append(Turned(start, end, math.degrees(wrap_angle(yaw(end + 0.1) - yaw(start - 0.1)))))
    halts = list(_runs([forward < 0.03 for forward, _ in twists]))
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


@pytest.mark.parametrize('seed', SEEDS)
def test_says_how_many_times_it_stopped_and_turned(seed: int) -> None:
    of = drive(seed)
    assert numbers(ask(seed, 'How many times did you stop?')) == [len(of.halts)]
    assert numbers(ask(seed, 'How many turns did you make?')) == [len(of.turns)]
    for side in ('left', 'right'):
        count = sum(turn.side == side for turn in of.turns)
        for text in (f'How many times did you turn {side}?', f'How many {side} turns did you take today?'):
            answer = ask(seed, text)
            assert (answer.kind, numbers(answer)) == (Kind.TEXT, [count])
            assert len(answer.evidence) == count


@pytest.mark.parametrize('seed', SEEDS)
def test_says_where_and_when_it_stopped_first_and_last(seed: int) -> None:
    of = drive(seed)
    for which, (start, _) in (('first', of.halts[0]), ('last', of.halts[-1])):
        where = ask(seed, f'Where did you stop {which}?')
        assert where.kind is Kind.POSITION
        assert where.pose is not None
        assert distance(where.pose.position, of.tour.pose_at(start).position) < 1.0
        when = ask(seed, f'When did you {which} stop?')
        assert when.kind is Kind.TIME
        assert when.time_ns is not None
        assert abs((when.time_ns - START_NS) / NS - start) < 3.0


@pytest.mark.parametrize('seed', SEEDS)
def test_says_whether_it_moved_how_fast_and_where_it_faced_at_any_time(seed: int) -> None:
    of = drive(seed)
    for start, end in of.halts:
        assert ask(seed, f'Were you moving at {clock((start + end) / 2)}?').binary is False
        assert ask(seed, f'Were you standing still at {clock((start + end) / 2)}?').binary is True
    for t in (10.0, 21.0, 43.0, 61.0, 88.0, 105.0):  # on straights
        assert ask(seed, f'Were you moving at {clock(t)}?').binary is True
        assert ask(seed, f'Did you stand still at {clock(t)}?').binary is False
        speed = ask(seed, f'How fast were you at {clock(t)}?')
        assert numbers(speed)[0] == pytest.approx(twist_at(of.tour, t)[0], abs=0.1)
        facing = ask(seed, f'Which way did you face at {clock(t)}?')
        assert facing.kind is Kind.TEXT
        off = numbers(facing)[0] - math.degrees(of.tour.pose_at(t).yaw)
        assert abs(math.remainder(off, 360.0)) < 10.0


@pytest.mark.parametrize('seed', SEEDS)
def test_says_how_far_it_drove_and_how_long_it_stood_and_drove(seed: int) -> None:
    of = drive(seed)
    length_m = driven_m(of.tour, 0.0, of.tour.duration_s)
    assert numbers(ask(seed, 'How far did you drive?'))[0] == pytest.approx(length_m, rel=0.03)
    text = f'How far did you drive between {clock(10)} and {clock(50)}?'
    true_m = sum(twist_at(of.tour, t)[0] * STEP_S for t in np.arange(10.0, 50.0, STEP_S))
    assert numbers(ask(seed, text))[0] == pytest.approx(true_m, rel=0.06)
    average = length_m / of.tour.duration_s
    assert numbers(ask(seed, 'How fast did you drive on average?'))[0] == pytest.approx(average, rel=0.05)
    stood = ask(seed, 'How long did you stand in total?')
    assert stood.kind is Kind.DURATION
    assert stood.duration_s == pytest.approx(sum(end - start for start, end in of.halts), abs=4.0)
    drove = ask(seed, 'For how long were you driving in total?')
    assert drove.duration_s is not None
    assert stood.duration_s is not None
    assert drove.duration_s + stood.duration_s == pytest.approx(of.tour.duration_s, abs=1.0)


@pytest.mark.parametrize('seed', SEEDS)
def test_says_where_it_turned_after_what_it_passed(seed: int) -> None:
    """The signs that hang across the way are passed; which turn is next is known from the route."""
    of, asked = drive(seed), 0
    for sign in of.truth.signs:
        passed = of.passed(sign.text)
        if passed is None or any(turn.start < passed < turn.end for turn in of.turns):
            continue
        following = [turn for turn in of.turns if turn.start > passed]
        if not following:
            assert ask(seed, f'Did you turn left after "{sign.text}"?').binary is False
            continue
        turn, asked = following[0], asked + 1
        other = 'right' if turn.side == 'left' else 'left'
        assert ask(seed, f'Did you turn {turn.side} after "{sign.text}"?').binary is True, sign.text
        assert ask(seed, f'Did you turn {other} after "{sign.text}"?').binary is False, sign.text
        which = ask(seed, f'Which way did you turn after "{sign.text}"?')
        assert which.kind is Kind.TEXT
        assert turn.side in which.text, (sign.text, which.text)
        assert which.evidence
    assert asked >= 6


@pytest.mark.parametrize('seed', SEEDS)
def test_says_how_long_it_waited_at_a_sign(seed: int) -> None:
    of, asked = drive(seed), 0
    for sign in of.truth.signs:
        views = [((view.start_ns - START_NS) / NS, (view.end_ns - START_NS) / NS) for view in sign.readable]
        seen = [halt for halt in of.halts if any(a <= halt[0] and halt[1] <= b for a, b in views)]
        if of.passed(sign.text) is None or len(seen) != 1:
            continue
        asked += 1
        start, end = seen[0]
        answer = ask(seed, f'How long did you wait at "{sign.text}"?')
        assert answer.kind is Kind.DURATION, (sign.text, answer.text)
        assert answer.duration_s == pytest.approx(end - start, abs=1.5), sign.text
        assert ask(seed, f'Did you stop at "{sign.text}"?').binary is True
        facing = numbers(ask(seed, f'Which way did you face at "{sign.text}"?'))[0]
        assert abs(math.remainder(facing - math.degrees(of.tour.pose_at(start).yaw), 360.0)) < 10.0
    assert asked >= 3


@pytest.mark.parametrize('seed', SEEDS)
def test_did_not_stop_at_what_it_only_passed(seed: int) -> None:
    of, asked = drive(seed), 0
    stood = [of.tour.pose_at(start).position for start, _ in of.halts]
    for sign in of.truth.signs:
        seen = [pose.position for view in sign.readable for pose in view.poses]
        if of.passed(sign.text) is None or min(distance(a, b) for a in seen for b in stood) < 4.0:
            continue
        asked += 1
        assert ask(seed, f'Did you stop at "{sign.text}"?').binary is False, sign.text
    assert asked


def test_an_anchor_that_was_not_seen_tells_nothing() -> None:
    for text in ('Did you turn right after the bridge?', 'How long did you wait at the crossing?'):
        assert ask(0, text).kind is Kind.NOT_SEEN
