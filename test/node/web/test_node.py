"""The web node: its transitions, its port, its diagnostics, and how soon it ends."""

import http.client
import json
import re
import socket
import threading
import time
from pathlib import Path

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.lifecycle import TransitionCallbackReturn

pytest.importorskip('fastapi', reason='the page needs the extra web')

from remembr_ros.nodes.memory.node import MemoryNode
from remembr_ros.nodes.web.node import WebNode
from test.patience import patiently
from test.unit.web.backend_contract import OBSERVATIONS

SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE
TOKENS = {right: f'{right}-0123456789abcdef' for right in ('look', 'ask', 'act')}


@pytest.fixture
def memory(robot, tmp_path: Path):
    node = robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing', consolidate=False)
    node._store.add(OBSERVATIONS)
    return node


@pytest.fixture
def token_file(tmp_path: Path) -> str:
    path = tmp_path / 'tokens'
    path.write_text(''.join(f'{right} {token}\n' for right, token in TOKENS.items()))
    path.chmod(0o600)
    return str(path)


def get(port: int, path: str, token: str = '') -> tuple[int, dict]:
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=20.0)
    try:
        connection.request('GET', path, headers={'Authorization': f'Bearer {token}'} if token else {})
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def messages(node, monkeypatch) -> list[str]:
    """Return a list of what the node logs as an error."""
    errors = []
    monkeypatch.setattr(node.get_logger(), 'error', lambda text, **_: errors.append(text))
    return errors


@pytest.mark.parametrize(
    ('parameters', 'reason'),
    [
        ({'host': '0.0.0.0'}, 'give a file of tokens'),
        ({'token_file': '/nowhere/tokens'}, '/nowhere/tokens'),
        ({'key': 'key.pem'}, 'no certificate'),
        ({'time_zone': 'Mars/Olympus'}, 'Mars/Olympus'),
        ({'datum': [1.0]}, 'datum'),
    ],
    ids=['open', 'no tokens', 'key', 'zone', 'pose'],
)
def test_parameters_that_make_no_sense_fail_configure_with_the_reason(robot, monkeypatch, parameters, reason):
    node = robot.make(WebNode, port=0, **parameters)
    errors = messages(node, monkeypatch)
    assert node.trigger_configure() == FAILURE
    assert reason in errors[0]


def test_a_port_that_is_taken_fails_activate_and_is_named_and_can_be_tried_again(robot, monkeypatch):
    with socket.socket() as other:
        other.bind(('127.0.0.1', 0))
        other.listen()
        port = other.getsockname()[1]
        node = robot.make(WebNode, port=port, pose_source='none')
        errors = messages(node, monkeypatch)
        assert node.trigger_configure() == SUCCESS
        assert node.trigger_activate() == FAILURE
        assert f'port {port}' in errors[0]
        assert 'in use' in errors[0]
    assert node.trigger_activate() == SUCCESS
    assert node._server.url == f'http://127.0.0.1:{port}/'


def test_it_listens_while_it_is_active_and_can_be_brought_up_again(robot, memory):
    node = robot.make(WebNode, port=0, pose_source='none')
    for _ in range(2):
        assert node.trigger_configure() == SUCCESS
        for _ in range(2):
            assert node.trigger_activate() == SUCCESS
            port = node._server.port
            robot.wait(lambda port=port: get(port, '/api/info')[1]['memories'] == 14, 'the memories')
            assert node.trigger_deactivate() == SUCCESS
            with pytest.raises(ConnectionRefusedError):
                get(port, '/api/info')
        assert node.trigger_cleanup() == SUCCESS


def test_tokens_are_asked_for(robot, memory, token_file):
    node = robot.start(WebNode, port=0, pose_source='none', token_file=token_file)
    assert get(node._server.port, '/api/info')[0] == 401
    assert get(node._server.port, '/api/info', 'wrong-0123456789abcdef')[0] == 401
    status, info = get(node._server.port, '/api/info', TOKENS['ask'])
    assert (status, info['right'], info['name']) == (200, 'ask', 'robot')
    robot.wait(lambda: node.diagnose()[2]['requests refused'] == 2, 'the count of refusals')


def test_diagnostics_tell_address_open_pages_and_a_memory_that_is_away(robot, memory):
    node = robot.start(WebNode, port=0, pose_source='none', call_timeout=0.5)
    heard = robot.listen(DiagnosticArray, '/diagnostics')

    def status():
        of_node = [one for array in heard for one in array.status if one.name == '/remembr/web: status']
        return of_node[-1] if of_node else None

    def value(key: str) -> str:
        return next((one.value for one in status().values if one.key == key), '') if status() else ''

    robot.wait(lambda: value('address') == node._server.url, 'the address')
    stream = http.client.HTTPConnection('127.0.0.1', node._server.port, timeout=20.0)
    stream.request('GET', '/api/events')
    assert stream.getresponse().status == 200
    robot.wait(lambda: value('open pages') == '1', 'an open page')
    stream.close()
    robot.wait(lambda: value('open pages') == '0', 'a closed page')
    memory.trigger_deactivate()
    robot.wait(lambda: status().level == b'\1' and 'memory node' in status().message, 'a warning')
    memory.trigger_activate()
    robot.wait(lambda: status().level == b'\0', 'all is well again')


@pytest.mark.timeout(120)
def test_what_the_page_logs_is_in_the_log_of_the_node(robot, processes, tmp_path):
    tokens = tmp_path / 'tokens'
    tokens.write_text(f'act {"t" * 40}\n')
    tokens.chmod(0o644)
    processes.start('web', port=0, pose_source='none', token_file=tokens, autostart=True)
    robot.wait(lambda: 'the page is at' in processes.log('web'), 'the page', 60.0)
    assert re.search(r'\[WARN\] .*\[remembr\.web\]: .* can be read by others', processes.log('web'))


def test_it_ends_within_two_seconds_in_the_middle_of_open_streams(robot, memory):
    node = robot.start(WebNode, port=0, pose_source='none', call_timeout=20.0)
    port = node._server.port
    robot.wait(lambda: get(port, '/api/info')[1]['memories'] == 14, 'the memories')
    streams = [http.client.HTTPConnection('127.0.0.1', port, timeout=20.0) for _ in range(10)]
    for stream in streams:
        stream.request('GET', '/api/events')
        assert stream.getresponse().status == 200
    # A recall that waits for a memory node which is away.
    memory.trigger_deactivate()
    answers = []
    waiting = threading.Thread(target=lambda: answers.append(attempt(port)))
    waiting.start()
    robot.wait(lambda: node._site.following.contents.problem or waiting.is_alive(), 'a recall that waits')
    begun = time.monotonic()
    assert node.trigger_deactivate() == SUCCESS
    assert time.monotonic() - begun < patiently(2.0)
    waiting.join(5.0)
    assert answers
    for stream in streams:
        stream.close()


def attempt(port: int) -> object:
    try:
        return get(port, '/api/recall?text=mug')
    except OSError as error:
        return error
