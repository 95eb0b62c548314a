"""Keeps the outline of a memory current with few requests, and reports what is new."""

import logging
import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from remembr_ros.errors import RemembrError
from remembr_ros.geometry import Point
from remembr_ros.memory.model.outline import Outline, outline_of
from remembr_ros.memory.model.recall import MapArea, Query
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.problem import Problem
from remembr_ros.web.backend import Backend
from remembr_ros.web.overview import name_mask

_log = logging.getLogger(__name__)

EVERY_S = 2.0  # [s] how often is looked if nobody tells that something was stored
LEAST_S = 0.2  # [s] between two looks, however often somebody tells
AGAIN_S = 1.0  # [s] from reading all to reading all again because something does not add up; doubles in vain
AGAIN_TIMES = 10.0  # as long as reading all took, at least: a server of many memories takes seconds
ANEW_S = 600.0  # [s] after which all is read in any case
CLOSE_S = 10.0  # [s] that closing waits for a call under way

NEWEST = 50  # memories that a look asks for: more in two seconds are no robot's but an import's
OF_CAMERAS = 1000  # memories of which the cameras are known; the outline does not tell them

_COLUMNS = ('start_ns', 'end_ns', 'x', 'y', 'z', 'robot', 'map_id', 'source')


@dataclass(frozen=True, slots=True, eq=False)
class Contents:
    """What is in a memory, as far as it was read.

    :param version: another one whenever the outline is; of two servers the later one has the greater
    :param reading: the outline was not read yet
    :param problem: why the memory cannot be read at the moment; empty: it can
    :param robots: names, sorted; so are sources and cameras
    :param maps: with placed memories, most memories first
    :param first_ns: start of the earliest memory; None: there is none
    :param last_ns: end of the latest
    """

    version: int
    outline: Outline
    reading: bool = False
    problem: str = ''
    robots: tuple[str, ...] = ()
    maps: tuple[MapArea, ...] = ()
    sources: tuple[str, ...] = ()
    cameras: tuple[str, ...] = ()
    first_ns: int | None = None
    last_ns: int | None = None


@dataclass(frozen=True, slots=True)
class News:
    """What has changed.

    :param version: of the contents
    :param total: how many memories there are
    :param new: memories that came or went on, oldest first, NEWEST at most; empty if anew
    :param anew: more than that has changed: whatever is drawn has to be drawn again
    """

    version: int
    total: int
    new: tuple[Memory, ...]
    anew: bool


class Following:
    """Has the contents of a memory at hand, read in a thread of its own.

    :param on_news: called from that thread, at once returning
    :param on_problem: called likewise when the problem of the contents has come, or gone
    :param clock: monotonic [s]
    :param version: to begin with; None: so that it is greater than that of an earlier server
    """

    def __init__(
        self,
        backend: Backend,
        on_news: Callable[[News], None],
        *,
        on_problem: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
        version: int | None = None,
    ) -> None:
        self._backend, self._on_news, self._clock = backend, on_news, clock
        self._on_problem, self._said = on_problem, ''
        version = time.time_ns() // 1_000_000 if version is None else version
        self._contents = Contents(version, outline_of(()), reading=True)
        self._problem = Problem(_log, 'the memory cannot be read', 'the memory is read again', clock)
        self._cameras: set[str] = set()
        self._read_at, self._again_s = float('-inf'), AGAIN_S
        self._told, self._closed = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name='following', daemon=True)

    @property
    def contents(self) -> Contents:
        """What is known now; never waits."""
        return self._contents

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def tell(self) -> None:
        """Say that something was stored or forgotten; from any thread, and returns at once."""
        self._told.set()

    def end(self) -> None:
        """Have the thread end; nobody is told anything after that."""
        self._closed.set()
        self._told.set()

    def close(self) -> None:
        """End the thread, and wait for that."""
        self.end()
        if self._thread.is_alive():
            self._thread.join(CLOSE_S)

    def look(self) -> None:
        """Look once what has changed, and tell it; what fails is tried again by the next look."""
        try:
            news = self._looked()
            problem = ''
        except RemembrError as error:
            news, problem = None, str(error)
        if self._closed.is_set():
            return
        self._say(problem)
        if news:
            self._on_news(news)

    def _run(self) -> None:
        while not self._closed.is_set():
            try:
                self.look()
            except Exception:  # noqa: BLE001 (the top of a thread)
                _log.exception('the memory is not followed for a moment')
                self._say('the memory could not be read; the log of the page says why')
            self._closed.wait(LEAST_S)
            self._told.wait(EVERY_S - LEAST_S)
            self._told.clear()

    def _say(self, problem: str) -> None:
        self._problem.report(problem)
        if problem != self._contents.problem:
            self._contents = replace(self._contents, problem=problem)
        if problem != self._said:
            self._said = problem
            self._on_problem()

    def _looked(self) -> News | None:
        before, first = self._contents.outline, self._contents.reading
        since_s = self._clock() - self._read_at
        outline, changed, adds_up = before, list[Memory](), False
        if not first and since_s < ANEW_S:
            outline, changed, adds_up = self._with_newest(before, NEWEST)
        anew = not adds_up and (first or since_s >= min(self._again_s, ANEW_S))
        if anew:
            began = self._clock()
            outline = self._backend.outline()
            outline = _renamed(outline, outline.names)
            self._read_at = self._clock()
            again_s = max(AGAIN_S, AGAIN_TIMES * (self._read_at - began))
            outline, _, adds_up = self._with_newest(outline, OF_CAMERAS if first else NEWEST)
            # A count that never fits, as of a server that is busy, shall not have all read all the time.
            in_vain = not adds_up and since_s < ANEW_S
            self._again_s = max(2.0 * self._again_s, again_s) if in_vain else again_s
            anew = first or not _same(outline, before)
            changed = []
        if not anew and not changed:
            return None
        version = self._contents.version + 1
        self._contents = _contents_of(outline, version, self._cameras)
        return News(version, len(outline), tuple(changed[-NEWEST:]), anew)

    def _with_newest(self, outline: Outline, limit: int) -> tuple[Outline, list[Memory], bool]:
        """Return the outline with the newest memories, those that were not so in it, and whether there can be
        no other difference."""
        changed: dict[str, Memory] = {}
        for _ in range(2):  # once more, if something was stored between count and recall
            count = self._backend.recall.count()
            newest = [hit.memory for hit in self._backend.recall.find(Query(limit=limit))]
            self._cameras |= {memory.camera for memory in newest if memory.camera}
            outline, changed_now = spliced(outline, newest)
            changed |= {memory.id: memory for memory in changed_now}
            oldest_ns = min((memory.end_ns for memory in newest), default=-1)
            later = sum(memory.end_ns > oldest_ns for memory in newest)
            if len(outline) == count and np.count_nonzero(outline.end_ns > oldest_ns) == later:
                return outline, list(changed.values()), True
        return outline, list(changed.values()), False


