import pytest

from remembr_bench.evaluation.metrics.scores import Outcome
from remembr_bench.evaluation.records.record import TruthRecord
from remembr_bench.evaluation.report.results import results_json
from remembr_ros.agent.model.answer import Kind


def test_means_have_denominators(record):
    lost = {'correct': False, 'error': None}
    text = TruthRecord(kind=Kind.TEXT, text='red')
    found = results_json(
        [
            record('near', error=1.0),
            record('far', error=31.0, correct=False),
            record('not seen', outcome=Outcome.NOT_SEEN, **lost),
            record('failed', outcome=Outcome.FAILED, **lost),
            record('text', truth=text, outcome=Outcome.UNSCORED, correct=None, error=None),
        ],
        (),
        planner='',
        data='',
        embedder='',
    )
    assert (found['overall']['ALL'], found['overall']['scored']) == (0.25, 4)
    assert found['overall']['of_answered']['ALL'] == 0.5
    position = found['by_kind']['position']
    assert (position['error_mean'], position['error_n']) == (16.0, 2)
    assert position['error_std'] == pytest.approx(21.213, abs=1e-3)


def test_over_nothing_there_is_no_mean(record):
    found = results_json([record('one', error=3.0)], (), planner='', data='', embedder='')
    assert (found['by_kind']['position']['error_mean'], found['by_kind']['position']['error_std']) == (
        3.0,
        None,
    )
    assert found['by_kind']['time']['error_mean'] is None
    assert found['overall']['MEDIUM'] is None
