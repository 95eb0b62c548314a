"""SIGINT and SIGTERM end every node within 3 s, in every stage, with its work saved. Real processes."""

import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState

from remembr_msgs.msg import Memory as MemoryMsg
from remembr_ros.memory.model.recall import Query
from remembr_ros.memory.model.record import UNCAPTIONED
from remembr_ros.memory.opening import open_store
from remembr_ros.timestamps import NS
from test.node.captioner.test_node import T0, jpeg
from test.node.memory.test_node_keeping import caption
from test.patience import patiently
from test.unit.speech import tiny_whisper

LIMIT_S = 3.0
STAGES = {
    'unconfigured': State.PRIMARY_STATE_UNCONFIGURED,
    'inactive': State.PRIMARY_STATE_INACTIVE,
    'active': State.PRIMARY_STATE_ACTIVE,
}
NEXT = {
    State.PRIMARY_STATE_UNCONFIGURED: Transition.TRANSITION_CONFIGURE,
    State.PRIMARY_STATE_INACTIVE: Transition.TRANSITION_ACTIVATE,
}


@pytest.fixture(scope='module')
def whisper(tmp_path_factory) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')  # of what makes the model
        return str(tiny_whisper.make(tmp_path_factory.mktemp('whisper')))


@pytest.fixture
def options(tmp_path: Path) -> dict[str, dict[str, object]]:
    return {
        'captioner': {'captioner': 'none', 'pose_source': 'none'},
        'memory': {'uri': tmp_path / 'm.db', 'embedder': 'hashing'},
        'agent': {'pose_source': 'none'},
        'events': {'pose_source': 'none'},
        'speech': {},
        'replay': {'bag': tmp_path / 'no.bag'},
    }


@pytest.fixture
def start(request, processes, options):
    """Return a function that starts a node by its name."""

    def start(name: str):
        if name == 'speech':
            options['speech']['whisper_model'] = request.getfixturevalue('whisper')
        return processes.start(name, **options[name]), processes

    return start


def bring_to(robot, name: str, goal: int) -> None:
    """Take a node of another process to a state, step by step; each is answered."""

    def state() -> int:
        return robot.call(GetState, f'{name}/get_state', GetState.Request(), 60.0).current_state.id

    while (now := state()) != goal:
        step = ChangeState.Request(transition=Transition(id=NEXT[now]))
        assert robot.call(ChangeState, f'{name}/change_state', step, 60.0).success


def end(process: 'subprocess.Popen[bytes]', number: int) -> float:
    """Send a signal; return how long the process took to end [s], which has to be with 0."""
    began = time.monotonic()
    process.send_signal(number)
    assert process.wait(30.0) == 0
    return time.monotonic() - began


@pytest.mark.timeout(180)
@pytest.mark.parametrize('stage', list(STAGES))
@pytest.mark.parametrize('name', ['captioner', 'memory', 'agent', 'events', 'speech'])
def test_a_signal_ends_a_node_in_every_stage(robot, start, name, stage):
    process, processes = start(name)
    robot.wait(lambda: (name, '/remembr') in robot.client.get_node_names_and_namespaces(), 'the node', 60.0)
    bring_to(robot, name, STAGES[stage])
    number = signal.SIGINT if stage == 'active' else signal.SIGTERM
    assert end(process, number) < patiently(LIMIT_S), processes.log(name)


@pytest.mark.timeout(120)
@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM], ids=['SIGINT', 'SIGTERM'])
@pytest.mark.parametrize('how', ['autostart', 'service'])
def test_a_signal_ends_a_node_that_is_loading(robot, tmp_path, how, number):
    path = tmp_path / 'log'
    command = [
        sys.executable,
        '-m',
        'test.node.base.slow_node',
        '--ros-args',
        '-p',
        f'autostart:={how == "autostart"}',
    ]
    with path.open('wb') as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=subprocess.STDOUT, cwd=Path(__file__).resolve().parents[3]
        )
    try:
        if how == 'service':
            client = robot.client.create_client(ChangeState, 'slow/change_state')
            robot.wait(client.service_is_ready, 'the node', 60.0)
            configure = Transition(id=Transition.TRANSITION_CONFIGURE)
            client.call_async(ChangeState.Request(transition=configure))
        robot.wait(lambda: 'loading' in path.read_text(), 'the node to load', 60.0)
        assert end(process, number) < patiently(LIMIT_S)
        assert 'ended while it was loading' in path.read_text()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


