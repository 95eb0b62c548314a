"""Answers questions about deeds: makes a query of the question, and an answer of its result."""

import re
from dataclasses import replace
from functools import partial

from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.agent.model.grounding import Claim, yes_or_no
from remembr_ros.agent.model.quoting import any_case
from remembr_ros.agent.model.relevance_model import PERHAPS
from remembr_ros.agent.offline.deeds.deed_claims import (
    ANSWERS,
    OF_NONE,
    SURE,
    FoundAnswer,
    listed,
    no_deed_claim,
)
from remembr_ros.agent.offline.deeds.deed_request import (
    SEEN,
    DeedAsked,
    DeedRequest,
    build_deed_query,
    parse_deeds,
    several_named,
)
from remembr_ros.agent.offline.motion_questions import parse_motion
from remembr_ros.agent.offline.request import Request
from remembr_ros.memory.deeds.choice import choose_deeds
from remembr_ros.memory.deeds.names import DeedNames
from remembr_ros.memory.deeds.occurrences import OccurrenceSource, hits_of, just_done, last_of_each
from remembr_ros.memory.deeds.query import SIGHT, STAY, DeedQuery, FoundDeeds
from remembr_ros.memory.deeds.verbs import is_same_kind
from remembr_ros.memory.matching.terms import STOP_WORDS, words
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.model.record import AGENT, CAPTIONER
from remembr_ros.memory.places.places import Places
from remembr_ros.memory.recall_protocol import Recall
from remembr_ros.timestamps import local

_NONE = any_case(r"\b(?:no|none|not|never|without|neither)\b|n['\u2019]t\b|\buntouched\b|\bout of\b")
_GOAL = any_case(
    r'^\W*(?!.*\b(?:through|did|have|story|account|report)\b)(?:i\b|looking for\b'
    r'|where\b(?!.*\b(?:you|we|robot|end(?:ed)? up)\b)'
    r'|(?:take|bring|lead|guide|drive|navigate|go|move|get|head|return|come|escort|point|direct|visit|find|locate'
    r'|proceed|meet|wait|walk|show)\b)'
)
"""A wish to be taken somewhere, where the robot may have done something."""
_JUST = any_case(r'^\W*what (?:(?:have|did|were) you just|are you) do(?:ing|ne)?(?: (?:right )?now)?\W*$')
_NOW = any_case(r'^\W*when (?:is|are|does|will|can|may|do(?! (?:you|we)))\b')
_EARLIER = any_case(r'[.,;:!?\u2013-]\s.*\b(?:it|them|him|her)\b')
_OF_A_DAY = (DeedAsked.DEEDS, DeedAsked.BRIEFLY)
_OF_DAYS = (DeedAsked.DAYS,)
_STATE = r'\s+(?:still\s+)?(?P<state>open|closed|shut|in\s+your\s+hands?)'
_HOLDING = any_case(r'\bare you (?:holding|carrying)\b(.*?)(?=(?: right)?(?: now)?\W*$)')
_WHETHER = any_case(
    r'^\W*(?:(?:is|are|was|were) (?!there\b)|(?:did|have|had) (?:you|we|i) (?:leave|left) )'
    rf'(?P<thing>.+?){_STATE}(?: (?:now|right now|again))?\W*$'
)
_EITHER = any_case(r'\b(open|closed|shut) or (?:not|open|closed|shut)\b')
_WHAT = any_case(rf'^\W*(?:what|which)\b.*?\b(?:leave|left|is|are|was|were|stands?){_STATE}(?: now)?\W*$')


# One return per way to leave a question.
def answer_deeds(  # noqa: PLR0911
    request: Request, question: Question, recall: Recall, scope: Scope
) -> Claim | None:
    """Return what the robot's deeds tell of a question; None: it is about something else, or no deed tells.

    :param scope: the time, the robots and the map that the question is about
    :raises StoreUnavailable: there is no store
    """
    anytime = replace(scope, after_ns=None, before_ns=None)
    if not recall.count(replace(anytime, source=AGENT)):
        return None
    occurrences = OccurrenceSource(recall)
    done = occurrences.deeds(anytime)
    several, rest = several_named(request.window.rest)
    rest, called = _by_first_names(rest, occurrences.places)
    asked = parse_deeds(rest)
    if not done or asked is None or _NOW.search(rest):  # 'When is lunch over?'
        return None
    seen = SEEN.search(asked.says) is not None
    earlier = asked.asked is DeedAsked.TIME and _EARLIER.search(asked.says)  # the thing is named before
    to_go = request.kind is Kind.POSITION and _GOAL.match(request.plain)
    if to_go or (seen and asked.asked not in _OF_DAYS and not earlier):
        return None
    names = DeedNames(done, [(name, 'place') for deed in occurrences.places.all for name in deed.names])
    query: DeedQuery | None
    if seen:
        thing = re.split(r'[.,;:!?\u2013-]\s', asked.says)[0] if earlier else asked.main
        query = DeedQuery(kind=SIGHT, object=occurrences.words_seen(thing, scope), scope=scope)
    else:
        state = _state(asked.says, names, occurrences, scope, question)
        if _JUST.match(asked.says) and (scope, request.window.at_ns) == (anytime, None):
            head, deeds = just_done(recall, question.now_ns, scope)
            state = Claim(Kind.TEXT, f'{head}: {listed(question, deeds)}.', hits_of(deeds)) if deeds else None
        if state is not None:
            return replace(state, about=asked.says, confidence=SURE)  # its patterns fit the whole of it
        query = build_deed_query(asked, names, request, question, scope)
    if query is None:
        return None
    found = choose_deeds(query, occurrences)
    if 'at' in asked.sides and not found.found and query.during is not None:  # 'when he asked you to'
        found = choose_deeds(replace(query, during=None, after=query.during), occurrences)
    if not found.found and query.outcomes == ('cancelled',):
        found = choose_deeds(replace(query, outcomes=('failed', 'cancelled')), occurrences)
    is_kind = query.kind in names.kinds or query.kind in (SIGHT, STAY)
    if not is_kind and not several and _is_of_sights(asked, request, query, found, recall):
        return None
    about = FoundAnswer(asked, question, query, found, done, names, occurrences)
    answer = partial(_which_of, several) if several else ANSWERS[asked.asked]
    claim = answer(about) if several or found.found or answer in OF_NONE else no_deed_claim(about)
    note = '' if occurrences.whole else 'Of the latest that I remember: '
    if claim is None:
        return None
    said = words(asked.says) if claim.denies else []
    known = [word for word in said if word not in STOP_WORDS and names.knows(word)]
    sides = [side.says for side in (query.after, query.before, query.during) if side is not None]
    never = query.never == 'place' or (query.never and not names.read(asked.main).names)
    spoken = ['or', 'never'] if several else ['never'] * bool(never)
    why = asked.asked in (DeedAsked.WHY, DeedAsked.PROBLEMS)
    spoken += ['not'] * bool(several or query.never or query.outcomes or why)
    return replace(
        claim,
        text=f'{note}{claim.text}',
        about=' '.join((claim.about, *known, *sides, *several, *spoken, *called)),
        confidence=_sureness(asked, claim, found, question, scope),
    )


