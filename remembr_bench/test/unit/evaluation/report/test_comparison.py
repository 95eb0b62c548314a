import json
from dataclasses import asdict

import pytest

from remembr_bench.evaluation.metrics.scores import Outcome
from remembr_bench.evaluation.records.record import TruthRecord
from remembr_bench.evaluation.report.comparison import compare, comparison_text
from remembr_ros.agent.model.answer import Kind


@pytest.fixture
def yes_no(record):
    """Make records of yes/no questions from a text: + correct, - wrong, ? not scored."""

    def make(marks: str, **fields):
        return [
            record(
                f'q{i}',
                truth=TruthRecord(kind=Kind.BINARY, binary=True),
                correct={'+': True, '-': False, '?': None}[mark],
                error=None,
                **fields,
            )
            for i, mark in enumerate(marks)
        ]

    return make


def test_differences_and_mcnemar_by_hand(yes_no):
    comparison = compare(yes_no('++++------'), yes_no('+---++++--'))
    found = comparison.correctness['ALL']
    assert (len(comparison.wins), len(comparison.losses)) == (4, 3)
    assert (found.pairs, found.mean_a, found.mean_b) == (10, 0.4, 0.5)
    assert found.difference == pytest.approx(0.1)
    # Seven discordant pairs, at least 4 to one side: certain.
    assert found.p == pytest.approx(1.0)


def test_mcnemar_counts_discordant_pairs_only(yes_no):
    found = compare(yes_no('-' * 6 + '+' * 20), yes_no('+' * 26)).correctness['ALL']
    assert found.p == pytest.approx(2 * 0.5**6)
    found = compare(yes_no('+-------'), yes_no('-+++++++')).correctness['ALL']
    assert found.p == pytest.approx(2 * (1 + 8) / 2**8)
    low, high = found.interval
    assert low < found.difference == 0.75 < high


def test_groups_by_length(yes_no, record):
    a = [record('s', correct=False), record('l', length='LONG')]
    b = [record('s'), record('l', length='LONG', correct=False)]
    found = compare(a, b)
    assert found.correctness['SHORT'].difference == 1.0
    assert found.correctness['LONG'].difference == -1.0
    assert found.correctness['ALL'].difference == 0.0
    medium = found.correctness['MEDIUM']
    assert (medium.pairs, medium.difference, medium.interval, medium.p) == (0, None, None, None)
    assert found.wins == (('navqa-7', 's', 0),)
    assert found.losses == (('navqa-7', 'l', 0),)


def test_identical_runs(yes_no, record):
    run = [*yes_no('++-?'), record('p')]
    found = compare(run, run)
    everything = found.correctness['ALL']
    assert (everything.pairs, found.wins, found.losses) == (4, (), ())
    assert (everything.difference, everything.interval, everything.p) == (0.0, (0.0, 0.0), 1.0)
    assert found.unscored == (('navqa-7', 'q3', 0),)
    assert found.errors['position'].difference == 0.0
    assert found.errors['position'].p is None


def test_no_common_question(record):
    found = compare([record('x')], [record('y'), record('x', seed=1)])
    assert found.only_a == (('navqa-7', 'x', 0),)
    assert found.only_b == (('navqa-7', 'y', 0), ('navqa-7', 'x', 1))
    assert all(c.pairs == 0 and c.p is None for c in found.correctness.values())
    table = comparison_text(found)
    assert 'only in A: navqa-7 x seed 0' in table
    assert 'only in B: navqa-7 x seed 1' in table


def test_nothing_at_all():
    assert compare([], []).correctness['ALL'].pairs == 0
    assert 'McNemar' in comparison_text(compare([], []))


def test_what_one_run_cannot_score_is_out_and_counted(yes_no):
    found = compare(yes_no('++?-'), yes_no('+?+-'))
    assert found.correctness['ALL'].pairs == 2
    assert [key[1] for key in found.unscored] == ['q1', 'q2']
    assert '2 pairs are not scored' in comparison_text(found)


def test_a_question_that_changed_is_no_pair(record):
    truth = TruthRecord(kind=Kind.POSITION, positions=((0.0, 0.0, 0.0),))
    found = compare([record('x'), record('y')], [record('x', truth=truth), record('y')])
    assert found.changed == (('navqa-7', 'x', 0),)
    assert found.correctness['ALL'].pairs == 1
    assert 'differs between the runs: navqa-7 x seed 0' in comparison_text(found)


def test_errors_by_hand(record):
    a = [record(f'q{i}', error=10.0 + i) for i in range(6)]
    b = [record(f'q{i}', error=8.0 + i * 0.5) for i in range(6)]
    found = compare(a, b).errors['position']
    assert (found.pairs, found.mean_a, found.mean_b) == (6, 12.5, 9.25)
    assert found.difference == pytest.approx(-3.25)
    # All six differences have one sign: exactly 2 of the 2^6 ways to give them signs are as extreme.
    assert found.p == pytest.approx(2 / 2**6)
    low, high = found.interval
    assert low < -3.25 < high < 0.0


def test_wilcoxon_needs_six_differences(record):
    a = [record(f'q{i}', error=10.0) for i in range(8)]
    b = [record(f'q{i}', error=10.0 if i < 3 else 5.0 - i) for i in range(8)]
    assert compare(a, b).errors['position'].p is None
    b[0] = record('q0', error=11.5)
    assert compare(a, b).errors['position'].p is not None


def test_an_error_on_one_side_is_no_pair_of_errors(record):
    failed = record('x', outcome=Outcome.FAILED, answer=None, correct=False, error=None)
    found = compare([record('x')], [failed])
    assert found.errors['position'].pairs == 0
    assert len(found.losses) == 1


def test_the_bootstrap_is_deterministic(yes_no):
    a, b = yes_no('+-+-+-++--'), yes_no('++-++--+++')
    assert compare(a, b) == compare(a, b)


def test_seeds_are_paired_each_and_resampled_together(yes_no):
    a, b = yes_no('+-+-+-++--'), yes_no('++-++--+++')
    many_a = [r for seed in range(3) for r in yes_no('+-+-+-++--', seed=seed)]
    many_b = [r for seed in range(3) for r in yes_no('++-++--+++', seed=seed)]
    once, many = compare(a, b), compare(many_a, many_b)
    assert many.correctness['ALL'].pairs == 30
    assert many.correctness['ALL'].interval == pytest.approx(once.correctness['ALL'].interval)


def test_json(yes_no, record):
    found = compare([*yes_no('+-'), record('x')], [*yes_no('-+'), record('y')])
    data = json.loads(json.dumps(asdict(found), allow_nan=False))
    assert set(data['correctness']) == {'SHORT', 'MEDIUM', 'LONG', 'ALL'}
    assert data['only_a'] == [['navqa-7', 'x', 0]]
    assert len(data['correctness']['ALL']['interval']) == 2


def test_the_table(yes_no):
    table = comparison_text(compare(yes_no('------++'), yes_no('+++++++-')))
    for words in (
        'SHORT',
        'ALL',
        '0.25',
        '0.88',
        '+0.62',
        'wins 6 pairs and loses 1',
        '0.125',
        'position error [m]',
    ):
        assert words in table
