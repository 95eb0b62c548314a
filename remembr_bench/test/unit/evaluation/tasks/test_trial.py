"""Trials: answers become poses by the robot's own rules, and are judged."""

import math
import time

import pytest

from remembr_bench.evaluation.tasks.goals import Goal, Predicate, Quantifier, Task, Where
from remembr_bench.evaluation.tasks.trial import SimulatedTrial
from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.planner import Run
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import AGENT, Memory
from test.task_world import TaskWorld, thing

START = Pose(3.0, 1.0)


def deed(name: str, pose: Pose) -> Memory:
    return Memory(name, 'robot', 1, 2, f'Put the {name}.', pose, source=AGENT)


CUP = deed('cup', Pose(2.0, 2.0, yaw=math.pi))
BOOK = deed('book', Pose(6.0, 2.2, yaw=math.pi / 2))
NOWHERE = deed('nothing', Pose(7.0, 1.0))


def trial(quantifier: Quantifier, *things: str) -> SimulatedTrial:
    world = TaskWorld(thing('red cup', 1.0, 2.0), thing('book', 6.0, 3.0))
    goal = Goal(quantifier, tuple(Predicate(Where.AT_OBJECT, one) for one in things))
    task = Task('1', 'some', 'Go to {o}.', 'Go to it.', goal)
    return SimulatedTrial(world, {'1': (task, 1.0)}, [NOWHERE, CUP, BOOK], START)


def answer(*memories: Memory, **about: object) -> Answer:
    hits = tuple(Hit(memory, 1.0) for memory in memories)
    return Answer(Kind.POSITION, '', 'x', pose=memories[0].pose, evidence=hits, **about)  # type: ignore[arg-type]


def test_an_answer_that_reaches_the_goal_succeeds_and_what_it_drives_counts() -> None:
    success, figures, why = trial(Quantifier.EXISTS, 'red cup').score('1', answer(CUP))
    assert (success, why) == (True, '')
    assert figures['hl_sr'] == figures['dtg_sr'] == figures['sc_sr'] == figures['ll_sr'] == 1.0
    assert figures['hl_spl'] == pytest.approx(1.0 / math.dist((3.0, 1.0), (2.0, 2.0)), rel=0.05)
    assert figures['ll_spl'] > figures['hl_spl']  # it stops short


@pytest.mark.parametrize(
    ('given', 'why'),
    [
        (None, 'there is no answer'),
        (Answer(Kind.NOT_SEEN, '', 'x'), 'has no place to go to'),
        (answer(deed('invented', Pose(2.0, 2.0, yaw=math.pi))), "'invented', which is no memory"),
        (answer(NOWHERE), ''),
    ],
)
def test_other_answers_fail_and_say_why(given: Answer | None, why: str) -> None:
    success, figures, told = trial(Quantifier.EXISTS, 'red cup').score('1', given)
    assert not success
    assert why in told
    assert figures == {'hl_sr': 0.0, 'hl_spl': 0.0, 'dtg_sr': 0.0, 'sc_sr': 0.0, 'll_sr_all': 0.0}


def test_an_ordered_goal_with_a_part_missing_fails() -> None:
    ordered = trial(Quantifier.ALL_IN_ORDER, 'book', 'red cup')
    assert ordered.score('1', answer(BOOK, CUP, every_place=True, in_order=True))[0]
    assert not ordered.score('1', answer(CUP, BOOK, every_place=True, in_order=True))[0]
    assert not ordered.score('1', answer(BOOK))[0]


@pytest.mark.parametrize('quantifier', list(Quantifier))
def test_the_oracle_reaches_every_goal(quantifier: Quantifier) -> None:
    tried = trial(quantifier, 'book', 'red cup')
    oracle = tried.planner('oracle', '1', 0)
    assert oracle is not None
    given = oracle.answer(Question('', 0), None, Run(time.monotonic() + 9.0))  # type: ignore[arg-type]
    assert tried.score('1', given)[0]
    if quantifier is Quantifier.EXISTS:  # the nearer one
        assert [hit.memory for hit in given.evidence] == [CUP]


def test_of_what_is_in_no_memory_the_oracle_says_so() -> None:
    tried = trial(Quantifier.EXISTS, 'gone')
    oracle = tried.planner('oracle', '1', 0)
    assert oracle is not None
    assert oracle.answer(Question('', 0), None, Run(time.monotonic() + 9.0)).kind is Kind.NOT_SEEN  # type: ignore[arg-type]


def test_chance_chooses_as_many_as_there_are_parts_the_same_each_time() -> None:
    tried = trial(Quantifier.ALL, 'book', 'red cup')
    choices = []
    for seed in (1, 1, *range(2, 20)):
        planner = tried.planner('random', '1', seed)
        assert planner is not None
        given = planner.answer(Question('', 0), None, Run(time.monotonic() + 9.0))  # type: ignore[arg-type]
        choices.append(tuple(hit.memory.id for hit in given.evidence))
    assert choices[0] == choices[1]
    assert {len(choice) for choice in choices} == {2}
    assert len(set(choices)) > 3


def test_other_planners_are_no_business_of_a_trial() -> None:
    assert trial(Quantifier.ALL, 'book').planner('offline', '1', 0) is None
