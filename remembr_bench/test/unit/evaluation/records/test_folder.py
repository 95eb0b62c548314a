import errno
import json
import os

import pytest

from remembr_bench.evaluation.metrics.scores import Outcome
from remembr_bench.evaluation.records.config import SERVERS, PlannerName, RunConfig, run_config
from remembr_bench.evaluation.records.folder import RunFolder, prompts, versions
from remembr_bench.evaluation.records.record import QuestionRecord, QuestionTrace, TruthRecord
from remembr_bench.evaluation.run.execution import planner_title
from remembr_ros.agent.model.answer import Kind
from remembr_ros.errors import InvalidRequest, RemembrError


def record(name: str, **changes) -> QuestionRecord:
    fields = {
        'sequence': 'navqa-0',
        'id': name,
        'seed': 0,
        'question': 'Where\nis it?',
        'length': 'SHORT',
        'history_sec': 60.0,
        'window_ns': (0, 60),
        'memories': 20,
        'now_ns': 60,
        'here': (1.0, 2.0, 0.0),
        'truth': TruthRecord(kind=Kind.POSITION, positions=((1.0, 2.0, 3.0),)),
        'answer': None,
        'outcome': Outcome.FAILED,
        'correct': False,
        'error': None,
    }
    return QuestionRecord(**{**fields, **changes})


CONFIG = RunConfig(folder='navqa', planner=PlannerName.OFFLINE)


def test_what_was_kept_is_there_when_the_run_goes_on(tmp_path):
    folder = RunFolder(tmp_path / 'run', CONFIG)
    first, second = record('a', error=1.5, failure='“why”\n'), record('b', seed=1)
    folder.add(first, QuestionTrace([{'by': 'text'}], []))
    folder.add(second, QuestionTrace())
    again = RunFolder(tmp_path / 'run', CONFIG, resume=True)
    assert again.records == [first, second]
    assert again.done == {('navqa-0', 'a', 0), ('navqa-0', 'b', 1)}
    traces = [json.loads(line) for line in (tmp_path / 'run' / 'traces.jsonl').read_text().splitlines()]
    assert [t['id'] for t in traces] == ['a', 'b']
    assert traces[0]['recalls'] == [{'by': 'text'}]


def test_what_found_no_language_model_is_asked_again(tmp_path):
    folder = RunFolder(tmp_path, CONFIG)
    folder.add(record('a', failure='ChatUnavailable: nobody is there'), QuestionTrace())
    folder.add(record('b', failure='BudgetExceeded: too slow'), QuestionTrace())
    folder.close()
    again = RunFolder(tmp_path, CONFIG, resume=True)
    assert again.done == {('navqa-0', 'b', 0)}
    again.add(record('a'), QuestionTrace())
    assert [r.id for r in again.records] == ['b', 'a']


def test_a_line_that_was_cut_off_is_asked_again(tmp_path):
    folder = RunFolder(tmp_path, CONFIG)
    folder.add(record('a'), QuestionTrace())
    folder.add(record('b'), QuestionTrace())
    for name in ('answers.jsonl', 'traces.jsonl'):
        whole = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(whole[:-20])
    again = RunFolder(tmp_path, CONFIG, resume=True)
    assert again.done == {('navqa-0', 'a', 0)}
    again.add(record('b'), QuestionTrace())
    assert [r.id for r in RunFolder(tmp_path, CONFIG, resume=True).records] == ['a', 'b']
    traces = (tmp_path / 'traces.jsonl').read_text().splitlines()
    assert [json.loads(line)['id'] for line in traces] == ['a', 'b']


def test_half_a_character_in_what_was_said_is_kept_as_a_mark(tmp_path):
    said = record('a', verdict='red \ud83d', failure='503 \ud83d')
    RunFolder(tmp_path, CONFIG).add(said, QuestionTrace(chat=[{'reply': 'red \ud83d'}]))
    (kept,) = RunFolder(tmp_path, CONFIG, resume=True).records
    assert (kept.verdict, kept.failure) == ('red ?', '503 ?')
    assert json.loads((tmp_path / 'traces.jsonl').read_text())['chat'] == [{'reply': 'red ?'}]


