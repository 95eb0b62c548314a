"""A robot's way in the time that a question is about."""

import math

import pytest

from remembr_ros.geometry import Pose
from remembr_ros.memory.motion.journey import heading, journey
from remembr_ros.memory.motion.motion import Motion, stops, turns
from remembr_ros.timestamps import NS
from test.unit.agent.offline.test_motion_questions import START_NS, drive, recall


def test_only_what_is_within_the_time_counts() -> None:
    memories, of = recall(0).memories, drive(0)
    after, before = 30.0, 80.0
    way = journey(memories, START_NS + round(after * NS), START_NS + round(before * NS))
    assert len(way.inside(stops(way.stretches))) == sum(after < a and b < before for a, b in of.halts)
    within = [turn for turn in of.turns if after < (turn.start + turn.end) / 2 < before]
    assert len(way.inside(turns(way.stretches))) == len(within)
    assert way.seconds == pytest.approx(before - after)
    assert way.moving_speed > way.driven_m / way.seconds
    assert {memory.id for memory in way.memories} < {memory.id for memory in memories}


def test_a_moment_of_which_nothing_is_remembered_tells_nothing() -> None:
    way = journey(recall(0).memories)
    assert way.at(START_NS - NS) is None
    assert way.seen_at(START_NS - NS) is None
    halt = way.at(START_NS + 75 * NS)
    assert halt is not None
    assert halt.motion is Motion.STANDING


@pytest.mark.parametrize(
    ('degrees', 'axis'),
    [(0, '+x '), (44, '+x +y'), (90, '+y '), (180, '-x '), (-180, '-x '), (-90, '-y '), (-46, '+x -y')],
)
def test_a_heading_is_told_by_the_axes_of_its_map(degrees: float, axis: str) -> None:
    said = heading(Pose(0.0, 0.0, 0.0, math.radians(degrees)), 'map')
    assert said.startswith(axis)
    assert f'yaw {degrees} degrees in map' in said