def spliced(outline: Outline, memories: Sequence[Memory]) -> tuple[Outline, list[Memory]]:
    """Return an outline with these memories in place of those of the same id and start, or as further ones;
    and the memories that changed something, in the order of start."""
    rows = {memory.id: memory for memory in memories}
    new = outline_of(
        (m.id, m.start_ns, m.end_ns, m.pose.position if m.pose else None, m.robot, m.map_id, m.source)
        for m in rows.values()
    )
    names = {*outline.names, *new.names}
    old, new = _renamed(outline, names), _renamed(new, names)
    at = _places(old, new)
    stored = at < len(old)
    stored[stored] = old.ids[at[stored]] == new.ids[stored]
    differs = ~stored
    for name in _COLUMNS:
        mine, theirs = getattr(old, name)[at[stored]], getattr(new, name)[stored]
        differs[stored] |= (mine != theirs) & ((mine == mine) | (theirs == theirs))  # noqa: PLR0124 (NaN)
    changed = [rows[name.decode()] for name in new.ids[differs].tolist()]
    return (_placed(old, new, at, stored) if changed else outline), changed


def _renamed(outline: Outline, names: Collection[str]) -> Outline:
    """Return the outline with these names, each once and sorted."""
    texts = tuple(sorted(set(names)))
    if outline.names == texts:
        return outline
    numbers = {name: number for number, name in enumerate(texts)}
    number = np.array([numbers[name] for name in outline.names], np.uint16)
    robot, map_id, source = (number[column] for column in (outline.robot, outline.map_id, outline.source))
    return replace(outline, robot=robot, map_id=map_id, source=source, names=texts)


def _places(old: Outline, new: Outline) -> NDArray[np.int64]:
    """Return where each row is, or belongs."""
    low = np.searchsorted(old.start_ns, new.start_ns, 'left')
    high = np.searchsorted(old.start_ns, new.start_ns, 'right')
    within = [
        np.searchsorted(old.ids[a:b], name)
        for a, b, name in zip(low.tolist(), high.tolist(), new.ids, strict=True)
    ]
    return np.asarray(low + np.asarray(within, np.int64), np.int64)


def _placed(old: Outline, new: Outline, at: NDArray[np.int64], stored: NDArray[np.bool_]) -> Outline:
    """Return a copy of the columns; ids and starts, which stay, only if there are further rows."""
    columns: dict[str, Any] = {}
    for name in ('ids', *_COLUMNS):
        column, values = getattr(old, name), getattr(new, name)
        if name not in {'ids', 'start_ns'}:
            column = column.copy()
            column[at[stored]] = values[stored]
        columns[name] = column if stored.all() else np.insert(column, at[~stored], values[~stored])
    return replace(old, **columns)


def _same(a: Outline, b: Outline) -> bool:
    if a.names != b.names or not np.array_equal(a.ids, b.ids):
        return False
    return all(
        np.array_equal(getattr(a, name), getattr(b, name), equal_nan=name in {'x', 'y', 'z'})
        for name in _COLUMNS
    )


def _contents_of(outline: Outline, version: int, cameras: set[str]) -> Contents:
    robots, maps, sources = (
        sorted({outline.names[number] for number in np.flatnonzero(np.bincount(column))})
        for column in (outline.robot, outline.map_id, outline.source)
    )
    areas = [area for map_id in maps if (area := _area(outline, map_id)) is not None]
    return Contents(
        version,
        outline,
        robots=tuple(filter(None, robots)),
        maps=tuple(sorted(areas, key=lambda area: (-area.memories, area.map_id))),
        sources=tuple(sources),
        cameras=tuple(sorted(cameras)),
        first_ns=int(outline.start_ns[0]) if len(outline) else None,
        last_ns=int(outline.end_ns.max()) if len(outline) else None,
    )


def _area(outline: Outline, map_id: str) -> MapArea | None:
    inside = name_mask(outline, outline.map_id, (map_id,)) & np.isfinite(outline.x)
    if not inside.any():
        return None
    axes = [column[inside] for column in (outline.x, outline.y, outline.z)]
    low: Point = tuple(float(axis.min()) for axis in axes)  # type: ignore[assignment]
    high: Point = tuple(float(axis.max()) for axis in axes)  # type: ignore[assignment]
    return MapArea(map_id, low, high, int(inside.sum()))
