import pytest

from remembr_bench.evaluation.datasets.sample import Truth
from remembr_bench.evaluation.metrics.scores import Outcome, Score, score
from remembr_ros.agent.model.answer import Answer, Kind
from remembr_ros.geometry import Pose
from remembr_ros.timestamps import NS

T0 = 1_700_000_000 * NS
MINUTE = 60 * NS


def answer(kind: Kind, **fields) -> Answer:
    return Answer(kind, '', 'test', **fields)


PLACE = Truth(Kind.POSITION, positions=((0.0, 0.0, 0.0),))
TIME = Truth(Kind.TIME, times_ns=(T0,))
LONG = Truth(Kind.DURATION, duration_min=5.0)
YES = Truth(Kind.BINARY, binary=True)
TEXT = Truth(Kind.TEXT, text='red')


@pytest.mark.parametrize(
    ('truth', 'given_answer', 'error', 'correct'),
    [
        (PLACE, answer(Kind.POSITION, pose=Pose(3.0, 4.0, 12.0)), 13.0, True),
        (PLACE, answer(Kind.POSITION, pose=Pose(9.0, 12.0)), 15.0, True),
        (PLACE, answer(Kind.POSITION, pose=Pose(9.0, 12.1)), pytest.approx(15.08, abs=0.01), False),
        (TIME, answer(Kind.TIME, time_ns=T0 - 2 * MINUTE), 2.0, True),
        (TIME, answer(Kind.TIME, time_ns=T0 + 3 * MINUTE), 3.0, False),
        (LONG, answer(Kind.DURATION, duration_s=180.0), 2.0, True),
        (LONG, answer(Kind.DURATION, duration_s=480.0), 3.0, False),
        (YES, answer(Kind.BINARY, binary=True), None, True),
        (YES, answer(Kind.BINARY, binary=False), None, False),
        (YES, answer(Kind.BINARY), None, False),
    ],
)
def test_answers_of_the_asked_kind(truth, given_answer, error, correct):
    scored = score(truth, given_answer)
    assert scored == Score(Outcome.ANSWERED, correct, error)


def test_the_nearest_of_several_right_answers_counts():
    truth = Truth(Kind.POSITION, positions=((0.0, 0.0, 0.0), (100.0, 0.0, 0.0)))
    assert score(truth, answer(Kind.POSITION, pose=Pose(97.0, 0.0))).error == 3.0
    truth = Truth(Kind.TIME, times_ns=(T0, T0 + 10 * MINUTE))
    assert score(truth, answer(Kind.TIME, time_ns=T0 + 9 * MINUTE)).error == 1.0


@pytest.mark.parametrize('truth', [PLACE, TIME, LONG, YES])
def test_an_answer_of_another_kind_is_wrong_without_an_error(truth):
    for kind in Kind:
        if kind in (truth.kind, Kind.NOT_SEEN):
            continue
        given_answer = answer(kind, pose=Pose(0.0, 0.0), time_ns=T0, duration_s=300.0, binary=True)
        assert score(truth, given_answer) == Score(Outcome.ANSWERED, False)


@pytest.mark.parametrize('truth', [PLACE, TIME, LONG, YES, TEXT])
def test_no_answer_has_no_error(truth):
    for given_answer, outcome in [(answer(Kind.NOT_SEEN), Outcome.NOT_SEEN), (None, Outcome.FAILED)]:
        scored = score(truth, given_answer)
        assert (scored.outcome, scored.error) == (outcome, None)
        assert scored.correct is (None if truth is TEXT else False)


def test_a_text_is_counted_apart():
    assert score(TEXT, answer(Kind.TEXT)) == Score(Outcome.UNSCORED)


def test_a_judged_text_is_right_or_wrong():
    for verdict in (True, False):
        scored = score(TEXT, answer(Kind.TEXT), verdict)
        assert scored == Score(Outcome.ANSWERED, verdict)
    assert score(TEXT, answer(Kind.NOT_SEEN), False).outcome is Outcome.NOT_SEEN
    assert score(TEXT, None, False) == Score(Outcome.FAILED, False)


def test_what_is_not_there_is_rightly_not_seen_or_denied():
    absent = Truth(Kind.NOT_SEEN)
    assert score(absent, answer(Kind.NOT_SEEN)).correct
    assert score(absent, answer(Kind.BINARY, binary=False)).correct
    assert not score(absent, answer(Kind.BINARY, binary=True)).correct
    assert not score(absent, answer(Kind.POSITION, pose=Pose(0.0, 0.0))).correct
    assert score(absent, None).correct is False


def test_a_data_set_has_its_own_tolerance():
    near = Truth(Kind.POSITION, positions=((0.0, 0.0, 0.0),), within_m=5.0)
    assert not score(near, answer(Kind.POSITION, pose=Pose(6.0, 0.0))).correct
    soon = Truth(Kind.TIME, times_ns=(T0,), within_min=0.1)
    assert score(soon, answer(Kind.TIME, time_ns=T0 + 5 * NS)).correct
    assert not score(soon, answer(Kind.TIME, time_ns=T0 + 7 * NS)).correct
