"""ask, recall and info on a small memory."""

import io
import json
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from remembr_ros.cli.main import main
from remembr_ros.embedding import embedders
from remembr_ros.embedding.embedder import Embedder
from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.memory.opening import open_store

Run = Callable[..., tuple[int, str, str]]
RunJson = Callable[..., dict[str, Any]]

NOW = ['--now', '2023-11-14T22:18:20Z']
ASK_FIELDS = [
    'question',
    'kind',
    'text',
    'binary',
    'position',
    'yaw',
    'time',
    'minutes_ago',
    'duration_minutes',
    'evidence',
    'every_place',
    'confidence',
    'planner',
    'llm_calls',
    'prompt_tokens',
    'completion_tokens',
    'latency_sec',
]
RECALL_FIELDS = {
    'id',
    'robot',
    'start',
    'end',
    'position',
    'yaw',
    'caption',
    'scene_text',
    'source',
    'merged',
    'score',
}


@pytest.fixture
def silent_server() -> Iterator[str]:
    """The URL of a server that takes connections and says nothing."""
    with socket.create_server(('127.0.0.1', 0)) as server:
        yield f'http://127.0.0.1:{server.getsockname()[1]}/v1'


def test_a_place_as_json(command_json: RunJson, memory_file: str) -> None:
    answer = command_json('ask', 'Where is the lift?', '--memory', memory_file, *NOW)
    assert list(answer) == ASK_FIELDS
    latency = answer.pop('latency_sec')
    text = answer.pop('text')
    (evidence,) = answer.pop('evidence')
    assert latency > 0.0
    assert '(1.0, 2.0)' in text
    assert answer == {
        'question': 'Where is the lift?',
        'kind': 'position',
        'binary': None,
        'position': [1.0, 2.0, 0.0],
        'yaw': 0.5,
        'time': '2023-11-14T22:13:23.000000Z',
        'minutes_ago': pytest.approx(4.95),
        'duration_minutes': None,
        'every_place': False,
        'confidence': pytest.approx(0.5, abs=0.5),
        'planner': 'offline',
        'llm_calls': 0,
        'prompt_tokens': 0,
        'completion_tokens': 0,
    }
    found = command_json('recall', '--text', 'lift', '--limit', 1, '--memory', memory_file)['memories'][0]
    assert {**evidence, 'score': found['score']} == found


def test_what_is_unknown_is_null(command_json: RunJson, memory_file: str) -> None:
    answer = command_json('ask', 'Where is the swimming pool?', '--memory', memory_file, *NOW)
    assert list(answer) == ASK_FIELDS
    assert (answer['kind'], answer['evidence']) == ('not_seen', [])
    for field in ('binary', 'position', 'yaw', 'time', 'minutes_ago', 'duration_minutes'):
        assert answer[field] is None


@pytest.mark.parametrize(
    ('question', 'kind', 'expected'),
    [
        ('When did you see the printer?', 'time', {'time': '2023-11-14T22:15:23.000000Z', 'position': None}),
        ('How long did you see the lift?', 'duration', {'duration_minutes': pytest.approx(0.05)}),
        ('Is there a printer?', 'binary', {'binary': True}),
        ('Is there a helicopter?', 'binary', {'binary': False, 'position': None, 'evidence': []}),
        ('What can be read near the lift?', 'text', {'binary': None}),
        ('Where is the printer?', 'not_seen', {'position': None}),  # its place is unknown
        ('Where is room 8?', 'not_seen', {'position': None}),
    ],
)
def test_every_kind_as_json(
    command_json: RunJson, memory_file: str, question: str, kind: str, expected: dict[str, Any]
) -> None:
    answer = command_json('ask', question, '--memory', memory_file, *NOW)
    assert list(answer) == ASK_FIELDS
    assert answer['kind'] == kind
    assert {name: answer[name] for name in expected} == expected


@pytest.mark.parametrize(
    'now', ['1700000300', '1700000300.0', '2023-11-14T22:18:20+00:00', '2023-11-15T00:18:20+02:00']
)
def test_now_is_iso_or_unix_seconds(command_json: RunJson, memory_file: str, now: str) -> None:
    answer = command_json('ask', 'Where is the lift?', '--memory', memory_file, '--now', now)
    assert answer['minutes_ago'] == pytest.approx(4.95)


