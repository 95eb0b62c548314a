"""A rate of calls that several clients of a language model keep together."""

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from remembr_ros.agent.chat.client import Call, ChatClient, Reply
from remembr_ros.errors import Cancelled, ChatUnavailable, InvalidRequest


class Pacer:
    """Hands out turns at even intervals, in the order of asking; share it between threads and clients.

    :param per_minute: turns at most; a turn that nobody takes is lost, so that there are no bursts
    :param clock: seconds that never go back
    :param wait: returns after that many seconds; used where nothing can cancel the wait
    :raises InvalidRequest: the pace is no positive number
    """

    def __init__(
        self,
        per_minute: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        if not (per_minute > 0.0 and math.isfinite(per_minute)):
            raise InvalidRequest(f'a pace of {per_minute} calls per minute makes no sense; it is above 0')
        self._interval_s = 60.0 / per_minute
        self._clock = clock
        self._wait = wait
        self._lock = threading.Lock()
        self._next = -math.inf
        """When the next turn is free."""

    @property
    def per_minute(self) -> float:
        return 60.0 / self._interval_s

    def take_turn(self, timeout_s: float, cancel: threading.Event | None = None) -> float | None:
        """Wait for a turn.

        :param cancel: ends the wait; the turn is lost
        :raises Cancelled: cancel was set
        :return: how long that took [s]; None at once if no turn comes within the time, and then none is taken
        """
        with self._lock:
            now = self._clock()
            turn = max(now, self._next)
            if turn - now >= timeout_s:
                return None
            self._next = turn + self._interval_s
        if turn > now and cancel is None:
            self._wait(turn - now)
        elif cancel is not None and cancel.wait(turn - now):
            raise Cancelled('the question was cancelled')
        return turn - now


@dataclass
class PacedChat:
    """Waits for its turn, then asks. The wait is part of the time that a call may take.

    :param chat: does the work
    :param pacer: shared by all that ask the same server
    """

    chat: ChatClient
    pacer: Pacer
    waited_s: float = field(default=0.0, init=False)
    """For turns, in all [s]; the rest of a call is the model's."""
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    @property
    def model(self) -> str:
        return self.chat.model

    def parameters_b(self, timeout_s: float) -> float:
        return self.chat.parameters_b(timeout_s)

    def complete(self, call: Call) -> Reply:
        waited = self.pacer.take_turn(call.timeout_s, call.cancel)
        if waited is None:
            raise ChatUnavailable(
                f'the pace of {self.pacer.per_minute:g} calls per minute leaves no turn within '
                f'{call.timeout_s:.0f} s; allow more time per call, fewer questions at once, or a faster pace'
            )
        with self._lock:
            self.waited_s += waited
        return self.chat.complete(replace(call, timeout_s=call.timeout_s - waited))