def _sureness(asked: DeedRequest, claim: Claim, found: FoundDeeds, question: Question, scope: Scope) -> float:
    """Return how sure an answer is: the log holds, whether the question was read as it was meant need not."""
    if claim.kind is Kind.NOT_SEEN or claim.duration_s == 0.0:
        return PERHAPS  # who asks when it was done knows that it was: it may be called otherwise
    ends = (local(ns, question.zone) for ns in (scope.after_ns, scope.before_ns) if ns is not None)
    of_day = any(end.hour or end.minute for end in ends)  # 'after 6 pm' is read as of one day
    which = asked.yes and not {'before', 'after'}.isdisjoint(asked.sides) and len(found.every) > 1
    return PERHAPS if which or (of_day and asked.asked in _OF_DAYS) else SURE


def _by_first_names(text: str, places: Places) -> tuple[str, list[str]]:
    """Return a text with places as deeds name them, and what it called them."""
    called: list[str] = []
    for name, *others in (place.names for place in places.all):
        for other in others:
            text, times = re.subn(rf'\b{re.escape(other)}\b', name, text, flags=re.IGNORECASE)
            called += [other] * times
    return text, called


def _which_of(names: tuple[str, ...], about: FoundAnswer) -> Claim | None:
    """Return which of some things it was, or was not."""
    done = {}
    for name in names:
        phrase = about.names.read(name)
        attribute = ' '.join((*(name_said for name_said, _ in phrase.names), *phrase.unknown)) or name
        query = replace(about.query, attribute=attribute, never='')
        if deeds := choose_deeds(query, about.occurrences).every:
            done[name] = deeds
    if _NONE.search(about.asked.says):
        left = [name for name in names if name not in done]
        text = f'Not {", nor ".join(left)}.' if left else 'All of them.'
        return Claim(Kind.TEXT, text, hits_of([deeds[-1] for deeds in done.values()] or about.done[-1:]))
    if not done:
        return no_deed_claim(about)
    return Claim(Kind.TEXT, f'{", ".join(done)}.', hits_of(deeds[0] for deeds in done.values()))


def _is_of_sights(
    asked: DeedRequest, request: Request, query: DeedQuery, found: FoundDeeds, recall: Recall
) -> bool:
    """Tell whether what was seen tells more than deeds: of a day as a whole, of how the robot moved."""
    named = not replace(query, kind='').names_nothing or query.order.from_here
    if named or found.anchors or query.at_ns is not None:
        return False
    seen = replace(query.scope, source=CAPTIONER)
    if asked.asked is DeedAsked.DISTANCE:
        return (recall.survey(seen).driven_m or 0.0) > sum(deed.metres for deed in found.found)
    whole = query.names_nothing and asked.asked in _OF_A_DAY and query.nth is None
    moved = parse_motion(request.window.rest) is not None
    return (whole or moved) and recall.count(seen) > len(found.found)


def _state(
    text: str, names: DeedNames, occurrences: OccurrenceSource, scope: Scope, question: Question
) -> Claim | None:
    """Return whether something is open or in hand, or what is; None: that is not asked, or no deed tells."""
    text, either = _EITHER.subn(r'\1', _HOLDING.sub(r'is\1 in your hand', text))
    found = _WHETHER.match(text) or _WHAT.match(text)
    kinds = ('pick', 'place') if found and 'hand' in found['state'].lower() else ('open', 'close')
    last = last_of_each(occurrences.deeds(scope), *kinds) if found else []
    if found is None or not last:
        return None
    as_first = found['state'].lower() not in ('closed', 'shut')
    such = [deed for deed in last if is_same_kind(deed.facts.kind, kinds[0]) is as_first]
    if found.re is _WHAT:
        text = listed(question, such) if such else f'Nothing that I remember, of {len(last)} that I handled'
        return Claim(Kind.TEXT, f'{text}.', hits_of(such or last))
    phrase = names.read(found['thing'])
    query = phrase.query(loose=not phrase.of('object'))
    fit = [deed for deed in last if deed.fits(query)] if phrase.names and not phrase.unknown else []
    if not fit:
        return None
    deed = max(fit, key=lambda deed: deed.end_ns)
    said, hits = f'{listed(question, [deed])}.', hits_of([deed])
    return Claim(Kind.TEXT, said, hits) if either else yes_or_no(deed in such, said, hits)
