"""The seam: what the page, its API and MCP ask of a memory and of the robot that it belongs to."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from remembr_ros.agent.model.answer import Answer
from remembr_ros.agent.planner import OnProgress
from remembr_ros.forms.events import NoteForm
from remembr_ros.forms.forget import ForgetForm
from remembr_ros.geometry import StampedPose
from remembr_ros.memory.deeds.deed import Deed
from remembr_ros.memory.model.outline import Outline
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.objects.corrections import ObjectCorrection
from remembr_ros.memory.objects.known import KnownObject
from remembr_ros.memory.places.place import NamedPlace
from remembr_ros.memory.recall_protocol import Recall
from remembr_ros.navigation.grid import Grid
from remembr_ros.navigation.terrain import KeepOut


class Ability(str, Enum):
    """What a backend can do besides looking; whether somebody may: see remembr_ros.web.door.access."""

    ASK = 'ask'
    CORRECT = 'correct'
    DRIVE = 'drive'
    FORGET = 'forget'
    NOTE = 'note'


@dataclass(frozen=True, slots=True)
class RobotPlace:
    """Where a robot is.

    :param pose: in the map frame, with the time that it is of
    """

    name: str
    pose: StampedPose
    map_id: str = ''


@dataclass(frozen=True, slots=True)
class Situation:
    """What is going on now.

    :param proposal: goals that wait for a person's yes, in order, all of one stamp; empty: none do
    :param goals: where the robot was sent last
    """

    robots: tuple[RobotPlace, ...] = ()
    proposal: tuple[StampedPose, ...] = ()
    goals: tuple[StampedPose, ...] = ()
    keep_out: tuple[KeepOut, ...] = ()

    @property
    def proposal_id(self) -> str:
        """Which proposal this is; empty: there is none."""
        return str(self.proposal[0].stamp_ns) if self.proposal else ''


@dataclass(frozen=True, slots=True)
class PartState:
    """How a part of the system is: a node, or the store.

    :param level: 'ok', 'warn', 'error', or 'stale' if nothing was heard of it for a while
    :param values: further figures, in words
    """

    name: str
    level: str
    message: str
    values: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DriveProgress:
    """How a drive goes.

    :param stage: 'confirming': a person has to say yes; 'navigating'
    :param goal: as checked, in the map frame
    :param distance_m: to go; None: not known
    """

    stage: str
    detail: str
    goal: StampedPose | None = None
    distance_m: float | None = None


@dataclass(frozen=True, slots=True)
class Listeners:
    """Who is told what happens; called from any thread, and at once returning.

    :param on_memories: something was stored or forgotten
    :param on_answer: called with question, asker and answer of a question that nobody asked by this backend
    """

    on_memories: Callable[[], None]
    on_answer: Callable[[str, str, Answer], None]


class Backend(Protocol):
    """A memory, and perhaps a robot; implemented by remembr_ros.web.local and remembr_ros.nodes.web.

    Every method may be called from any thread and may block, but for situation, map and state, which tell
    what is known. All raise StoreUnavailable where memory or robot are out of reach, and InvalidRequest
    for what makes no sense.
    """

    @property
    def name(self) -> str:
        """What is looked at, for a person, such as 'kitchen.db' or 'robot1'; no secrets."""

    @property
    def abilities(self) -> frozenset[Ability]:
        """What it can do."""

    @property
    def recall(self) -> Recall:
        """Finds memories."""

    @property
    def planner(self) -> str:
        """The name of what answers questions first; empty: not known."""

    def now_ns(self) -> int:
        """Return the robot's time."""

    def listen(self, listeners: Listeners) -> None:
        """Tell these what happens, until closed; called once."""

    def outline(self) -> Outline:
        """Return where and when all memories are."""

    def get(self, ids: Sequence[str]) -> list[Memory]:
        """Return the memories of these ids in their order; unknown ids are passed over."""

    def picture(self, name: str) -> bytes:
        """Return a keyframe as JPEG.

        :raises InvalidRequest: there is none, or it is damaged
        """

    def ask(
        self, question: str, *, asker: str, scope: Scope, on_progress: OnProgress, cancel: threading.Event
    ) -> Answer:
        """Answer a question; the robot is not sent anywhere.

        :param scope: which memories count: a window, robots and a map
        :raises RemembrError: there is no answer; see remembr_ros.errors
        """

    def doomed(self, form: ForgetForm) -> list[str]:
        """Return the ids of what a forgetting would delete, with what rests on it; a node tells of 1,000."""

    def forget(self, form: ForgetForm) -> int:
        """Delete memories, their pictures and what rests on them; return how many."""

    def note(self, form: NoteForm) -> str:
        """Store a person's note, without a time of now, and return its id."""

    def tell(self, deed: Deed) -> str:
        """Store what a robot did, as somebody tells it, and return the id of its memory.

        :param deed: its times are 0 where nobody said when it was: it is of now; its frame is that of the map
        """

    def name_place(self, place: NamedPlace) -> str:
        """Give a part of a map its name, and return the id of its memory; forgetting that takes it away."""

    def correct(self, correction: ObjectCorrection) -> KnownObject | None:
        """Take what a person says of an object, and return it as it is then; None: it is deleted."""

    def situation(self) -> Situation:
        """Return what is going on."""

    def map(self) -> Grid | None:
        """Return the occupancy grid, the same object until it changes; None: there is none."""

    def state(self) -> tuple[PartState, ...]:
        """Return how the parts of the system are."""

    def go(
        self,
        target: Memory | StampedPose,
        *,
        map_id: str,
        asker: str,
        on_progress: Callable[[DriveProgress], None],
        cancel: threading.Event,
    ) -> bool:
        """Have the robot drive to where a memory was made, or to a place, once a person has said yes; return
        when it arrived, or, where nobody tells that, was sent.

        :param map_id: of a place
        :return: whether it arrived
        :raises RemembrError: it is not driven there, and why
        """

    def confirm(self, yes: bool, proposal: str) -> str:
        """Say yes or no to the goals that wait, and return what comes of it, for a person.

        :param proposal: the id of those that are meant; a no may leave it empty
        :raises InvalidRequest: no goal waits, or others do
        """

    def stop(self) -> str:
        """End every drive, and return what came of it, for a person."""

    def close(self) -> None:
        """Give back what it holds."""
