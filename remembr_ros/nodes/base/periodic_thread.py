"""What a node does again and again beside its work, off the executor."""

import threading
import time
from collections.abc import Callable
from typing import Any


class Chore:
    """Calls a function periodically, on a thread of its own, by the steady clock.

    The thread is a daemon: a call that hangs in a library cannot keep the process from ending.

    :param work: may return the time until its next call [s]; None: the period
    :param log: a node's logger; what the function raises is logged, and the chore goes on
    :param period_s: from the end of a call to the next one [s]
    :param first_s: until the first call [s]
    """

    def __init__(
        self, name: str, work: Callable[[], float | None], log: Any, *, period_s: float, first_s: float = 0.0
    ) -> None:
        self._name = name
        self._work = work
        self._log = log
        self._period_s = period_s
        self._closed = threading.Event()
        self._since: float | None = None
        self._thread = threading.Thread(target=self._run, args=(first_s,), name=name, daemon=True)
        self._thread.start()

    @property
    def busy_s(self) -> float:
        """How long the present call has taken so far [s]; 0: there is none."""
        since = self._since
        return 0.0 if since is None else time.monotonic() - since

    def close(self, timeout_s: float) -> None:
        """Make no more calls; wait for the present one, at most so long."""
        self._closed.set()
        self._thread.join(timeout_s)

    def _run(self, wait_s: float) -> None:
        while not self._closed.wait(wait_s):
            wait_s = self._period_s
            self._since = time.monotonic()
            try:
                wait_s = self._work() or wait_s
            except Exception as error:  # noqa: BLE001  the top of a thread
                if not self._closed.is_set():
                    self._log.error(f'{self._name} failed: {type(error).__name__}: {error}')
            finally:
                self._since = None