def test_a_full_disk_is_said_and_what_was_kept_before_is_safe(tmp_path, monkeypatch):
    folder = RunFolder(tmp_path, CONFIG)
    folder.add(record('a'), QuestionTrace())

    def full(_):
        raise OSError(errno.ENOSPC, 'No space left on device')

    with monkeypatch.context() as patched:
        patched.setattr(os, 'fsync', full)
        with pytest.raises(RemembrError, match=r'No space left.*--resume'):
            folder.add(record('b'), QuestionTrace())
    folder.close()
    (tmp_path / 'tracks.json.part').mkdir()
    with pytest.raises(RemembrError, match='cannot be written'):
        folder.keep_tracks([])
    assert RunFolder(tmp_path, CONFIG, resume=True).records == [record('a')]


def test_another_configuration_is_not_mixed_in(tmp_path):
    RunFolder(tmp_path, CONFIG).add(record('a'), QuestionTrace())
    other = CONFIG.model_copy(update={'rounds': 5})
    with pytest.raises(InvalidRequest, match='rounds was 3, is 5'):
        RunFolder(tmp_path, other, resume=True)
    config = json.loads((tmp_path / 'config.json').read_text())
    config['prompts']['agent/system.md'] = 'other'
    (tmp_path / 'config.json').write_text(json.dumps(config))
    with pytest.raises(InvalidRequest, match=r'agent/system\.md'):
        RunFolder(tmp_path, CONFIG, resume=True)


def test_a_run_that_is_not_resumed_is_put_aside_not_lost(tmp_path):
    RunFolder(tmp_path, CONFIG).add(record('a'), QuestionTrace())
    RunFolder(tmp_path, CONFIG).add(record('b'), QuestionTrace())
    assert RunFolder(tmp_path, CONFIG).records == []
    kept = [(tmp_path / f'earlier-{i}' / 'answers.jsonl').read_text() for i in (1, 2)]
    assert ['"id":"a"' in kept[0], '"id":"b"' in kept[1]] == [True, True]


def test_what_a_run_was_made_with_is_kept(tmp_path):
    RunFolder(tmp_path, CONFIG)
    kept = json.loads((tmp_path / 'config.json').read_text())
    assert RunConfig(**kept['config']) == CONFIG
    assert kept['versions'] == versions()
    assert kept['prompts'] == prompts()
    assert {'remembr_ros', 'python', 'pymilvus'} <= set(versions())
    assert {'agent/system.md', 'captioning/caption.md', 'evaluation/judge.md'} <= set(prompts())


def test_a_folder_that_cannot_hold_a_run_is_refused(tmp_path):
    (tmp_path / 'file').write_text('')
    with pytest.raises(InvalidRequest, match='cannot hold a run'):
        RunFolder(tmp_path / 'file', CONFIG)
    (tmp_path / 'config.json').write_text('{')
    with pytest.raises(InvalidRequest, match='cannot hold a run'):
        RunFolder(tmp_path, CONFIG, resume=True)


@pytest.mark.parametrize(
    ('values', 'words'),
    [
        ({'planner': 'oracles'}, 'planner'),
        ({'rounds': 0}, 'rounds'),
        ({'round': 3}, 'round'),
        ({'seeds': []}, 'seeds'),
        ({'data': 'coda'}, 'navqa.*oc-navqa.*building'),
        ({'tf': ['map']}, 'two frames'),
        ({'segment_length': -3}, 'segment_length'),
    ],
)
def test_a_configuration_without_sense_is_refused(values, words):
    with pytest.raises(InvalidRequest, match=words):
        run_config(**values)


@pytest.mark.parametrize('planner', ['agent', 'all_captions', 'frames'])
def test_a_planner_with_a_language_model_needs_one(monkeypatch, planner):
    for name in ('REMEMBR_LLM', 'REMEMBR_LLM_URL', 'OPENAI_API_KEY'):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InvalidRequest, match='--llm'):
        run_config(planner=planner)
    monkeypatch.setenv('REMEMBR_LLM', 'qwen3')
    assert run_config(planner=planner).llm == 'qwen3'
    assert run_config(planner='offline').llm == '', 'what is not used does not count'


def test_servers_are_written_down_without_a_password(tmp_path):
    servers = {name: f'http://anna:Tr0ub4dor@robot/{name}?key=Tr0ub4dor' for name in SERVERS}
    config = CONFIG.model_copy(update=servers)
    RunFolder(tmp_path, config).close()
    kept = (tmp_path / 'config.json').read_text()
    assert all(f'http://robot/{name}' in kept for name in SERVERS)
    assert 'Tr0ub4dor' not in kept
    RunFolder(tmp_path, config, resume=True).close()
    assert config.llm_url == servers['llm_url']
    assert 'Tr0ub4dor' not in planner_title(config.model_copy(update={'planner': PlannerName.AGENT}))
