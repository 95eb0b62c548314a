"""`remembr mcp` as another agent starts it: a process that speaks the protocol and nothing else."""

import base64
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest

from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.geometry import Pose
from remembr_ros.images import encode_jpeg
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.timestamps import NS

pytest.importorskip('mcp', reason='the extra mcp is not installed')
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

T0 = 1_700_000_000 * NS
WAIT_S = 60.0


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    file = tmp_path / 'm.db'
    with open_store(str(file), HashingEmbedder()) as store:
        image = encode_jpeg(np.full((48, 64, 3), 90, np.uint8))
        for i, caption in enumerate(('A red mug.', 'A lift with two doors.')):
            made = Memory(f'm{i}', 'anna', T0 + i * NS, T0 + i * NS, caption, Pose(float(i), 0.0))
            store.add([Observation(made, (image,))])
    return file


def command(memory: Path, *options: str) -> list[str]:
    return [sys.executable, '-m', 'remembr_ros.cli.main', 'mcp', '--memory', str(memory), *options]


def talk(memory: Path, words: Any, *options: str, mode: Any = 'auto') -> Any:
    """Return what comes of a conversation with a process of its own."""
    program, *arguments = command(memory, *options)
    server = StdioServerParameters(command=program, args=arguments, env=dict(os.environ))

    async def conversation() -> Any:
        async with Client(server, mode=mode) as client:
            return await words(client)

    return anyio.run(conversation)


def test_an_agent_reads_and_asks(memory: Path) -> None:
    async def words(client: Client) -> None:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert tools == {'recall', 'look', 'day', 'info', 'ask', 'objects', 'deeds', 'places'}
        found = (await client.call_tool('recall', {'text': 'lift', 'limit': 1})).structured_content
        assert found['memories'][0]['id'] == 'm1'
        shown = (await client.call_tool('look', {'id': 'm1'})).content
        assert [type(each).__name__ for each in shown] == ['TextContent', 'ImageContent']
        answer = (await client.call_tool('ask', {'question': 'Where is the lift?'})).structured_content
        assert answer['position'] == [1.0, 0.0, 0.0]
        refused = await client.call_tool('forget', {'id': ['m1']})
        assert refused.is_error
        assert '--act' in refused.content[0].text

    talk(memory, words)


def test_with_act_it_notes_and_forgets_for_good(memory: Path) -> None:
    async def words(client: Client) -> None:
        assert not (await client.call_tool('remember', {'text': 'the spare key'})).is_error
        forgotten = (await client.call_tool('forget', {'id': ['m0']})).structured_content
        assert forgotten['forgotten'] == 1

    talk(memory, words, '--act')
    with open_store(str(memory), HashingEmbedder(), create=False) as store:
        assert {each.caption for each in store.all()} == {'A lift with two doors.', 'the spare key'}


def test_the_map_is_a_picture(memory: Path) -> None:
    (memory.parent / 'floor.pgm').write_bytes(b'P5 2 2 255\n\xff\x00\xff\xcd')
    floor = memory.parent / 'floor.yaml'
    floor.write_text('{image: floor.pgm, resolution: 0.5, origin: [-1, -1, 0]}')

    async def words(client: Client) -> None:
        (shown,) = (await client.read_resource('memory://map')).contents
        assert shown.mime_type == 'image/png'
        assert base64.b64decode(shown.blob)[1:4] == b'PNG'  # type: ignore[union-attr]

    talk(memory, words, '--map', str(floor))


def test_the_previous_protocol_version_is_spoken_too(memory: Path) -> None:
    async def words(client: Client) -> str:
        await client.call_tool('info', {})
        return client.protocol_version

    assert talk(memory, words, mode='legacy') == '2025-11-25'


def test_standard_output_has_nothing_but_the_protocol(memory: Path) -> None:
    asked = [
        {
            'jsonrpc': '2.0',
            'id': 1,
            'method': 'initialize',
            'params': {
                'protocolVersion': '2025-11-25',
                'capabilities': {},
                'clientInfo': {'name': 'test', 'version': '0'},
            },
        },
        {'jsonrpc': '2.0', 'method': 'notifications/initialized'},
        {'jsonrpc': '2.0', 'id': 2, 'method': 'tools/call', 'params': {'name': 'info', 'arguments': {}}},
    ]
    process = subprocess.Popen(
        command(memory), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(''.join(json.dumps(each) + '\n' for each in asked))
    process.stdin.flush()
    told = [json.loads(process.stdout.readline()) for _ in range(2)]
    assert {each.get('id') for each in told} == {1, 2}
    # It ends with its client, and gives the database back.
    out, _ = process.communicate(timeout=WAIT_S)
    assert (process.returncode, out) == (0, '')
    with open_store(str(memory), HashingEmbedder(), create=False) as store:
        assert len(store.all()) == 2


def test_it_ends_when_it_is_told_to(memory: Path) -> None:
    process = subprocess.Popen(
        command(memory), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps({'jsonrpc': '2.0', 'id': 1, 'method': 'ping'}) + '\n')
    process.stdin.flush()
    process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=WAIT_S)
    assert process.returncode == 0
    assert 'Traceback' not in said


def test_a_memory_that_is_not_there_is_said(tmp_path: Path) -> None:
    done = subprocess.run(
        command(tmp_path / 'none.db'),
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=WAIT_S,
    )
    assert (done.returncode, done.stdout) == (1, '')
    assert 'no memory' in done.stderr
