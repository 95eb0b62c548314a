import pytest

from remembr_bench.evaluation.metrics.scores import Outcome
from remembr_bench.evaluation.records.record import TruthRecord
from remembr_bench.evaluation.report.figures import fraction
from remembr_bench.evaluation.report.results import results_json
from remembr_bench.evaluation.report.run_tables import tables
from remembr_ros.agent.model.answer import Kind


def all_tables(records):
    return tables(records, results_json(records, (), planner='', data='', embedder=''))


def rows(records, caption: str) -> dict[str, tuple[str, ...]]:
    (table,) = (table for table in all_tables(records) if table.caption == caption)
    assert all(len(row) == len(table.header) for row in table.rows)
    return {row[0]: row[1:] for row in table.rows}


def test_a_fraction_leaves_out_what_is_not_scored(record):
    found = fraction([record('a'), record('b', correct=False), record('c', correct=None)])
    assert (found.correct, found.n, found.value) == (1, 2, 0.5)
    assert found.text == '0.50 (1/2)'
    assert fraction([]).text == '-'


def test_seeds_narrow_no_interval(record):
    once = [record(f'q{i}', correct=i < 4) for i in range(10)]
    thrice = [r.model_copy(update={'seed': seed}) for r in once for seed in range(3)]
    assert fraction(thrice).interval == pytest.approx(fraction(once).interval)
    assert fraction(thrice).n == 30


def test_the_papers_table(record):
    binary, text = TruthRecord(kind=Kind.BINARY, binary=True), TruthRecord(kind=Kind.TEXT, text='x')
    time, duration = TruthRecord(kind=Kind.TIME), TruthRecord(kind=Kind.DURATION, duration_minutes=1.0)
    found = rows(
        [
            record('p', error=3.0),
            record('q', error=5.0, length='LONG'),
            record('b', truth=binary, correct=False, error=None),
            record('t', truth=text, correct=True, error=None),
            record('u', truth=text, correct=None, error=None, outcome=Outcome.UNSCORED),
            record('w', truth=time, error=1.0),
            record('d', truth=duration, error=2.0),
        ],
        'Per length of history',
    )
    assert found['Descriptive question accuracy ↑'] == ('0.50 (1/2)', '-', '-', '0.50 (1/2)')
    assert found['Positional error [m] ↓'] == ('3.0 (n=1)', '-', '5.0 (n=1)', '4.0 ± 1.4 (n=2)')
    assert found['Temporal error [min] ↓'][0] == '1.5 ± 0.7 (n=2)'
    assert found['Overall correctness ↑'] == ('0.80 (4/5)', '-', '1.00 (1/1)', '0.83 (5/6)')


def test_kinds_outcomes_and_retrieval(record):
    records = [
        record('a', rank=1, hits=('x',)),
        record('b', rank=7, hits=('x',), outcome=Outcome.NOT_SEEN, correct=False, error=None),
        record('c', rank=None, relevant=('y',), hits=('x',), length='LONG'),
        record('d', length='LONG'),
    ]
    assert rows(records, 'Per kind of answer')['position'][:3] == ('4', '4', '0.75')
    assert rows(records, 'Outcomes')['questions'] == ('3', '1', '0', '0')
    assert rows(records, 'Retrieval') == {'3 questions': ('0.33', '0.33', '0.67', '0.67', '0.38')}


def test_of_retrieval_alone_nothing_else_is_told(record):
    measured = [record('a', rank=1, answer=None, outcome=Outcome.UNSCORED, correct=None, error=None)]
    assert [table.caption for table in all_tables(measured)] == ['Retrieval']
