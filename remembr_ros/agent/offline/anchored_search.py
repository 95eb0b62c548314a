"""Recall in two steps: first the things that a question names as marks, then what lies before, near, between.

A mark is recalled by the rules for any thing. What it leaves of time and space is where the asked thing is
looked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from remembr_ros.agent.model.answer import Question
from remembr_ros.agent.model.grounding import Choice, choose
from remembr_ros.agent.model.same_place import SamePlace, by_place
from remembr_ros.agent.model.stays import span, stay_of, stays
from remembr_ros.agent.offline.relation import Relation, Tie
from remembr_ros.agent.offline.request import Request, parse_request
from remembr_ros.agent.offline.sighting import STAY_MARGIN, as_good, sights
from remembr_ros.geometry import Point, distance
from remembr_ros.memory.model.recall import Hit, Recall, Scope

NEAR_M = 10.0
"""What is seen from this near to where a mark is seen from is near it."""

DETOUR_M = 10.0
"""What lies on the way makes it at most this much longer than the straight line."""

MARKS = 5
"""Places of one mark that are looked at."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A thing by which another is looked for.

    :param request: the mark, as if asked for alone
    :param hits: memories that show it, best first; empty: not seen
    """

    request: Request
    hits: Sequence[Hit]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of time and space in which something is looked for.

    :param scope: admits it
    :param route: the way from the first to the second of these points is meant, with a detour
    """

    scope: Scope
    route: tuple[Point, Point] | None = None

    def admits(self, hit: Hit) -> bool:
        """Tell whether a memory of the scope lies on the route."""
        if self.route is None:
            return True
        if hit.memory.pose is None:
            return False
        start, end = self.route
        here = hit.memory.pose.position
        return distance(start, here) + distance(here, end) <= distance(start, end) + DETOUR_M


def marks_of(relation: Relation, question: Question, recall: Recall, scope: Scope) -> list[Mark]:
    """Return the things that a relation names beside the one asked about."""
    found = []
    for text in filter(None, (relation.second, relation.third)):
        wanted = parse_request(f'Where is {text}?', question.now_ns, question.zone)
        found.append(Mark(wanted, sights(wanted, recall, scope) if wanted.target else []))
    return found


# One return per tie.
def parts_of(  # noqa: PLR0911
    tie: Tie, marks: Sequence[Mark], question: Question, scope: Scope
) -> list[Part]:
    """Return where and when to look.

    :param marks: all of them seen
    """
    first = marks[0]
    if tie is Tie.BETWEEN:
        pair = passage(*marks)
        return _between(scope, pair[0].memory.end_ns + 1, pair[1].memory.start_ns - 1) if pair else []
    if tie is Tie.NEAR:
        return [
            Part(replace(scope, near=hit.memory.pose.position, radius_m=NEAR_M))
            for hit in _places(first, question.same_place)
            if hit.memory.pose is not None
        ]
    if tie is Tie.ON_THE_WAY:
        placed = [hit for hit in as_good(first.hits) if hit.memory.pose is not None] or first.hits
        goal = choose(placed, Choice.NEAREST, question)
        if question.here is None or goal.memory.pose is None:
            return []
        return [_way(scope, question.here.position, goal.memory.pose.position)]
    if tie is Tie.WHILE:
        spans = [span(stay) for stay in stays(as_good(first.hits, STAY_MARGIN))]
        return [part for times in spans[-MARKS:] for part in _between(scope, *times)]
    choice = Choice.LATEST if first.request.choice is Choice.CITED_FIRST else first.request.choice
    start_ns, end_ns = span(
        stay_of(choose(as_good(first.hits), choice, question), as_good(first.hits, STAY_MARGIN))
    )
    if tie is Tie.BEFORE:
        return _between(scope, None, start_ns - 1)
    return _between(scope, end_ns + 1, None)


def passage(one: Mark, other: Mark) -> tuple[Hit, Hit] | None:
    """Return the two sights between which the robot went from one mark to the other the fastest."""
    pairs = [(a, b) for a, b in product(as_good(one.hits), as_good(other.hits)) if a.memory.id != b.memory.id]
    onward = [(a, b) for a, b in pairs if a.memory.start_ns <= b.memory.start_ns]
    candidates = onward or [(b, a) for a, b in pairs]
    return min(candidates, key=lambda pair: pair[1].memory.start_ns - pair[0].memory.end_ns, default=None)


def _places(mark: Mark, same_place: SamePlace) -> list[Hit]:
    placed = [hit for hit in as_good(mark.hits) if hit.memory.pose is not None]
    return [group[0] for group in by_place(placed, same_place)][:MARKS]


def _way(scope: Scope, start: Point, end: Point) -> Part:
    middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2, (start[2] + end[2]) / 2)
    radius_m = (distance(start, end) + DETOUR_M) / 2
    return Part(replace(scope, near=middle, radius_m=radius_m), (start, end))


def _between(scope: Scope, after_ns: int | None, before_ns: int | None) -> list[Part]:
    """Return the part of a scope that lies in a time; none if nothing does."""
    after = max((t for t in (scope.after_ns, after_ns) if t is not None), default=None)
    before = min((t for t in (scope.before_ns, before_ns) if t is not None), default=None)
    if before is not None and (before < 0 or (after is not None and after > before)):
        return []
    return [Part(replace(scope, after_ns=after, before_ns=before))]
