"""The drive that somebody wants of the robot here: one at a time."""

import logging
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from remembr_ros.errors import InvalidRequest, RemembrError
from remembr_ros.geometry import StampedPose
from remembr_ros.memory.model.record import Memory
from remembr_ros.web.backend import Backend, DriveProgress

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Drive:
    """A drive, and how it goes.

    :param stage: checking, confirming or navigating; then arrived, sent (and nobody tells more), failed or
        stopped
    :param detail: of the stage, for a person
    :param goal: as checked, in the map frame; None: it is not yet
    :param distance_m: to go; None: not known
    :param asker: who wanted it, for a person
    """

    id: str
    asker: str
    stage: str = 'checking'
    detail: str = ''
    goal: StampedPose | None = None
    distance_m: float | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes of it."""
        return self.stage in ('arrived', 'sent', 'failed', 'stopped')


class Drives:
    """Sends the robot, once a person has said yes. Safe to share between threads.

    :param changed: told when the drive changes; called from any thread, at once returning
    """

    def __init__(self, backend: Backend, changed: Callable[[], None]) -> None:
        self._backend = backend
        self._changed = changed
        self._lock = threading.Lock()
        self._stopping = threading.Lock()  # what becomes of a drive is told once a stop is known to work
        self._cancel = threading.Event()
        self._current: Drive | None = None

    @property
    def current(self) -> Drive | None:
        """The drive that is under way, or the last one."""
        return self._current

    def begin(self, target: Memory | StampedPose, *, map_id: str, asker: str) -> Drive:
        """Have the robot drive, in a thread of its own.

        :param map_id: of a place
        :param asker: who wants it, for a person and the log
        :raises InvalidRequest: another drive is under way
        """
        drive = Drive(uuid.uuid4().hex, asker)
        cancel = threading.Event()
        with self._lock:
            if self._current is not None and not self._current.is_over:
                raise InvalidRequest('a drive is under way already; stop it first')
            self._current, self._cancel = drive, cancel
        where = f'memory {target.id}' if isinstance(target, Memory) else f'{target.pose.position}'
        logger.warning('%s wants the robot to drive to %s', asker, where)
        self._changed()
        threading.Thread(
            target=self._run, args=[drive.id, target, map_id, asker, cancel], name='drive', daemon=True
        ).start()
        return drive

    def confirm(self, yes: bool, proposal: str, *, asker: str) -> str:
        """Say yes or no to the goals that wait, and return what comes of it, for a person.

        :param proposal: the id of those that are meant; a no may leave it empty
        :raises InvalidRequest: no goal waits, or others do
        """
        told = self._backend.confirm(yes, proposal)
        logger.warning('%s said %s to the goals that waited: %s', asker, 'yes' if yes else 'no', told)
        return told

    def stop(self, *, asker: str) -> str:
        """End every drive, and return what came of it, for a person."""
        logger.warning('%s stops the robot', asker)
        with self._stopping:
            with self._lock:
                drive, cancel = self._current, self._cancel
            try:
                told = self._backend.stop()
            finally:  # also where that fails: the drive of this page can be ended in another way
                cancel.set()
            if drive is not None:
                self._stopped(drive.id, asker)
        return told

    def cancel(self, drive_id: str, *, asker: str) -> None:
        """End one drive, if it is under way still: whoever wanted it does not any more."""
        with self._lock:
            if self._current is None or self._current.id != drive_id or self._current.is_over:
                return
            self._cancel.set()
        logger.warning('%s does not want its drive any more', asker)
        self._stopped(drive_id, asker)

    def close(self) -> None:
        """Cancel the drive that is under way."""
        self._cancel.set()

    def _run(
        self,
        drive_id: str,
        target: Memory | StampedPose,
        map_id: str,
        asker: str,
        cancel: threading.Event,
    ) -> None:
        def tell(progress: DriveProgress) -> None:
            self._change(
                drive_id,
                stage=progress.stage,
                detail=progress.detail,
                goal=progress.goal,
                distance_m=progress.distance_m,
            )

        try:
            there = self._backend.go(target, map_id=map_id, asker=asker, on_progress=tell, cancel=cancel)
            stage, detail = 'arrived' if there else 'sent', ''
        except RemembrError as error:
            logger.warning('the drive of %s ended: %s', asker, error)
            stage, detail = 'failed', str(error)
        except Exception:
            logger.exception('the drive of %s failed', asker)
            stage, detail = 'failed', 'the drive failed; the log of the server says why'
        with self._stopping:
            self._change(drive_id, stage=stage, detail=detail, distance_m=None)

    def _stopped(self, drive_id: str, asker: str) -> None:
        self._change(drive_id, stage='stopped', detail=f'stopped by {asker}', distance_m=None)

    def _change(self, drive_id: str, **fields: Any) -> None:
        with self._lock:
            if self._current is None or self._current.id != drive_id or self._current.is_over:
                return
            self._current = replace(self._current, **fields)
        self._changed()
