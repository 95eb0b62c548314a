import json
import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from remembr_ros.agent.agent import Agent
from remembr_ros.agent.chat.client import Reply, ToolCall
from remembr_ros.agent.chat.openai_client import PRESETS
from remembr_ros.agent.llm.loop import LoopPlanner
from remembr_ros.agent.model.answer import Question, Usage
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.trace import MAX_TEXT, Trace, previous, questions, read_trace
from remembr_ros.errors import ChatUnavailable, InvalidRequest
from remembr_ros.memory.store import MemoryStore
from test.scripted.chat import ScriptedChat

AskAbout = Callable[..., Question]
KEY = 'sk-secret-0123456789abcdef'


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for preset in PRESETS.values():
        monkeypatch.delenv(preset.key_variable, raising=False)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / 'traces' / 'agent.jsonl'


def native(name: str, **arguments: Any) -> Reply:
    return Reply('', (ToolCall('c0', name, json.dumps(arguments)),), Usage(1, 100, 7))


def told(path: Path) -> list[list[dict[str, Any]]]:
    return questions(read_trace(path))


def test_a_question_is_told_from_its_asking_to_its_answer(
    path: Path, hashing_tour: MemoryStore, ask_about: AskAbout
) -> None:
    script = [native('recall_text', query='lift'), native('answer', kind='position', ids=['m1'])]
    agent = Agent(hashing_tour, [LoopPlanner(ScriptedChat(list(script), 'tiny'))], trace=Trace(path))
    answer = agent.ask(ask_about('Where is the lift?', asker='eve'))
    (events,) = told(path)
    names = [event['event'] for event in events]
    assert (names[0], names[1], names[-1]) == ('asked', 'planner', 'answered')
    asked, done = events[0], events[-1]
    assert (asked['question'], asked['asker'], asked['here'][0]) == ('Where is the lift?', 'eve', 42.0)
    assert done['evidence'] == [hit.memory.id for hit in answer.evidence]
    assert (done['kind'], done['planner'], done['llm_calls']) == ('position', 'tiny', 2)
    assert (done['prompt_tokens'], done['completion_tokens'], done['tokens_estimated']) == (200, 14, False)
    first, second = [event for event in events if event['event'] == 'chat']
    assert [message['role'] for message in first['messages']] == ['system', 'user']
    assert [message['role'] for message in second['messages']] == ['assistant', 'tool']  # only what is new
    assert first['reply']['tool_calls'][0]['name'] == 'recall_text'
    assert (first['model'], first['prompt_tokens'], first['seconds'] >= 0.0) == ('tiny', 100, True)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_failure_and_the_planner_that_steps_in_are_told(
    path: Path, hashing_tour: MemoryStore, ask_about: AskAbout
) -> None:
    loop = LoopPlanner(ScriptedChat([ChatUnavailable('nobody is there')], 'tiny'))
    Agent(hashing_tour, [loop, OfflinePlanner()], trace=Trace(path)).ask(ask_about('Where is the lift?'))
    lonely = LoopPlanner(ScriptedChat([ChatUnavailable('gone')], 'tiny'))
    agent = Agent(hashing_tour, [lonely], trace=Trace(path))
    with pytest.raises(ChatUnavailable):
        agent.ask(ask_about('Where is the exit?'))
    first, second = told(path)
    assert [e.get('name') for e in first if e['event'] == 'planner'] == ['tiny', 'offline']
    assert 'nobody' in next(e for e in first if e['event'] == 'chat')['error']
    assert first[-1]['planner'] == 'offline'
    assert (second[-1]['event'], second[-1]['error'], second[-1]['message']) == (
        'failed',
        'ChatUnavailable',
        'gone',
    )


def test_questions_at_the_same_time_are_told_apart(path: Path) -> None:
    trace = Trace(path)

    def ask(name: str) -> None:
        record = trace.begin()
        record('asked', {'question': name})
        for i in range(20):
            record('step', {'of': name, 'i': i})

    threads = [threading.Thread(target=ask, args=(f'q{i}',)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20.0)
    found = told(path)
    assert len(found) == 8
    for asked, *steps in found:
        assert [(step['of'], step['i']) for step in steps] == [(asked['question'], i) for i in range(20)]


def test_the_file_stays_within_its_size_and_keeps_the_newest(path: Path) -> None:
    record = Trace(path, max_mb=0.02).begin()
    for i in range(400):
        record('step', {'i': i, 'text': 'x' * 200})
        sizes = [file.stat().st_size for file in (path, previous(path)) if file.exists()]
        assert sum(sizes) <= 20_000
    kept = [event['i'] for event in read_trace(path)]
    assert kept == list(range(kept[0], 400))
    assert len(kept) > 20


def test_no_key_is_written(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('NVIDIA_API_KEY', KEY)
    Trace(path).begin()('asked', {'question': f'my key is {KEY}', KEY: [KEY]})
    assert KEY not in path.read_text()
    assert '***' in path.read_text()


@pytest.fixture
def unwritable(tmp_path: Path) -> list[Path]:
    (tmp_path / 'file').write_text('')
    return [tmp_path / 'file' / 'trace.jsonl', tmp_path, Path('/dev/full')]


def test_a_trace_that_cannot_be_written_is_said_once_and_disturbs_nothing(
    unwritable: list[Path],
    caplog: pytest.LogCaptureFixture,
    hashing_tour: MemoryStore,
    ask_about: AskAbout,
) -> None:
    for path in unwritable:
        caplog.clear()
        agent = Agent(hashing_tour, [OfflinePlanner()], trace=Trace(path))
        for _ in range(3):
            assert agent.ask(ask_about('Where is the lift?')).planner == 'offline'
        warnings = [r for r in caplog.records if r.levelno == logging.WARNING and 'trace' in r.message]
        assert len(warnings) == 1, path


def test_it_goes_on_when_it_can_be_written_again(tmp_path: Path) -> None:
    path = tmp_path / 'trace.jsonl'
    path.mkdir()
    trace = Trace(path)
    trace.begin()('asked', {'question': 'lost'})
    path.rmdir()
    path.write_text('{"question_id": "a", "event": "as')  # half a line, from a disk that was full
    trace.begin()('asked', {'question': 'kept'})
    assert [events[0]['question'] for events in told(path)] == ['kept']


@pytest.mark.parametrize(
    'about',
    [{'x': object()}, {'x': {1, 2}}, {3: float('nan')}, {'x': '\ud83d'}, {'x': b'bytes'}],
    ids=range(5),
)
def test_whatever_is_reported_is_written(path: Path, about: dict[Any, Any]) -> None:
    Trace(path).begin()('step', about)
    assert [event['event'] for event in read_trace(path)] == ['step']


def test_what_is_long_or_deep_is_cut(path: Path) -> None:
    nested: list[Any] = []
    nested.append(nested)
    Trace(path).begin()('step', {'text': 'x' * 10**6, 'nested': nested})
    (event,) = read_trace(path)
    assert len(event['text']) < MAX_TEXT + 100
    assert path.stat().st_size < MAX_TEXT + 1_000


def test_a_file_that_is_not_there_or_no_trace(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match='no such trace'):
        list(read_trace(tmp_path / 'none.jsonl'))
    (tmp_path / 'x').write_bytes(b'\xff\n[]\n5\n{}\n{"question_id": 5}\n' + b'[' * 10**5)
    assert list(read_trace(tmp_path / 'x')) == []
    with pytest.raises(InvalidRequest, match='above 0'):
        Trace(tmp_path / 'x', 0.0)
