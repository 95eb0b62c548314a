from dataclasses import replace
from datetime import date

import pytest
import yaml

from remembr_ros.agent.model.answer import Answer, Kind
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.recall import Hit
from test.bench.asked_right import CHECKS, UNSURE, Case, Verdict
from test.bench.bench_asked import GROUPS, QUESTIONS, WHERE
from test.simulated.month import month


@pytest.fixture(scope='module')
def truth():
    return month(0, 3_000)


def answer_by(memory, **about):
    sure = {'confidence': 0.9, 'pose': memory.pose, 'map_id': memory.map_id, **about}
    return Answer(Kind.POSITION, 'There', 'offline', evidence=(Hit(memory, 0.9),), **sure)


def last_of(truth, thing):
    return next(memory for memory in truth.memories if memory.id == truth.naming[thing][-1])


def test_where_a_thing_was_last_is_right(truth):
    last = answer_by(last_of(truth, 'wheelchair'))
    assert Case(last, truth).judge([{'last': 'wheelchair', 'last_seen': 'wheelchair'}]).right
    away = replace(last, pose=Pose(0.0, 30.0))
    assert Case(away, truth).judge([{'last': 'wheelchair'}]) == Verdict(right=False, sure=True)
    assert not Case(replace(last, map_id='floor-1'), truth).judge([{'last': 'wheelchair'}]).right


def test_one_alternative_is_enough_and_must_hold_as_a_whole(truth):
    answer = answer_by(last_of(truth, 'wheelchair'))
    assert Case(answer).judge([{'kind': 'time'}, {'kind': 'position', 'words': ['there']}]).right
    assert not Case(answer).judge([{'kind': 'position', 'words': ['nowhere']}]).right


def test_who_does_not_know_is_not_sure(truth):
    answer = answer_by(last_of(truth, 'wheelchair'))
    assert not Case(answer).judge([UNSURE]).right
    assert Case(replace(answer, confidence=0.2)).judge([UNSURE]) == Verdict(right=True, sure=False)


def test_stays_are_counted_by_the_truth(truth):
    stays = len(truth.stays_with('suitcase'))
    answer = answer_by(last_of(truth, 'suitcase'))
    assert Case(replace(answer, text=f'seen {stays} times'), truth).judge([{'stays': 'suitcase'}]).right
    assert (
        not Case(replace(answer, text=f'seen {3 * stays} times'), truth).judge([{'stays': 'suitcase'}]).right
    )


def test_the_day_is_that_of_the_deciding_memory(truth):
    answer = answer_by(last_of(truth, 'suitcase'))
    assert Case(answer).judge([{'day': date(2026, 11, 9)}]).right


def test_every_question_says_what_is_right():
    asked = yaml.safe_load(QUESTIONS.read_text())
    assert set(asked) == set(WHERE)
    items = [item for about in asked.values() for group in GROUPS for item in about[group]]
    turns = [turn for item in items for turn in item.get('talk', [item])]
    assert all(turn['ask'] and turn['right'] for turn in turns)
    wanted = [one for turn in turns for one in turn['right'] if one != UNSURE]
    assert {key for one in wanted for key in one} <= set(CHECKS)
