"""Monitors the store off the executor: reachable, size, backlog."""

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from rclpy.impl.rcutils_logger import RcutilsLogger

from remembr_ros.errors import RemembrError, StoreUnavailable
from remembr_ros.memory.keyframes.folder import RESERVE_BYTES
from remembr_ros.memory.store import MemoryStore
from remembr_ros.nodes.base.worker_pool import Chore

PERIOD_S = 2.0  # [s] between looks at what is cheap
AWAY_PERIOD_S = 0.5  # [s] the same while the store does not answer
SIZES_PERIOD_S = 30.0  # [s] between measurements of what takes a walk through files
PATIENCE_S = 2.0  # [s] a server that has not answered for so long is away until it does


@dataclass(frozen=True, slots=True)
class Reading:
    """The state of a store.

    :param away: why the database does not answer; empty: it does
    :param problem: what else does not work, though captions are acknowledged; empty: nothing
    :param memories: in the database; None: not known yet
    :param spooled: memories that wait on this machine for the server
    :param spool_bytes: that they take
    :param database_bytes: on this machine's disk; None: not known, or on a server
    :param keyframe_bytes: on this machine's disk; None: not known yet
    :param free_bytes: left on that disk; None: not known yet
    """

    away: str = ''
    problem: str = ''
    memories: int | None = None
    spooled: int = 0
    spool_bytes: int = 0
    database_bytes: int | None = None
    keyframe_bytes: int | None = None
    free_bytes: int | None = None

    @property
    def disk_full(self) -> bool:
        """Whether the disk has no room for keyframes any more, and little for captions."""
        return self.free_bytes is not None and self.free_bytes < RESERVE_BYTES


class StoreGauge:
    """Reads the state of a store, again and again, on a thread of its own.

    :param server: the store is on a server
    :param away: why it did not answer when it was opened; empty: it did
    :param log: a node's logger, told when the store goes and comes
    :param on_there: called once the store answers, at the start and whenever it is back
    """

    def __init__(
        self, store: MemoryStore, server: bool, away: str, log: RcutilsLogger, on_there: Callable[[], None]
    ) -> None:
        self._store = store
        self._server = server
        self._log = log
        self._on_there = on_there
        self._told = False
        self._sizes_at = float('-inf')
        self._reading = Reading(away=away)
        self._chore = Chore('gauge', self._read, log, period_s=PERIOD_S)

    @property
    def reading(self) -> Reading:
        """The latest reading; nothing is asked now."""
        reading = self._reading
        busy_s = self._chore.busy_s
        # A file does not go away: there a compaction, or a large deletion, takes its time.
        if self._server and not reading.away and busy_s > PATIENCE_S:
            return replace(reading, away=f'the memory has not answered for {busy_s:.0f} s')
        return reading

    def raise_if_away(self) -> None:
        """Raise StoreUnavailable if the store does not answer."""
        if away := self.reading.away:
            raise StoreUnavailable(away)

    def tell_again(self) -> None:
        """Call on_there once more, as soon as the store answers."""
        self._told = False

    def close(self, timeout_s: float) -> None:
        """End; wait for the present reading, at most so long."""
        self._chore.close(timeout_s)

    def _read(self) -> float | None:
        store, known = self._store, self._reading
        waiting, memories, away = store.waiting, known.memories, ''
        try:
            memories = store.count()
        except RemembrError as error:
            away = str(error)
        self._reading = reading = replace(
            known,
            away=away,
            problem=store.problem,
            memories=memories,
            spooled=waiting.spooled if waiting else 0,
            spool_bytes=waiting.bytes if waiting else 0,
        )
        if reading.away and not known.away:
            self._log.warning(f'the memory does not answer: {reading.away}')
        elif known.away and not reading.away:
            self._log.info('the memory answers again')
        if reading.away:
            self._told = False
        elif not self._told:
            self._told = True
            self._on_there()
        began = not known.memories and reading.memories  # else the first would seem to take no room
        if began or time.monotonic() - self._sizes_at >= SIZES_PERIOD_S:
            self._sizes_at = time.monotonic()
            self._measure()
        return AWAY_PERIOD_S if reading.away else None

    def _measure(self) -> None:
        store = self._store
        (_, keyframe_bytes), folder = store.keyframes.totals(), store.keyframes.folder
        existing: Path = next(f for f in (folder, *folder.absolute().parents) if f.exists())
        database_bytes = None
        if not self._server and not self._reading.away:
            database_bytes = store.info().database_bytes
        self._reading = replace(
            self._reading,
            database_bytes=database_bytes,
            keyframe_bytes=keyframe_bytes,
            free_bytes=shutil.disk_usage(existing).free,
        )
