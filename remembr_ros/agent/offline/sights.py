"""What the memories tell that show the thing asked for: where, when, how long, how many, whether, what."""

import re
from collections.abc import Sequence
from dataclasses import replace

from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.agent.model.answer_text import EVEN
from remembr_ros.agent.model.grounding import Choice, Claim, choose, yes_or_no
from remembr_ros.agent.model.matching import (
    another_thing,
    is_colour,
    is_english,
    lacks_a_part,
    misspelled,
    words_found,
)
from remembr_ros.agent.model.other_words import ROOMS
from remembr_ros.agent.model.quoting import any_case
from remembr_ros.agent.model.relevance_model import (
    PERHAPS,
    POOL,
    SHOWN,
    as_good_as_best,
    as_unsure,
    find_outermost,
    find_sightings,
    sure_ones,
)
from remembr_ros.agent.model.same_place import stay_of, stays
from remembr_ros.agent.offline.anchored_search import Findings, search_by_anchors
from remembr_ros.agent.offline.answer_sentences import (
    NOTHING_READ,
    cite_every_place,
    count_places,
    count_visits,
    read_texts,
    seen_most_often,
    sentences_about,
    was_seen,
    what_is_there,
)
from remembr_ros.agent.offline.named_scope import NamedScope, around_here
from remembr_ros.agent.offline.not_seen import FOREIGN, absence_claim, no_answer
from remembr_ros.agent.offline.question_terms import has_digit
from remembr_ros.agent.offline.relation import RelationKind
from remembr_ros.agent.offline.request import Request, parse_request
from remembr_ros.agent.offline.word_classes import word_class
from remembr_ros.agent.planner import Progress, Run
from remembr_ros.agent.times.time_window import Window
from remembr_ros.memory.matching.terms import stem, words
from remembr_ros.memory.model.recall import Hit, Query, Scope
from remembr_ros.memory.model.record import AGENT, OBJECT, PERSON
from remembr_ros.memory.recall_protocol import Recall
from remembr_ros.timestamps import NS

STAY_POOL = 300  # Memories looked at for a question about how long: a stay may have many
TWICE_NS = 3_600 * NS  # what is so long around a moment has another one: 9 o'clock is in the evening, too
ALL = 1_000  # and for how many there are, how often, and all of them: as many as a recall gives

HARDLY = 0.1  # of what is so unlikely three of a hundred are there: who asks whether is told no,
MANY = 100  # if so many memories could have named it: each leaves most things out

_INDEFINITE = any_case(r'(?:an?|any|some) ')
"""Who asks for any near something will take the one that was seen best."""
_AWAY = (Choice.NEAREST, Choice.FARTHEST)
_LOOKING = frozenset('see saw seen look looked looking watch watched view visible sight'.split())
"""Who asks how long the robot drove through a park does not ask how long it saw one."""


def answer_from_sights(  # noqa: PLR0917
    named: NamedScope, request: Request, question: Question, recall: Recall, scope: Scope, run: Run
) -> Claim:
    """Return what the memories tell that show the thing asked for."""
    scope = around_here(request, question, scope)
    total = recall.count(scope)
    found = _find(request, question, recall, scope) if total else Findings(request, scope)
    taken = ''
    if total and request.target and not (found.hits and found.hits[0].score >= EVEN):
        text, taken = _as_spelled(request, named.text, recall, scope)
        if taken:
            request = parse_request(text, question.now_ns, question.zone, named.reach)
            found = replace(_find(request, question, recall, scope), sure=PERHAPS)
        elif not is_english(text):
            return no_answer(FOREIGN)
    run.check()
    run.on_progress(Progress('answering', f'{len(found.hits)} of {total} memories fit', len(found.hits)))
    if not found.claim and total >= MANY and _is_hardly_named(request, found.hits):
        claim = absence_claim(request, question, recall, scope, total)
        claim = replace(claim, confidence=min(claim.confidence, 1.0 - HARDLY))
    elif found.claim:
        claim = found.claim
        claim = replace(claim, confidence=claim.confidence or _sureness(claim, found, question))
    elif found.hits:
        claim = _no_more(found, recall, scope, named.map_id) or _claim(found, question, recall)
        claim = replace(claim, confidence=_sureness(claim, found, question))
    else:
        others = _seen_by_others(request, question, recall, scope)
        claim = others or absence_claim(request, question, recall, scope, total)
    relation = request.relation
    # 'Next to a white one': of what? And signs do not tell rooms apart: 'the room next to room 117'.
    if relation is not None and (is_colour(relation.second) or request.target in ROOMS):
        claim = replace(claim, confidence=min(claim.confidence, PERHAPS))
    return replace(claim, note=taken, about=_anchors(request))


