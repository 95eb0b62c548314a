"""Which thing that is missing was found elsewhere: by label, size and look, never by label alone."""

import math
from collections.abc import Sequence

import numpy as np

from remembr_ros.objects.assignment import LOOK, NEW_COST, alike, cheapest
from remembr_ros.objects.track import ObjectTrack
from remembr_ros.timestamps import NS

SAME_LABEL = 0.3  # least share of labels that two have in common which are one
LEAST_LOOK, MOST_LOG_RATIO = 0.8, 0.5  # least cosine, and most logarithm of their extents
AFTER = 0.1  # of the time in which it was moved: what came before that was there before
DAY_NS = 24 * 3600 * NS
WAIT_NS = 900 * NS  # for a look at others that may have been moved


def found_again(tracks: Sequence[ObjectTrack], now_ns: int) -> list[tuple[ObjectTrack, ObjectTrack]]:
    """Return what is missing, each with what it became: one that came after it was seen last."""
    missing = [track for track in tracks if track.confirmed and track.missing]
    since_ns = min((track.span[1] for track in missing), default=0)
    new = [track for track in tracks if track.confirmed and not track.missing and track.span[0] > since_ns]
    if not missing or not new:
        return []
    cost = np.array([[_cost(old, track) for track in new] for old in missing])
    pairs = ((missing[i], new[j]) for i, j in cheapest(cost))
    return [pair for pair in pairs if not _may_be_another(*pair, tracks, now_ns)]


def _cost(old: ObjectTrack, new: ObjectTrack) -> float:
    """Return how unlikely it is that a missing thing was found elsewhere, as the cost of a pair.

    That something alike came right after it was seen last, long before its place was found empty, is no sign
    of it: they are two. The sooner the likelier: what is missing since yesterday was nowhere to be seen.
    """
    seen_ns, came_ns = old.span[1], new.span[0]
    if (
        came_ns - seen_ns < AFTER * (old.absences[-1][0] - seen_ns)
        or old.beside[new.id]
        or new.beside[old.id]
    ):
        return NEW_COST
    return _unlike(old, new) + math.log(1.0 + (came_ns - seen_ns) / DAY_NS)


def _unlike(old: ObjectTrack, new: ObjectTrack) -> float:
    share, look = old.share(new.labels), alike(old.appearance, new.appearance)
    if share < SAME_LABEL or look < LEAST_LOOK or abs(math.log(old.extent / new.extent)) > MOST_LOG_RATIO:
        return NEW_COST
    return LOOK * (1.0 - look) - math.log(share)


def _may_be_another(old: ObjectTrack, new: ObjectTrack, tracks: Sequence[ObjectTrack], now_ns: int) -> bool:
    """Tell whether to wait: another one, seen when the old one was missing already, may be there now.

    Nobody has looked for that one since.
    """
    came_ns = new.span[0]
    return now_ns - came_ns < WAIT_NS and any(
        track.confirmed
        and not track.missing
        and old.absences[-1][0] < track.span[1] < came_ns - AFTER * (came_ns - old.span[1])
        and _unlike(track, new) < NEW_COST
        for track in tracks
    )
