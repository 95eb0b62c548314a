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


class HeaderClock:
    """Sets the stamps of messages right. Used by one thread at a time.

    What counts from zero is a simulation's time or a clock that was never set. What is of other years is left
    alone where all is of these years, as in a recording that was played and recorded again.

    :param simulated: whether there is simulated time
    :param warn: is told once for each topic
    :param remedy: what to do where time is simulated
    """

    def __init__(self, *, simulated: bool, warn: Callable[[str], object], remedy: str) -> None:
        self._simulated, self._warn = simulated, warn
        self._remedy = f'set the clock of the camera or its computer (NTP, PTP), or {remedy}'
        self._ahead_ns: dict[str, int] = {}
        self._is_set = False

    def set_right(self, topic: str, message: Any, arrival_ns: int) -> None:
        """Change the header's stamp, or those of all transforms, if it is years away from the arrival.

        Stamps keep their distances: the one that was the shortest time on its way tells how far all are off.

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
                ahead_ns = self._ahead(topic, stamp_ns, arrival_ns)
                stamp.sec, stamp.nanosec = divmod(stamp_ns + ahead_ns, NS)

    def _ahead(self, topic: str, stamp_ns: int, arrival_ns: int) -> int:
        ahead_ns = self._ahead_ns.get(topic)
        if ahead_ns is None:
            self._warn(
                f'{topic} has stamps of {format_iso(stamp_ns)}, but they came at {format_iso(arrival_ns)}: a '
                f'clock that was never set. They count as of when they came; {self._remedy}'
            )
        if ahead_ns is None or not 0 <= arrival_ns - (stamp_ns + ahead_ns) <= LATEST_ARRIVAL_NS:
            ahead_ns = self._ahead_ns[topic] = arrival_ns - stamp_ns
        return ahead_ns