def test_here_may_be_negative(command_json: RunJson, memory_file: str) -> None:
    answer = command_json(
        'ask', 'Where is the lift?', '--memory', memory_file, *NOW, '--here', '-2', '-2', '0'
    )
    assert '5.0 m from here' in answer['text']


def test_another_map_is_another_world(command: Run, command_json: RunJson, memory_file: str) -> None:
    asked = ('ask', 'Where is the lift?', '--memory', memory_file, *NOW, '--map')
    assert command_json(*asked, '')['kind'] == 'position'
    code, out, err = command(*asked, 'first')
    assert (code, out) == (2, '')
    assert err == "remembr ask: there is no memory of a map 'first'; there are: ''\n"


@pytest.mark.parametrize(
    ('options', 'kind'),
    [
        (['--robot', 'nobody'], 'not_seen'),
        (['--after', '2023-11-15'], 'not_seen'),
        (['--before', '2023-11-13'], 'not_seen'),
        (['--map', '', '--after', '2023-11-01'], 'position'),
    ],
)
def test_a_question_is_asked_of_what_the_options_say(
    command_json: RunJson, memory_file: str, options: list[str], kind: str
) -> None:
    answer = command_json('ask', 'Where is the lift?', '--memory', memory_file, *NOW, *options)
    assert answer['kind'] == kind
    assert '(asked ' in answer['text']


def test_an_answer_for_a_person_has_evidence_and_planner(command: Run, memory_file: str) -> None:
    code, out, _ = command('ask', 'Where is the lift?', '--memory', memory_file, *NOW)
    assert code == 0
    assert '  evidence  id0' in out
    assert '  planner   offline' in out
    _, out, _ = command('ask', 'Where is the pool?', '--memory', memory_file, *NOW)
    assert out.startswith('Not seen. ')


