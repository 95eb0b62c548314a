"""A robot's memory in a script or a notebook: `from remembr_ros import open_memory`; see docs/python.md."""

import threading
import time as clock
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from remembr_ros.agent.agent import Agent
from remembr_ros.agent.build import AgentConfig, build_agent
from remembr_ros.agent.model.answer import Answer, Question
from remembr_ros.agent.overview.recalled_day import RecalledDay, day_of, scope_of_day
from remembr_ros.errors import InvalidRequest, StoreUnavailable
from remembr_ros.forms import results
from remembr_ros.forms.deeds import DeedsForm
from remembr_ros.forms.events import EventForm, NoteForm
from remembr_ros.forms.faces import keywords
from remembr_ros.forms.fields import Now
from remembr_ros.forms.forget import ForgetForm
from remembr_ros.forms.form import read
from remembr_ros.forms.found import Results
from remembr_ros.forms.objects import ObjectsForm
from remembr_ros.forms.places import PlacesForm
from remembr_ros.forms.questions import AskHereForm, DayForm
from remembr_ros.forms.recall import RecallForm
from remembr_ros.forms.scope import SourceForm
from remembr_ros.geometry import Pose
from remembr_ros.memory.deeds.query import Occurrence
from remembr_ros.memory.exchange.transfer import export_memories
from remembr_ros.memory.model.engine import NoSuchMemory
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import Observation
from remembr_ros.memory.model.uri import shown
from remembr_ros.memory.notes import store_note
from remembr_ros.memory.objects.query import FoundObject
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.places.place import NamedPlace
from remembr_ros.memory.store import MemoryStore
from remembr_ros.timestamps import zone_named


class AskNow(AskHereForm):
    __doc__ = AskHereForm.__doc__
    now: Now = None


class DayNow(DayForm):
    __doc__ = DayForm.__doc__
    now: Now = None


