"""remembr eval needles: a run over trajectories as any other, resumed, compared; what it refuses."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from remembr_bench.evaluation.needles import trial
from remembr_bench.evaluation.records.config import run_config
from remembr_ros.cli.main import main
from remembr_ros.errors import InvalidRequest
from test.unit.evaluation.needles.trajectory import live


@pytest.fixture
def _homes(monkeypatch: pytest.MonkeyPatch) -> None:
    def lived(seed: int, steps: int) -> tuple[SimpleNamespace, SimpleNamespace]:
        made = live(seed, steps)
        return SimpleNamespace(day=made.day, guests=made.guests), SimpleNamespace(memories=made.memories)

    monkeypatch.setattr(trial, '_lived', lived)


def run(*options: object) -> int:
    lengths = ('--homes', '5', '7', '--lengths', '5000', '8000', '--fillings', '1')
    return main(['eval', 'needles', *lengths, *map(str, options)])


@pytest.mark.usefixtures('_homes')
def test_figures_by_length_and_depth_and_a_second_run(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    assert run('--planner', 'oracle', '--out', tmp_path / 'a') == 0
    out = capsys.readouterr().out
    assert 'By length [tokens] and depth' in out
    told = json.loads((tmp_path / 'a' / 'results.json').read_text())
    overall = told['overall']
    assert overall['accuracy'] == overall['ALL'] == 1.0
    assert overall['n'] == sum(of['n'] for of in told['by_length'].values())
    assert list(told['by_length']) == ['5000', '8000']
    assert overall['n'] == sum(of['n'] for of in told['by_clues'].values())
    deep = overall['n'] - told['by_clues']['none']['n']
    assert deep == sum(of['n'] for cells in told['by_cell'].values() for of in cells.values())
    assert deep == sum(of['n'] for of in told['by_depth'].values())
    cost = told['cost']['by_length']['5000']
    assert cost['all_captions_tokens'] == pytest.approx(5000, rel=0.1)
    assert cost['prompt_tokens'] == 0
    assert 'By length' in (tmp_path / 'a' / 'report.html').read_text()
    assert run('--planner', 'random', '--out', tmp_path / 'b') == 0
    kept = (tmp_path / 'b' / 'answers.jsonl').read_text().splitlines()
    (tmp_path / 'b' / 'answers.jsonl').write_text('\n'.join(kept[:9]) + '\n')
    assert run('--planner', 'random', '--out', tmp_path / 'b', '--resume') == 0
    again = (tmp_path / 'b' / 'answers.jsonl').read_text().splitlines()
    assert sorted(json.loads(one)['correct'] for one in again) == sorted(
        json.loads(one)['correct'] for one in kept
    )
    capsys.readouterr()
    assert main(['eval', 'compare', str(tmp_path / 'a'), str(tmp_path / 'b'), '--json']) == 0
    pairs = json.loads(capsys.readouterr().out)['correctness']['ALL']
    assert pairs['pairs'] == overall['n']
    assert pairs['mean_b'] < 0.6 * pairs['mean_a']


@pytest.mark.parametrize(
    ('settings', 'says'),
    [
        ({'data': 'needles'}, 'give their seeds'),
        ({'data': 'findingdory', 'homes': (1,), 'lengths': (9000,)}, 'lengths are of needles'),
        ({'data': 'needles', 'homes': (1,), 'lengths': (900,)}, '5000 tokens or more'),
        ({'data': 'needles', 'homes': (1,), 'detections': 'none'}, 'are of findingdory'),
    ],
)
def test_what_makes_no_sense_is_refused(settings: dict[str, object], says: str) -> None:
    with pytest.raises(InvalidRequest, match=says):
        run_config(**settings)
