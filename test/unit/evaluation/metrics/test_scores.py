import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.agent.model.answer import Answer, Kind
from remembr_ros.evaluation.datasets.sample import Truth
from remembr_ros.evaluation.metrics import scores as metrics
from remembr_ros.evaluation.metrics.scores import Outcome, Score, score
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
    scored = score(truth, 'LONG', given_answer)
    assert scored == Score(truth.kind, 'LONG', Outcome.ANSWERED, correct, error)


def test_the_nearest_of_several_right_answers_counts():
    truth = Truth(Kind.POSITION, positions=((0.0, 0.0, 0.0), (100.0, 0.0, 0.0)))
    assert score(truth, 'LONG', answer(Kind.POSITION, pose=Pose(97.0, 0.0))).error == 3.0
    truth = Truth(Kind.TIME, times_ns=(T0, T0 + 10 * MINUTE))
    assert score(truth, 'LONG', answer(Kind.TIME, time_ns=T0 + 9 * MINUTE)).error == 1.0


@pytest.mark.parametrize('truth', [PLACE, TIME, LONG, YES])
def test_an_answer_of_another_kind_is_wrong_without_an_error(truth):
    for kind in Kind:
        if kind in (truth.kind, Kind.NOT_SEEN):
            continue
        given_answer = answer(kind, pose=Pose(0.0, 0.0), time_ns=T0, duration_s=300.0, binary=True)
        assert score(truth, 'LONG', given_answer) == Score(truth.kind, 'LONG', Outcome.ANSWERED, False)


@pytest.mark.parametrize('truth', [PLACE, TIME, LONG, YES, TEXT])
def test_no_answer_has_no_error(truth):
    for given_answer, outcome in [(answer(Kind.NOT_SEEN), Outcome.NOT_SEEN), (None, Outcome.FAILED)]:
        scored = score(truth, 'LONG', given_answer)
        assert (scored.outcome, scored.error) == (outcome, None)
        assert scored.correct is (None if truth is TEXT else False)


def test_a_text_is_counted_apart():
    assert score(TEXT, 'LONG', answer(Kind.TEXT)) == Score(Kind.TEXT, 'LONG', Outcome.UNSCORED)


def test_means_have_denominators():
    scores = [
        score(PLACE, 'LONG', answer(Kind.POSITION, pose=Pose(1.0, 0.0))),
        score(PLACE, 'LONG', answer(Kind.POSITION, pose=Pose(31.0, 0.0))),
        score(PLACE, 'LONG', answer(Kind.NOT_SEEN)),
        score(PLACE, 'LONG', None),
        score(TEXT, 'LONG', answer(Kind.TEXT)),
    ]
    assert metrics.correctness(scores) == metrics.Mean(0.25, 4, pytest.approx(0.5))
    assert metrics.correctness_answered(scores) == metrics.Mean(0.5, 2, pytest.approx(0.7071, abs=1e-3))
    errors = metrics.errors(scores)
    assert (errors.value, errors.n) == (16.0, 2)
    assert errors.std == pytest.approx(21.213, abs=1e-3)


def test_a_mean_over_nothing_is_none():
    assert metrics.mean([]) == metrics.Mean(None, 0, None)
    assert metrics.mean([3.0]) == metrics.Mean(3.0, 1, None)
    assert metrics.correctness([]).value is None


def test_ranks_and_recall():
    assert metrics.rank(['a', 'b', 'c'], frozenset(('c', 'b'))) == 2
    assert metrics.rank(['a'], frozenset('b')) is None
    assert metrics.rank([], frozenset('b')) is None
    ranks = [1, 3, None, 6]
    assert metrics.recall_at(1, ranks).value == 0.25
    assert metrics.recall_at(5, ranks) == metrics.Mean(0.5, 4, pytest.approx(0.577, abs=1e-3))
    assert metrics.mean_reciprocal_rank(ranks).value == pytest.approx((1 + 1 / 3 + 1 / 6) / 4)


@given(st.lists(st.none() | st.integers(1, 20), min_size=1))
def test_recall_grows_with_k(ranks):
    values = [metrics.recall_at(k, ranks).value for k in range(1, 21)]
    assert values == sorted(values)
    assert values[0] <= metrics.mean_reciprocal_rank(ranks).value + 1e-12
    assert values[-1] == pytest.approx(sum(r is not None for r in ranks) / len(ranks))


def test_a_judged_text_is_right_or_wrong():
    for verdict in (True, False):
        scored = score(TEXT, 'LONG', answer(Kind.TEXT), verdict)
        assert scored == Score(Kind.TEXT, 'LONG', Outcome.ANSWERED, verdict)
    assert score(TEXT, 'LONG', answer(Kind.NOT_SEEN), False).outcome is Outcome.NOT_SEEN
    assert score(TEXT, 'LONG', None, False) == Score(Kind.TEXT, 'LONG', Outcome.FAILED, False)


def test_what_is_not_there_is_rightly_not_seen_or_denied():
    absent = Truth(Kind.NOT_SEEN)
    assert score(absent, 'SHORT', answer(Kind.NOT_SEEN)).correct
    assert score(absent, 'SHORT', answer(Kind.BINARY, binary=False)).correct
    assert not score(absent, 'SHORT', answer(Kind.BINARY, binary=True)).correct
    assert not score(absent, 'SHORT', answer(Kind.POSITION, pose=Pose(0.0, 0.0))).correct
    assert score(absent, 'SHORT', None).correct is False


def test_a_truth_in_doubt_scores_nothing():
    doubtful = Truth(Kind.POSITION, unscored_because='the label is wrong')
    given_answer = answer(Kind.POSITION, pose=Pose(0.0, 0.0))
    assert score(doubtful, 'LONG', given_answer) == Score(Kind.POSITION, 'LONG', Outcome.UNSCORED)
    assert score(doubtful, 'LONG', None) == Score(Kind.POSITION, 'LONG', Outcome.FAILED)


def test_a_data_set_has_its_own_tolerance():
    near = Truth(Kind.POSITION, positions=((0.0, 0.0, 0.0),), within_m=5.0)
    assert not score(near, 'SHORT', answer(Kind.POSITION, pose=Pose(6.0, 0.0))).correct
    soon = Truth(Kind.TIME, times_ns=(T0,), within_min=0.1)
    assert score(soon, 'SHORT', answer(Kind.TIME, time_ns=T0 + 5 * NS)).correct
    assert not score(soon, 'SHORT', answer(Kind.TIME, time_ns=T0 + 7 * NS)).correct
