import shutil
import threading
from collections.abc import Iterator
from datetime import timezone
from pathlib import Path

import pytest

from remembr_ros.agent.build import AgentConfig, build_agent
from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.errors import InvalidRequest, NavigationUnavailable, StoreUnavailable
from remembr_ros.forms.events import NoteForm
from remembr_ros.forms.forget import ForgetForm
from remembr_ros.memory.deeds.deed import TALK, deed
from remembr_ros.memory.model.record import Observation
from remembr_ros.memory.objects.corrections import ObjectCorrection
from remembr_ros.memory.objects.query import ObjectQuery
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.store import MemoryStore
from remembr_ros.web.backend import Ability, Listeners
from remembr_ros.web.local import LocalBackend
from test.object_room import CUP
from test.unit.memory.recall_contract import DRIVE, LAST_NS
from test.unit.web.backend_contract import OBSERVATIONS, PICTURED, BackendContract


def local(store: MemoryStore, *, writable: bool = True) -> LocalBackend:
    return LocalBackend(
        'kitchen.db',
        store,
        build_agent(store, AgentConfig(), keyframes=store),
        writable=writable,
        grid=None,
        now=lambda: LAST_NS,
        zone=timezone.utc,
    )


@pytest.fixture(scope='module')
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryStore]:
    with open_store(str(tmp_path_factory.mktemp('local') / 'm.db'), HashingEmbedder()) as store:
        store.add(OBSERVATIONS)
        yield store


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ('REMEMBR_LLM', 'REMEMBR_LLM_URL', 'OPENAI_API_KEY'):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures('bare')
class TestLocalBackend(BackendContract):
    @pytest.fixture
    def backend(self, shared: MemoryStore) -> LocalBackend:
        return local(shared)


def test_what_can_only_be_read_is_not_changed(shared: MemoryStore) -> None:
    backend = local(shared, writable=False)
    assert backend.abilities == {Ability.ASK}
    with pytest.raises(InvalidRequest, match='only be read'):
        backend.forget(ForgetForm(id=(DRIVE[0].id,)))
    with pytest.raises(InvalidRequest, match='only be read'):
        backend.correct(ObjectCorrection('gone', 'cup'))
    with pytest.raises(InvalidRequest, match='only be read'):
        backend.note(NoteForm(text='A note.'))
    with pytest.raises(InvalidRequest, match='only be read'):
        backend.tell(deed(0, kind='dock'))
    assert len(backend.get([DRIVE[0].id])) == 1


def test_there_is_no_robot(shared: MemoryStore) -> None:
    backend = local(shared)
    with pytest.raises(NavigationUnavailable, match='no robot'):
        backend.go(DRIVE[0], map_id='', asker='', on_progress=lambda _: None, cancel=threading.Event())
    with pytest.raises(NavigationUnavailable, match='no robot'):
        backend.stop()


def test_a_picture_goes_with_its_memory_and_the_state_tells_of_it(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / 'm.db'), HashingEmbedder())
    backend = local(store)
    store.add(OBSERVATIONS)
    (memory,) = backend.get([PICTURED[0].id])
    assert backend.state()[0].values['pictures'] == '2'
    assert backend.forget(ForgetForm(id=(memory.id,))) == 1
    with pytest.raises(InvalidRequest):
        backend.picture(memory.keyframes[0])
    assert backend.state()[0].values['pictures'] == '1'
    backend.close()
    assert backend.state()[0].level == 'error'
    for call in (backend.outline, backend.recall.count, lambda: backend.get([memory.id])):
        with pytest.raises(StoreUnavailable, match='closed'):
            call()


def test_what_would_go_counts_the_answers_that_rest_on_it(tmp_path: Path) -> None:
    with open_store(str(tmp_path / 'm.db'), HashingEmbedder()) as store:
        backend = local(store)
        store.add([Observation(DRIVE[0])])
        seen = backend.note(NoteForm(text='A purple unicorn.'))
        told = deed(LAST_NS, kind='answer', text='Perhaps it is a unicorn', evidence=(seen,))
        (answer,) = store.add([Observation(told.memory('robbie', TALK))])
        assert set(backend.doomed(ForgetForm(id=(seen,)))) == {seen, answer.id}
        assert backend.forget(ForgetForm(id=(seen,))) == 2


def test_a_note_or_a_deed_is_of_the_only_robot_that_remembers(tmp_path: Path) -> None:
    with open_store(str(tmp_path / 'm.db'), HashingEmbedder()) as store:
        backend = local(store)
        ids = [backend.note(NoteForm(text='A first note.'))]
        store.add([one for one in OBSERVATIONS if one.memory.robot == 'a'][:1])
        backend.forget(ForgetForm(id=tuple(ids)))
        ids.append(backend.note(NoteForm(text='A second one.')))
        ids += [backend.tell(deed(0, kind='dock', robot=name)) for name in ('', 'b')]
        assert [memory.robot for memory in backend.get(ids)] == ['a', 'a', 'b']


def test_a_database_that_was_deleted_is_no_fine_state(tmp_path: Path) -> None:
    folder = tmp_path / 'memory'
    folder.mkdir()
    store = open_store(str(folder / 'm.db'), HashingEmbedder())
    backend = local(store)
    store.add(OBSERVATIONS)
    assert backend.state()[0].level == 'ok'
    database = folder / 'm.db'
    shutil.rmtree(database) if database.is_dir() else database.unlink()
    state = backend.state()[0]
    assert state.level == 'error'
    assert 'was deleted or moved' in state.message
    assert 'put the memory back' in state.message
    shutil.rmtree(folder)
    assert backend.state()[0].level == 'error'
    backend.close()


def test_a_correction_is_kept_and_told(tmp_path: Path) -> None:
    with open_store(str(tmp_path / 'm.db'), HashingEmbedder()) as store:
        backend, heard = local(store), list[str]()
        backend.listen(Listeners(lambda: heard.append('memories'), lambda *_: None))
        store.add([Observation(CUP.memory)])
        known = backend.correct(ObjectCorrection('rename', CUP.id, name='my mug'))
        assert known is not None
        assert (known.name, heard) == ('my mug', ['memories'])
        assert [one.known.name for one in store.find_objects(ObjectQuery('cup')).objects] == ['my mug']
        assert backend.correct(ObjectCorrection('delete', CUP.id)) is None
        assert store.find_objects(ObjectQuery()).objects == ()
