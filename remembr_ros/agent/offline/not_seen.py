"""Answers without evidence: nothing shows it, nobody could have seen it, it is not understood."""

from dataclasses import replace

from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.agent.model.answer_text import EVEN
from remembr_ros.agent.model.english import is_part
from remembr_ros.agent.model.grounding import Claim, yes_or_no
from remembr_ros.agent.model.matching import is_colour
from remembr_ros.agent.model.memory_prompt import ago
from remembr_ros.agent.model.relevance_model import POOL, SHOWN, find_sightings
from remembr_ros.agent.offline.question_terms import TITLES
from remembr_ros.agent.offline.request import Request, parse_request
from remembr_ros.agent.offline.word_classes import word_class
from remembr_ros.memory.matching.terms import words
from remembr_ros.memory.model.recall import Query, Scope
from remembr_ros.memory.model.record import CAPTIONER, OBJECT
from remembr_ros.memory.objects.query import ObjectQuery
from remembr_ros.memory.objects.wording import is_name_of
from remembr_ros.memory.places.place import said_name
from remembr_ros.memory.recall_protocol import Recall, nearest_in_time
from remembr_ros.timestamps import format_clock

NAME = 'offline'  # of the planner, in its answers

SURE = 0.9  # What is counted or measured holds; whether the question was understood, the rules do not know
UNTOLD = 0.2  # How sure it is that a thing was not there, where nobody could have seen it

_DETECTORS = 20  # objects seen last whose detectors may differ: each tells what that looks for
_UNSEEN = word_class('unseen')
READING = frozenset(('scene_text', 'none'))  # Captioners that see no things

COMPARED = 'I cannot compare things or leave some out. Ask for each, as in "When did you first see the lift?"'
NAMELESS = 'I do not understand what is asked for. Name a thing, a place or a time.'
FOREIGN = 'I do not understand that: I know English alone; a language model knows other languages, too.'


def beyond_rules(request: Request) -> str:
    """Return why rules cannot answer a question that is not about how the robot moved; empty: they may."""
    nameless = not (request.target or request.relation or request.whatever)
    return COMPARED if request.comparing else NAMELESS if nameless and request.kind is Kind.BINARY else ''


def no_answer(why: str) -> Claim:
    """Return the claim that there is no answer, which says nothing of the thing asked for."""
    return Claim(Kind.NOT_SEEN, why, confidence=UNTOLD)


def not_understood(request: Request) -> str:
    """Return why a question is none that can be answered; empty: it may be."""
    if request.other:
        return 'That is no question about what the memory holds. Ask what was seen, where or when.'
    if request.window.unclear:
        unclear = request.window.unclear
        return f'I do not understand the time "{unclear}"; say it as in "on 2026-11-23 at 14:05".'
    return ''


def absence_claim(request: Request, question: Question, recall: Recall, scope: Scope, total: int) -> Claim:
    """Return that nothing shows the thing, or that nobody can tell.

    :param total: how many memories were looked through
    """
    thing = request.thing or 'that'
    if not total:
        why = _why_nothing(request, question, recall, scope)
        looked = (scope.after_ns, scope.before_ns, scope.place, scope.near) == (None, None, None, None)
        # Of a time or a place of which nothing is remembered, nobody can tell what was there.
        return Claim(Kind.NOT_SEEN, f'I have not seen {thing}: {why}.', confidence=1.0 if looked else UNTOLD)
    if why := _why_untold(request, recall, scope, total):
        return no_answer(why)
    sure = _missed(request, recall, scope)
    if request.kind is Kind.BINARY:
        return yes_or_no(False, f'none of {total} memories shows {thing}.', sure=sure)
    text = f'I have not seen {thing}: none of {total} memories shows it.'
    return Claim(Kind.NOT_SEEN, text, confidence=sure)


def _missed(request: Request, recall: Recall, scope: Scope) -> float:
    """Return how sure it is that a thing is not there which nobody has told: a detector overlooks more."""
    return 1.0 - SHOWN if _is_sign(request) or _sees(request, recall, scope) else SURE


