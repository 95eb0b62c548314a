"""Finds a thing relative to others: first the anchors, then what is before, after, near or between."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.agent.model.answer_text import EVEN
from remembr_ros.agent.model.grounding import Choice, Claim, choose, yes_or_no
from remembr_ros.agent.model.relevance_model import (
    PERHAPS,
    POOL,
    as_good_as_best,
    best_of_each,
    find_sightings,
)
from remembr_ros.agent.model.same_place import by_place, span, stay_of, stays
from remembr_ros.agent.offline.answer_sentences import name_as_read
from remembr_ros.agent.offline.not_seen import UNTOLD, absence_claim
from remembr_ros.agent.offline.relation import Relation, RelationKind
from remembr_ros.agent.offline.request import Request, parse_request, thing_of
from remembr_ros.geometry import Point, distance
from remembr_ros.memory.model.recall import Hit, Query, Scope
from remembr_ros.memory.model.record import CAPTIONER, OBJECT
from remembr_ros.memory.recall_protocol import Recall

NEAR_M = 10.0  # What is seen from this near to where an anchor is seen from is near it
DETOUR_M = 10.0  # What lies on the way makes it at most this much longer than the straight line
MAX_PLACES = 5  # Places, or stays, of one anchor that are looked at

_NEXT_TO_ANCHOR = {RelationKind.BEFORE: Choice.LATEST, RelationKind.AFTER: Choice.EARLIEST}
"""Of several things before an anchor the last one is meant, of those after it the first."""

_WORDS = {
    **{kind: kind.value for kind in RelationKind},
    RelationKind.WHILE: 'at the time of',
    RelationKind.NEAR: f'within {NEAR_M:.0f} m of',
    RelationKind.ON_THE_WAY: 'on the way to',
}


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found for a question, and what its anchors left of it; or for an anchor alone.

    :param request: with the choice that the relation implies
    :param scope: where it was looked for, as far as one scope can say
    :param hits: memories that show what was asked for, there and then, best first
    :param claim: the answer, if there is nothing left to choose
    :param note: what the answer has to say of the anchors
    :param sure: how likely the anchors are what they are taken for, 0 to 1
    """

    request: Request
    scope: Scope
    hits: Sequence[Hit] = ()
    claim: Claim | None = None
    note: str = ''
    sure: float = 1.0


def search_by_anchors(
    request: Request, relation: Relation, question: Question, recall: Recall, scope: Scope
) -> Findings:
    """Find the anchors of a question, then what it asks about in the part of the memory that they leave."""
    kind = relation.kind
    said = filter(None, (relation.second, relation.third))
    anchors = [find_anchor(text, question, recall, scope) for text in said]
    lacking = next((anchor for anchor in anchors if not anchor.hits), None)
    if lacking is not None:
        return _without(lacking, request, kind, question, recall, scope)
    sure = min(anchor.hits[0].score for anchor in anchors)
    if kind is RelationKind.BETWEEN and (request.kind is Kind.DURATION or request.far):
        claim = _apart(request, anchors)
        ids = [
            {hit.memory.id for hit in as_good_as_best(one.hits) if hit.memory.source == OBJECT}
            for one in anchors
        ]
        sure = min(sure, PERHAPS) if any(len(one) > 1 for one in ids) else sure  # from which of two cups?
        return Findings(request, scope, anchors[0].hits, claim=claim, sure=_measured(claim, sure))
    regions = _regions(kind, anchors, question, recall, scope)
    if request.target and request.choice is Choice.CITED_FIRST:
        request = replace(request, choice=_NEXT_TO_ANCHOR.get(kind, request.choice))
    # What is seen at once is near each other, anywhere.
    at_once = {hit.memory.id for hit in anchors[0].hits if kind is RelationKind.NEAR}
    seen = find_sightings(request, recall, scope) if at_once and request.target else []
    found = [hit for hit in seen if hit.memory.id in at_once]
    found += [hit for region in regions for hit in _inside(region, request, kind, recall)]
    if kind is RelationKind.ON_THE_WAY:
        found = [hit for hit in found if _on_the_way(hit, anchors[0], question)]
    hits = best_of_each(found)
    # The robot was near, which need not be true of what it saw; nor does that say on which side it is.
    of_robot = at_once and request.kind is Kind.BINARY and not (hits and hits[0].memory.id in at_once)
    shown = {hit.memory.id for anchor in anchors for hit in anchor.hits if kind is RelationKind.BETWEEN}
    at_end = bool(hits) and hits[0].memory.id in shown  # it shows one of both, and what is beside it
    if of_robot or at_end or not (relation.measured or request.target):
        sure = min(sure, PERHAPS)
    if request.target:
        hits.sort(key=lambda hit: (hit.memory.id not in at_once, -hit.score))
    names = ' and '.join(name_as_read(anchor.request, anchor.hits[0]) for anchor in anchors)
    place = f'{_WORDS[kind]} {names}'
    if hits:
        return Findings(request, regions[0] if regions else scope, hits, note=place, sure=sure)
    return Findings(request, scope, claim=_nothing(request, place, anchors, question, recall, scope))


