"""What became of objects: what appeared, moved, was missed and came back, and when the robot looked."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from remembr_ros.memory.objects.known import TRANSIENT, Interval, KnownObject, joined
from remembr_ros.timestamps import NS

VISIT_GAP_NS = 1800 * NS  # when nothing was seen for so long, what comes next is another visit


@dataclass(frozen=True, slots=True)
class ObjectChange:
    """Something that became of an object.

    :param at_ns: when that was seen first
    """

    kind: Literal['appeared', 'moved', 'missing', 'returned']
    known: KnownObject
    at_ns: int


def changes_of(known: KnownObject, since_ns: int, until_ns: int | None = None) -> list[ObjectChange]:
    """Return what became of an object in a time, oldest first; of what goes where it wants, nothing.

    :param until_ns: None: until now
    """
    if known.name in TRANSIENT:
        return []
    seen, came = known.facts.intervals, [move[1] for move in known.moves]
    found = [ObjectChange('appeared', known, seen[0][0]), *(ObjectChange('moved', known, at) for at in came)]
    for first_ns, last_ns in known.facts.absences:
        back_ns = min((start for start, _ in seen if start >= last_ns), default=None)
        found.append(ObjectChange('missing', known, first_ns))
        if back_ns is not None and not any(first_ns <= at <= back_ns for at in came):
            found.append(ObjectChange('returned', known, back_ns))
    within = [one for one in found if since_ns < one.at_ns and (until_ns is None or one.at_ns <= until_ns)]
    return sorted(within, key=lambda one: one.at_ns)


def visits_among(known: Iterable[KnownObject]) -> tuple[Interval, ...]:
    """Return from when to when the robot looked at things, oldest first."""
    times = [
        span
        for one in known
        for span in (
            *one.facts.intervals,
            *((at, at) for at in (one.facts.looked, *sum(one.facts.absences, ()))),
        )
        if span[1] not in (0, one.facts.taken)  # a person saw that it was taken
    ]
    return joined(times, VISIT_GAP_NS)
