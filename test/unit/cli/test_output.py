"""What others wrote, on a terminal: shown, and not obeyed; and what lets somebody in is not shown."""

import io
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tqdm import tqdm

from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.printable import plain_output
from test.scripted.server import ScriptedReply, ScriptedServer
from test.unit.cli.conftest import START_NS, Run

HOSTILE = 'A lift.\x1b[2J\x1b]0;owned\x07\x9b31m \rnothing\b\x7f\u202egnp.exe\u2066 \x9d8;;http://evil\x9c'

PASSWORD = 'Tr0ub4dor'


def is_plain(text: str) -> bool:
    return all(character.isprintable() or character in '\n\t' for character in text)


@pytest.fixture
def hostile_memory(tmp_path: Path) -> str:
    path = str(tmp_path / 'memory.db')
    memory = Memory('id0', 'robbie', START_NS, START_NS, HOSTILE, scene_text=('LIFT\x1b[5m', '\u202eTFIL'))
    with open_store(path, HashingEmbedder()) as store:
        store.add([Observation(memory), Observation(replace(memory, id='id1', source='person'))])
    return path


@pytest.mark.parametrize(
    'arguments',
    [
        ['recall', '--text', 'lift'],
        ['ask', 'Is there a lift?'],
        ['ask', 'What is written on the sign?\x1b[1m'],
        ['info'],
        ['forget', '--id', 'id0', '--dry-run'],
        ['export', '\x1b[1m.jsonl'],
        ['export', '/nowhere/\x1b[1m.jsonl'],
    ],
    ids=lambda arguments: repr(' '.join(arguments)),
)
def test_a_caption_does_not_command_the_terminal(
    command: Run,
    hostile_memory: str,
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    _, out, err = command(*arguments, '--memory', hostile_memory)
    assert out + err
    assert is_plain(out + err)


def test_json_is_plain_and_means_the_same(command: Run, hostile_memory: str) -> None:
    _, out, _ = command('recall', '--text', 'lift', '--memory', hostile_memory, '--json')
    assert is_plain(out)
    assert {memory['caption'] for memory in json.loads(out)['memories']} == {HOSTILE}


@pytest.mark.parametrize(
    'arguments',
    [
        ['\x1b[31mdance'],
        ['recall', '--limit', '\x1b[31m'],
        ['ask', '\x1b[31m', '--here', '1', '2', '\u202e'],
        ['ingest', '/nowhere/\x1b]0;x\x07.bag'],
        ['trace', '/nowhere/\x1b]0;x\x07'],
        ['eval', 'report', '/nowhere/\x9b31m'],
        ['-v', 'info', '--memory', '/nowhere/\u202edb'],
    ],
    ids=repr,
)
def test_an_argument_does_not_command_the_terminal(command: Run, arguments: list[str]) -> None:
    code, out, err = command(*arguments)
    assert code
    assert err
    assert is_plain(out + err)


def test_a_progress_bar_is_drawn_and_its_words_are_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(sys, 'stderr', shown)
    with plain_output(), tqdm(total=2, desc='\x1b[31mbag', leave=False, ascii=True, ncols=60) as bar:
        bar.set_postfix_str('a door\r\u202e')
        bar.update(2)
        sys.stderr.write('\x1b[A and so on\n')
    assert sys.stderr is shown
    assert shown.getvalue().count('\r') > 1
    assert is_plain(shown.getvalue().replace('\r', ''))
    assert 'a door\r' not in shown.getvalue()


@pytest.mark.parametrize('option', ['--llm-url', '--llm-fallback-url'])
@pytest.mark.parametrize('url', ['http://[::1', f'http://anna:{PASSWORD}@[::1', f'anna:{PASSWORD}@robot/v1'])
def test_what_is_no_url_of_a_server_is_wrong_usage(
    command: Run, memory_file: str, option: str, url: str
) -> None:
    code, out, err = command('ask', 'Where?', '--memory', memory_file, option, url)
    assert (code, out) == (2, '')
    assert 'is no language model server' in err
    assert err.count('\n') == 1
    assert PASSWORD not in err


@pytest.mark.parametrize('query', ['', f'?api_key={PASSWORD}2'])
@pytest.mark.parametrize('fails', [False, True])
def test_a_password_of_a_server_is_in_no_output_and_no_trace(
    command: Run, memory_file: str, tmp_path: Path, fails: bool, query: str
) -> None:
    trace = tmp_path / 'trace.jsonl'

    def reply(_: object) -> ScriptedReply:
        echo = f'you sent {dict(server.requests[-1].headers)} to http://anna:{PASSWORD}@robot'
        return ScriptedReply(echo, status=400) if fails else ScriptedReply('nothing of use')

    with ScriptedServer(reply) as server:
        url = server.url.replace('//', f'//anna:{PASSWORD}@') + query
        asked = ('ask', 'Where is the lift?', '--memory', memory_file, '--llm', 'x', '--llm-url', url)
        for json_too in ([], ['--json']):
            code, out, err = command('-v', *asked, '--trace', trace, *json_too)
            assert code == 0
            for text in (out, err, trace.read_text()):
                assert PASSWORD not in text
                assert 'YW5uYT' not in text  # anna: as it is encoded
    if not query:  # which the paths of requests would come after
        assert server.requests[0].headers['authorization'].startswith('Basic YW5uYT')


def test_a_password_of_the_memory_is_not_in_the_help(command: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('REMEMBR_MEMORY', f'http://anna:{PASSWORD}@robot:19530/100%')
    code, out, _ = command('recall', '--help')
    assert code == 0
    assert 'http://robot:19530/100%' in out.replace('\n', '').replace(' ', '')
    assert PASSWORD not in out


def test_an_import_does_not_show_the_password_of_the_memory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, memory_file: str, command: Run
) -> None:
    path = tmp_path / 'memories.jsonl'
    assert command('export', path, '--memory', memory_file)[0] == 0
    made: Callable[..., object] = open_store
    file = str(tmp_path / 'm.db')
    monkeypatch.setattr('remembr_ros.cli.options.open_store', lambda *_, **__: made(file, HashingEmbedder()))
    uri = f'http://anna:{PASSWORD}@robot:19530'
    for json_too in ([], ['--json']):
        code, out, err = command('import', path, '--memory', uri, *json_too)
        assert code == 0
        assert 'http://robot:19530' in out
        assert PASSWORD not in out + err