def _is_hardly_named(request: Request, hits: Sequence[Hit]) -> bool:
    """Tell whether it is asked whether a thing was seen of which no memory has a word."""
    if request.kind is not Kind.BINARY or request.relation or not hits or hits[0].score >= HARDLY:
        return False
    # What has a number in its name, an 18-wheeler, others call otherwise.
    return not has_digit(request.plain) and not any(any(words_found(request, hit.memory)) for hit in hits)


def _anchors(request: Request) -> str:
    """Return what a question puts in relation to what it asks for; a colour alone is no thing."""
    relation = request.relation
    if relation is None:
        return 'enter exit leave go come get inside indoors building first' if request.indoors else ''
    sides = [side for side in (relation.second, relation.third) if not is_colour(side)]
    return f'{" ".join(sides)} {relation.kind.value} next close front'


def _as_spelled(request: Request, text: str, recall: Recall, scope: Scope) -> tuple[str, str]:
    """Return a question with its misspelled words as memories have them, and a sentence that says so."""
    around = [hit.memory for hit in recall.find(Query(request.target, scope=scope, limit=POOL))]
    taken = misspelled(request, around)
    for word, known in taken.items():
        text = re.sub(rf'\b{re.escape(word)}\b', known, text, flags=re.IGNORECASE)
    spellings = ', '.join(f'"{word}" for "{known}"' for word, known in taken.items())
    return text, f' I took {spellings}.' if taken else ''


def _find(request: Request, question: Question, recall: Recall, scope: Scope) -> Findings:
    if request.relation is not None:
        return search_by_anchors(request, request.relation, question, recall, scope)
    window, here = request.window, question.here
    hits: Sequence[Hit] = ()
    if request.target:
        many = request.counting or request.visits or request.choice in (Choice.EVERY, Choice.MOST_OFTEN)
        limit = ALL if many else STAY_POOL if request.kind is Kind.DURATION else POOL
        hits = find_sightings(request, recall, scope, limit)
        if request.choice in _AWAY and hits and hits[0].score >= EVEN:  # which may be any of them
            hits = find_sightings(request, recall, scope, ALL)
        if request.kind is Kind.BINARY and not hits:  # a long caption has it by the way
            more = find_sightings(request, recall, scope, ALL)
            hits = [hit for hit in more if not lacks_a_part(request, hit.memory)]
        if (choice := _choice(request, hits)) in (Choice.LATEST, Choice.EARLIEST):
            hits = find_outermost(request, recall, scope, hits, choice)
    elif window.at_ns is not None:
        hits = recall.find(Query(time_ns=window.at_ns, scope=scope, limit=1))
    elif request.here:
        nearest = Query(place=here.position, scope=scope, limit=POOL) if here else Query(scope=scope, limit=1)
        hits = [hit for hit in recall.find(nearest) if hit.memory.source != OBJECT][:3]
        if here and not hits:  # so many things are nearer
            hits = recall.find(replace(nearest, scope=replace(scope, source='captioner'), limit=3))
    elif request.whatever and request.choice is Choice.EARLIEST:
        hits = recall.find(Query(time_ns=0, scope=scope, limit=POOL if request.reading else 1))
    elif request.whatever or window.after_ns is not None or window.before_ns is not None:
        hits = recall.find(Query(scope=scope, limit=ALL if request.choice is Choice.MOST_OFTEN else POOL))
    return Findings(request, scope, hits)


def _choice(request: Request, hits: Sequence[Hit]) -> Choice:
    """Return which one is meant: things are moved, and where one is, is where it surely was last."""
    any_of = request.relation is not None and _INDEFINITE.match(request.thing)
    last = request.last and hits and hits[0].score >= EVEN and not any_of
    return Choice.LATEST if last and request.choice is Choice.CITED_FIRST else request.choice


