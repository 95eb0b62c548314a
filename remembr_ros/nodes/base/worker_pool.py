"""Threads for long work and for periodic work, so that the executor stays free."""

import contextlib
import queue
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sized
from functools import partial
from typing import Any, Generic, TypeVar

from rclpy.exceptions import InvalidHandle
from rclpy.impl.rcutils_logger import RcutilsLogger
from rclpy.node import Node
from rclpy.task import Future

Item = TypeVar('Item')


class WorkerPool:
    """A fixed number of threads, started when they are needed.

    They are daemons: a call that hangs in a library cannot keep the process from ending.

    :param node: its executor is woken when a call ends
    """

    def __init__(self, node: Node, threads: int, name: str) -> None:
        self._node = node
        self._name = name
        self._size = threads
        self._calls: queue.SimpleQueue[tuple[Callable[[], Any], Future] | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []

    def call(self, function: Callable[..., Any], *args: Any) -> Future:
        """Start function(*args) on a thread and return what a callback can await."""
        future = Future()
        self._calls.put((partial(function, *args), future))
        if len(self._threads) < self._size:
            thread = threading.Thread(
                target=self._work, name=f'{self._name}-{len(self._threads)}', daemon=True
            )
            self._threads.append(thread)
            thread.start()
        return future

    def close(self, timeout_s: float = 0.0) -> None:
        """Take no more calls and wait for the threads, at most so long in all."""
        for _ in self._threads:
            self._calls.put(None)
        deadline = time.monotonic() + timeout_s
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        self._threads.clear()

    def _work(self) -> None:
        while (item := self._calls.get()) is not None:
            work, future = item
            try:
                settle(self._node, future, work())
            except Exception as error:  # noqa: BLE001  handed on to whoever awaits
                settle(self._node, future, error=error)


def ended_in_time(work: Callable[[], object], timeout_s: float, name: str) -> bool:
    """Do work on a thread that is not waited for any longer; tell whether it ended in time."""
    thread = threading.Thread(target=work, name=name, daemon=True)
    thread.start()
    thread.join(timeout_s)
    return not thread.is_alive()


def settle(node: Node, future: Future, result: Any = None, *, error: Exception | None = None) -> None:
    """Complete a future that a callback awaits, unless it is complete, and wake the node's executor.

    May be called from any thread. A task that awaits is looked at only when its executor wakes.
    """
    if not future.done():
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)
    executor = node.executor
    if executor is not None:
        with contextlib.suppress(InvalidHandle):  # shut down in the meantime
            executor.wake()


class WorkThread(ABC, Generic[Item]):
    """Works off a bounded queue, some items at a time, on a thread of its own.

    The thread is a daemon: work that hangs in a library cannot keep the process from ending.

    :param queue: what waits; a subclass puts into it, and never more than it has room for
    """

    def __init__(self, name: str, queue: Sized) -> None:
        self._queue = queue
        self._at: list[Item] = []
        self._changed = threading.Condition()
        self._closed = False
        self.latency_s = 0.0
        """How long the last items took [s]."""
        self.problem = ''
        """What went wrong last; empty: nothing since."""
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @abstractmethod
    def _take(self) -> list[Item]:
        """Take the next items from the queue; called while the queue is locked."""

    @abstractmethod
    def _work(self, items: list[Item]) -> None:
        """Do what is to be done with these items; those that stay in self._at are not done."""

    @property
    def waiting(self) -> int:
        """How many items are not done yet."""
        with self._changed:
            return len(self._queue) + len(self._at)

    def drain(self, timeout_s: float | None) -> bool:
        """Wait until every item is done; tell whether that is so."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._queue and not self._at, timeout_s)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._queue or self._closed)
                if self._closed:
                    return
                items = self._at = self._take()
            self._work(list(items))
            with self._changed:
                self._changed.notify_all()


class Chore:
    """Calls a function periodically, on a thread of its own, by the steady clock.

    The thread is a daemon: a call that hangs in a library cannot keep the process from ending.

    :param work: may return the time until its next call [s]; None: the period
    :param log: a node's logger; what the function raises is logged, and the chore goes on
    :param period_s: from the end of a call to the next one [s]
    :param first_s: until the first call [s]
    """

    def __init__(
        self,
        name: str,
        work: Callable[[], float | None],
        log: RcutilsLogger,
        *,
        period_s: float,
        first_s: float = 0.0,
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