def find_anchor(text: str, question: Question, recall: Recall, scope: Scope) -> Findings:
    """Return where an anchor was seen.

    :param text: in the asker's words
    """
    wanted, prior = parse_request(f'Where is {text}?', question.now_ns, question.zone), question.prior
    if prior is not None and prior.answer.evidence and text == thing_of(prior.question):
        return Findings(wanted, scope, prior.answer.evidence[:1])  # that one, of several
    return Findings(wanted, scope, find_sightings(wanted, recall, scope) if wanted.target else [])


def places_seen(anchor: Findings, question: Question) -> list[Hit]:
    """Return the best sighting of an anchor at each place where it was seen as surely as anywhere."""
    placed = [hit for hit in as_good_as_best(anchor.hits) if hit.memory.pose is not None]
    return [hit for hit, *_ in by_place(placed, question.same_place)[:MAX_PLACES]]


def stay_at(anchor: Findings, question: Question) -> list[Hit]:
    """Return the stay in which an anchor was seen, the last unless its words say otherwise."""
    choice, best = anchor.request.choice, as_good_as_best(anchor.hits)
    return stay_of(choose(best, Choice.LATEST if choice is Choice.CITED_FIRST else choice, question), best)


# One return per kind of relation.
def _regions(  # noqa: PLR0911
    kind: RelationKind, anchors: Sequence[Findings], question: Question, recall: Recall, scope: Scope
) -> list[Scope]:
    """Return where and when to look.

    :param anchors: all of them seen
    """
    best = as_good_as_best(anchors[0].hits)
    if kind is RelationKind.BETWEEN:
        pair = _fastest_pair(*anchors)
        if pair is None:
            return []
        apart = _between(scope, pair[0].memory.end_ns + 1, pair[1].memory.start_ns - 1)
        if apart and recall.count(apart[0]):
            return apart
        return _between(scope, pair[0].memory.start_ns, pair[1].memory.end_ns)  # neighbours show it
    if kind is RelationKind.NEAR:
        return [
            replace(scope, near=hit.memory.pose.position, radius_m=NEAR_M, map_id=hit.memory.map_id)
            for hit in places_seen(anchors[0], question)
            if hit.memory.pose is not None
        ]
    if kind is RelationKind.ON_THE_WAY:
        goal = _goal(anchors[0], question)
        if question.here is None or goal is None:
            return []
        (x, y, z), start = goal, question.here.position
        middle = ((start[0] + x) / 2, (start[1] + y) / 2, (start[2] + z) / 2)
        return [replace(scope, near=middle, radius_m=(distance(start, goal) + DETOUR_M) / 2)]
    if kind is RelationKind.WHILE:
        spans = [span(stay) for stay in stays(best)]
        return [region for times in spans[-MAX_PLACES:] for region in _between(scope, *times)]
    start_ns, end_ns = span(stay_at(anchors[0], question))
    if kind is RelationKind.BEFORE:
        return _between(scope, None, start_ns - 1)
    return _between(scope, end_ns + 1, None)


def _goal(anchor: Findings, question: Question) -> Point | None:
    """Return where the nearest sight of an anchor is from."""
    placed = [hit for hit in as_good_as_best(anchor.hits) if hit.memory.pose is not None]
    pose = choose(placed or anchor.hits, Choice.NEAREST, question).memory.pose
    return None if pose is None else pose.position


def _on_the_way(hit: Hit, anchor: Findings, question: Question) -> bool:
    """Tell whether a memory is at most a small detour from the straight line from here to an anchor."""
    goal = _goal(anchor, question)
    if goal is None or question.here is None or hit.memory.pose is None:
        return False
    start, at = question.here.position, hit.memory.pose.position
    return distance(start, at) + distance(at, goal) <= distance(start, goal) + DETOUR_M


def _fastest_pair(first: Findings, second: Findings) -> tuple[Hit, Hit] | None:
    """Return the two sightings between which the robot went from one anchor to the other the fastest."""
    both = product(as_good_as_best(first.hits), as_good_as_best(second.hits))
    pairs = [(a, b) for a, b in both if a.memory.id != b.memory.id]
    onward = [(a, b) for a, b in pairs if a.memory.start_ns <= b.memory.start_ns]
    candidates = onward or [(b, a) for a, b in pairs]
    return min(candidates, key=lambda pair: pair[1].memory.start_ns - pair[0].memory.end_ns, default=None)


