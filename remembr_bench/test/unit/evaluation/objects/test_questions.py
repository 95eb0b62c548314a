"""Questions to a home driven through: what is asked, what is right, and how much of it the rules know."""

import random
from dataclasses import replace

import pytest

from remembr_bench.evaluation.objects.questions import A_HOME, HomeTruth, ask_home
from remembr_bench.evaluation.objects.run import LEVELS, Course, drive_through
from remembr_bench.simulation.homes.home import Home
from remembr_bench.simulation.homes.layout import generate_home
from remembr_ros.agent.model.answer import Answer, Kind
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.objects.known import known_objects

pytest.importorskip('pyvista', reason='pyvista is not installed')

KINDS = {'where', 'how many', 'what is on', 'next to', 'when', 'before', 'still', 'changes'}


@pytest.fixture(scope='module')
def home() -> Home:
    return generate_home(2, 2)


@pytest.fixture(scope='module')
def course(home: Home) -> Course:
    return drive_through(home, LEVELS[:1])['none']


def test_sixty_questions_of_every_kind_are_asked_and_answered(home: Home, course: Course) -> None:
    asked = ask_home(home, course)
    assert len(asked) == A_HOME
    assert {kind for kind, *_ in asked} == KINDS
    assert sum(right for *_, right in asked) >= 0.95 * len(asked)
    assert asked == ask_home(home, course)


def test_wrong_answers_are_not_right(home: Home, course: Course) -> None:
    truth = HomeTruth(home, course)
    for one in truth.questions(random.Random(2)):
        nothing = Answer(Kind.NOT_SEEN, 'I have not seen that.', 'rules')
        if one.items != frozenset() and one.number != 0:
            assert not truth.right(one, nothing), one
        if one.place is not None:
            x, y, z = one.place
            there = Answer(Kind.POSITION, '', 'rules', pose=Pose(x, y, z))
            assert truth.right(one, there)
            assert not truth.right(one, replace(there, pose=Pose(x + 0.6, y, z)))
        if one.yes is not None:
            said = Answer(Kind.BINARY, '', 'rules', binary=one.yes)
            assert truth.right(one, said)
            assert not truth.right(one, replace(said, binary=not one.yes))


def test_a_list_with_what_is_not_there_is_wrong(home: Home, course: Course) -> None:
    truth = HomeTruth(home, course)
    everything = tuple(Hit(known.memory, 1.0) for known in known_objects(course.rule.memories()))  # type: ignore[attr-defined]
    for one in truth.questions(random.Random(2)):
        if one.items:
            assert not truth.right(one, Answer(Kind.TEXT, '', 'rules', evidence=everything)), one
