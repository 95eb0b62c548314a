"""The memory node and a server that is away, comes, and goes."""

import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.lifecycle import TransitionCallbackReturn

from remembr_msgs.msg import Memory as MemoryMsg
from remembr_msgs.srv import Forget, GetKeyframe, Recall, Remember
from remembr_ros.geometry import Pose
from remembr_ros.images import encode_jpeg
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.server.connection import SECRETS
from remembr_ros.nodes.base.conversions import time_to_msg
from remembr_ros.nodes.base.memory_conversion import observation_to_msg
from remembr_ros.nodes.memory.configured_store import connection_of, policy_of
from remembr_ros.nodes.memory.node import MemoryNode
from remembr_ros.nodes.memory.parameters import MemoryParameters
from remembr_ros.timestamps import NS
from test.patience import patiently

T0 = 1_700_000_000 * NS
JPEG = encode_jpeg(np.zeros((8, 8, 3), np.uint8))
LINES = [f'number {i} of the things' for i in range(6)]


def caption(i: int) -> MemoryMsg:
    start = T0 + 10 * i * NS
    memory = Memory('', 'robot', start, start + 3 * NS, LINES[i], Pose(5.0 * i, 0.0, 0.0, 1.0))
    return observation_to_msg(Observation(memory, (JPEG + bytes([i]),)))


@pytest.fixture(autouse=True)
def no_secrets(monkeypatch, tmp_path: Path) -> None:
    for name in SECRETS.values():
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv('XDG_DATA_HOME', str(tmp_path / 'data'))


@pytest.fixture
def port() -> int:
    """A port of this machine that refuses connections."""
    with socket.socket() as probe:
        probe.bind(('localhost', 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def serve(port: int, tmp_path: Path) -> Iterator[Callable[[], Any]]:
    """Start Milvus Lite behind that port."""
    lite = pytest.importorskip('milvus_lite.server', reason='Milvus Lite is for Linux and macOS')
    servers = []

    def start() -> Any:
        servers.append(lite.Server(str(tmp_path / 'lite.db'), f'localhost:{port}'))
        assert servers[-1].init()
        assert servers[-1].start()
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


def test_captions_wait_while_the_server_is_away_and_are_stored_in_order_once_it_is_there(
    robot, port, serve, capfd
):
    heard = robot.listen(DiagnosticArray, '/diagnostics')
    began = time.monotonic()
    node = robot.start(MemoryNode, uri=f'http://localhost:{port}', embedder='hashing', retry_period=0.1)
    assert time.monotonic() - began < patiently(10.0)
    assert 'captions wait on this machine' in capfd.readouterr().err
    stored = robot.listen(MemoryMsg, 'memories')
    captions = robot.talk(MemoryMsg, 'captions')
    for i in range(len(LINES)):
        captions.publish(caption(i))
    robot.wait(lambda: len(stored) == len(LINES), 'captions acknowledged')
    robot.wait(lambda: node.diagnose()[2]['spooled'] == len(LINES), 'captions in the spool')
    note = robot.call(Remember, 'remember', Remember.Request(text='The server is away.'))
    assert (note.error_code, bool(note.id)) == (Remember.Response.NONE, True)

    def warned() -> list[DiagnosticStatus]:
        found = [status for array in heard for status in array.status]
        return [s for s in found if s.level == DiagnosticStatus.WARN and 'cannot be reached' in s.message]

    robot.wait(warned, 'a warning in diagnostics')
    for kind, name, request in (
        (Recall, 'recall', Recall.Request(text='things')),
        (Forget, 'forget', Forget.Request(text='things')),
        (GetKeyframe, 'get_keyframe', GetKeyframe.Request(id='anything')),
    ):
        began = time.monotonic()
        response = robot.call(kind, name, request)
        assert response.error_code == kind.Response.STORE_UNAVAILABLE
        assert 'cannot be reached' in response.error_msg
        assert time.monotonic() - began < patiently(1.5)

    serve()
    robot.wait(lambda: node.diagnose()[2]['memories'] == len(LINES) + 1, 'all memories stored', 60.0)
    robot.wait(lambda: not node.diagnose()[1].count('reached'), 'no warning any more', 10.0)
    request = Recall.Request(around=True, time=time_to_msg(T0 + 25 * NS), limit=20, source='captioner')
    found = robot.call(Recall, 'recall', request).memories
    assert [m.caption for m in found] == LINES
    assert all(m.keyframes for m in found)


def test_a_recall_answers_at_once_after_the_server_went_away(robot, port, serve):
    server = serve()
    node = robot.start(MemoryNode, uri=f'http://localhost:{port}', embedder='hashing')
    assert robot.call(Recall, 'recall', Recall.Request()).error_code == Recall.Response.NONE
    server.stop()
    robot.wait(lambda: node._gauge.reading.away, 'the server to be missed')
    began = time.monotonic()
    response = robot.call(Recall, 'recall', Recall.Request(text='things'))
    assert response.error_code == Recall.Response.STORE_UNAVAILABLE
    assert time.monotonic() - began < patiently(1.5)
    assert node.trigger_deactivate() == TransitionCallbackReturn.SUCCESS


def test_secrets_come_from_the_environment_and_never_from_a_parameter(robot, monkeypatch):
    monkeypatch.setenv('REMEMBR_MILVUS_PASSWORD', 'sesame')
    p = MemoryParameters(uri='https://far:19530', user='robot', db_name='fleet', server_name='milvus')
    connection = connection_of(p)
    assert (connection.credentials, connection.database) == ('robot:sesame', 'fleet')
    assert connection.server_name == 'milvus'
    monkeypatch.setenv('REMEMBR_MILVUS_TOKEN', 'key')
    assert connection_of(p).credentials == 'key'
    node = robot.make(MemoryNode)
    names = {name for name in node._parameters if any(word in name for word in ('token', 'password'))}
    assert not names


def test_tls_files_that_are_missing_fail_readably(robot, tmp_path, capfd):
    node = robot.make(MemoryNode, uri='https://localhost:1', embedder='hashing', ca_pem_path='/none.pem')
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
    assert '/none.pem' in capfd.readouterr().err


def test_the_policy_has_what_the_parameters_say():
    assert policy_of(MemoryParameters()) is None
    policy = policy_of(MemoryParameters(max_age_days=2.0, max_size_gb=1.5))
    assert (policy.max_age_s, policy.max_memories, policy.max_bytes) == (172_800.0, None, 1_500_000_000)
