"""Stops a process on SIGINT or SIGTERM, once, whether it works, starts or ends."""

import atexit
import contextlib
import faulthandler
import math
import os
import select
import signal
import time
from collections.abc import Callable
from functools import partial


class Stop:
    """Whether the process shall end. One thread waits for it; any may say it.

    No threading.Event: the handler of a second signal would wait for the lock of the first one's. And a pipe,
    for the kernel may hand a signal to another thread than the main one, which alone runs handlers: only what
    is written to a file wakes it.
    """

    def __init__(self) -> None:
        self._is_set = False
        self._reading, self._writing = os.pipe()
        for end in (self._reading, self._writing):
            os.set_blocking(end, False)

    def set(self) -> None:
        """Say so; also from a signal's handler, whatever it interrupts."""
        self._is_set = True
        with contextlib.suppress(BlockingIOError):  # full: it wakes all the same
            os.write(self._writing, b'\0')

    def is_set(self) -> bool:
        """Tell whether it was said."""
        return self._is_set

    def wait(self, timeout_s: float = math.inf) -> bool:
        """Wait until it is said; tell whether it was."""
        until = time.monotonic() + timeout_s
        while not self._is_set and (left := until - time.monotonic()) > 0.0:
            woken, _, _ = select.select([self._reading], [], [], None if math.isinf(left) else left)
            if woken and not self._is_set:  # by a signal: its handler runs now
                os.read(self._reading, 4096)
        return self._is_set

    def wake_on_signals(self) -> None:
        """Have every signal that is handled wake who waits, whichever thread gets it."""
        signal.set_wakeup_fd(self._writing, warn_on_full_buffer=False)


def stop_on_signals() -> Stop:
    """Return what SIGINT and SIGTERM set; further ones change nothing, SIGQUIT and SIGKILL end at once.

    rclpy's own handlers would shut the context down at once, and the last captions could not be published.
    """
    stop = Stop()
    _handle(stop.set)
    stop.wake_on_signals()
    ignore_signals_at_exit()
    return stop


def end_at_once_on_signals() -> None:
    """Have SIGINT and SIGTERM end a process that is starting, with 0: there is nothing to save or to say."""
    _handle(partial(os._exit, 0))


def _handle(done: Callable[[], object]) -> None:
    """Have SIGINT and SIGTERM do something, also those that came while the launch file had them blocked."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: done())
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})


def sigterm_file() -> int:
    """Return the descriptor of a file that can be read from once SIGTERM came; Python hears nothing of it.

    A handler in Python wakes all who wait for signals, and so `launch`, which then ends at once and leaves
    its processes behind. Of handlers in C Python has those of faulthandler.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    faulthandler.register(signal.SIGTERM, writing, all_threads=False)
    return reading


def ignore_signals_at_exit() -> None:
    """Have further signals ignored while the interpreter ends.

    It puts the system's handlers back, so that the second Ctrl-C of two would kill a process that is done.
    """
    atexit.register(_ignore_signals)


def _ignore_signals() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
