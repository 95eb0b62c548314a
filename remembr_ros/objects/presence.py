"""Whether things are still there, by rays through their places (Khronos, RSS 2024), and where others went.

What is missing is found again by label, size and look, never by its label alone.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from remembr_ros.objects.assignment import LOOK, NEW_COST, alike, cheapest
from remembr_ros.objects.lifting import NEAREST_M, DepthView
from remembr_ros.objects.track import CLEAR, FILLED, HIDDEN, ObjectTrack
from remembr_ros.timestamps import NS

CORE = 0.25  # of a box's sides: rays go through its middle and the corners of that part
SHOWN, RAYS = 4, 0.7  # so many rays have to go past what is in front, and such a share of these to agree
PASSED = 0.6  # of its way through the box, a ray has to go on for: things do not fill their boxes
DEPTH_STD = (0.01, 0.0025)  # [m], and per m2: of stereo and structured light
SAME_LABEL = 0.3  # least share of labels that two have in common which are one
LEAST_LOOK, MOST_LOG_RATIO = 0.8, 0.5  # least cosine, and most logarithm of their extents
AFTER = 0.1  # of the time in which it was moved: what came before that was there before
DAY_NS = 24 * 3600 * NS

_CORNERS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)] + [(0, 0, 0)]) * CORE / 2.0

_Numbers = NDArray[np.float64]


def looks_at(view: DepthView, low: _Numbers, high: _Numbers) -> NDArray[np.int8]:
    """Return what is at the places of boxes: HIDDEN, FILLED or CLEAR, shape (n,).

    :param low: least coordinates [m] in the map, shape (n, 3); as high
    """
    points, eye = (low + high)[:, None] / 2.0 + (high - low)[:, None] * _CORNERS, np.array(view.pose[0])
    measured, z = (of.reshape(points.shape[:2]) for of in view.measured(points.reshape(-1, 3)))
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


def found_again(tracks: Sequence[ObjectTrack]) -> list[tuple[ObjectTrack, ObjectTrack]]:
    """Return what is missing, each with what it became: one that came after it was seen last."""
    missing = [track for track in tracks if track.confirmed and track.missing]
    since_ns = min((track.surely_seen_ns for track in missing), default=0)
    new = [track for track in tracks if track.confirmed and not track.missing and track.span[0] > since_ns]
    if not missing or not new:
        return []
    cost = np.array([[_cost(old, track) for track in new] for old in missing])
    return [(missing[i], new[j]) for i, j in cheapest(cost)]


def _cost(old: ObjectTrack, new: ObjectTrack) -> float:
    """Return how unlikely it is that a missing thing was found elsewhere, as the cost of a pair.

    That something alike came right after it was seen last, long before its place was found empty, is no sign
    of it: they are two. The sooner the likelier: what is missing since yesterday was nowhere to be seen.
    """
    seen_ns, came_ns = old.surely_seen_ns, new.span[0]
    if (
        came_ns - seen_ns < AFTER * max(old.absences[-1][0] - seen_ns, 0)
        or old.beside[new.id]
        or new.beside[old.id]
    ):
        return NEW_COST
    share, look = old.share(new.labels), alike(old.appearance, new.appearance)
    if share < SAME_LABEL or look < LEAST_LOOK or abs(math.log(old.extent / new.extent)) > MOST_LOG_RATIO:
        return NEW_COST
    return LOOK * (1.0 - look) - math.log(share) + math.log(1.0 + (came_ns - seen_ns) / DAY_NS)
