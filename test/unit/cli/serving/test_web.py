import http.client
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., tuple[int, str, str]]

PATIENCE_S = 60.0
WEB = (sys.executable, '-m', 'remembr_ros.cli.main', 'web', '--port', '0', '--json', '--memory')


@pytest.fixture
def page(memory_file: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen([*WEB, memory_file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    yield process
    if process.poll() is None:
        process.kill()
    process.communicate()


def asked(port: int, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=PATIENCE_S)
    sent = None if body is None else json.dumps(body)
    connection.request(method, path, sent, {'Content-Type': 'application/json'} if sent else {})
    response = connection.getresponse()
    found = response.status, json.loads(response.read() or b'null')
    connection.close()
    return found


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_the_page_is_served_until_somebody_ends_it(
    page: subprocess.Popen[str], memory_file: str, command: Run, number: int
) -> None:
    assert page.stdout
    port = int(json.loads(page.stdout.readline())['url'].rstrip('/').rpartition(':')[2])
    status, info = asked(port, 'GET', '/api/info')
    assert (status, info['name'], info['right'], info['planner']) == (200, 'memory.db', 'act', 'offline')
    status, found = asked(port, 'GET', '/api/recall?text=printer&limit=1')
    assert [memory['id'] for memory in found['memories']] == ['id2']
    assert (
        asked(port, 'POST', '/api/ask', {'question': 'Where is the lift?'})[1]['answer']['kind'] == 'position'
    )
    code, _, err = command('remember', 'The lift is out of order.', '--memory', memory_file)
    assert code == 0, err  # the page, which was not asked to store anything, does not keep others from it
    assert asked(port, 'GET', '/api/recall?text=out%20of%20order&limit=1')[1]['memories'][0]['caption']
    stream = http.client.HTTPConnection('127.0.0.1', port, timeout=PATIENCE_S)
    stream.request('GET', '/api/events')
    assert stream.getresponse().status == 200
    began = time.monotonic()
    page.send_signal(number)
    assert page.wait(PATIENCE_S) == 0
    assert time.monotonic() - began < PATIENCE_S / 2  # whatever is open: the stream would go on for ever
    stream.close()
    out, err = page.communicate()
    assert out == ''
    assert 'Traceback' not in err
    assert command('info', '--memory', memory_file)[0] == 0


@pytest.mark.parametrize(
    ('options', 'code', 'said'),
    [
        (['--host', '0.0.0.0'], 2, 'token'),
        (['--port', '70000'], 2, '70000'),
        (['--token-file', '/nowhere'], 2, '/nowhere'),
        (['--map', '/nowhere.yaml'], 2, '/nowhere.yaml'),
        (['--memory', '/nowhere/m.db'], 1, 'remembr ingest'),
        (['--milvus-token-file', '/x'], 2, 'Milvus server'),
        (['--time-zone', 'Nowhere/At_all'], 2, 'time zone'),
    ],
)
def test_what_makes_no_sense_is_refused_at_once(
    command: Run, memory_file: str, options: list[str], code: int, said: str
) -> None:
    found, _, err = command('web', '--memory', memory_file, *options)
    assert found == code, err
    assert said in err
    assert 'Traceback' not in err


def test_new_tokens_are_written_once(command: Run, tmp_path: Path) -> None:
    path = tmp_path / 'tokens'
    assert command('web', '--new-tokens', path)[0] == 0
    assert [line.split()[0] for line in path.read_text().splitlines() if line[0] != '#'] == [
        'look',
        'ask',
        'act',
    ]
    assert path.stat().st_mode & 0o777 == 0o600
    assert command('web', '--new-tokens', path)[0] == 2
