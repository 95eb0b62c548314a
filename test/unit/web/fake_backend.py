"""A memory and a robot in lists: fast, the same every time, and broken where a test wants it."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from remembr_ros.agent.model.answer import Answer, Kind
from remembr_ros.agent.planner import OnProgress, Progress
from remembr_ros.errors import Cancelled, InvalidRequest, NotConfirmed, RemembrError
from remembr_ros.forms.events import NoteForm
from remembr_ros.forms.forget import ForgetForm
from remembr_ros.geometry import Pose, StampedPose
from remembr_ros.memory.deeds.deed import Deed
from remembr_ros.memory.model.outline import Outline
from remembr_ros.memory.model.recall import Hit, Scope
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.objects.corrections import ObjectCorrection, corrected
from remembr_ros.memory.objects.known import KnownObject, known_objects
from remembr_ros.memory.places.place import NamedPlace
from remembr_ros.memory.places.places import Places
from remembr_ros.navigation.grid import Grid
from remembr_ros.web.backend import Ability, DriveProgress, Listeners, PartState, Situation
from test.unit.agent.listed_recall import ListedRecall
from test.unit.memory.recall_contract import DRIVE, LAST_NS
from test.unit.web.seen import outlined

PATIENCE_S = 20.0


@dataclass
class FakeBackend:
    """Implements remembr_ros.web.backend.Backend, and keeps what it was asked.

    :param broken: raised by whatever needs the memory
    :param answers: set: questions are answered; clear: they wait, until cancelled
    :param said: what a person says to a goal, once one does
    """

    memories: list[Memory] = field(default_factory=lambda: list(DRIVE))
    pictures: dict[str, bytes] = field(default_factory=dict)
    broken: Exception | None = None
    name: str = 'fake.db'
    abilities: frozenset[Ability] = frozenset(Ability)
    planner: str = 'offline'
    answers: threading.Event = field(default_factory=threading.Event)
    said: list[bool] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)
    scopes: list[Scope] = field(default_factory=list)
    arrives: bool = True
    driven: list[tuple[Memory | StampedPose, str, str]] = field(default_factory=list)
    grid: Grid | None = None
    now: Situation = field(default_factory=Situation)
    listeners: Listeners | None = None

    def __post_init__(self) -> None:
        self.answers.set()
        self._spoken = threading.Condition()

    @property
    def recall(self) -> ListedRecall:
        return ListedRecall(self.memories, self._check)

    def now_ns(self) -> int:
        return LAST_NS

    def listen(self, listeners: Listeners) -> None:
        self.listeners = listeners

    def outline(self) -> Outline:
        self._check()
        return outlined(self.memories)

    def get(self, ids: Sequence[str]) -> list[Memory]:
        self._check()
        known = {memory.id: memory for memory in self.memories}
        return [known[one] for one in ids if one in known]

    def picture(self, name: str) -> bytes:
        self._check()
        if name not in self.pictures:
            raise InvalidRequest(f'there is no keyframe {name!r}')
        return self.pictures[name]

    def ask(
        self, question: str, *, asker: str, scope: Scope, on_progress: OnProgress, cancel: threading.Event
    ) -> Answer:
        self._check()
        self.scopes.append(scope)
        self.asked.append((question, asker))
        on_progress(Progress('recalling', question, 1))
        while not self.answers.wait(0.005):
            if cancel.is_set():
                raise Cancelled('the question was cancelled')
        hit = Hit(self.memories[0], 0.9, passages=('A red mug.',))
        return Answer(Kind.TEXT, 'Near the wall.', 'offline', evidence=(hit,))

    def doomed(self, form: ForgetForm) -> list[str]:
        self._check()
        ids, scope, text = form.conditions()
        scope = Places(self.memories).within(scope)
        return [
            memory.id
            for memory in self.memories
            if (ids is None or memory.id in ids)
            and scope.admits(memory)
            and text.lower() in ' '.join((memory.caption, *memory.scene_text)).lower()
        ]

    def forget(self, form: ForgetForm) -> int:
        gone = self.doomed(form)
        self.memories = [memory for memory in self.memories if memory.id not in gone]
        if self.listeners:
            self.listeners.on_memories()
        return len(gone)

    def note(self, form: NoteForm) -> str:
        self._check()
        if not form.text.strip():
            raise InvalidRequest('a note needs a text')
        number = len(self.memories)
        stamp_ns = LAST_NS + number if form.time is None else form.time
        self.memories.append(
            Memory(
                f'n{number}',
                form.robot or 'a',
                stamp_ns,
                stamp_ns,
                form.text,
                form.pose,
                frame_id='map',
                map_id=form.map,
                source='person',
            )
        )
        if self.listeners:
            self.listeners.on_memories()
        return f'n{number}'

    def tell(self, deed: Deed) -> str:
        self._check()
        now_ns = LAST_NS + len(self.memories)
        told = deed if deed.end_ns else replace(deed, begin_ns=now_ns, end_ns=now_ns)
        self.memories.append(told.memory('a'))
        if self.listeners:
            self.listeners.on_memories()
        return self.memories[-1].id

    def name_place(self, place: NamedPlace) -> str:
        self._check()
        Places(self.memories).with_new(place)
        self.memories.append(place.memory)
        return place.memory.id

    def correct(self, correction: ObjectCorrection) -> KnownObject | None:
        self._check()
        changed, gone = corrected(known_objects(self.memories, deleted=True), correction, LAST_NS)
        kept = {memory.id: memory for memory in self.memories if memory.id not in gone}
        self.memories = [*(kept | {memory.id: memory for memory in changed}).values()]
        return next(iter(known_objects(changed[:1])), None)

    def situation(self) -> Situation:
        return self.now

    def map(self) -> Grid | None:
        return self.grid

    def state(self) -> tuple[PartState, ...]:
        level = 'error' if self.broken else 'ok'
        return (PartState('memory', level, str(self.broken or 'well'), {'<b>': 'x'}),)

    def go(
        self,
        target: Memory | StampedPose,
        *,
        map_id: str,
        asker: str,
        on_progress: Callable[[DriveProgress], None],
        cancel: threading.Event,
    ) -> bool:
        self._check()
        goal = StampedPose(len(self.driven) + 1, (target.pose or Pose(0.0, 0.0)))
        self.now = replace(self.now, proposal=(goal,))
        on_progress(DriveProgress('confirming', 'a person has to say yes', goal))
        with self._spoken:
            while not self.said:
                self._spoken.wait(0.005)
                if cancel.is_set():
                    raise Cancelled('the drive was stopped')
        if not self.said.pop():
            raise NotConfirmed('a person refused the goal')
        on_progress(DriveProgress('navigating', 'on the way', goal, 3.0))
        self.driven.append((target, map_id, asker))
        return self.arrives

    def confirm(self, yes: bool, proposal: str) -> str:
        if proposal != self.now.proposal_id and (yes or proposal):
            raise InvalidRequest('other goals wait than these')
        with self._spoken:
            self.said.append(yes)
            self._spoken.notify_all()
        return 'it is told'

    def stop(self) -> str:
        return 'it stands'

    def close(self) -> None:
        self.broken = RemembrError('closed')

    def _check(self) -> None:
        if self.broken is not None:
            raise self.broken


def eventually(holds: Callable[[], bool]) -> None:
    """Wait until something holds that another thread brings about."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, 'it never happened'
        time.sleep(0.005)
