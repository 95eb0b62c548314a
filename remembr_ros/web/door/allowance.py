"""How often somebody may do something, in memory that does not grow with who tries."""

import time
from collections import OrderedDict
from collections.abc import Callable

MOST_KEYS = 4096  # who is remembered at a time


class Allowance:
    """So much a minute for each, and as much at once after a pause (a token bucket).

    :param clock: [s], monotonic
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = float(per_minute)
        self._per_s = per_minute / 60.0
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """What each has left, and when that was; by when they took last."""

    def wait_s(self, who: str) -> float:
        """Return for how long nothing is left; 0: something is."""
        return max(0.0, (1.0 - self._left_now(who)) / self._per_s)

    def take(self, who: str) -> float:
        """Take one, if one is left; return for how long none is, 0: it was taken."""
        left = self._left_now(who)
        if left < 1.0:
            return (1.0 - left) / self._per_s
        self._left[who] = (left - 1.0, self._clock())
        self._left.move_to_end(who)
        if len(self._left) > MOST_KEYS:
            self._left.popitem(last=False)
        return 0.0

    def __contains__(self, who: str) -> bool:
        """Tell whether somebody has taken some of late."""
        return self._left_now(who) < self._most

    def _left_now(self, who: str) -> float:
        left, at = self._left.get(who, (self._most, 0.0))
        return min(self._most, left + (self._clock() - at) * self._per_s)
