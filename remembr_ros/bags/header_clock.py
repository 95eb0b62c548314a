"""Header stamps of clocks that were never set, on the clock of what receives or records them.

Cameras, and computers that keep no time while they are off, count from their start, or from the day on which
they were made.
"""

from collections.abc import Callable
from typing import Any

from remembr_ros.timestamps import EARLIEST_NS, LONGEST_SIMULATION_NS, NS, format_iso, is_stamp

FAR_NS = 366 * 86_400 * NS
"""A stamp that is further from the time of arrival is of another clock."""

LATEST_ARRIVAL_NS = 10 * NS
"""No message is longer on its way: the clock of its stamps has started anew."""

ONE_CLOCK_NS = NS
"""Topics whose stamps are off by the same, but for this, have one clock."""


class HeaderClock:
    """Sets the stamps of messages right. Used by one thread at a time.

    What counts from zero is a simulation's time or a clock that was never set. What is of other years is left
    alone where all is of these years, as in a recording that was played and recorded again.

    :param simulated: whether there is simulated time
    :param warn: is told of each clock, by its first topic
    :param remedy: what to do where time is simulated
    """

    def __init__(self, *, simulated: bool, warn: Callable[[str], object], remedy: str) -> None:
        self._simulated, self._warn = simulated, warn
        self._remedy = f'set the clock of the camera or its computer (NTP, PTP), or {remedy}'
        self._off_ns: list[int] = []
        self._clocks: dict[str, int] = {}  # the index of a topic's clock among these
        self._is_set = False

    def set_right(self, topic: str, message: Any, arrival_ns: int) -> None:
        """Change the header's stamp, or those of all transforms, if it is years away from the arrival.

        Stamps keep their distances, also those of topics with the same clock.

        :param arrival_ns: when the message was received or recorded
        """
        if arrival_ns < EARLIEST_NS:  # simulated, or not known
            return
        header = getattr(message, 'header', None)
        parts = getattr(message, 'transforms', ()) if header is None else (message,)
        for part in parts:
            stamp = part.header.stamp
            stamp_ns = int(stamp.sec) * NS + int(stamp.nanosec)
            if not is_stamp(stamp_ns):
                continue
            if abs(stamp_ns - arrival_ns) <= FAR_NS:
                self._is_set = True
            elif not self._simulated if stamp_ns <= LONGEST_SIMULATION_NS else self._is_set:
                right_ns = stamp_ns + self._off(topic, stamp_ns, arrival_ns)
                stamp.sec, stamp.nanosec = divmod(right_ns, NS)

    def _off(self, topic: str, stamp_ns: int, arrival_ns: int) -> int:
        """Return how far a topic's clock is off, as that message says which came the fastest."""
        off_ns, clock = arrival_ns - stamp_ns, self._clocks.get(topic)
        if clock is None or not -ONE_CLOCK_NS <= off_ns - self._off_ns[clock] <= LATEST_ARRIVAL_NS:
            near = (i for i, known_ns in enumerate(self._off_ns) if abs(off_ns - known_ns) <= ONE_CLOCK_NS)
            at = next(near, len(self._off_ns))
            if at == len(self._off_ns):
                self._off_ns.append(off_ns)
                if clock is None:  # else it has started anew
                    self._warn(
                        f'{topic} has stamps of {format_iso(stamp_ns)}, but they came at '
                        f'{format_iso(arrival_ns)}: a clock that was never set. They count as of when they '
                        f'came, and so do others of that clock; {self._remedy}'
                    )
            clock = self._clocks[topic] = at
        self._off_ns[clock] = min(self._off_ns[clock], off_ns)
        return self._off_ns[clock]
