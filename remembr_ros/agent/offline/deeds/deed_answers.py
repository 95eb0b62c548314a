"""Answers questions about deeds: makes a query of the question, and an answer of its result."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.agent.model.grounding import Choice, Claim, yes_or_no
from remembr_ros.agent.model.quoting import any_case
from remembr_ros.agent.model.relevance_model import PERHAPS
from remembr_ros.agent.offline.executor.took_place import TookPlace, listed
from remembr_ros.agent.offline.motion_questions import parse_motion
from remembr_ros.agent.offline.not_seen import SURE
from remembr_ros.agent.offline.reader.deed_request import (
    NEVER,
    DeedAsked,
    DeedRequest,
    build_deed_query,
    parse_deeds,
)
from remembr_ros.agent.offline.request import Request
from remembr_ros.geometry import distance
from remembr_ros.memory.deeds.choice import choose_deeds
from remembr_ros.memory.deeds.occurrences import hits_of, just_done, last_of_each
from remembr_ros.memory.deeds.query import SIGHT, STAY, DeedOrder, DeedQuery, FoundDeeds, Occurrence
from remembr_ros.memory.deeds.summary import by_day, kinds_said, rarest, times_said
from remembr_ros.memory.deeds.verbs import is_same_kind
from remembr_ros.memory.matching.terms import STOP_WORDS, words
from remembr_ros.memory.model.recall import Hit, Scope
from remembr_ros.memory.model.record import CAPTIONER
from remembr_ros.memory.places.places import Places
from remembr_ros.memory.recall_protocol import Recall
from remembr_ros.timestamps import NS, local

SHOWN = 40  # deeds that an answer tells one by one; of more it tells the kinds and numbers
DETAILS = 150  # where somebody wants all of them, but drives
LISTED = 20  # that are told with their number
LAST = 5  # that are told of those that there were
HIGHLIGHTS = 8
_GOAL = any_case(
    r'^\W*(?!.*\b(?:through|did|have|story|account|report)\b)(?:i\b|looking for\b'
    r'|where\b(?!.*\b(?:you|we|robot|end(?:ed)? up)\b)'
    r'|(?:take|bring|lead|guide|drive|navigate|go|move|get|head|return|come|escort|point|direct|visit|find|locate'
    r'|proceed|meet|wait|walk|show)\b)'
)
"""A wish to be taken somewhere, where the robot may have done something."""
_JUST = any_case(r'^\W*what (?:(?:have|did|were) you just|are you) do(?:ing|ne)?(?: (?:right )?now)?\W*$')
_NOW = any_case(r'^\W*when (?:is|are|does|will|can|may|do(?! (?:you|we)))\b')
_STATE = r'\s+(?:still\s+)?(?P<state>open|closed|shut|in\s+your\s+hands?)'
_HOLDING = any_case(r'\bare you (?:holding|carrying)\b(.*?)(?=(?: right)?(?: now)?\W*$)')
_WHETHER = any_case(
    r'^\W*(?:(?:is|are|was|were) (?!there\b)|(?:did|have|had) (?:you|we|i) (?:leave|left) )'
    rf'(?P<thing>.+?){_STATE}(?: (?:now|right now|again))?\W*$'
)
_EITHER = any_case(r'\b(open|closed|shut) or (?:not|open|closed|shut)\b')
_WHAT = any_case(rf'^\W*(?:what|which)\b.*?\b(?:leave|left|is|are|was|were|stands?){_STATE}(?: now)?\W*$')
_IS_IN = any_case(r'\b(?:am i|are you|are we|is the robot)\b')
_PLACES = any_case(r'\bhow many (?:\w+ )?(?:rooms|places)\b')


@dataclass(frozen=True, slots=True)
class _Found:
    """What an answer is made of.

    :param took_place: knows all deeds, whenever they were done
    :param query: of what was asked for
    :param found: what the query found
    """

    asked: DeedRequest
    took_place: TookPlace
    query: DeedQuery
    found: FoundDeeds

    @property
    def some(self) -> Sequence[Occurrence]:
        return self.found.found

    def told(self, deeds: Iterable[Occurrence]) -> str:
        return listed(self.took_place.question, deeds)

    def rare(self, most: int) -> list[Occurrence]:
        return rarest(self.some, self.took_place.done, most)

    def claim(self, text: str, deeds: Iterable[Occurrence], *, yes: bool | None = None) -> Claim:
        """Return an answer that rests on deeds.

        :param yes: what is said where yes or no is asked for; None: nothing but the text
        """
        text, hits = f'{text}.', hits_of(deeds)
        tells = yes is None or not self.asked.yes
        return Claim(Kind.TEXT, text, hits) if tells else yes_or_no(bool(yes), text, hits)

    def none(self) -> Claim:
        """Return that there is no such deed."""
        if self.asked.yes:
            hits = hits_of(self.took_place.done[-1:])
            return Claim(Kind.BINARY, 'No, not that I remember.', hits, binary=False)
        return Claim(Kind.NOT_SEEN, 'I remember no such deed.')

    def first_of_each(self, field: str) -> dict[str, Occurrence]:
        """Return the first deed of each name in a field, by that name, in the order of time."""
        first: dict[str, Occurrence] = {}
        for deed in sorted(self.some, key=lambda deed: deed.start_ns):
            if name := getattr(deed.facts, field):
                first.setdefault(name, deed)
        return first

    def one(self) -> Occurrence:
        """Return the one that is meant: the last unless the order says another one."""
        first = self.query.nth is not None or self.query.order is not DeedOrder.FIRST
        return self.some[0 if first else -1]


# One return per way to leave a question.
def answer_deeds(  # noqa: PLR0911
    request: Request, question: Question, recall: Recall, scope: Scope
) -> Claim | None:
    """Return what the robot's deeds tell of a question; None: it is about something else, or no deed tells.

    :param scope: the time, the robots and the map that the question is about
    :raises StoreUnavailable: there is no store
    """
    took_place = TookPlace(question, recall, scope)
    rest, called = _by_first_names(request.window.rest, took_place.source.places)
    asked = parse_deeds(rest) if took_place.done else None
    if asked is None or _NOW.search(rest):  # 'When is lunch over?'
        return None
    seen = asked.has('seen')
    to_go = request.kind is Kind.POSITION and _GOAL.match(request.plain)
    if to_go or (seen and asked.asked is not DeedAsked.DAYS):
        return None
    query: DeedQuery | None
    names, source = took_place.names, took_place.source
    if seen:
        query = DeedQuery(kind=SIGHT, object=source.words_seen(asked.main, scope), scope=scope)
    elif state := _just_done(asked, request, took_place) or _state(asked.says, took_place):
        return replace(state, about=asked.says, confidence=SURE)  # its patterns fit the whole of it
    else:
        query = build_deed_query(asked, names, request, question, scope)
    if query is None:
        return None
    found = choose_deeds(query, source)
    about = _Found(asked, took_place, query, found)
    if _is_of_sights(about, request):
        return None
    tells = _ANSWERS.get(asked.asked, _deeds)
    claim = tells(about) if found.found or tells in _OF_NONE else about.none()
    if claim is None:
        return None
    said = words(asked.says) if claim.denies or not found.found else []
    known = [word for word in said if word not in STOP_WORDS and names.knows(word)]
    sides = [side.says for side in (query.after, query.before, query.during) if side is not None]
    never = query.never == 'place' or (query.never and not names.read(asked.main).names)
    spoken = ['never'] * bool(never) + ['not'] * bool(query.never or query.outcomes or tells is _why)
    return replace(
        claim,
        text=f'{"" if source.whole else "Of the latest that I remember: "}{claim.text}',
        about=' '.join((claim.about, *known, *sides, *spoken, *called)),
        confidence=_sureness(about, claim),
    )


def _sureness(about: _Found, claim: Claim) -> float:
    """Return how sure an answer is: the log holds, whether the question was read as it was meant need not."""
    if claim.kind is Kind.NOT_SEEN or claim.duration_s == 0.0:
        return PERHAPS  # who asks when it was done knows that it was: it may be called otherwise
    asked, scope, zone = about.asked, about.took_place.scope, about.took_place.question.zone
    ends = (local(ns, zone) for ns in (scope.after_ns, scope.before_ns) if ns is not None)
    of_day = any(end.hour or end.minute for end in ends)  # 'after 6 pm' is read as of one day
    which = asked.yes and not {'before', 'after'}.isdisjoint(asked.sides) and len(about.found.every) > 1
    return PERHAPS if which or (of_day and asked.asked is DeedAsked.DAYS) else SURE


def _by_first_names(text: str, places: Places) -> tuple[str, list[str]]:
    """Return a text with places as deeds name them, and what it called them."""
    called: list[str] = []
    for name, *others in (place.names for place in places.all):
        for other in others:
            text, times = re.subn(rf'\b{re.escape(other)}\b', name, text, flags=re.IGNORECASE)
            called += [other] * times
    return text, called


def _is_of_sights(about: _Found, request: Request) -> bool:
    """Tell whether what was seen tells more than deeds: of a day as a whole, of how the robot moved."""
    query, found = about.query, about.found
    known = query.kind in about.took_place.names.kinds or query.kind in (SIGHT, STAY)
    named = not replace(query, kind='').names_nothing or query.order.from_here
    if known or named or found.anchors or query.at_ns is not None:
        return False
    recall, seen = about.took_place.recall, replace(query.scope, source=CAPTIONER)
    if about.asked.asked is DeedAsked.DISTANCE:
        return (recall.survey(seen).driven_m or 0.0) > sum(deed.metres for deed in found.found)
    of_day = about.asked.asked in (DeedAsked.DEEDS, DeedAsked.BRIEFLY)
    whole = query.names_nothing and of_day and query.nth is None
    moved = parse_motion(request.window.rest) is not None
    return (whole or moved) and recall.count(seen) > len(found.found)


def _just_done(asked: DeedRequest, request: Request, took_place: TookPlace) -> Claim | None:
    """Return what was just done; None: that is not asked."""
    scope, window = took_place.scope, request.window
    if not _JUST.match(asked.says) or (scope.after_ns, scope.before_ns, window.at_ns) != (None, None, None):
        return None
    head, deeds = just_done(took_place.recall, took_place.question.now_ns, scope)
    said = f'{head}: {listed(took_place.question, deeds)}.'
    return Claim(Kind.TEXT, said, hits_of(deeds)) if deeds else None


def _state(text: str, took_place: TookPlace) -> Claim | None:
    """Return whether something is open or in hand, or what is; None: that is not asked, or no deed tells."""
    text, either = _EITHER.subn(r'\1', _HOLDING.sub(r'is\1 in your hand', text))
    found, question = _WHETHER.match(text) or _WHAT.match(text), took_place.question
    kinds = ('pick', 'place') if found and 'hand' in found['state'].lower() else ('open', 'close')
    last = last_of_each(took_place.source.deeds(took_place.scope), *kinds) if found else []
    if found is None or not last:
        return None
    as_first = found['state'].lower() not in ('closed', 'shut')
    such = [deed for deed in last if is_same_kind(deed.facts.kind, kinds[0]) is as_first]
    if found.re is _WHAT:
        text = listed(question, such) if such else f'Nothing that I remember, of {len(last)} that I handled'
        return Claim(Kind.TEXT, f'{text}.', hits_of(such or last))
    phrase = took_place.names.read(found['thing'])
    query = phrase.query(loose=not phrase.of('object'))
    fit = [deed for deed in last if deed.fits(query)] if phrase.names and not phrase.unknown else []
    if not fit:
        return None
    deed = max(fit, key=lambda deed: deed.end_ns)
    said, hits = f'{listed(question, [deed])}.', hits_of([deed])
    return Claim(Kind.TEXT, said, hits) if either else yes_or_no(deed in such, said, hits)


def _deeds(about: _Found) -> Claim:
    deeds = about.some
    if len(deeds) > SHOWN and about.query.names_nothing:
        if not about.asked.has('detail'):
            return _briefly(about)
        deeds = [deed for deed in deeds if not is_same_kind(deed.facts.kind, 'go')][:DETAILS]
        return about.claim(about.told(deeds), (*rarest(deeds, about.took_place.done, LAST), *deeds))
    shown = sorted(deeds, key=lambda deed: deed.start_ns) if about.query.order is DeedOrder.LAST else deeds
    more = f'; and {len(shown) - SHOWN} more' if len(shown) > SHOWN else ''
    return about.claim(f'{about.told(shown[:SHOWN])}{more}', shown)


def _briefly(about: _Found) -> Claim:
    deeds, rare = about.some, about.rare(LAST)
    failed = [deed for deed in deeds if deed.failed]
    problems = f' Not everything succeeded: {about.told(failed[:LAST])}.' if failed else ''
    text = f'{len(deeds)} deeds: {kinds_said(deeds)}.{problems} Of note: {about.told(rare)}'
    return about.claim(text, (*rare, *failed, *deeds))


def _count(about: _Found) -> Claim:
    deeds = about.some
    if not deeds:
        return about.claim('0 times: never, as far as I remember', about.took_place.done[-1:])
    if about.asked.has('distinct'):
        of_places = about.query.kind == STAY or _PLACES.search(about.asked.says)
        first = about.first_of_each('place' if of_places else 'object')
        names = sorted({name.casefold() for name in first})
        if names:
            return about.claim(f'{len(names)}: {", ".join(names)}', first.values())
    failed, text = [deed for deed in deeds if deed.failed], times_said(len(deeds))
    if failed and len(failed) < len(deeds):
        text += f': {len(deeds) - len(failed)} succeeded, {len(failed)} failed ({about.told(failed[:SHOWN])})'
    elif len(deeds) <= LISTED:
        text += f': {about.told(deeds)}'
    return about.claim(text, (*failed, *deeds), yes=True)


def _days(about: _Found) -> Claim:
    days = by_day(about.some, about.took_place.question.zone)
    said = (f'{day} ({times_said(len(of))})' if len(of) > 1 else f'{day}' for day, of in days.items())
    number = f'{len(days)} days: ' if 'how many' in about.asked.says.lower() else ''
    return about.claim(f'{number}{", ".join(said)}', (*(of[0] for of in days.values()), *about.some))


def _time(about: _Found) -> Claim:
    deed = about.one()
    also = f' (the last of {len(about.some)} times)' if len(about.some) > 1 else ''
    text = f'{deed.memory.caption.rstrip(".")}{also}'
    return Claim(Kind.TIME, text, [Hit(deed.as_memory, 1.0)], choice=Choice.EARLIEST)


def _where(about: _Found) -> Claim:
    deed = next((deed for deed in reversed(about.some) if not deed.failed), about.some[-1])
    kind = Kind.TEXT if deed.memory.pose is None else Kind.POSITION
    return Claim(kind, deed.memory.caption, hits_of([deed]))


def _rooms(about: _Found) -> Claim:
    if _IS_IN.search(about.asked.says):
        return about.claim(about.some[-1].where, about.some[-1:])
    deeds = about.first_of_each('place').values()
    never = 'Not in: ' if about.query.never else ''
    return about.claim(f'{never}{", ".join(deed.where for deed in deeds)}', deeds) if deeds else about.none()


def _duration(about: _Found) -> Claim:
    deeds, average, ends = about.some, about.asked.has('average'), about.found.anchors
    timed = about.took_place.scope.after_ns is not None and about.query.nth is None and not ends
    if average or about.asked.has('total') or (timed and len(deeds) > 1):
        seconds = sum(deed.seconds for deed in deeds) / (len(deeds) if average else 1)
        text = f'{"On average" if average else "In total"}, of {len(deeds)} times'
    elif about.query.names_nothing and len(ends) > 1 and about.query.nth is None:
        seconds = (ends[-1].end_ns - ends[0].start_ns) / NS
        text, deeds = f'From the one to the other ({about.told((ends[0], ends[-1]))})', ends
    else:
        deed = about.one()
        metres = f' ({deed.metres:.1f} m)' if deed.metres > 0.0 else ''
        seconds, text, deeds = deed.seconds, f'{about.told([deed])}{metres}', [deed]
    hits = hits_of(deeds)
    last = max(hits, key=lambda hit: hit.memory.end_ns)
    return Claim(Kind.DURATION, text, hits, start=hits[0], end=last, duration_s=seconds)


def _distance(about: _Found) -> Claim | None:
    longest = about.query.order is DeedOrder.LONGEST
    deeds = sorted(about.found.every, key=lambda deed: deed.metres)[-1:] if longest else about.some
    moved = [deed for deed in deeds if deed.metres > 0.0]
    detail = f': {about.told(moved)}' if len(moved) <= 3 else f' in {len(moved)} deeds'
    text = f'I moved {sum(deed.metres for deed in moved):.2f} m{detail}'
    return about.claim(text, (*about.found.anchors, *moved)) if moved else None


def _from_here(about: _Found) -> Claim | None:
    deed, here = about.one(), about.took_place.question.here
    if here is None or deed.memory.pose is None:
        return None
    metres = distance(here.position, deed.memory.pose.position)
    return about.claim(f'{metres:.1f} m from here: {about.told([deed])}', [deed])


def _why(about: _Found) -> Claim:
    source, whole = about.took_place.source, replace(about.query, outcomes=(), nth=None)
    deeds = [deed for deed in (*about.some, *about.found.anchors) if deed.failed]
    base = choose_deeds(whole, source).found if not deeds else ()
    if base and not about.query.names_nothing:
        inside = DeedQuery(outcomes=('failed', 'cancelled'), during=whole)
        deeds = [*(deed for deed in base if deed.failed), *choose_deeds(inside, source).found]
    if deeds or (base and not about.asked.yes and about.asked.asked is DeedAsked.WHY):
        return about.claim(about.told((deeds or base)[:SHOWN]), deeds or base, yes=True)
    if about.asked.yes or about.query.names_nothing:
        shown = about.found.anchors or base[:SHOWN]
        return (
            about.claim('nothing went wrong, as far as I remember', shown, yes=False)
            if shown
            else about.none()
        )
    return about.none()


def _whether(about: _Found) -> Claim:
    if NEVER.search(about.asked.says):
        return _deeds(about)
    deeds, last = about.some, about.some[-LAST:]
    often = f'{len(deeds)} times, last: ' if len(deeds) > LAST else ''
    done = bool(about.query.outcomes) or about.asked.has('tried') or not all(deed.failed for deed in deeds)
    return about.claim(f'{often}{about.told(last)}', (*last, *deeds), yes=done)


def _outcome(about: _Found) -> Claim:
    deed = about.some[-1]
    return about.claim(f'{about.told([deed])}: {deed.outcome}', [deed], yes=not deed.failed)


_ANSWERS: dict[DeedAsked, Callable[[_Found], Claim | None]] = {
    DeedAsked.DAYS: _days,
    DeedAsked.FROM_HERE: _from_here,
    DeedAsked.DISTANCE: _distance,
    DeedAsked.DURATION: _duration,
    DeedAsked.COUNT: _count,
    DeedAsked.TIME: _time,
    DeedAsked.WHERE: _where,
    DeedAsked.ROOMS: _rooms,
    DeedAsked.WHY: _why,
    DeedAsked.PROBLEMS: _why,
    DeedAsked.HIGHLIGHTS: lambda of: of.claim(of.told(of.rare(HIGHLIGHTS)), of.rare(HIGHLIGHTS)),
    DeedAsked.OUTCOME: _outcome,
    DeedAsked.BRIEFLY: _briefly,
    DeedAsked.WHETHER: _whether,
}
"""Of all others the deeds are told."""
_OF_NONE = (_count, _why)  # which have an answer where nothing is found
