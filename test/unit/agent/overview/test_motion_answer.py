"""What is answered about how the robot moved."""

import math

import pytest

from remembr_ros.agent.model.answer import Kind
from remembr_ros.agent.overview.motion_answer import MotionQuestion, Moved, motion_answer
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.motion.journey import journey
from remembr_ros.memory.motion.motion import Motion
from remembr_ros.timestamps import NS
from test.unit.memory.motion.test_motion import START_NS, STRAIGHT, way

CORNER = (STRAIGHT, STRAIGHT, (0.5, 45.0), (0.8, 90.0), (0.8, 90.0))


@pytest.mark.parametrize('what', list(Moved))
@pytest.mark.parametrize('kind', [kind for kind in Kind if kind is not Kind.NOT_SEEN])
@pytest.mark.parametrize('at_ns', [None, START_NS + 4 * NS, 5])
def test_every_answer_has_evidence_or_says_that_nothing_is_known(
    what: Moved, kind: Kind, at_ns: int | None
) -> None:
    claim = motion_answer(MotionQuestion(what, kind, at_ns=at_ns), journey(way(*CORNER)))
    assert claim.evidence or claim.kind is Kind.NOT_SEEN
    assert claim.text
    if claim.kind is Kind.BINARY:
        assert claim.binary is not None
    if claim.kind is Kind.DURATION:
        assert claim.duration_s is not None


def test_a_turn_back_is_a_turn_around() -> None:
    back = journey(way(STRAIGHT, STRAIGHT, (0.5, 90.0), (0.8, 180.0), (0.8, 180.0)))
    asked = MotionQuestion(Moved.TURN, Kind.BINARY, around=True)
    assert motion_answer(asked, back).binary is True
    assert motion_answer(asked, journey(way(*CORNER))).binary is False


def test_the_side_is_told_from_the_caption_where_it_says_so() -> None:
    said = 'A bench stands on the left. A red door is on the right side. A sign hangs ahead.'
    memories: list[Memory] = way(STRAIGHT, STRAIGHT, caption=said)
    asked = MotionQuestion(Moved.SIDE, Kind.TEXT, side=Motion.RIGHT, at_ns=START_NS + NS)
    assert motion_answer(asked, journey(memories)).text == 'A red door is on the right side.'
    assert motion_answer(asked, journey(way(STRAIGHT, STRAIGHT))).kind is Kind.NOT_SEEN


def test_the_heading_is_that_of_the_map() -> None:
    claim = motion_answer(MotionQuestion(Moved.HEADING, Kind.TEXT), journey(way(*CORNER)))
    assert claim.text == 'I was facing +y (yaw 90 degrees in map).'
    assert claim.evidence[0].memory.pose is not None
    assert math.degrees(claim.evidence[0].memory.pose.yaw) == pytest.approx(90.0)
