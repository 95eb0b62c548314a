"""The page over a real Milvus server that goes away and comes back."""

from datetime import timezone
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from remembr_ros.agent.build import AgentConfig, build_agent
from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.errors import StoreUnavailable
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.store import MemoryStore
from remembr_ros.web.app import build_app
from remembr_ros.web.door.access import Access
from remembr_ros.web.door.guard import Guard
from remembr_ros.web.local import LocalBackend
from test.milvus_process import MilvusProcess, obstacle, when_ready
from test.unit.memory.recall_contract import DRIVE, LAST_NS
from test.unit.web.backend_contract import OBSERVATIONS
from test.unit.web.fake_backend import eventually

pytestmark = [
    pytest.mark.skipif(bool(obstacle()), reason=obstacle()),
    pytest.mark.timeout(300),
]


def test_a_server_that_goes_away_is_told_and_works_again(
    milvus: MilvusProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('XDG_DATA_HOME', str(tmp_path))
    store = when_ready(lambda: open_store(milvus.uri, HashingEmbedder(), spool_quota=0))
    assert isinstance(store, MemoryStore)
    with store:
        store.add(OBSERVATIONS)
        agent = build_agent(store, AgentConfig(), keyframes=store)
        backend = LocalBackend(
            'fleet', store, agent, writable=True, grid=None, now=lambda: LAST_NS, zone=timezone.utc
        )
        app = Guard(build_app(backend, Access()), Access())
        with TestClient(app, base_url='http://127.0.0.1:8765', client=('127.0.0.1', 1)) as client:
            eventually(lambda: client.get('/api/info').json()['memories'] == len(DRIVE))
            assert client.get('/api/recall', params={'text': 'green chair'}).status_code == 200
            milvus.kill()
            away = client.get('/api/recall', params={'text': 'green chair'})
            assert away.status_code == 503
            assert 'start the server' in away.json()['error']
            assert away.headers['retry-after']
            assert client.post('/api/ask', json={'question': 'Where is a chair?'}).json()['stage'] == 'failed'
            assert client.get('/api/cells').json()['total'] > 0  # what is known is shown
            assert client.get('/api/state').json()['parts'][0]['level'] == 'error'
            eventually(lambda: bool(client.get('/api/info').json()['problem']))
            milvus.start()
            when_ready(lambda: works(client))
            eventually(lambda: not client.get('/api/info').json()['problem'])
            assert client.get('/api/recall', params={'text': 'green chair'}).json()['total'] == len(DRIVE)


def works(client: TestClient) -> None:
    """Return if the memory is there.

    :raises StoreUnavailable: it is not
    """
    answer = client.get('/api/recall', params={'text': 'chair'})
    if answer.status_code == 503:
        raise StoreUnavailable(answer.json()['error'])
