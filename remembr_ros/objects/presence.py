"""Whether objects are still at their places, by rays through these (Khronos, RSS 2024)."""

import math

import numpy as np
from numpy.typing import NDArray

from remembr_ros.memory.objects.known import Interval, fewer
from remembr_ros.objects.lifting import NEAREST_M, DepthView

HIDDEN, FILLED, CLEAR = 0, 1, 2
"""What a look at its place says: out of sight, or something is in front; something is there; nothing is."""

CORE = 0.25  # of a box's sides: rays go through its middle and the corners of that part
SHOWN, RAYS = 4, 0.7  # so many rays have to go past what is in front, and such a share of these to agree
PASSED = 0.6  # of its way through the box, a ray has to go on for: things do not fill their boxes
DEPTH_STD = (0.01, 0.0025)  # [m], and per m2: of stereo and structured light
MISSING_DOUBT = 8.0  # from which on a thing is missing
MOST_DOUBT = 14.0  # when it is seen again, however long it was missing
SIGHT_WORTH = 7.0  # doubt that a sight ends: it may be of another thing
LOOK_WORTH = 2.5  # doubt of a look at an empty place, at most: several are needed
LOOK_EVERY_NS = 400_000_000  # looks nearer to each other are one

_CORNERS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)] + [(0, 0, 0)]) * CORE / 2.0

_Numbers = NDArray[np.float64]


class Presence:
    """Whether one thing is still where it was seen last: what looks at its place come to.

    What a look is worth is learned: of what a detector often overlooks, or what rays pass through while it is
    there, little.

    :ivar looked_ns: when its place was last in sight
    :ivar absences: in which its place was empty, first and last look [ns] at that, oldest first
    """

    def __init__(self, seen_ns: int = 0, looked_ns: int = 0, absences: tuple[Interval, ...] = ()) -> None:
        self.looked_ns, self.absences = looked_ns, absences
        self._seen_ns = seen_ns
        # Looks that told of nothing in the end are worth as much when the recording is read again.
        self._known_ns = max(seen_ns, *(last for _, last in absences), 0)
        self._doubt = MOST_DOUBT if self.missing else 0.0
        self._emptied = absences[-1] if self.missing else (0, 0)
        """First and last look at its empty place since it was seen."""
        self._looks = np.array([5.0, 3.5, 4.0, 1.0])
        """Looks at it, of these seen, looks while it was seen, of these clear: with what is usual."""

    @property
    def missing(self) -> bool:
        """Whether it is not where it was seen last."""
        return bool(self.absences) and self.absences[-1][1] > self._seen_ns

    @property
    def doubt(self) -> float:
        """Whether it is still there: from 0, no look since it was seen speaks against it, to 1, missing."""
        return min(self._doubt / MISSING_DOUBT, 1.0) if self.emptied_ns else 0.0

    @property
    def emptied_ns(self) -> int:
        """When its place was found empty first, since it was seen last; 0: it was not."""
        return self._emptied[0]

    def see(self, stamp_ns: int) -> None:
        """Take that it was seen: it is not missing. What was so for long, is so again after fewer looks."""
        self._seen_ns = max(self._seen_ns, stamp_ns)
        if not self.missing:
            self._doubt = max(min(self._doubt, MOST_DOUBT) - SIGHT_WORTH, 0.0)
            self._emptied = (0, 0)

    def look(self, stamp_ns: int, look: int, *, seen: bool) -> bool:
        """Take what rays through its place say; tell whether that was news.

        :param look: HIDDEN, FILLED or CLEAR
        :param seen: it was seen in that frame
        """
        if look == HIDDEN or stamp_ns <= self._known_ns:
            return False
        self.looked_ns = max(self.looked_ns, stamp_ns)
        looks, hits, rays, passed = self._looks
        if seen or self._doubt == 0.0:
            self._looks += np.array([1.0, seen, seen, seen and look == CLEAR])
        first_ns, last_ns = self._emptied
        if not seen and look == CLEAR and stamp_ns - last_ns >= LOOK_EVERY_NS:
            self._emptied = (first_ns or stamp_ns, stamp_ns)
            self._doubt += min(LOOK_WORTH, -math.log(passed / rays * max(1.0 - hits / looks, 0.05)))
            if self._doubt >= MISSING_DOUBT:
                before = self.absences[:-1] if self.missing else self.absences
                self.absences = fewer((*before, self._emptied))
        return True

    def end(self, stamp_ns: int) -> None:
        """Take that from then on it was elsewhere: its old place is nobody's."""
        self.absences = tuple((a, min(b, stamp_ns)) for a, b in self.absences if a < stamp_ns)
        self._doubt = 0.0


def looks_at(view: DepthView, low: _Numbers, high: _Numbers) -> NDArray[np.int8]:
    """Return what is at the places of boxes: HIDDEN, FILLED or CLEAR, shape (n,).

    :param low: least coordinates [m] in the map, shape (n, 3); as high
    """
    points, eye = (low + high)[:, None] / 2.0 + (high - low)[:, None] * _CORNERS, np.array(view.pose[0])
    measured, z = (values.reshape(points.shape[:2]) for values in view.measured(points.reshape(-1, 3)))
    # Where each ray enters its box and leaves it, along the optical axis.
    rays = (points - eye) / np.maximum(z, NEAREST_M)[:, :, None]
    rays = np.where(np.abs(rays) < 1e-9, 1e-9, rays)
    ends = [(edge[:, None] - eye) / rays for edge in (low, high)]
    enters, leaves = np.minimum(*ends).max(axis=2), np.maximum(*ends).min(axis=2)
    margin = 3.0 * (DEPTH_STD[0] + DEPTH_STD[1] * enters**2)
    sound = measured > NEAREST_M
    clear = sound & (measured > enters + np.maximum(PASSED * (leaves - enters), margin))
    shown = (sound & (measured > enters - margin)).sum(axis=1)
    hidden = (shown < SHOWN) | np.isnan(measured).any(axis=1)
    free = clear.sum(axis=1) >= RAYS * shown
    return np.where(hidden, HIDDEN, np.where(free, CLEAR, FILLED)).astype(np.int8)