@pytest.mark.parametrize('encoding', ['utf-8', 'ascii'])
def test_a_question_that_the_terminal_cannot_show_is_answered(
    memory_file: str, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    question = 'Where is the café \udcff?'  # as the shell hands on a byte that is no UTF-8
    arguments = ['ask', question, '--memory', memory_file, *NOW]
    for options in ([], ['--json']):
        printed = io.BytesIO()
        monkeypatch.setattr('sys.stdout', io.TextIOWrapper(printed, encoding, errors='strict'))
        assert main([*arguments, *options]) == 0
        sys.stdout.flush()
        text = printed.getvalue().decode(encoding)
        assert text.startswith('Not seen') or json.loads(text)['question'] == question.replace('\udcff', '?')


def test_a_model_that_hangs_is_answered_for_in_time(
    command_json: RunJson, memory_file: str, monkeypatch: pytest.MonkeyPatch, silent_server: str
) -> None:
    load = embedders.get_embedder

    def slowly(name: str | None = None) -> Embedder:
        # A model's weights take seconds from a cold disk.
        threading.Event().wait(2.0)
        return load(name)

    monkeypatch.setattr('remembr_ros.memory.connected_store.get_embedder', slowly)
    options = ('--llm', 'x', '--llm-url', silent_server, '--timeout', '2')
    answer = command_json('ask', 'Where is the lift?', '--memory', memory_file, *NOW, *options)
    assert (answer['kind'], answer['planner']) == ('position', 'offline')
    assert answer['latency_sec'] < 2.0


def test_a_server_out_of_reach_is_answered_offline(command_json: RunJson, memory_file: str) -> None:
    answer = command_json(
        'ask',
        'Where is the lift?',
        '--memory',
        memory_file,
        *NOW,
        '--llm',
        'tiny',
        '--llm-url',
        'http://127.0.0.1:9/v1',
    )
    assert (answer['kind'], answer['planner']) == ('position', 'offline')


@pytest.mark.parametrize(
    ('arguments', 'expected'),
    [
        (['--text', 'printer', '--limit', '1'], ['id2']),
        (['--position', '4', '2', '0'], ['id1', 'id0']),
        (['--time', '2023-11-14T22:15:00Z', '--limit', '1'], ['id2']),
        (['--time', '1700000001', '--limit', '1'], ['id0']),
        ([], ['id2', 'id1', 'id0']),
        (['--after', '2023-11-14T22:15'], ['id2']),
        (['--before', '1700000003'], ['id0']),
        (['--position', '4', '2', '0', '--radius', '1'], ['id1']),
        (['--robot', 'nobody'], []),
        (['--source', 'person'], []),
        (['--map', 'first'], []),
    ],
)
def test_recall_as_json(
    command_json: RunJson, memory_file: str, arguments: list[str], expected: list[str]
) -> None:
    found = command_json('recall', '--memory', memory_file, *arguments)
    assert list(found) == ['memories', 'total']
    assert [memory['id'] for memory in found['memories']] == expected
    for memory in found['memories']:
        assert set(memory) >= RECALL_FIELDS
        assert (memory['robot'], memory['source'], memory['merged']) == ('robbie', 'captioner', 1)
        assert 0.0 <= memory['score'] <= 1.0


def test_an_unplaced_memory_has_a_null_place(command_json: RunJson, memory_file: str) -> None:
    (memory,) = command_json('recall', '--memory', memory_file, '--text', 'printer', '--limit', '1')[
        'memories'
    ]
    assert (memory['position'], memory['yaw']) == (None, None)
    assert memory['scene_text'] == ['PRINTER']
    assert memory['start'] == '2023-11-14T22:15:20.000000Z'


def test_recall_for_a_person(command: Run, memory_file: str) -> None:
    code, out, _ = command('recall', '--memory', memory_file, '--text', 'printer')
    assert code == 0
    assert out.splitlines()[0].endswith('unplaced  Signs and labels that can be read: "PRINTER".')
    assert command('recall', '--memory', memory_file, '--robot', 'nobody')[1] == 'nothing found\n'


def test_info_as_json(command_json: RunJson, memory_file: str) -> None:
    info = command_json('info', '--memory', memory_file)
    assert info.pop('database_bytes') > 0
    assert info == {
        'uri': memory_file,
        'collection': 'memories',
        'embedder': 'hashing-256',
        'dimension': 256,
        'memories': 3,
        'placed': 2,
        'keyframes': 0,
        'keyframe_bytes': 0,
        'spooled': 0,
        'spool_bytes': 0,
        'problem': '',
        'robots': ['robbie'],
        'maps': [''],
        'sources': ['captioner'],
        'first': '2023-11-14T22:13:20.000000Z',
        'last': '2023-11-14T22:15:23.000000Z',
    }


def test_a_time_of_day_is_on_the_clock_of_the_time_zone(command_json: RunJson, memory_file: str) -> None:
    question = ['ask', 'What did you see at 07:13?', '--memory', memory_file, *NOW]
    tokyo = command_json(*question, '--time-zone', 'Asia/Tokyo')
    assert tokyo['kind'] != 'not_seen'
    assert command_json(*question, '--time-zone', 'UTC')['kind'] == 'not_seen'


@pytest.mark.parametrize('verb', [('ask', 'Where is the lift?'), ('recall', '--text', 'lift'), ('info',)])
def test_a_file_with_other_memories_names_them(command: Run, tmp_path: Path, verb: tuple[str, ...]) -> None:
    uri = str(tmp_path / 'other.db')
    open_store(uri, HashingEmbedder(), collection='kitchen').close()
    code, _, err = command(*verb, '--memory', uri)
    assert (code, "it holds 'kitchen'" in err) == (1, True), err


def test_how_near_makes_one_place_can_be_said(command: Run, memory_file: str) -> None:
    asked = ['ask', 'How many printers are there?', '--memory', memory_file, *NOW]
    assert 'those within 5 m of each other' in command(*asked)[1]
    assert 'those within 0.5 m of each other' in command(*asked, '--same-place', '0.5')[1]
    assert command(*asked, '--same-place', '-1')[0] == 2