class Silence:
    """A server that takes requests and never answers."""

    def __init__(self) -> None:
        self._socket = socket.create_server(('127.0.0.1', 0))
        self.url = f'http://127.0.0.1:{self._socket.getsockname()[1]}/v1'
        self.taken: list[socket.socket] = []
        self._thread = threading.Thread(target=self._take, daemon=True)
        self._thread.start()

    def _take(self) -> None:
        while True:
            try:
                self.taken.append(self._socket.accept()[0])
            except OSError:
                return

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(5.0)
        for connection in self.taken:
            connection.close()


@pytest.fixture
def silence() -> Iterator[Silence]:
    server = Silence()
    yield server
    server.close()


@pytest.mark.timeout(180)
@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM], ids=['SIGINT', 'SIGTERM'])
def test_what_a_slow_model_has_not_described_is_saved_when_all_is_stopped_at_once(
    robot, processes, options, silence, number
):
    model = {
        'captioner': 'openai',
        'captioner_model': 'm',
        'captioner_url': silence.url,
        'segment_length': 1.0,
    }
    options['captioner'] |= model | {'skip_unchanged': False}
    running = {
        name: processes.start(name, autostart=True, **options[name]) for name in ('memory', 'captioner')
    }
    images = robot.client.create_publisher(type(jpeg(0.0)), 'image/compressed', 10)
    robot.wait(lambda: images.get_subscription_count() and heard(robot), 'both nodes', 60.0)
    for i in range(8):  # of more at once, heard at best effort, some may be lost
        images.publish(jpeg(0.5 * i))
    robot.wait(lambda: silence.taken, 'a question to the model', 30.0)
    began = time.monotonic()
    for process in running.values():
        process.send_signal(number)
    for name, process in running.items():
        assert process.wait(30.0) == 0, processes.log(name)
    took_s = time.monotonic() - began
    with open_store(str(options['memory']['uri']), 'hashing') as store:
        kept = [hit.memory for hit in store.find(Query(limit=20))]
    assert {memory.caption for memory in kept} == {UNCAPTIONED}, processes.log('captioner')
    spans = [(memory.start_ns, memory.end_ns) for memory in kept]
    assert (min(spans)[0], max(end for _, end in spans)) == (T0, T0 + 7 * NS // 2)
    assert took_s < patiently(LIMIT_S), [processes.log(name) for name in running]


def heard(robot) -> bool:
    """Tell whether the captioner and the memory node have found each other."""
    return robot.client.count_publishers('/remembr/captions') > 0 and (
        robot.client.count_subscribers('/remembr/captions') > 0
    )


@pytest.mark.timeout(180)
@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM], ids=['SIGINT', 'SIGTERM'])
def test_captions_that_were_sent_are_stored_when_the_memory_node_is_stopped(
    robot, processes, options, number
):
    process = processes.start('memory', autostart=True, **options['memory'])
    captions = robot.client.create_publisher(MemoryMsg, 'captions', 1000)
    robot.wait(captions.get_subscription_count, 'the memory node', 60.0)
    for i in range(100):
        captions.publish(caption(10.0 * i, f'thing number {i}', 10.0 * i))
    assert captions.wait_for_all_acked()
    took_s = end(process, number)
    with open_store(str(options['memory']['uri']), 'hashing') as store:
        assert store.count() == 100, processes.log('memory')
    assert took_s < patiently(LIMIT_S), processes.log('memory')


@pytest.mark.timeout(120)
def test_a_second_signal_does_not_cut_the_first_one_short(robot, processes, options):
    process = processes.start('memory', autostart=True, **options['memory'])
    captions = robot.client.create_publisher(MemoryMsg, 'captions', 1000)
    robot.wait(captions.get_subscription_count, 'the memory node', 60.0)
    for i in range(50):
        captions.publish(caption(10.0 * i, f'thing number {i}', 10.0 * i))
    assert captions.wait_for_all_acked()
    process.send_signal(signal.SIGINT)
    assert end(process, signal.SIGTERM) < patiently(LIMIT_S)
    with open_store(str(options['memory']['uri']), 'hashing') as store:
        assert store.count() == 50


@pytest.mark.timeout(120)
@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM], ids=['SIGINT', 'SIGTERM'])
@pytest.mark.parametrize('name', ['captioner', 'memory', 'agent', 'events', 'speech', 'replay'])
def test_signals_that_go_on_until_a_node_has_ended_change_nothing(robot, processes, options, name, number):
    process = processes.start(name, **options[name])
    if name == 'replay':
        robot.wait(lambda: 'no.bag' in processes.log(name), 'the reason to end', 60.0)
    else:
        names = robot.client.get_node_names_and_namespaces
        robot.wait(lambda: (name, '/remembr') in names(), 'the node', 60.0)
    pause = threading.Event()
    while process.poll() is None:
        process.send_signal(number)
        pause.wait(0.01)
    assert process.wait() == (1 if name == 'replay' else 0), processes.log(name)
