"""A memory opened in this process and an agent that answers from it, without a robot."""

import shutil
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import tzinfo
from pathlib import Path

from remembr_ros.agent.agent import Agent
from remembr_ros.agent.model.answer import Answer, Question
from remembr_ros.agent.planner import OnProgress
from remembr_ros.errors import InvalidRequest, NavigationUnavailable, StoreUnavailable
from remembr_ros.forms.events import NoteForm
from remembr_ros.forms.forget import ForgetForm
from remembr_ros.memory.deeds.deed import Deed
from remembr_ros.memory.model.outline import Outline
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.model.uri import database_path
from remembr_ros.memory.notes import store_note
from remembr_ros.memory.objects.corrections import ObjectCorrection
from remembr_ros.memory.objects.known import KnownObject
from remembr_ros.memory.places.place import NamedPlace
from remembr_ros.memory.recall_protocol import Recall
from remembr_ros.memory.store import MemoryStore
from remembr_ros.memory.store_info import StoreInfo
from remembr_ros.navigation.grid import Grid
from remembr_ros.web.backend import Ability, Listeners, PartState, Situation

NO_ROBOT = 'there is no robot here, only its memory; start the page with the robot to drive it'


class LocalBackend:
    """A store of this process; see remembr_ros.web.backend.

    :param name: of the memory, for a person
    :param agent: answers from the store
    :param writable: notes may be stored and memories forgotten
    :param grid: the map; None: there is none
    :param now: returns the time that questions are asked at, nanoseconds since the Unix epoch
    :param zone: whose clock 'yesterday' and '3 pm' are on
    """

    def __init__(
        self,
        name: str,
        store: MemoryStore,
        agent: Agent,
        *,
        writable: bool,
        grid: Grid | None,
        now: Callable[[], int],
        zone: tzinfo,
    ) -> None:
        self.name = name
        self.recall: Recall = store
        self._store = store
        self._agent = agent
        self._grid = grid
        self._now = now
        self._zone = zone
        self._changing = threading.Lock()
        self._on_memories: Callable[[], None] = lambda: None
        changes = {Ability.CORRECT, Ability.FORGET, Ability.NOTE} if writable else set()
        self.abilities = frozenset({Ability.ASK, *changes})

    @property
    def planner(self) -> str:
        return self._agent.planner

    def now_ns(self) -> int:
        return self._now()

    def listen(self, listeners: Listeners) -> None:
        self._on_memories = listeners.on_memories

    def outline(self) -> Outline:
        return self._store.outline()

    def get(self, ids: Sequence[str]) -> list[Memory]:
        return self._store.get(ids)

    def picture(self, name: str) -> bytes:
        return self._store.keyframes.get(name)

    def ask(
        self, question: str, *, asker: str, scope: Scope, on_progress: OnProgress, cancel: threading.Event
    ) -> Answer:
        asked = Question(question, self.now_ns(), asker=asker, zone=self._zone, scope=scope)
        return self._agent.ask(asked, on_progress=on_progress, cancel=cancel)

    def doomed(self, form: ForgetForm) -> list[str]:
        return [memory.id for memory in self._store.doomed(*form.conditions())]

    def forget(self, form: ForgetForm) -> int:
        self._check(Ability.FORGET)
        count = self._store.forget(*form.conditions())
        self._on_memories()
        return count

    def note(self, form: NoteForm) -> str:
        self._check(Ability.NOTE)
        at_ns = self.now_ns() if form.time is None else form.time
        with self._changing:
            about = {'pose': form.pose, 'frame_id': 'map', 'map_id': form.map}
            stored = store_note(lambda: self._store, form.text, form.robot or self._robot(), at_ns, **about)
        self._on_memories()
        return stored.id

    def tell(self, deed: Deed) -> str:
        self._check(Ability.NOTE)
        if not deed.end_ns:
            deed = replace(deed, begin_ns=self.now_ns(), end_ns=self.now_ns())
        with self._changing:
            (stored,) = self._store.add([Observation(deed.memory(self._robot()))])
        self._on_memories()
        return stored.id

    def name_place(self, place: NamedPlace) -> str:
        self._check(Ability.NOTE)
        (stored,) = self._store.name_places([place])
        self._on_memories()
        return stored.memory.id

    def correct(self, correction: ObjectCorrection) -> KnownObject | None:
        self._check(Ability.CORRECT)
        with self._changing:
            known = self._store.correct(correction, self.now_ns())
        self._on_memories()
        return known

    def situation(self) -> Situation:
        return Situation()

    def map(self) -> Grid | None:
        return self._grid

    def state(self) -> tuple[PartState, ...]:
        try:
            memory = _state_of(self._store.info(), self._store.keyframes.folder.parent)
        except (StoreUnavailable, OSError) as error:  # the latter of a disk
            memory = PartState('memory', 'error', str(error))
        return (memory, PartState('agent', 'ok', f'{self.planner} answers'))

    def go(self, *_: object, **__: object) -> bool:
        raise NavigationUnavailable(NO_ROBOT)

    def confirm(self, yes: bool, proposal: str) -> str:
        raise InvalidRequest(NO_ROBOT)

    def stop(self) -> str:
        raise NavigationUnavailable(NO_ROBOT)

    def close(self) -> None:
        self._store.close()

    def _check(self, ability: Ability) -> None:
        if ability not in self.abilities:
            raise InvalidRequest(f'{self.name} can only be read here; give yourself the right to write it')

    def _robot(self) -> str:
        """Return whose memory a note or a deed is: that of the only robot that has any."""
        robots = self._store.info().robots
        return robots[0] if len(robots) == 1 else 'robot'


def _state_of(info: StoreInfo, folder: Path) -> PartState:
    """Return how a store is.

    :param folder: where its files on this machine are
    """
    sizes = {'database': info.database_bytes, 'keyframes': info.keyframe_bytes}
    if info.database_bytes is not None:
        sizes['free on the disk'] = shutil.disk_usage(folder).free
    values = {
        'memory': info.uri,
        'collection': info.collection,
        'embedder': info.embedder,
        'pictures': str(info.keyframes),
        **{name: f'{size / 1e6:.1f} MB' for name, size in sizes.items() if size is not None},
    }
    if info.database_bytes is not None and not database_path(info.uri).exists():
        gone = f'{info.uri} was deleted or moved; what is shown was read before'
        return PartState('memory', 'error', f'{gone}. End this, put the memory back, and start again', values)
    if info.problem:
        return PartState('memory', 'warn', info.problem, values)
    return PartState('memory', 'ok', f'{info.memories} memories', values)