def _seen_by_others(request: Request, question: Question, recall: Recall, scope: Scope) -> Claim | None:
    """Return what other robots know of a thing that the named ones have not seen; None: nothing."""
    if not scope.robots or request.kind is not Kind.BINARY:
        return None
    found = _find(request, question, recall, replace(scope, robots=()))
    if not found.hits:
        return None
    other, asked = found.hits[0].memory.robot, ' or '.join(scope.robots)
    text = f'{sentences_about(request, found.hits[0])} Seen by {other}, not by {asked}.'
    yes = bool(request.deed)  # whoever put it there need not have looked
    return yes_or_no(yes, text, as_good_as_best(found.hits), sure=PERHAPS)


def _no_more(found: Findings, recall: Recall, scope: Scope, map_id: str | None) -> Claim | None:
    """Return that a thing was last seen elsewhere than where it is said to be; None: it may be there.

    :param map_id: that the question names
    """
    request = found.request
    if request.kind is not Kind.BINARY or not request.now or not request.phrase:
        return None
    if map_id is None and all(lacks_a_part(request, hit.memory) for hit in found.hits):
        return None  # it never was there
    anywhere = replace(scope, map_id=scope.map_id if map_id is None else None)
    alone = parse_request(f'Where is the {request.phrase}?', 0)
    hits = find_outermost(alone, recall, anywhere, find_sightings(alone, recall, anywhere), Choice.LATEST)
    sure = [hit for hit in sure_ones(hits) if hit.score >= EVEN]
    if not sure:
        return None
    last = max(sure, key=lambda hit: hit.memory.end_ns)
    is_there = map_id in (None, last.memory.map_id) and not lacks_a_part(request, last.memory)
    if is_there and (request.relation is None or last.memory.id in {hit.memory.id for hit in found.hits}):
        return None
    place = f'It was last seen on map {last.memory.map_id}: ' if last.memory.map_id else 'It was last seen: '
    return Claim(Kind.BINARY, f'No. {place}{sentences_about(alone, last)}', [last], binary=False)


def _sureness(claim: Claim, found: Findings, question: Question) -> float:
    """Return how likely what decides shows what was asked; what is asked for by time or place alone does.

    Of what was not found: how likely it is not there. That it was found without a place is as sure as it is.
    """
    if claim.binary is False and claim.evidence:
        return PERHAPS  # a part of what was asked, or something like it, is there
    if claim.binary is False or (claim.kind is Kind.NOT_SEEN and not found.hits):
        return 1.0 - SHOWN
    if not found.request.target:
        unread = claim.kind is Kind.TEXT and claim.text == NOTHING_READ  # there may have been other things
        elsewhere = claim.kind is Kind.POSITION and _is_under_way(claim, found.request.window)
        unnamed = claim.kind is Kind.DURATION and found.request.relation is None  # what was it that lasted?
        return min(found.sure, PERHAPS) if unread or elsewhere or unnamed else found.sure
    reading = found.request.reading and not found.request.counting
    if claim.kind in (Kind.NOT_SEEN, Kind.DURATION) or reading or not claim.evidence:
        likely = min(found.sure, max(hit.score for hit in found.hits))
        # How long a thing was there is not how long it was seen.
        looked = found.request.own and all(hit.memory.source != OBJECT for hit in claim.evidence)
        looked = looked and (found.request.indoors or not _LOOKING.isdisjoint(words(found.request.plain)))
        # Of several places with such a thing only one was read.
        elsewhere = reading and bool(found.request.target) and len(stays(as_good_as_best(found.hits))) > 1
        return as_unsure(likely) if elsewhere or (claim.kind is Kind.DURATION and not looked) else likely
    decisive = choose(claim.evidence, claim.choice, question)
    request = found.request
    guessed = request.counting and not request.visits and decisive.memory.source != OBJECT  # by their places
    noted = decisive.memory.source == PERSON and (  # which is no sight of it
        request.kind is Kind.BINARY
        or (request.kind is Kind.TIME and request.own)
        or (
            request.kind is Kind.POSITION
            and not word_class('gone').isdisjoint(words(decisive.memory.caption))
        )
    )
    lost = request.choice in _AWAY and question.here is None
    in_part = guessed or noted or lost or lacks_a_part(request, decisive.memory)
    return min(found.sure, as_unsure(decisive.score) if in_part else decisive.score)


