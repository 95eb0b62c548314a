"""A robot's memory in a script or a notebook: `from remembr_ros import open_memory`; see docs/python.md."""

import threading
import time as clock
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from datetime import date, datetime
from functools import cached_property, wraps
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, Field, ValidationError, validate_call

from remembr_ros.agent.agent import Agent
from remembr_ros.agent.build import AgentConfig, build_agent
from remembr_ros.agent.model.answer import Answer, Question
from remembr_ros.agent.overview.recalled_day import TODAY, RecalledDay, day_of, scope_of_day
from remembr_ros.errors import InvalidRequest, StoreUnavailable
from remembr_ros.geometry import Point, Pose, check_point
from remembr_ros.memory.model.engine import NoSuchMemory
from remembr_ros.memory.model.recall import Hit, Scope, query_by
from remembr_ros.memory.model.uri import shown
from remembr_ros.memory.notes import store_note
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.store import MemoryStore
from remembr_ros.timestamps import parse_time, zone_named

_Method = TypeVar('_Method', bound=Callable[..., Any])

Time = datetime | str | float | None
"""A datetime with its zone, ISO 8601 (UTC where it names no zone) or Unix seconds."""
Place = Annotated[Point | None, BeforeValidator(lambda at: at.tolist() if hasattr(at, 'tolist') else at)]
"""x, y and z [m] in the map frame, in an array, too."""
Name = Annotated[str, Field(min_length=1)]


def _checked(method: _Method) -> _Method:
    """Refuse arguments of another type than is annotated, each by its name."""
    names, checked = signature(method), validate_call(method)

    @wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return checked(**names.bind(*args, **kwargs).arguments)
        except ValidationError as error:
            wrong = error.errors()[0]
            raise InvalidRequest(f'{wrong["loc"][0]} is {wrong["input"]!r:.99}: {wrong["msg"]}') from None

    return call  # type: ignore[return-value]


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

    @_checked
    def __init__(
        self,
        uri: str | Path,
        *,
        embedder: str | None = None,
        llm: str | None = None,
        llm_url: str | None = None,
        time_zone: str = '',
    ) -> None:
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

    @_checked
    def recall(
        self,
        text: str | None = None,
        *,
        position: Place = None,
        radius: float | None = None,
        time: Time = None,
        after: Time = None,
        before: Time = None,
        robot: Name | None = None,
        map_id: str | None = None,
        source: str | None = None,
        place: Name | None = None,
        limit: int = 5,
    ) -> list[Hit]:
        """Search by text, else for what is nearest to a position, else to a time, else the newest.

        :param radius: only memories this near to the position [m]
        :param after: only memories that end at or after this
        :param before: only memories that start at or before this
        :param place: only memories that were made in the place of this name, such as a room
        :param limit: so many at most, 1 or more; there are never more than 1000
        """
        at = None if position is None else check_point(position)
        near = None if radius is None else at
        time_ns, after_ns, before_ns = (None if t is None else parse_time(t) for t in (time, after, before))
        scope = Scope(
            after_ns, before_ns, near, radius, (robot,) if robot else (), map_id, source, place=place
        )
        query = query_by(text, at, time_ns, around=False, scope=scope, limit=limit)
        return [hit.measured(at, time_ns) for hit in self._store().find(query)]

    @_checked
    def ask(self, question: str, *, now: Time = None, here: Place = None, map_id: str = '') -> Answer:
        """Answer a question, which may refer to the one before.

        :param now: when it is asked; None: by the clock
        :param here: where the robot is, on the map of map_id
        :raises RemembrError: there is no answer; see remembr_ros.errors
        """
        pose = None if here is None else Pose(*check_point(here))
        asked = Question(question, _ns(now), pose, map_id=map_id, asker='python', zone=self.zone)
        self._store().embedder  # noqa: B018  loaded now, not within the time of the question
        return self._agent.ask(asked)

    @_checked
    def remember(
        self, text: str, *, position: Place = None, time: Time = None, robot: Name = 'robot', map_id: str = ''
    ) -> str:
        """Store a person's note, which is durable when its id is returned.

        :param position: the place that it is about; None: none
        :param time: when it was; None: now
        """
        pose = None if position is None else Pose(*check_point(position))
        with self._noting:
            made = lambda: self._store(create=True)  # noqa: E731
            return store_note(made, text, robot, _ns(time), pose=pose, map_id=map_id).id

    @_checked
    def day(
        self,
        day: str | date = TODAY,
        *,
        now: Time = None,
        robot: Name | None = None,
        place: Name | None = None,
    ) -> RecalledDay:
        """Return what the robot did and saw on a day; for people its lines(memory.zone).

        :param day: or words such as 'yesterday', 'Tuesday', 'last 2 hours'
        :param now: when it is today; None: by the clock
        :param place: only what was in the place of this name
        :raises NothingRemembered: of that day; the message names days of which there is something
        """
        scope = scope_of_day(str(day), _ns(now), self.zone, (robot,) if robot else (), place=place)
        return day_of(self._store(), scope, self.zone)

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


def _ns(time: Time) -> int:
    return clock.time_ns() if time is None else parse_time(time)
