"""A real Milvus server (2.3.5, the oldest kind that is supported): the contract, kill -9, credentials, TLS.

`make setup` makes .venv-milvus, which has the server; only for Linux on x86-64.
"""

import random
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from pymilvus import MilvusClient

from remembr_ros import open_memory
from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.errors import InvalidRequest, StoreUnavailable
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.engine import VERSION, Entry, Stamp
from remembr_ros.memory.model.recall import ANYTHING
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.pending.spool import Spool
from remembr_ros.memory.pending.writer import SpoolingWriter
from remembr_ros.memory.server.connection import Connection
from remembr_ros.memory.server.engine import ServerEngine
from remembr_ros.memory.server.open_server import open_server
from remembr_ros.memory.store import MemoryStore
from test.milvus_process import START_S, MilvusProcess, obstacle, when_ready
from test.patience import holds_within
from test.unit.cli.verbs.test_exchange_between_stores import check_round
from test.unit.memory.engine_contract import DIMENSION, EngineContract, entry, memory
from test.unit.memory.test_store import jpeg

STAMP = Stamp(VERSION, 'hashing-16', DIMENSION)

pytestmark = [
    pytest.mark.skipif(bool(obstacle()), reason=obstacle()),
    pytest.mark.timeout(300),
]


@pytest.fixture(scope='module')
def milvus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MilvusProcess]:
    folder = tmp_path_factory.mktemp('milvus')
    process = MilvusProcess(folder)
    process.start()
    yield process
    process.kill()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope='module')
def shared(milvus: MilvusProcess) -> Iterator[ServerEngine]:
    engine = when_ready(lambda: open_server(Connection(milvus.uri), 'contract', lambda: STAMP))
    assert isinstance(engine, ServerEngine)
    yield engine
    engine.close()


class TestMilvus235(EngineContract):
    """The contract."""


def test_nothing_acknowledged_is_lost_when_the_server_is_killed(
    milvus: MilvusProcess, shared: ServerEngine, tmp_path: Path
) -> None:
    shared.delete([made.id for made in shared.select()])
    rng = random.Random(4)

    def store(observations: list[Observation]) -> list[Memory]:
        shared.put([entry(o.memory, 3) for o in observations])
        return [o.memory for o in observations]

    writer = SpoolingWriter(store, Spool(tmp_path / 'spool'), retry_s=0.2)
    acknowledged: list[Memory] = []
    for _ in range(2):
        kill_after = rng.uniform(0.0, 0.5)
        started = time.monotonic()
        killed = False
        while len(acknowledged) % 40 or not killed:
            acknowledged += writer.add([Observation(memory(len(acknowledged)), (b'jpeg',))])
            if not killed and time.monotonic() - started > kill_after:
                milvus.kill()
                killed = True
        assert writer.state().spooled
        assert 'cannot be reached: start the server' in writer.state().problem
        fast = time.monotonic()
        for _ in range(20):
            with pytest.raises(StoreUnavailable, match=str(milvus.port)):
                shared.count()
        assert time.monotonic() - fast < 5.0  # one of them may have asked
        milvus.start()
        assert holds_within(START_S, lambda: not writer.state().spooled)
    stored = when_ready(lambda: sorted(shared.select(), key=lambda m: m.start_ns))
    assert stored == acknowledged
    asked = entry(acknowledged[7], 3).vectors[2]
    found = shared.like(asked, ANYTHING, 3)
    assert next(iter(found)) == 'm7'
    writer.close()