def _why_untold(request: Request, recall: Recall, scope: Scope, total: int) -> str:
    """Return why it may be there, although none of some memories shows it; empty: there is no reason."""
    thing = request.thing or 'that'
    if not request.target:
        return NAMELESS
    if not _could_be_seen(request, recall, scope):
        return f'I cannot tell: {_why_blind(request, thing, recall, scope)}'
    titled = not TITLES.isdisjoint(words(thing))
    named = request.names and (titled or (request.now and not request.numbered))  # 'Room 117' is no person
    if request.deed or named or 'who' in request.said:
        why = 'I do not know people by their names' if named else 'not all that is done is seen'
        return f'I cannot tell: none of {total} memories shows {thing}, but {why}.'
    said = request.phrase.split()
    sorted_out = not all(map(is_colour, said[:-1])) and _is_known(request.head, recall, scope)
    if sorted_out and not _sees(request, recall, scope):
        return f'I cannot tell: {_why_blind(request, thing, recall, scope)}'  # a mug, and not one for coffee
    nouns = [word for word in said[:-1] if is_colour(word) or not _is_adjective(word)] + said[-1:]
    alone = parse_request(f'Where is the {" ".join(nouns or [request.phrase])}?', 0)
    seen = find_sightings(alone, recall, scope) if alone.target not in ('', request.target) else []
    if any(hit.score >= EVEN for hit in seen):  # so the rest was not understood, or is not so
        return f'I have seen {alone.thing}, but cannot tell all that you ask: no memory shows it.'
    return ''


def _why_blind(request: Request, thing: str, recall: Recall, scope: Scope) -> str:
    """Return why nothing could have told the thing."""
    if not _UNSEEN.isdisjoint(request.phrase.split()):
        return f'nobody sees {thing}, and I have no other senses.'
    if recall.count(replace(scope, source=OBJECT)):
        known = next((word for word in request.phrase.split()[::-1] if _is_known(word, recall, scope)), '')
        if known:
            return f'I have seen the {known}, but no memory shows all that you ask.'
        return f'nothing that I know how to tell by sight is {thing}, and no sign names it.'
    if recall.count(replace(scope, source=CAPTIONER)):
        return f'of all that I remember of that, I only read signs, and none names {thing}.'
    return f'of that I remember no sights, and nothing else names {thing}.'


def _is_adjective(word: str) -> bool:
    """Tell whether a word may say how a thing is, which nobody looked for: empty, second, smallest."""
    return is_part(word, 'adj') or word.endswith('est')


def _could_be_seen(request: Request, recall: Recall, scope: Scope) -> bool:
    """Tell whether anything looked that could have seen the thing: signs are read by whatever looks."""
    if _is_sign(request) and recall.count(replace(scope, source=CAPTIONER)):
        return True
    if not _UNSEEN.isdisjoint(request.phrase.split()):
        return False
    return _is_known(request.head, recall, scope) or _sees(request, recall, scope)


def _is_sign(request: Request) -> bool:
    """Tell whether a sign may name the thing."""
    return bool(request.numbered or request.identifiers or (request.names and not request.now))


def _is_known(sort: str, recall: Recall, scope: Scope) -> bool:
    """Tell whether a detector knows a sort of things: it looks for them, or has told one once."""
    anytime = Scope(robots=scope.robots, map_id=scope.map_id)
    if not sort or recall.find_objects(ObjectQuery(sort, scope=anytime, limit=1)).objects:
        return bool(sort)
    newest = recall.find_objects(ObjectQuery(scope=anytime, limit=_DETECTORS)).objects
    classes = {name for item in newest for name in item.known.facts.classes}
    return any(is_name_of(name, sort) for name in classes)


def _sees(request: Request, recall: Recall, scope: Scope) -> bool:
    """Tell whether a captioner that sees things looked there."""
    seen = replace(scope, source=CAPTIONER)
    queries = (Query(request.target, scope=seen, limit=POOL), Query(scope=seen, limit=POOL))
    return any(hit.memory.captioner not in READING for query in queries for hit in recall.find(query))


def _why_nothing(request: Request, question: Question, recall: Recall, scope: Scope) -> str:
    if scope.place is not None:
        return f'I remember nothing of {said_name(scope.place)}'
    if scope.near is not None:
        return 'I remember nothing of this place'
    if request.window.after_ns is not None or request.window.before_ns is not None:
        nearest = [
            f'{format_clock(hit.memory.end_ns, question.zone)} ({ago(hit.memory.end_ns, question.now_ns)})'
            for hit in nearest_in_time(recall, scope)
        ]
        beside = f'; the nearest that I do is {" and ".join(nearest)}' if nearest else ''
        return f'I remember nothing of that time{beside}'
    return 'the memory holds nothing' + (f' on map {question.map_id}' if question.map_id else '')