def _between(scope: Scope, after_ns: int | None, before_ns: int | None) -> list[Scope]:
    """Return the part of a scope that lies in a time; none if nothing does."""
    inside = scope.within(after_ns, before_ns)
    if inside is None or (inside.before_ns is not None and inside.before_ns < 0):
        return []
    return [inside]


def _inside(scope: Scope, request: Request, kind: RelationKind, recall: Recall) -> list[Hit]:
    """Return what a part of the memory has of the thing; what is nearest to the anchor, if none was named."""
    if request.target:
        return find_sightings(request, recall, scope)
    if kind is RelationKind.AFTER and scope.after_ns is not None:
        query = Query(time_ns=scope.after_ns, scope=scope, limit=POOL if request.reading else 1)
    elif kind is RelationKind.NEAR:
        query = Query(place=scope.near, scope=scope, limit=POOL)
    else:
        query = Query(scope=scope, limit=1 if kind is RelationKind.BEFORE and not request.reading else POOL)
    return list(recall.find(query))


def _without(  # noqa: PLR0917
    anchor: Findings, request: Request, kind: RelationKind, question: Question, recall: Recall, scope: Scope
) -> Findings:
    """Answer although an anchor was not seen: a place is still worth telling, if it is the thing's own."""
    literal = anchor.request.numbered or anchor.request.identifiers
    if kind is RelationKind.NEAR and request.kind is not Kind.BINARY and request.target and not literal:
        wider = replace(request, target=f'{request.target} {anchor.request.target}')
        hits = find_sightings(wider, recall, scope) or find_sightings(request, recall, scope)
        if hits:
            return Findings(request, scope, hits, note=f'no memory shows {anchor.request.thing or "that"}')
    asked = replace(anchor.request, kind=request.kind if kind is RelationKind.NEAR else Kind.POSITION)
    return Findings(request, scope, claim=absence_claim(asked, question, recall, scope, recall.count(scope)))


def _apart(request: Request, anchors: Sequence[Findings]) -> Claim:
    """Say how long it took from one anchor to the other, or how far they are from each other."""
    pair = _fastest_pair(*anchors)
    names = {hit.memory.id: name_as_read(anchor.request, hit) for anchor in anchors for hit in anchor.hits}
    if pair is None:
        return Claim(Kind.NOT_SEEN, 'One memory shows both: they are where and when I saw it.')
    start, end = pair
    way = f'From {names[start.memory.id]} to {names[end.memory.id]}'
    if request.kind is Kind.DURATION:
        return Claim(Kind.DURATION, f'{way} it took', [start, end], start=start, end=end)
    if start.memory.pose is None or end.memory.pose is None or start.memory.map_id != end.memory.map_id:
        return Claim(Kind.NOT_SEEN, 'I do not know where both of them are on one map.')
    metres = distance(start.memory.pose.position, end.memory.pose.position)
    text = f'{way} it is {metres:.1f} m in a straight line, from where I saw them.'
    return Claim(Kind.TEXT, text, [start, end])


def _measured(claim: Claim, sure: float) -> float:
    """Return how sure a distance is: of where things are, not of where the robot was when it saw them."""
    things = [hit.memory for hit in claim.evidence if hit.memory.source == OBJECT and hit.memory.pose]
    measured = len(things) == len(claim.evidence) and all(one.facts.get('measured', True) for one in things)
    if measured and claim.kind is not Kind.DURATION:
        middles = [one.pose.position for one in things if one.pose]
        across = [max(one.facts.get('size') or (0.0,)) for one in things]
        measured = distance(*middles) > sum(across) / 2.0  # how far are things that touch?
    return sure if measured or claim.kind is Kind.DURATION else min(sure, PERHAPS)


def _nothing(  # noqa: PLR0917
    request: Request,
    place: str,
    anchors: Sequence[Findings],
    question: Question,
    recall: Recall,
    scope: Scope,
) -> Claim:
    thing = request.thing or 'anything'
    elsewhere = find_sightings(request, recall, scope)[:1] if request.target else []
    if request.target and not elsewhere:
        absent = absence_claim(request, question, recall, scope, recall.count(scope))
        if absent.confidence < EVEN:
            return absent  # nobody could have seen it anywhere
    if request.kind is not Kind.BINARY:
        looked = recall.count(replace(scope, source=CAPTIONER)) > 0
        text = f'I have not seen {thing} {place}.'
        return Claim(Kind.NOT_SEEN, text, confidence=0.0 if looked else UNTOLD)
    if not elsewhere:
        return yes_or_no(False, f'no memory shows {thing}.')
    evidence = {hit.memory.id: hit for hit in (*elsewhere, *(anchor.hits[0] for anchor in anchors))}
    return yes_or_no(False, f'{thing} was seen, but not {place}.', list(evidence.values()))
