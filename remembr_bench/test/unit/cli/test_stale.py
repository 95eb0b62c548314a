"""remembr eval stale: its table, its figures and its questions; what it refuses."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from remembr_bench.cli import stale
from remembr_bench.evaluation.stale.questions import VERDICTS
from test.unit.evaluation.stale.test_questions import CUP, PUT, SEEN, STAYS, TOOK

Run = Callable[..., tuple[int, str, str]]


def test_it_writes_figures_and_questions(
    command: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stale, 'live_days', lambda _: ({CUP: STAYS}, [SEEN, PUT, TOOK]))
    code, out, err = command('eval', 'stale', '--homes', '4', '5', '--out', tmp_path, '--json')
    assert code == 0, err
    told = json.loads(out)
    assert told == json.loads((tmp_path / 'results.json').read_text())
    assert told['homes'] == [4, 5]
    figures = told['by_group']['captions, now']
    assert figures['asked'] == 2
    assert sum(figures[verdict] for verdict in VERDICTS) == 2
    rows = json.loads((tmp_path / 'questions.json').read_text())
    assert {row['home'] for row in rows} == {4, 5}
    assert sum(row['memory'] == 'everything' for row in rows) == told['overall']['asked']
    code, out, _ = command('eval', 'stale', '--homes', '4')
    assert code == 0
    assert 'planner stale rate' in out.splitlines()[0]


@pytest.mark.parametrize('homes', [(), ('-1',), ('x',)])
def test_what_cannot_be_is_refused(command: Run, homes: tuple[str, ...]) -> None:
    code, _, err = command('eval', 'stale', '--homes', *homes)
    assert code == 2
    assert '--homes' in err