def test_what_is_forgotten_while_a_robot_is_away_does_not_come_back_with_it(
    milvus: MilvusProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(name: str, **options: bool) -> MemoryStore:
        monkeypatch.setenv('XDG_DATA_HOME', str(tmp_path / name))
        return open_store(milvus.uri, HashingEmbedder(DIMENSION), collection='away', **options)

    def heard(i: int, text: str) -> Observation:
        return Observation(replace(memory(i), caption=text), (jpeg(i),), time.time_ns())

    robot = when_ready(lambda: opened('robot'))
    robot.close()
    milvus.kill()
    with opened('robot', must_connect=False) as robot:
        robot.add_heard([heard(1, 'a woman named Zorblax'), heard(2, 'a red door')])
        assert robot.waiting is not None
        assert robot.waiting.spooled == 2
    milvus.start()
    elsewhere = when_ready(lambda: opened('elsewhere'))
    assert elsewhere.forget(text='zorblax') == 0  # nobody there knows of it
    with opened('robot') as robot:
        assert holds_within(START_S, lambda: robot.waiting is not None and not robot.waiting.spooled)
        assert [one.caption for one in robot.all()] == ['a red door']
        robot.add_heard([heard(3, 'a woman named Zorblax')])  # is seen again
        assert [one.id for one in elsewhere.all()] == ['m2', 'm3']
        assert robot.forget(['m3']) == 1
    files = [
        path for name in ('robot', 'elsewhere') for path in (tmp_path / name).rglob('*') if path.is_file()
    ]
    assert any(path.name.endswith('.spool') for path in files)
    assert not any(b'zorblax' in path.read_bytes().lower() for path in files)
    kept = elsewhere.engine.noted(0)
    assert kept
    assert not any('zorblax' in conditions.casefold() for _, conditions in kept)
    elsewhere.engine.note([(now_ns := time.time_ns(), kept[0][1])], before_ns=now_ns)
    assert len(elsewhere.engine.noted(0)) == 1
    elsewhere.close()


def test_a_script_uses_it_as_it_does_a_file(
    milvus: MilvusProcess, shared: ServerEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('XDG_DATA_HOME', str(tmp_path))
    for name in ('REMEMBR_LLM', 'REMEMBR_LLM_URL', 'OPENAI_API_KEY'):
        monkeypatch.delenv(name, raising=False)
    with open_memory(milvus.uri, embedder='hashing', time_zone='UTC') as memory:
        with pytest.raises(StoreUnavailable, match='there is no memory'):
            memory.recall()
        key = memory.remember('The spare key is in the drawer.', position=(1, 2, 0), time='2026-11-23T09:00Z')
        memory.remember('The tap drips.', position=(9, 2, 0), time='2026-11-23T10:00Z')
    with open_memory(milvus.uri, time_zone='UTC') as memory:
        for asked in ({'text': 'spare key'}, {'position': (0, 0, 0)}, {'time': '2026-11-23T09:01Z'}):
            assert memory.recall(**asked, limit=1)[0].memory.id == key
        assert [hit.memory.id for hit in memory.recall(position=(0, 0, 0), radius=3)] == [key]
        answer = memory.ask('Where is the spare key?', now='2026-11-23T12:00Z')
        assert answer.pose is not None
        assert answer.pose.position == (1.0, 2.0, 0.0)
        assert memory.ask('Take me there').pose == answer.pose
        assert '10:00:00 stood 0 seconds at (9.0, 2.0). The tap drips.' in memory.day('2026-11-23').lines(
            memory.zone
        )
    with pytest.raises(StoreUnavailable, match='is closed'):
        memory.recall()


def test_what_is_exported_from_a_file_comes_back_from_it_and_from_milvus_lite(
    milvus: MilvusProcess, shared: ServerEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip('milvus_lite.server_manager', reason='needs Milvus Lite: make setup')
    monkeypatch.setenv('XDG_DATA_HOME', str(tmp_path))
    client = MilvusClient(milvus.uri)
    client.create_database('exchange')
    client.close()
    server = f'{milvus.uri}/exchange'
    check_round(
        [f'{tmp_path}/first.db', f'milvus-lite:{tmp_path}/second.db', server, f'{tmp_path}/last.db'], tmp_path
    )


@pytest.fixture
def certificates(tmp_path: Path) -> Path:
    """A folder with a CA, and a server's and a client's certificate of it."""
    if not shutil.which('openssl'):
        pytest.skip('needs the program openssl')
    folder = tmp_path / 'tls'
    folder.mkdir()

    def openssl(*arguments: str) -> None:
        subprocess.run(['openssl', *arguments], cwd=folder, check=True, capture_output=True)

    openssl(*'req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=ca -keyout ca.key -out ca.pem'.split())
    (folder / 'names').write_text('subjectAltName=DNS:milvus.test,IP:127.0.0.1')
    for name in ('server', 'client'):
        openssl(
            *f'req -newkey rsa:2048 -nodes -subj /CN=milvus.test -keyout {name}.key -out {name}.csr'.split()
        )
        openssl(
            *f'x509 -req -in {name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2'.split(),
            *f'-extfile names -out {name}.pem'.split(),
        )
    return folder


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[SimpleNamespace]:
    """A node to ask from, and node processes."""
    pytest.importorskip('rclpy', reason='needs ROS 2: make setup')
    from test.node.conftest import Processes, Robot

    made = SimpleNamespace(robot=Robot(), processes=Processes(tmp_path))
    yield made
    made.processes.close()
    made.robot.close()


def test_two_robots_in_their_namespaces_share_a_server_and_lose_nothing_when_it_is_killed(
    milvus: MilvusProcess, graph: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from remembr_msgs.msg import Memory as MemoryMsg
    from remembr_msgs.srv import Ask
    from remembr_ros.nodes.base.memory_conversion import observation_to_msg

    robot, start = graph.robot, graph.processes.start
    captions, stored = {}, {}
    for name in ('r1', 'r2'):
        monkeypatch.setenv('XDG_DATA_HOME', str(tmp_path / name))  # each is a machine of its own
        here = ('-r', f'__ns:=/{name}/remembr')
        parameters = {'uri': milvus.uri, 'collection': 'fleet', 'embedder': 'hashing', 'robot': name}
        start('memory', *here, autostart=True, **parameters)
        start('agent', *here, autostart=True, pose_source='none', remember_own=False)
        stored[name] = robot.listen(MemoryMsg, f'/{name}/remembr/memories')
        captions[name] = robot.talk(MemoryMsg, f'/{name}/remembr/captions', timeout_s=START_S)

    def see(name: str, second: int, text: str, x: float) -> None:
        begin = 1_700_000_000 * 10**9 + second * 10**9
        caption = f'There is a sign that says "{text}".'
        made = Memory('', name, begin, begin + 10**9, caption, Pose(x, 0.0), scene_text=(text,))
        captions[name].publish(observation_to_msg(Observation(made)))

    def found(asker: str, thing: str) -> tuple[str, float]:
        answer = robot.call(
            Ask,
            f'/{asker}/remembr/ask',
            Ask.Request(question=f'Where is the {thing}?'),
            START_S,
        ).answer
        return (answer.evidence[0].robot if answer.evidence else '', answer.pose.pose.position.x)

    def everybody_finds(thing: str, seen_by: str, x: float) -> None:
        # What another robot stored is there a moment later.
        for asker in ('r1', 'r2'):
            robot.wait(lambda asker=asker: found(asker, thing) == (seen_by, x), f'{asker}: {thing}', START_S)

    see('r1', 0, 'LIFT', 1.0)
    see('r2', 0, 'PRINTER', 7.0)  # at the same instant
    robot.wait(lambda: stored['r1'] and stored['r2'], 'both acknowledged', START_S)
    everybody_finds('lift', 'r1', 1.0)
    everybody_finds('printer', 'r2', 7.0)
    milvus.kill()
    see('r1', 100, 'CAFETERIA', 30.0)
    see('r2', 100, 'LIBRARY', 60.0)
    robot.wait(lambda: min(map(len, stored.values())) == 2, 'both kept on the robots', START_S)
    milvus.start()
    everybody_finds('cafeteria', 'r1', 30.0)
    everybody_finds('library', 'r2', 60.0)
    everybody_finds('lift', 'r1', 1.0)


@pytest.fixture
def guarded(milvus: MilvusProcess, tmp_path: Path, certificates: Path) -> Iterator[MilvusProcess]:
    """A server that wants a password and a client's certificate."""
    milvus.kill()  # there is room for one
    process = MilvusProcess(
        tmp_path / 'milvus',
        'common.security.authorizationEnabled=true',
        'common.security.tlsMode=2',
        f'tls.serverPemPath={certificates / "server.pem"}',
        f'tls.serverKeyPath={certificates / "server.key"}',
        f'tls.caPemPath={certificates / "ca.pem"}',
    )
    process.start()
    yield process
    process.kill()


def test_password_and_certificates_open_it_and_nothing_else_does(
    guarded: MilvusProcess, certificates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uri = f'https://127.0.0.1:{guarded.port}'
    monkeypatch.setenv('REMEMBR_MILVUS_USER', 'root')
    monkeypatch.setenv('REMEMBR_MILVUS_PASSWORD', 'Milvus')
    tls = {
        'ca_pem_path': str(certificates / 'ca.pem'),
        'client_pem_path': str(certificates / 'client.pem'),
        'client_key_path': str(certificates / 'client.key'),
    }

    def store_one(**options: str) -> None:
        engine = open_server(Connection.from_environment(uri, **{**tls, **options}), 'm', lambda: STAMP)
        engine.put([Entry(memory(1), entry(memory(1)).vectors)])
        assert engine.count() == 1
        engine.close()

    when_ready(store_one)
    store_one(server_name='milvus.test')
    wrong: list[tuple[dict[str, str], str]] = [
        ({'token': 'root:wrong-secret'}, 'refuses the user, password or token'),
        ({'db_name': 'nowhere'}, "there is no database 'nowhere'.*create_database"),
        ({'server_name': 'other.test'}, 'the encrypted connection failed'),
        ({'ca_pem_path': ''}, 'the encrypted connection failed'),
        ({'client_pem_path': '', 'client_key_path': ''}, 'cannot be reached|encrypted connection failed'),
    ]
    for options, message in wrong:
        with pytest.raises(StoreUnavailable, match=message) as raised:
            store_one(**options)
        assert 'wrong-secret' not in str(raised.value)
    with pytest.raises(StoreUnavailable, match='cannot be reached'):
        open_server(Connection(guarded.uri), 'm', lambda: STAMP)
    with pytest.raises(InvalidRequest, match='cannot be read'):
        store_one(ca_pem_path=str(certificates / 'nothing.pem'))
    with pytest.raises(InvalidRequest, match='no PEM file'):
        store_one(ca_pem_path=str(certificates / 'names'))
