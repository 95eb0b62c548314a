"""The drive that was requested of the robot: one at a time."""

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import StampedPose
from remembr_ros.memory.model.record import Memory
from remembr_ros.web.backend import Backend, DriveProgress
from remembr_ros.web.jobs import Job, Jobs

logger = logging.getLogger(__name__)


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

            there = self._backend.go(
                target, map_id=map_id, asker=asker, on_progress=on_progress, cancel=cancel
            )
            return {'stage': 'arrived' if there else 'sent', 'detail': '', 'distance_m': None}

        drive = self._start(Drive(asker, self._backend.now_ns(), 'checking'), driven)
        where = f'memory {target.id}' if isinstance(target, Memory) else f'{target.pose.position}'
        logger.warning('%s wants the robot to drive to %s', asker, where)
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
