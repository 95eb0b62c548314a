"""Other processes at the memory while the memory node has it open: they read what was committed."""

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from remembr_msgs.msg import CaptionAck
from remembr_msgs.msg import Memory as MemoryMsg
from remembr_ros.nodes.base import qos
from test.node.memory.test_node_keeping import caption
from test.patience import patiently

CLI = (sys.executable, '-m', 'remembr_ros.cli.main')
PYTHON = (
    'import sys\n'
    'from remembr_ros import open_memory\n'
    'from remembr_ros.errors import StoreUnavailable\n'
    'with open_memory(sys.argv[1]) as memory:\n'
    "    print(*(hit.memory.caption for hit in memory.recall('door')), sep='|', flush=True)\n"
    '    input()\n'
    "    print(*(hit.memory.caption for hit in memory.recall('door')), sep='|')\n"
    "    print(memory.ask('Where is the blue door?').pose.x)\n"
    '    try:\n'
    "        memory.remember('A note.')\n"
    '    except StoreUnavailable as error:\n'
    '        print(error)\n'
)


@pytest.fixture
def environment(tmp_path: Path, monkeypatch) -> dict[str, str]:
    for name in ('OPENAI_API_KEY', 'REMEMBR_LLM', 'REMEMBR_LLM_URL', 'REMEMBR_MEMORY'):
        monkeypatch.delenv(name, raising=False)
    return {**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))}


@pytest.fixture
def run(environment):
    """Run the command; return its exit code and what it printed."""

    def run(*arguments: object) -> tuple[int, str]:
        done = subprocess.run(
            [*CLI, *map(str, arguments)], env=environment, capture_output=True, text=True, check=False
        )
        assert 'Traceback' not in done.stderr
        return done.returncode, done.stdout or done.stderr

    return run


@contextmanager
def page(environment: dict[str, str], folder: Path) -> Iterator[int]:
    """Serve the page of a process; give the port."""
    with (folder / 'web.log').open('wb') as log:
        process = subprocess.Popen(
            [*CLI, 'web', '--port', '0', '--json', '--memory', str(folder / 'm.db')],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    try:
        assert process.stdout
        yield int(json.loads(process.stdout.readline())['url'].rstrip('/').rpartition(':')[2])
    finally:
        process.terminate()
        process.communicate(timeout=patiently(30.0))


@contextmanager
def script(environment: dict[str, str], folder: Path) -> Iterator[tuple[IO[str], Callable[[], None]]]:
    """Run the script; give what it prints, and what lets it go on."""
    with subprocess.Popen(
        [sys.executable, '-c', PYTHON, str(folder / 'm.db')],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin
        assert process.stdout

        def go_on() -> None:
            process.stdin.write('\n')
            process.stdin.flush()

        yield process.stdout, go_on


def asked(port: int, path: str, body: object = None) -> tuple[int, dict]:
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=60.0)
    sent = {'Content-Type': 'application/json'} if body else {}
    connection.request('POST' if body else 'GET', path, json.dumps(body) if body else None, sent)
    response = connection.getresponse()
    found = response.status, json.loads(response.read() or b'null')
    connection.close()
    return found


@pytest.fixture
def store(robot, processes, tmp_path):
    """Stores a caption through a node that is a process of its own; returns when that is acknowledged."""
    acks = robot.listen(CaptionAck, 'captions/acks', qos.CAPTIONS)
    process = processes.start(
        'memory', uri=tmp_path / 'm.db', embedder='hashing', autostart=True, consolidate=False
    )
    captions = robot.talk(MemoryMsg, 'captions', timeout_s=60.0)

    def store(second: float, text: str) -> None:
        known = len(acks)
        captions.publish(caption(second, text, second))
        robot.wait(lambda: len(acks) > known, 'an answer')
        assert acks[-1].result == CaptionAck.STORED

    store(0, 'a red door')
    store.node = process.pid
    return store


def test_commands_a_page_and_a_script_read_what_the_node_has_stored_and_do_not_write(
    store, run, environment, tmp_path
):
    pytest.importorskip('fastapi', reason='the extra web is not installed')
    writer = f', process {store.node} on '
    with page(environment, tmp_path) as port, script(environment, tmp_path) as (out, go_on):
        assert asked(port, '/api/info')[1]['memories'] == 1
        assert out.readline() == 'a red door\n'
        store(20, 'a blue door')
        found = asked(port, '/api/recall?text=blue&limit=1')[1]['memories']
        assert [one['caption'] for one in found] == ['a blue door']
        assert asked(port, '/api/info')[1]['memories'] == 2
        answer = asked(port, '/api/ask', {'question': 'Where is the blue door?'})[1]['answer']
        assert answer['position'][0] == 20.0
        status, refused = asked(port, '/api/notes', {'text': 'A note.'})
        assert (status, writer in refused['error']) == (503, True), refused
        go_on()
        assert set(out.readline().strip().split('|')) == {'a red door', 'a blue door'}
        assert out.readline() == '20.0\n'
        assert writer in out.readline()
    memory = ('--memory', tmp_path / 'm.db')
    code, printed = run('recall', '--text', 'blue', '--limit', 1, *memory)
    assert (code, 'a blue door' in printed) == (0, True), printed
    code, printed = run('ask', 'Where is the blue door?', '--json', *memory)
    assert (code, json.loads(printed)['position'][0]) == (0, 20.0), printed
    for refusal in (('remember', 'A note.'), ('forget', '--text', 'door', '--yes')):
        code, printed = run(*refusal, *memory)
        assert (code, writer in printed) == (1, True), printed
        assert 'then store and forget through that node' in printed
    code, printed = run('info', '--json', *memory)
    assert (code, json.loads(printed)['memories']) == (0, 2)