class RobotMemory(AbstractContextManager['RobotMemory']):
    """An opened memory; where there is none, the first note makes it. Safe to share between threads.

    :param uri: path of a file, which one process at a time writes; milvus-lite:FILE; or a Milvus server's
    :param embedder: name of a sentence-transformers model; None: as for `remembr --embedder`
    :param llm: language model that answers, at llm_url; both None: that of the environment, else rules
    :param time_zone: whose clock 'yesterday' is on, such as Europe/Berlin; empty: this machine's
    :raises StoreUnavailable: it cannot be opened; of methods: it is closed, out of reach or not there yet
    :raises StoreMismatch: another embedder or program made it
    :raises InvalidRequest: an argument makes no sense; of methods, too
    """

    def __init__(
        self,
        uri: str | Path,
        *,
        embedder: str | None = None,
        llm: str | None = None,
        llm_url: str | None = None,
        time_zone: str = '',
    ) -> None:
        texts = {'uri': uri, 'embedder': embedder, 'llm': llm, 'llm_url': llm_url, 'time_zone': time_zone}
        for name, text in texts.items():
            if not isinstance(text, str | Path | None):
                raise InvalidRequest(f'{name} is {text!r:.99}: it has to be a text')
        self.zone = zone_named(time_zone)
        self._uri, self._embedder = str(uri), embedder or None
        self._config = AgentConfig(llm=llm or '', llm_url=llm_url or '')
        self._opened: MemoryStore | None = None
        self._closed = False
        self._opening, self._noting = threading.Lock(), threading.Lock()
        with suppress(NoSuchMemory):
            self._store()

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the database, so that another process may have the file."""
        with self._opening:
            self._closed = True
            if self._opened is not None:
                self._opened.close()

    @keywords(RecallForm, 'text')
    def recall(self, form: RecallForm) -> Results[Hit]:
        """Search by text, else for what is nearest to a position, else to a time, else the newest."""
        hits = form.find(self._store())
        return self._found(hits, results.hits_json(hits, self._store().count(form.scope())))

    @keywords(ObjectsForm, 'called')
    def objects(self, form: ObjectsForm) -> Results[FoundObject]:
        """Find things, where they are and whether they still are."""
        found = self._store().find_objects(form.query())
        return self._found(found.objects, results.objects_json(found))

    @keywords(DeedsForm, 'kind')
    def deeds(self, form: DeedsForm) -> Results[Occurrence]:
        """Find what took place: what the robot did, when things were in view, its stays, how it moved."""
        found = form.find(self._store())
        return self._found(found.found, results.deeds_json(found))

    @keywords(PlacesForm, 'place')
    def places(self, form: PlacesForm) -> Results[NamedPlace]:
        """List the places that have names, smaller ones first."""
        found = form.find(self._store())
        return self._found(found, results.places_json(found))

    @keywords(AskNow, 'question')
    def ask(self, form: AskNow) -> Answer:
        """Answer a question, which may refer to the one before.

        :raises RemembrError: there is no answer; see remembr_ros.errors
        """
        pose = None if form.here is None else Pose(*form.here)
        about = {'map_id': form.map or '', 'asker': 'python', 'zone': self.zone, 'scope': form.scope()}
        self._store().embedder  # noqa: B018  loaded now, not within the time of the question
        return self._agent.ask(Question(form.question, _ns(form.now), pose, **about))  # type: ignore[arg-type]

    @keywords(NoteForm, 'text')
    def remember(self, form: NoteForm) -> str:
        """Store a person's note, which is durable when its id is returned."""
        with self._noting:
            made, about = lambda: self._store(create=True), {'pose': form.pose, 'map_id': form.map}
            return store_note(made, form.text, form.robot or 'robot', _ns(form.time), **about).id

    @keywords(EventForm, 'text')
    def event(self, form: EventForm) -> str:
        """Store what the robot did itself, which is durable when its id is returned."""
        deed = form.deed(clock.time_ns())
        with self._noting:
            return self._store(create=True).add([Observation(deed.memory('robot'))])[0].id

    @keywords(ForgetForm)
    def forget(self, form: ForgetForm) -> list[str]:
        """Delete memories for good, with their pictures and what rests on them; return their ids."""
        conditions = form.conditions()
        with self._noting:
            going = [memory.id for memory in self._store().doomed(*conditions)]
            if not form.dry_run:
                self._store(create=True).forget(*conditions)
        return going

    @keywords(DayNow, 'day')
    def day(self, form: DayNow) -> RecalledDay:
        """Return what the robot did and saw on a day; for people its lines(memory.zone).

        :raises NothingRemembered: of that day; the message names days of which there is something
        """
        return day_of(self._store(), scope_of_day(form, _ns(form.now), self.zone), self.zone)

    def export(self, file: str | Path, *, vectors: bool = True, keyframes: bool = True, **scope: Any) -> int:
        """Write memories to a .jsonl or .jsonl.gz file, and return how many; scope: as of recall.

        :param vectors: without, importing has to embed the captions again
        :param keyframes: the pictures, too
        """
        which = read(SourceForm, scope).scope()
        return export_memories(self._store(), Path(file), which, vectors=vectors, keyframes=keyframes)

    def image(self, memory_id: str, index: int = 0) -> Any:
        """Return a picture of a memory, shape (height, width, 3), red, green and blue.

        :raises InvalidRequest: there is no such memory, or it has no such picture
        """
        found = [Hit(memory, 1.0) for memory in self._store().get([memory_id])]
        if not found:
            raise InvalidRequest(f'there is no memory {memory_id!r}; recall shows ids')
        return self._found(found, results.hits_json(found, 1))[0].image(index)

    def _found(self, items: Sequence[Any], json: Any) -> Results[Any]:
        return Results(items, json, self._store().keyframes.get)

    @cached_property
    def _agent(self) -> Agent:
        return build_agent(self._store(), self._config)

    def _store(self, *, create: bool = False) -> MemoryStore:
        with self._opening:
            if self._closed:
                raise StoreUnavailable(f'the memory {shown(self._uri)} is closed; open it again')
            if self._opened is None:
                # What cannot be written is read; what waits for a server is left to a memory node.
                self._opened = open_store(
                    self._uri, self._embedder, create=create, read_only=not create, spool_quota=0
                )
            return self._opened


open_memory = RobotMemory


def _ns(time: int | None) -> int:
    return clock.time_ns() if time is None else time
