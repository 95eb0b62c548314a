"""Two people look at one robot's page, which runs as processes: memory, agent and web node."""

import http.client
import json
import signal
import socket
import threading
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lifecycle_msgs.srv import GetState
from std_msgs.msg import String

pytest.importorskip('fastapi', reason='the page needs the extra web')

from remembr_msgs.msg import Memory as MemoryMsg
from remembr_ros.geometry import Pose
from remembr_ros.images import encode_jpeg
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.nodes.base.memory_conversion import observation_to_msg
from remembr_ros.timestamps import NS
from test.patience import patiently

T0 = 1_700_000_000 * NS
START_S = 60.0  # [s] in which a process starts
TOKENS = {right: f'{right}-0123456789abcdef' for right in ('look', 'act')}
THINGS = ('A red mug.', 'A green chair.', 'A sign that says "LIFT".')


class Viewer:
    """Somebody with a token, and an open page."""

    def __init__(self, port: int, right: str) -> None:
        self._port = port
        self._headers = {'Authorization': f'Bearer {TOKENS[right]}', 'Content-Type': 'application/json'}
        self.events: list[tuple[str, Any]] = []

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Return status and JSON of an answer; status 0: nobody listens there."""
        connection = http.client.HTTPConnection('127.0.0.1', self._port, timeout=30.0)
        try:
            connection.request(method, path, json.dumps(body) if body else None, self._headers)
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        except ConnectionRefusedError:
            return 0, None
        finally:
            connection.close()

    def get(self, path: str) -> Any:
        """Return the JSON of an answer; an empty one if there is none."""
        status, found = self.call('GET', path)
        return found if status == 200 else {}

    def watch(self) -> threading.Thread:
        """Keep the events of the page, until the server ends; return what does so."""
        connection = http.client.HTTPConnection('127.0.0.1', self._port, timeout=60.0)
        connection.request('GET', '/api/events', headers=self._headers)
        response = connection.getresponse()
        assert response.status == 200

        def read() -> None:
            kind = ''
            with closing(connection), response, suppress(OSError, http.client.HTTPException):
                while line := response.readline():
                    name, _, value = line.decode().rstrip().partition(': ')
                    if name == 'event':
                        kind = value
                    elif name == 'data':
                        self.events.append((kind, json.loads(value)))

        watching = threading.Thread(target=read)
        watching.start()
        return watching


def token_file(folder: Path) -> Path:
    path = folder / 'tokens'
    path.write_text(''.join(f'{right} {token}\n' for right, token in TOKENS.items()))
    path.chmod(0o600)
    return path


class Page:
    """The processes of a robot with a page, and the memories that it has.

    :param guarded: the page asks for a token
    """

    def __init__(self, robot, processes, folder: Path, *, guarded: bool = True) -> None:
        self._robot, self._processes, self._folder = robot, processes, folder
        with socket.socket() as free:
            free.bind(('127.0.0.1', 0))
            self.port = free.getsockname()[1]
        self.memory = self.start_memory()
        processes.start('agent', pose_source='none', autostart=True, remember_own=False)
        own = {'token_file': token_file(folder)} if guarded else {}
        self.web = processes.start(
            'web', port=self.port, pose_source='none', call_timeout=2.0, autostart=True, **own
        )
        captions = robot.client.create_publisher(MemoryMsg, 'captions', 1000)
        robot.wait(captions.get_subscription_count, 'the memory node', START_S)
        for i, caption in enumerate(THINGS):
            start_ns = T0 + 60 * i * NS
            memory = Memory('', 'robot', start_ns, start_ns + NS, caption, Pose(5.0 * i, 1.0))
            picture = encode_jpeg(np.full((60, 80, 3), 80 * i, np.uint8))
            captions.publish(observation_to_msg(Observation(memory, (picture,))))
        self.me, self.other = Viewer(self.port, 'act'), Viewer(self.port, 'look')
        robot.wait(
            lambda: self.me.get('/api/info').get('memories') == len(THINGS),
            'the page and all memories',
            START_S,
        )

    def start_memory(self):
        return self._processes.start(
            'memory', uri=self._folder / 'm.db', embedder='hashing', consolidate=False, autostart=True
        )

    def recalled(self, text: str) -> dict:
        return self.me.get(f'/api/recall?text={text}')['memories'][0]


@pytest.fixture
def page(robot, processes, tmp_path, monkeypatch):
    for name in ('REMEMBR_LLM', 'REMEMBR_LLM_URL', 'OPENAI_API_KEY'):
        monkeypatch.delenv(name, raising=False)
    return Page(robot, processes, tmp_path)


@pytest.mark.timeout(300)
def test_two_look_at_one_robot(robot, goals, processes, page, tmp_path):
    me, other = page.me, page.other
    watching = other.watch()
    lift = page.recalled('lift')
    robot.call(GetState, 'agent/get_state', GetState.Request())  # see the fixture goals

    # Go there: both see what waits, who may act says yes, and the robot is sent.
    assert other.call('POST', '/api/go', {'memory_id': lift['id']})[0] == 403
    status, drive = me.call('POST', '/api/go', {'memory_id': lift['id']})
    assert (status, drive['goal']) == (202, None)
    robot.wait(lambda: other.get('/api/situation').get('proposal'), 'the proposal, to the other one')
    situation = other.get('/api/situation')
    assert situation['proposal'][0]['position'][:2] == [10.0, 1.0]
    yes = {'yes': True, 'proposal': situation['proposal_id']}
    assert situation['drive']['asker'] == 'act token from 127.0.0.1'
    assert other.call('POST', '/api/confirm', yes)[0] == 403
    assert goals == []
    assert me.call('POST', '/api/confirm', yes)[1]['detail'].startswith('confirmed; ')
    robot.wait(lambda: goals, 'a goal')
    assert (goals[0].pose.position.x, goals[0].header.frame_id) == (10.0, 'map')
    robot.wait(lambda: other.get('/api/situation')['drive']['stage'] == 'sent', 'the end of the drive')
    assert 'act token from 127.0.0.1' in processes.log('agent')
    assert me.call('POST', '/api/confirm', yes)[0] == 409

    # Forget: the picture is gone from the disk, and the other page hears of it.
    chair = page.recalled('chair')
    (picture,) = tmp_path.rglob(chair['keyframes'][0])
    assert other.call('DELETE', f'/api/memories/{chair["id"]}')[0] == 403
    before = len(other.events)
    assert me.call('DELETE', f'/api/memories/{chair["id"]}') == (200, {'forgotten': 1})
    assert not picture.exists()
    robot.wait(
        lambda: any(kind == 'memories' and about['total'] == 2 for kind, about in other.events[before:]),
        'the news',
    )
    status, told = other.call('GET', f'/api/memories/{chair["id"]}')
    assert status == 404
    assert told['error']
    assert 'act token from 127.0.0.1' in processes.log('web')

    # What somebody asks the robot itself is there, too.
    robot.talk(String, 'question').publish(String(data='Where is the red mug?'))
    robot.wait(lambda: other.get('/api/exchanges').get('exchanges'), 'the question')
    (exchange,) = other.get('/api/exchanges')['exchanges']
    assert (exchange['question'], exchange['asker']) == ('Where is the red mug?', 'topic question')
    assert (exchange['own'], exchange['answer']['kind']) == (False, 'position')
    robot.wait(lambda: any(kind == 'exchange' for kind, _ in other.events), 'the question, as an event')

    # The memory node dies: words, not a traceback; and when it is back, so is all.
    page.memory.kill()
    page.memory.wait(10.0)
    status, told = me.call('GET', '/api/recall?text=mug')
    assert status == 503
    assert 'memory node' in told['error']
    page.start_memory()
    robot.wait(lambda: me.call('GET', '/api/recall?text=mug')[0] == 200, 'the memory again', START_S)
    assert page.recalled('mug')['caption'] == 'A red mug.'

    # It ends, though a page is open.
    page.web.send_signal(signal.SIGTERM)
    assert page.web.wait(patiently(10.0)) == 0, processes.log('web')
    watching.join(10.0)
    assert not watching.is_alive()
    assert 'Traceback' not in processes.log('web')