def _is_under_way(claim: Claim, window: Window) -> bool:
    """Tell whether a moment is within a deed, whose place is where it ended, or may be one of two."""
    deed, at_ns = claim.evidence[0].memory, window.at_ns
    if at_ns is None:
        return False
    twice = (window.before_ns or at_ns) - (window.after_ns or at_ns) > TWICE_NS
    return twice or (deed.source == AGENT and deed.start_ns <= at_ns < deed.end_ns)


def _stay_inside(request: Request, hits: Sequence[Hit]) -> list[Hit]:
    """Return the sights of the one stay inside that is meant: that of most sights."""
    found = stays(hits)
    long = [stay for stay in found if len(stay) > 1] or found
    return long[0] if request.choice is Choice.EARLIEST else max(long, key=len)


def _one_of(request: Request, found: Sequence[Hit]) -> str:
    """Return that there are several of what deeds put things on: two wards have a fridge each."""
    places = set()
    for facts in (hit.memory.facts for hit in found):
        carried = facts.get('kind') in ('pick', 'place')
        fixed = str(facts.get('receptacle' if carried else 'object', ''))
        if facts.get('place') and [request.head] == list(map(stem, words(fixed)[-1:])):
            places.add(str(facts['place']))
    return f', one of {len(places)}' if len(places) > 1 else ''


# One return per kind of answer.
def _claim(  # noqa: PLR0911
    found: Findings, question: Question, recall: Recall
) -> Claim:
    request, hits = found.request, found.hits
    last = _choice(request, hits) is Choice.LATEST
    nearest = request.choice in _AWAY and hits[0].score >= EVEN
    best = sure_ones(hits) if last or nearest else as_good_as_best(hits)
    best = _stay_inside(request, best) if request.indoors else best
    note = f' ({found.note})' if found.note else ''
    if request.kind is Kind.POSITION:
        every = request.choice in (Choice.EVERY, Choice.MOST_OFTEN)
        placed = [hit for hit in (hits if every else best) if hit.memory.pose is not None]
        if not placed:
            thing = request.thing or 'that'
            return Claim(Kind.NOT_SEEN, f'I have seen {thing}, but do not know where I was.')
        if request.choice is Choice.MOST_OFTEN:
            return seen_most_often(request, placed, question, recall, note)
        if every:
            return cite_every_place(request, placed, question.same_place, note)
        decisive = choose(placed, choice := _choice(request, hits), question)
        note += _one_of(request, placed)
        return Claim(Kind.POSITION, was_seen(request, decisive, last=last) + note, placed, choice=choice)
    if request.kind is Kind.TIME:
        decisive = choose(best, choice := _choice(request, hits), question)
        shown = stay_of(decisive, best) if request.arriving else best
        choice = Choice.EARLIEST if request.arriving else choice
        return Claim(Kind.TIME, was_seen(request, decisive) + note, shown, choice=choice)
    if request.kind is Kind.DURATION:
        stay = stay_of(choose(best, request.choice, question), best)
        text = f'{was_seen(request, stay[0])}{note} for' if request.target else f'That lasted{note}'
        end = max(stay, key=lambda hit: hit.memory.end_ns)
        return Claim(Kind.DURATION, text, stay, start=stay[0], end=end)
    if request.kind is Kind.BINARY:
        other = another_thing(request, best[0].memory) if best[0].score >= as_unsure(EVEN) else ''
        if other:
            text = f'No, but I have seen "{other}", which is another thing{note}.'
            return Claim(Kind.BINARY, text, best, binary=False)
        return Claim(Kind.BINARY, f'Yes{note}: {sentences_about(request, best[0])}', best, binary=True)
    if request.visits:
        return count_visits(request, hits, question, recall, ALL)
    if request.counting and request.target:
        return count_places(request, hits, question.same_place, ALL)
    if request.reading or request.counting:
        return read_texts(request, hits, best, found.scope, recall)
    if request.relation is not None and request.relation.kind is RelationKind.NEAR and not request.target:
        return Claim(Kind.TEXT, what_is_there(hits, found.note), hits)
    first = choose(best, request.choice, question)
    evidence = [first, *(hit for hit in best if hit is not first)]
    return Claim(Kind.TEXT, sentences_about(request, first), evidence)
