"""remembr eval talk: talks are held, kept a line each and replayed; what it refuses."""

import json
from pathlib import Path

import pytest

from remembr_bench.evaluation.talk.episode import read_episode
from remembr_ros.cli.main import main
from test.lived_homes import lived
from test.scripted.server import ScriptedServer
from test.unit.evaluation.talk.scripts import person, robot


def test_talks_are_held_kept_and_replayed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr('remembr_bench.evaluation.findingdory.episode.live', lived)
    out = tmp_path / 'talks'
    acts = (('ask your memory', 'What did you put down last?'), ('drive to where', 'm1'), ('^pick up', ''))
    lie = 'I have watered the red apple.'
    with (
        ScriptedServer(person('Fetch me what you put down last.')) as user,
        ScriptedServer(robot(*acts, ('^say', lie))) as acting,
    ):
        models = ['--user-llm-url', user.url, '--llm-url', acting.url]
        assert main(['eval', 'talk', '--homes', '5', '--episodes', '2', *models, '--out', str(out)]) == 0
    printed = capsys.readouterr().out
    assert '2 talks: 2 ended content, 0 failed, 2 replayed to the same end' in printed
    assert f'claimed, not done: {lie.rstrip(".")!r}' in printed
    lines = (out / 'episodes.jsonl').read_text().splitlines()
    assert [read_episode(line).number for line in lines] == [0, 1]
    results = json.loads((out / 'results.json').read_text())
    assert results['overall'] == {
        'n': 2,
        'replayed': 2,
        'with_unfounded_claims': 2,
        'failed': 0,
        'content': 2,
    }
    assert main(['eval', 'talk', '--replay', str(out / 'episodes.jsonl'), '--json']) == 0
    assert json.loads(capsys.readouterr().out) == results


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ([], 'give --homes and --out'),
        (['--homes', '1', '--out', 'x'], 'two language models talk'),
        (['--homes', '1', '--out', 'x', '--llm-url', 'http://127.0.0.1:1/v1'], 'two language models talk'),
        (['--replay', 'nowhere.jsonl'], 'cannot be read'),
    ],
)
def test_what_makes_no_sense_is_refused(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(['eval', 'talk', *options]) != 0
    assert message in capsys.readouterr().err


def test_a_line_that_is_no_talk_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / 'talks.jsonl').write_text('{"home": 1}\n')
    assert main(['eval', 'talk', '--replay', str(tmp_path / 'talks.jsonl')]) != 0
    assert 'talks.jsonl, line 1: that is no talk' in capsys.readouterr().err
