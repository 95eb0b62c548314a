"""Stays: how long something was in sight without a break, and how many times it was."""

from collections.abc import Sequence

from remembr_ros.memory.model.recall import Hit
from remembr_ros.timestamps import NS

GAP_NS = 30 * NS
"""A thing out of sight for longer than this was left, and seen again is seen another time."""


def stays(hits: Sequence[Hit]) -> list[list[Hit]]:
    """Return the hits in groups of one stay each, all in the order of time."""
    found: list[list[Hit]] = []
    end_ns = 0
    for hit in sorted(hits, key=lambda hit: (hit.memory.start_ns, hit.memory.id)):
        if found and hit.memory.start_ns - end_ns <= GAP_NS:
            found[-1].append(hit)
        else:
            found.append([hit])
            end_ns = 0
        end_ns = max(end_ns, hit.memory.end_ns)
    return found


def stay_of(one: Hit, hits: Sequence[Hit]) -> list[Hit]:
    """Return the stay that a hit belongs to, in the order of time.

    :param hits: that one among them
    """
    return next(stay for stay in stays(hits) if any(hit.memory.id == one.memory.id for hit in stay))


def span(stay: Sequence[Hit]) -> tuple[int, int]:
    """Return when a stay began and ended, nanoseconds since the Unix epoch."""
    return min(hit.memory.start_ns for hit in stay), max(hit.memory.end_ns for hit in stay)
