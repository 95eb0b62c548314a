"""ask --trace, and trace, which reads it."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from remembr_ros.agent.chat.client import ToolCall
from test.scripted.server import ScriptedReply, ScriptedServer

Run = Callable[..., tuple[int, str, str]]

RECALL = ToolCall('a', 'recall_text', '{"query": "lift"}')


def reply(body: dict[str, Any]) -> ScriptedReply:
    """Recall, then cite the sign with a place that names the lift, whatever other tests have noted of it."""
    if body['messages'][-1]['role'] == 'user':
        return ScriptedReply('Hm.', (RECALL,), 100, 7)
    shown = '\n'.join(message['content'] or '' for message in body['messages'])
    label = re.findall(r'\[(m\d+)\][^\n]* at \([^\n]*text "LIFT"', shown)[0]
    arguments = {'kind': 'position', 'text': 'By the stairs.', 'ids': [label]}
    return ScriptedReply('Hm.', (ToolCall('b', 'answer', json.dumps(arguments)),), 100, 7)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    for name in ('OPENAI_API_KEY', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy', 'REMEMBR_TRACE'):
        monkeypatch.delenv(name, raising=False)
    with ScriptedServer(reply) as made:
        yield made


@pytest.fixture
def trace(command: Run, server: ScriptedServer, memory_file: str, tmp_path: Path) -> str:
    """A trace of two questions."""
    path = str(tmp_path / 'trace.jsonl')
    for question in ('Where is the lift?', 'Where is the printer?'):
        code, _, err = command(
            'ask', question, '--memory', memory_file, '--llm-url', server.url, '--trace', path
        )
        assert code == 0, err
    return path


def test_a_question_is_shown_as_a_timeline(command: Run, trace: str) -> None:
    code, out, _ = command('trace', trace, '--question', 'LIFT')
    assert code == 0
    lines = out.splitlines()
    assert lines[0].endswith('Where is the lift?')
    assert 'printer' not in out
    assert sum('chat ' in line and '100 + 7 tokens' in line for line in lines) == 2
    assert any('> recall_text {"query": "lift"}' in line for line in lines)
    assert any('answered' in line and 'position' in line for line in lines)
    assert '2 calls, 200 + 14 tokens' in lines[-1]


def test_the_last_ones_and_json(command: Run, trace: str) -> None:
    assert 'lift?' not in command('trace', trace, '--last', '1')[1].splitlines()[0]
    code, out, _ = command('trace', trace, '--json')
    assert code == 0
    found: list[dict[str, Any]] = json.loads(out)['questions']
    assert [q['events'][0]['question'] for q in found] == ['Where is the lift?', 'Where is the printer?']
    assert found[0]['id'] != found[1]['id']


def test_what_is_not_there_is_said(command: Run, trace: str, tmp_path: Path) -> None:
    code, _, err = command('trace', trace, '--question', 'submarine')
    assert (code, 'no such question' in err) == (2, True)
    code, _, err = command('trace', str(tmp_path / 'none'))
    assert (code, 'no such trace' in err) == (2, True)


def test_a_file_of_something_else_is_no_trace(command: Run, tmp_path: Path) -> None:
    path = tmp_path / 'README.md'
    path.write_text('# A title\n\nand text\n')
    code, _, err = command('trace', path)
    assert code == 2
    assert 'holds no questions' in err


def test_events_that_it_does_not_know_or_that_lack_everything_are_shown(command: Run, tmp_path: Path) -> None:
    path = tmp_path / 'trace.jsonl'
    names = ('asked', 'chat', 'answered', 'failed', 'tool', 7, None)
    path.write_text(''.join(f'{json.dumps({"question_id": "a", "event": n, "x": [1]})}\n' for n in names))
    code, out, _ = command('trace', str(path))
    assert code == 0
    assert 'tool      x [1]' in out


def test_nothing_that_was_said_is_obeyed_by_a_terminal(command: Run, tmp_path: Path) -> None:
    path, evil = tmp_path / 'trace.jsonl', '\x1b]0;owned\x07 \x9b31m \u202e red'
    call = {'name': evil, 'arguments': evil}
    chat = {'model': evil, 'messages': [{'role': evil, 'content': evil}], 'error': evil}
    events: list[dict[str, Any]] = [
        {'event': 'asked', 'question': f'{evil}\nmore'},
        {'event': 'chat', **chat, 'reply': {'content': evil, 'tool_calls': [call]}},
        {'event': 'answered', 'kind': evil, 'text': evil, 'planner': evil, 'evidence': [evil]},
        {'event': 'failed', 'error': evil, 'message': evil},
        {'event': evil, evil: evil},
    ]
    path.write_text(''.join(f'{json.dumps({"question_id": evil, "at": evil, **e})}\n' for e in events))
    code, out, _ = command('trace', str(path))
    assert code == 0
    assert 'red' in out
    assert all(line.isprintable() for line in out.split('\n'))


def test_a_server_that_is_none_is_wrong_usage(command: Run, memory_file: str) -> None:
    code, _, err = command('ask', 'Where is the lift?', '--memory', memory_file, '--llm-url', 'olama')
    assert (code, 'ollama' in err) == (2, True)


def test_the_fallback_answers_and_is_named(command: Run, server: ScriptedServer, memory_file: str) -> None:
    code, out, err = command(
        *('ask', 'Where is the lift?', '--memory', memory_file, '--json'),
        *('--llm', 'gone', '--llm-url', 'http://127.0.0.1:9/v1', '--llm-fallback-url', server.url),
    )
    assert code == 0, err
    answer = json.loads(out)
    assert answer['planner'] != 'offline'
    assert answer['llm_calls'] == 2
