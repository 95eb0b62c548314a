"""remembr eval embodied: what it writes, prints and refuses."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from remembr_ros.cli.main import main


def row(home: int, success: float) -> dict[str, Any]:
    cost = {'n_steps': 3, 'calls': 2, 'prompt_tokens': 10, 'completion_tokens': 4}
    figures = {'success': success, 'gcs': success, 'spl': success, 'thrown_away': 1, 'failure': ''}
    return {'home': home, 'task': 1, 'category': 'social', 'steps': [], **cost, **figures}


@pytest.fixture(autouse=True)
def homes(monkeypatch: pytest.MonkeyPatch) -> None:
    def play_home(seed: int, *_: Any, **__: Any) -> Iterator[dict[str, Any]]:
        yield row(seed, float(seed == 1))

    monkeypatch.setattr('remembr_bench.cli.embodied.play_home', play_home)
    for name in ('REMEMBR_LLM', 'REMEMBR_LLM_URL', 'OPENAI_API_KEY'):
        monkeypatch.delenv(name, raising=False)


def test_figures_and_episodes_are_written(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    assert main(['eval', 'embodied', '--homes', '1', '2', '2', '--out', str(tmp_path / 'run')]) == 0
    out = capsys.readouterr().out
    assert 'social' in out
    assert '2 tasks were thrown away' in out
    told = json.loads((tmp_path / 'run' / 'results.json').read_text())
    assert (told['overall']['n'], told['overall']['success']) == (2, 0.5)
    assert told['cost'] == {'n_steps': 3, 'calls': 2, 'prompt_tokens': 10, 'completion_tokens': 4}
    lines = (tmp_path / 'run' / 'episodes.jsonl').read_text().splitlines()
    assert [json.loads(line)['home'] for line in lines] == [1, 2]


def test_json_alone_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    assert main(['eval', 'embodied', '--homes', '1', '--json', '--out', str(tmp_path)]) == 0
    assert json.loads(capsys.readouterr().out)['planner'] == 'offline'


def test_a_language_model_has_to_be_named(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    assert main(['eval', 'embodied', '--homes', '1', '--planner', 'agent', '--out', str(tmp_path)]) != 0
    assert 'needs a language model' in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    (tmp_path / 'file').write_text('')
    assert main(['eval', 'embodied', '--homes', '1', '--out', str(tmp_path / 'file')]) != 0
    assert 'cannot be written' in capsys.readouterr().err
