"""Requests to the robot (questions, drives): their progress and, for a while, their outcome."""

import logging
import threading
import uuid
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic, TypeVar

from remembr_ros.errors import Cancelled, InvalidRequest, RemembrError
from remembr_ros.geometry import StampedPose
from remembr_ros.memory.model.record import Memory
from remembr_ros.web.backend import Backend, DriveProgress

logger = logging.getLogger(__name__)

_OVER = ('answered', 'arrived', 'sent', 'failed', 'cancelled', 'stopped')


@dataclass(frozen=True, eq=False)
class Job:
    """Something that is wanted, and how it goes.

    :param asker: who wants it, for a person
    :param at_ns: since when, by the robot's clock
    :param detail: of the stage, for a person; of one that failed, why
    """

    CANCELLED: ClassVar[str] = 'cancelled'
    """Its stage where whoever does it says that it was cancelled."""

    asker: str
    at_ns: int
    stage: str
    detail: str = ''
    id: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes of it."""
        return self.stage in _OVER

    @property
    def error(self) -> str:
        """Why nothing came of it, for a person; empty: something may, or did."""
        return self.detail if self.is_over else ''


AnyJob = TypeVar('AnyJob', bound=Job)


Doing = Callable[[Callable[..., object], threading.Event], dict[str, Any]]
"""Does a job: called with what tells the fields that change meanwhile, and with what is set once nobody wants
it any more; returns the fields as it ends, or raises a RemembrError that says why nothing comes of it."""


class Jobs(Generic[AnyJob]):
    """Has jobs done, some at a time, and keeps the last ones. Safe to share between threads.

    :param changed: told every change; called from any thread, at once returning
    :param full: makes the error that is raised where as many are done, and wait, as may
    :param at_a_time: how many are done at a time
    :param most_waiting: how many wait for their turn
    :param most_kept: how many are kept; the oldest that is over goes first
    """

    def __init__(
        self,
        changed: Callable[[AnyJob], None],
        full: Callable[[], RemembrError],
        *,
        at_a_time: int,
        most_waiting: int,
        most_kept: int,
    ) -> None:
        self._changed, self._full = changed, full
        self._at_a_time, self._most_open, self._most_kept = at_a_time, at_a_time + most_waiting, most_kept
        self._lock = threading.Lock()
        self._ending = threading.RLock()
        """Held to keep jobs from ending meanwhile."""
        self._kept: OrderedDict[str, AnyJob] = OrderedDict()
        self._open: dict[str, threading.Event] = {}
        self._waiting: deque[tuple[AnyJob, Doing, threading.Event]] = deque()
        self._running = 0

    def all(self) -> list[AnyJob]:
        """Return those that are kept, the newest last."""
        with self._lock:
            return list(self._kept.values())

    def get(self, job_id: str) -> AnyJob | None:
        """Return one of those that are kept."""
        with self._lock:
            return self._kept.get(job_id)

    def cancel(self, job_id: str, *, stage: str = '', detail: str = 'it was cancelled') -> AnyJob:
        """End a job that nobody wants any more, and return it.

        :raises InvalidRequest: it is over
        :raises KeyError: there is none
        """
        with self._lock:
            job, cancel = self._kept[job_id], self._open.get(job_id)
        if cancel is None:
            raise InvalidRequest('this is over, there is nothing to cancel')
        cancel.set()
        # At once: a thread that waits for a database hears of it later.
        return self._change(job_id, stage=stage or job.CANCELLED, detail=detail) or job

    def close(self) -> None:
        """End every job that is under way."""
        for job_id in list(self._open):
            with suppress(InvalidRequest, KeyError):  # it ended meanwhile
                self.cancel(job_id, detail='the server was stopped')

    def _start(self, job: AnyJob, doing: Doing) -> AnyJob:
        """Have a job done as soon as it is its turn.

        :raises RemembrError: too many are under way, see full
        """
        cancel = threading.Event()
        with self._lock:
            if len(self._open) >= self._most_open:
                raise self._full()
            self._open[job.id] = cancel
        self._keep(job)  # before a thread tells how it goes
        with self._lock:
            self._waiting.append((job, doing, cancel))
        self._next()
        return job

    def _keep(self, job: AnyJob) -> None:
        with self._lock:
            self._kept[job.id] = job
            if len(self._kept) > self._most_kept:
                del self._kept[next(key for key, kept in self._kept.items() if kept.is_over)]
        self._changed(job)

    def _next(self) -> None:
        """Begin with the next one that waits, if it is its turn."""
        with self._lock:
            while self._waiting and self._waiting[0][2].is_set():
                self._waiting.popleft()
            if self._running >= self._at_a_time or not self._waiting:
                return
            under_way = self._waiting.popleft()
            self._running += 1
        # A daemon: what hangs in a database shall not keep the process from its end.
        threading.Thread(target=self._run, args=under_way, name='job', daemon=True).start()

    def _run(self, job: AnyJob, doing: Doing, cancel: threading.Event) -> None:
        try:
            ends = doing(lambda **fields: self._change(job.id, **fields), cancel)
        except Cancelled as error:
            ends = {'stage': job.CANCELLED, 'detail': str(error)}
        except RemembrError as error:
            ends = {'stage': 'failed', 'detail': str(error)}
        except Exception:
            logger.exception('what %s wanted failed', job.asker)
            ends = {'stage': 'failed', 'detail': 'this failed; the log of the server says why'}
        with self._ending:
            self._change(job.id, **ends)
        with self._lock:
            self._running -= 1
        self._next()

    def _change(self, job_id: str, **fields: Any) -> AnyJob | None:
        """Change a job, and return it; None: it is over, as when it was cancelled meanwhile."""
        with self._lock:
            job = self._kept.get(job_id)
            if job is None or job.is_over:
                return None
            job = self._kept[job_id] = replace(job, **fields)
            if job.is_over:
                del self._open[job_id]
        self._changed(job)
        return job


@dataclass(frozen=True, eq=False)
class Drive(Job):
    """A drive: checking, confirming or navigating; then arrived, sent (nobody tells more), failed or stopped.

    :param goal: as checked, in the map frame; None: it is not yet
    :param distance_m: to go; None: not known
    """

    CANCELLED: ClassVar[str] = 'failed'  # stopped is what somebody here has stopped
    goal: StampedPose | None = None
    distance_m: float | None = None


class Drives(Jobs[Drive]):
    """Sends the robot, once a person has said yes. Safe to share between threads.

    :param changed: told when the drive changes; called from any thread, at once returning
    """

    def __init__(self, backend: Backend, changed: Callable[[Drive], None]) -> None:
        def full() -> InvalidRequest:
            return InvalidRequest('a drive is under way already; stop it first')

        super().__init__(changed, full, at_a_time=1, most_waiting=0, most_kept=1)
        self._backend = backend

    @property
    def current(self) -> Drive | None:
        """The drive that is under way, or the last one."""
        return next(iter(self.all()), None)

    def begin(self, target: Memory | StampedPose, *, map_id: str, asker: str) -> Drive:
        """Have the robot drive, in a thread of its own.

        :param map_id: of a place
        :param asker: who wants it, for a person and the log
        :raises InvalidRequest: another drive is under way
        """

        def driven(tell: Callable[..., object], cancel: threading.Event) -> dict[str, Any]:
            def on_progress(now: DriveProgress) -> None:
                tell(stage=now.stage, detail=now.detail, goal=now.goal, distance_m=now.distance_m)

            arrived = self._backend.go(
                target, map_id=map_id, asker=asker, on_progress=on_progress, cancel=cancel
            )
            return {'stage': 'arrived' if arrived else 'sent', 'detail': '', 'distance_m': None}

        drive = self._start(Drive(asker, self._backend.now_ns(), 'checking'), driven)
        target_text = f'memory {target.id}' if isinstance(target, Memory) else f'{target.pose.position}'
        logger.warning('%s wants the robot to drive to %s', asker, target_text)
        return drive

    def confirm(self, yes: bool, proposal: str, *, asker: str) -> str:
        """Say yes or no to the goals that wait, and return what comes of it, for a person.

        :param proposal: the id of those that are meant; a no may leave it empty
        :raises InvalidRequest: no goal waits, or others do
        """
        came_of_it = self._backend.confirm(yes, proposal)
        logger.warning('%s said %s to the goals that waited: %s', asker, 'yes' if yes else 'no', came_of_it)
        return came_of_it

    def stop(self, *, asker: str) -> str:
        """End every drive, and return what came of it, for a person."""
        logger.warning('%s stops the robot', asker)
        with self._ending:  # what becomes of a drive is told once a stop is known to work
            under_way = dict(self._open)
            try:
                came_of_it = self._backend.stop()
            finally:  # also where that fails: the drive of this page can be ended in another way
                for cancel in under_way.values():
                    cancel.set()
            for drive_id in under_way:
                self._change(drive_id, stage='stopped', detail=f'stopped by {asker}', distance_m=None)
        return came_of_it

    def give_up(self, drive_id: str, *, asker: str) -> None:
        """End one drive, if it is under way still: whoever wanted it does not any more."""
        with suppress(InvalidRequest, KeyError):
            self.cancel(drive_id, stage='stopped', detail=f'stopped by {asker}')
            logger.warning('%s does not want its drive any more', asker)
