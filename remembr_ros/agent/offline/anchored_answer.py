"""Answers about one thing by way of others: it is looked for where and when those were seen."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.agent.model.grounding import Choice, Claim
from remembr_ros.agent.offline.anchored_search import NEAR_M, Mark, Part, marks_of, parts_of, passage
from remembr_ros.agent.offline.answer_sentences import shown
from remembr_ros.agent.offline.relation import Relation, Tie
from remembr_ros.agent.offline.request import Request
from remembr_ros.agent.offline.sighting import POOL, sights
from remembr_ros.geometry import distance
from remembr_ros.memory.model.recall import Hit, Recall, Scope

_NEXT_TO_MARK = {Tie.BEFORE: Choice.LATEST, Tie.AFTER: Choice.EARLIEST}
"""Of several things before a mark the last one is meant, of those after it the first."""

_WORDS = {
    Tie.BEFORE: 'before',
    Tie.AFTER: 'after',
    Tie.WHILE: 'at the time of',
    Tie.NEAR: f'within {NEAR_M:.0f} m of',
    Tie.ON_THE_WAY: 'on the way to',
    Tie.BETWEEN: 'between',
}


@dataclass(frozen=True, slots=True)
class Narrowed:
    """What is left of a question once its marks were found.

    :param request: with the choice that the relation implies
    :param hits: memories that show what was asked for, there and then, best first
    :param scope: where it was looked for, as far as one scope can say
    :param claim: the answer, if there is nothing left to choose
    :param note: what the answer has to say of the marks
    """

    request: Request
    scope: Scope
    hits: Sequence[Hit] = ()
    claim: Claim | None = None
    note: str = ''


def narrow(
    request: Request, relation: Relation, question: Question, recall: Recall, scope: Scope
) -> Narrowed:
    """Find the marks of a question, then what it asks about in the part of the memory that they leave."""
    tie = relation.tie
    marks = marks_of(relation, question, recall, scope)
    lacking = next((mark for mark in marks if not mark.hits), None)
    if lacking is not None:
        return _without(lacking, request, tie, recall, scope)
    if tie is Tie.BETWEEN and (request.kind is Kind.DURATION or request.far):
        return Narrowed(request, scope, claim=_apart(request, marks))
    parts = parts_of(tie, marks, question, scope)
    if request.target and request.choice is Choice.CITED_FIRST:
        request = replace(request, choice=_NEXT_TO_MARK.get(tie, request.choice))
    best: dict[str, Hit] = {}
    if tie is Tie.NEAR:  # what is seen at once is near each other, wherever it was
        marked = {hit.memory.id for hit in marks[0].hits}
        best = {hit.memory.id: hit for hit in sights(request, recall, scope) if hit.memory.id in marked}
    for part in parts:
        for hit in _inside(part, request, tie, recall):
            known = best.get(hit.memory.id)
            if known is None or hit.score > known.score:
                best[hit.memory.id] = hit
    hits = sorted(best.values(), key=lambda hit: -hit.score) if request.target else list(best.values())
    where = f'{_WORDS[tie]} {" and ".join(shown(mark.request, mark.hits[0]) for mark in marks)}'
    if hits:
        return Narrowed(request, parts[0].scope if parts else scope, hits, note=where)
    return Narrowed(request, scope, claim=_nothing(request, where, marks, recall, scope), note=where)


def _inside(part: Part, request: Request, tie: Tie, recall: Recall) -> list[Hit]:
    """Return what a part of the memory has of the thing; what is nearest to the mark, if none was named."""
    if request.target:
        found = sights(request, recall, part.scope)
    elif tie is Tie.AFTER and part.scope.after_ns is not None:
        found = recall.by_time(part.scope.after_ns, part.scope, POOL if request.reading else 1)
    else:
        found = recall.newest(part.scope, 1 if tie is Tie.BEFORE and not request.reading else POOL)
    return [hit for hit in found if part.admits(hit)]


def _without(mark: Mark, request: Request, tie: Tie, recall: Recall, scope: Scope) -> Narrowed:
    """Answer although a mark was not seen: a place is still worth telling, if it is the thing's own."""
    thing = mark.request.thing or 'that'
    literal = mark.request.numbered or mark.request.identifiers
    if tie is Tie.NEAR and request.kind is not Kind.BINARY and not literal:
        wider = replace(request, target=f'{request.target} {mark.request.target}')
        hits = sights(wider, recall, scope) or sights(request, recall, scope)
        if hits:
            return Narrowed(request, scope, hits, note=f'no memory shows {thing}')
    if request.kind is Kind.BINARY and tie is Tie.NEAR:
        return Narrowed(
            request, scope, claim=Claim(Kind.BINARY, f'No: no memory shows {thing}.', binary=False)
        )
    text = f'I have not seen {thing}: no memory shows it.'
    return Narrowed(request, scope, claim=Claim(Kind.NOT_SEEN, text))


def _apart(request: Request, marks: Sequence[Mark]) -> Claim:
    """Say how long it took from one mark to the other, or how far they are from each other."""
    pair = passage(*marks)
    names = {hit.memory.id: shown(mark.request, hit) for mark in marks for hit in mark.hits}
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


def _nothing(request: Request, where: str, marks: Sequence[Mark], recall: Recall, scope: Scope) -> Claim:
    thing = request.thing or 'anything'
    if request.kind is not Kind.BINARY:
        return Claim(Kind.NOT_SEEN, f'I have not seen {thing} {where}.')
    elsewhere = sights(request, recall, scope)[:1] if request.target else []
    if not elsewhere:
        return Claim(Kind.BINARY, f'No: no memory shows {thing}.', binary=False)
    evidence = {hit.memory.id: hit for hit in (*elsewhere, *(mark.hits[0] for mark in marks))}
    return Claim(
        Kind.BINARY, f'No: {thing} was seen, but not {where}.', list(evidence.values()), binary=False
    )
