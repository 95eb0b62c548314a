"""What the rules answer about deeds: of one query how many, how long, how far, when and why."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.agent.model.grounding import Choice, Claim
from remembr_ros.agent.offline.deeds.request import DeedAsked, DeedRequest, parse_deeds
from remembr_ros.agent.offline.deeds.states import answer_state
from remembr_ros.agent.offline.deeds.understanding import DETAIL, SEEN, understood
from remembr_ros.agent.offline.motion_request import parse_motion
from remembr_ros.agent.offline.request import Request
from remembr_ros.geometry import distance
from remembr_ros.memory.deeds.choice import choose_deeds
from remembr_ros.memory.deeds.names import DeedNames
from remembr_ros.memory.deeds.occurrences import Happened, hits_of, just_done
from remembr_ros.memory.deeds.query import SIGHT, STAY, DeedOrder, DeedQuery, FoundDeeds, Occurrence
from remembr_ros.memory.deeds.summary import by_day, days_without, kinds_said, rarest
from remembr_ros.memory.deeds.verbs import is_same_kind
from remembr_ros.memory.model.recall import Hit, Scope
from remembr_ros.memory.model.record import AGENT, CAPTIONER
from remembr_ros.memory.recall_protocol import Recall
from remembr_ros.timestamps import format_clock

SURE = 0.9  # what is told by code holds; whether the question was understood, the rules do not know
SHOWN = 40  # deeds that an answer tells one by one; of more it tells the kinds and numbers
DETAILS = 150  # where somebody wants all of them, but drives
LISTED = 20  # that are told with their number
LAST = 5  # that are told of those that there were
HIGHLIGHTS = 8


@dataclass(frozen=True, slots=True)
class _About:
    """What an answer is made of.

    :param found: what the query found
    :param query: of that
    :param done: all deeds that the memory knows
    """

    asked: DeedRequest
    question: Question
    query: DeedQuery
    found: FoundDeeds
    done: Sequence[Occurrence]
    names: DeedNames
    happened: Happened

    @property
    def some(self) -> Sequence[Occurrence]:
        return self.found.found

    def clock(self, one: Occurrence) -> str:
        return format_clock(one.start_ns, self.question.zone)[:16]

    def tell(self, one: Occurrence) -> str:
        return _listed(self.question, [one])

    def listed(self, some: Iterable[Occurrence]) -> str:
        return _listed(self.question, some)


def _listed(question: Question, some: Iterable[Occurrence]) -> str:
    said = ((one, one.memory.caption if one.facts.kind != STAY else f'In {one.where}') for one in some)
    return '; '.join(
        f'{format_clock(one.start_ns, question.zone)[:16]} {told.rstrip(".")}' for one, told in said
    )


def answer_deeds(request: Request, question: Question, recall: Recall, scope: Scope) -> Claim | None:
    """Return what the robot's deeds tell of a question; None: it is about something else, or no deed tells.

    :param scope: the time, the robots and the map that the question is about
    :raises StoreUnavailable: there is no store
    """
    anytime = replace(scope, after_ns=None, before_ns=None)
    if not recall.count(replace(anytime, source=AGENT)):
        return None
    happened = Happened(recall)
    done = happened.deeds(anytime)
    asked = parse_deeds(request.window.rest)
    seen = SEEN.search(asked.says) is not None
    it = asked.asked is DeedAsked.TIME and _EARLIER.search(asked.says)  # the thing is named before
    to_go = request.kind is Kind.POSITION and _GOAL.match(request.plain)
    if not done or to_go or (seen and asked.asked not in _OF_SIGHTS and not it):
        return None
    names = DeedNames(done, [(name, 'place') for one in happened.places.all for name in one.names])
    query: DeedQuery | None
    if seen:
        thing = re.split(r'[.,;:!?\u2013-]\s', asked.says)[0] if it else asked.main
        query = DeedQuery(kind=SIGHT, object=happened.words_seen(thing, scope), scope=scope)
    else:
        told = answer_state(asked.says, names, happened, scope, partial(_listed, question))
        if _JUST.match(asked.says) and (scope, request.window.at_ns) == (anytime, None):
            head, some = just_done(recall, question.now_ns, scope)
            told = Claim(Kind.TEXT, f'{head}: {_listed(question, some)}.', hits_of(some)) if some else None
        if told is not None:
            return replace(told, confidence=SURE)
        query = understood(asked, names, request, question, scope)
    if query is None and asked.asked in _OF_SIGHTS:
        query = DeedQuery(kind=SIGHT, object=happened.words_seen(asked.main, scope), scope=scope)
    if query is None:
        return None
    found = choose_deeds(query, happened)
    if asked.at and not found.found and query.during is not None:  # 'when he asked you to'
        found = choose_deeds(replace(query, during=None, after=query.during), happened)
    if not found.found and query.outcomes == ('cancelled',):
        found = choose_deeds(replace(query, outcomes=('failed', 'cancelled')), happened)
    is_kind = query.kind in names.kinds or query.kind in (SIGHT, STAY)
    if not is_kind and _is_of_sights(asked, request, query, found, recall):
        return None
    about = _About(asked, question, query, found, done, names, happened)
    answer = _of_several if asked.alternatives else _ANSWERS[asked.asked]
    claim = answer(about) if found.found or answer in _OF_NONE else _nothing(about)
    note = '' if happened.whole else 'Of the latest that I remember: '
    return claim and replace(claim, text=f'{note}{claim.text}', confidence=SURE)


def _is_of_sights(
    asked: DeedRequest, request: Request, query: DeedQuery, found: FoundDeeds, recall: Recall
) -> bool:
    """Tell whether what was seen tells more than deeds: of a day as a whole, of how the robot moved."""
    named = not replace(query, kind='').names_nothing or query.order.from_here
    if named or found.anchors or query.at_ns is not None or asked.alternatives:
        return False
    seen = replace(query.scope, source=CAPTIONER)
    if asked.asked is DeedAsked.DISTANCE:
        return (recall.survey(seen).driven_m or 0.0) > sum(one.metres for one in found.found)
    whole = query.names_nothing and asked.asked in _OF_A_DAY and asked.nth is None
    moved = parse_motion(request.window.rest) is not None
    return (whole or moved) and recall.count(seen) > len(found.found)


def _deeds(about: _About) -> Claim:
    some = about.some
    if len(some) > SHOWN and about.query.names_nothing:
        if not DETAIL.search(about.asked.says):
            return _briefly(about)
        some = [one for one in some if not is_same_kind(one.facts.kind, 'go')][:DETAILS]
        return Claim(Kind.TEXT, f'{about.listed(some)}.', hits_of((*rarest(some, about.done, 5), *some)))
    told = sorted(some, key=lambda one: one.start_ns) if about.query.order is DeedOrder.LAST else some
    more = f'; and {len(told) - SHOWN} more' if len(told) > SHOWN else ''
    return Claim(Kind.TEXT, f'{about.listed(told[:SHOWN])}{more}.', hits_of(told))


def _briefly(about: _About) -> Claim:
    some = about.some
    failed = [one for one in some if one.failed]
    problems = f' Not everything succeeded: {about.listed(failed[:5])}.' if failed else ''
    rare = rarest(some, about.done, 5)
    text = f'{len(some)} deeds: {kinds_said(some)}.{problems} Of note: {about.listed(rare)}.'
    return Claim(Kind.TEXT, text, hits_of((*rare, *failed, *some)))


def _highlights(about: _About) -> Claim:
    rare = rarest(about.some, about.done, HIGHLIGHTS)
    return Claim(Kind.TEXT, f'{about.listed(rare)}.', hits_of(rare))


def _of_several(about: _About) -> Claim | None:
    """Answer which of some things it was, or was not."""
    asked, each = about.asked, dict[str, tuple[Occurrence, ...]]()
    for name in asked.alternatives:
        phrase = about.names.read(name)
        words_of_it = ' '.join((*(said for said, _ in phrase.names), *phrase.unknown)) or name
        query = replace(about.query, attribute=words_of_it, nth=None, limit=None, order=DeedOrder.FIRST)
        each[name] = choose_deeds(query, about.happened).every
    done = {name: some for name, some in each.items() if some}
    if asked.never:
        left = [name for name in each if name not in done]
        text = f'Not {", nor ".join(left)}' if left else 'All of them'
        shown = [some[-1] for some in done.values()] or about.done[-1:]
        return Claim(Kind.TEXT, f'{text}.', hits_of(shown))
    if not done:
        return _nothing(about)
    last = asked.nth == -1
    order = {
        DeedAsked.COUNT: lambda name: -len(done[name]),
        DeedAsked.DURATION: lambda name: -sum(one.seconds for one in done[name]),
    }.get(asked.asked, lambda name: -done[name][-1].start_ns if last else done[name][0].start_ns)
    ordered = sorted(done, key=order)
    if asked.nth or asked.asked in (DeedAsked.COUNT, DeedAsked.DURATION):
        best = done[ordered[0]]
        text = f'{ordered[0]}, {about.clock(best[-1 if last else 0])}, {len(best)} times.'
    else:
        text = f'{", ".join(done)}.'
    return Claim(Kind.TEXT, text, hits_of(done[name][0] for name in ordered))


def _count(about: _About) -> Claim | None:
    some = about.some
    if not some:
        return Claim(Kind.TEXT, '0 times: never, as far as I remember.', hits_of(about.done[-1:]))
    if about.asked.distinct:
        field = 'place' if about.query.kind == STAY else 'object'
        names = {getattr(one.facts, field).casefold(): one for one in reversed(some)}
        if names.pop('', None) and not names:
            names = {one.memory.caption: one for one in reversed(some)}
        if names:
            text = f'{len(names)}: {", ".join(sorted(names))}.'
            return Claim(Kind.TEXT, text, hits_of(sorted(names.values(), key=lambda one: one.start_ns)))
    failed = [one for one in some if one.failed]
    text = 'once' if len(some) == 1 else f'{len(some)} times'
    if failed and len(failed) < len(some):
        text += (
            f': {len(some) - len(failed)} succeeded, {len(failed)} failed ({about.listed(failed[:SHOWN])})'
        )
        some = (*failed, *some)
    elif len(some) <= LISTED:
        text += f': {about.listed(some)}'
    if about.query.outcomes:
        every = choose_deeds(replace(about.query, outcomes=()), about.happened).every
        lost = sum(one.failed for one in every)
        if 0 < lost < len(every):
            text += f'; of {len(every)} in all, {len(every) - lost} succeeded, {lost} failed'
    return _said(about, text, some)


def _said(about: _About, text: str, some: Sequence[Occurrence], *, yes: bool = True) -> Claim:
    """Return an answer; one with yes or no, where that is asked for."""
    if about.asked.yes:
        return Claim(Kind.BINARY, f'{"Yes" if yes else "No"}: {text}.', hits_of(some), binary=yes)
    return Claim(Kind.TEXT, f'{text}.', hits_of(some))


def _days(about: _About) -> Claim:
    days = by_day(about.some, about.question.zone)
    if about.asked.asked is DeedAsked.PER_DAY and about.asked.average:
        whole = (max(days) - min(days)).days + 1
        text = f'{len(about.some) / whole:.1f} times a day, {len(about.some)} in {whole} days'
    elif about.asked.asked is DeedAsked.PER_DAY:
        text = ', '.join(f'{day}: {len(some)}' for day, some in days.items())
    else:
        told = (f'{day}' + (f' ({len(some)} times)' if len(some) > 1 else '') for day, some in days.items())
        number = f'{len(days)} days: ' if 'how many' in about.asked.says.lower() else ''
        text = f'{number}{", ".join(told)}'
    return Claim(Kind.TEXT, f'{text}.', hits_of((*(some[0] for some in days.values()), *about.some)))


def _day_of_most(about: _About) -> Claim:
    days = by_day(about.some, about.question.zone)
    least = re.search(r'\b(?:least|fewest)\b', about.asked.says, re.IGNORECASE) is not None
    day = (min if least else max)(days, key=lambda one: len(days[one]))
    return Claim(Kind.TEXT, f'On {day}: {len(days[day])} times.', hits_of(days[day]))


def _days_without(about: _About) -> Claim:
    zone = about.question.zone
    whole = [one for one in about.done if about.query.scope.admits(one.as_memory)]
    left = days_without(about.some, whole, zone)
    shown = [one for day, some in by_day(whole, zone).items() if day in left for one in some[:1]]
    text = ', '.join(map(str, left[:SHOWN])) if left else 'there was none'
    return _said(about, text, shown or about.done[-1:], yes=bool(left))


def _one(about: _About) -> Occurrence:
    """Return the one that is meant: the last unless the order says another one."""
    first = about.query.nth is not None or about.query.order is not DeedOrder.FIRST
    return about.some[0 if first else -1]


def _time(about: _About) -> Claim:
    one = _one(about)
    also = f' (the last of {len(about.some)} times)' if len(about.some) > 1 else ''
    return Claim(
        Kind.TIME,
        f'{one.memory.caption.rstrip(".")}{also}',
        [Hit(one.as_memory, 1.0)],
        choice=Choice.EARLIEST,
    )


def _where(about: _About) -> Claim | None:
    one = next((one for one in reversed(about.some) if not one.failed), about.some[-1])
    kind = Kind.TEXT if one.memory.pose is None else Kind.POSITION
    return Claim(kind, one.memory.caption, hits_of([one]), choice=Choice.CITED_FIRST)


def _rooms(about: _About) -> Claim | None:
    names = {one.facts.place: one for one in reversed(about.some) if one.facts.place}
    if not names:
        return _nothing(about)
    told = sorted(names.values(), key=lambda one: one.start_ns)
    never = 'Not in: ' if about.query.never else ''
    return Claim(Kind.TEXT, f'{never}{", ".join(one.where for one in told)}.', hits_of(told))


def _duration(about: _About) -> Claim | None:
    some = about.some
    if about.asked.average or about.asked.total:
        seconds = sum(one.seconds for one in some)
        seconds = seconds / len(some) if about.asked.average else seconds
        how = 'On average' if about.asked.average else 'In total'
        text = f'{how}, of {len(some)} times,'
    else:
        one = _one(about)
        seconds, text = one.seconds, about.tell(one)
        text += f' ({one.metres:.1f} m)' if one.metres > 0.0 else ''
        some = [one]
    hits = hits_of(some)
    last = max(hits, key=lambda hit: hit.memory.end_ns)
    return Claim(Kind.DURATION, text, hits, start=hits[0], end=last, duration_s=seconds)


def _distance(about: _About) -> Claim | None:
    some = about.some
    if about.asked.order is DeedOrder.LONGEST:
        some = sorted(about.found.every, key=lambda one: one.metres)[-1:]
    metres = sum(one.metres for one in some)
    moved = [one for one in some if one.metres > 0.0]
    if not moved:
        return None
    what = f': {about.listed(moved)}' if len(moved) <= 3 else f' in {len(moved)} deeds'
    return Claim(Kind.TEXT, f'I moved {metres:.2f} m{what}.', hits_of((*about.found.anchors, *moved)))


def _from_here(about: _About) -> Claim | None:
    here = about.question.here
    one = _one(about)
    if here is None or one.memory.pose is None:
        return None
    metres = distance(here.position, one.memory.pose.position)
    return Claim(Kind.TEXT, f'{metres:.1f} m from here: {about.tell(one)}.', hits_of([one]))


def _why(about: _About) -> Claim | None:
    some = [one for one in (*about.some, *about.found.anchors) if one.failed]
    whole = replace(about.query, outcomes=(), nth=None)
    base = choose_deeds(whole, about.happened).found if not some else ()
    if base and not about.query.names_nothing:
        inside = DeedQuery(outcomes=('failed', 'cancelled'), during=whole)
        some = [*(one for one in base if one.failed), *choose_deeds(inside, about.happened).found]
    if some or (base and not about.asked.yes):
        return _said(about, about.listed((some or base)[:SHOWN]), some or base)
    if about.asked.yes:
        shown = about.found.anchors or base[:SHOWN]
        return _said(about, 'nothing went wrong, as far as I remember', shown, yes=False)
    return _nothing(about)


def _outcome(about: _About) -> Claim:
    one = about.some[-1]
    return _said(about, f'{about.tell(one)}: {one.outcome}', [one], yes=not one.failed)


def _whether(about: _About) -> Claim:
    if about.asked.never:
        return _deeds(about)
    some = about.some
    often = f'{len(some)} times, last: ' if len(some) > LAST else ''
    return _said(about, f'{often}{about.listed(some[-LAST:])}', (*some[-LAST:], *some))


def _nothing(about: _About) -> Claim | None:
    if about.asked.yes:
        return Claim(Kind.BINARY, 'No, not that I remember.', hits_of(about.done[-1:]), binary=False)
    return Claim(Kind.NOT_SEEN, 'I remember no such deed.')


_ANSWERS: dict[DeedAsked, Callable[[_About], Claim | None]] = {
    DeedAsked.DAY_OF_MOST: _day_of_most,
    DeedAsked.DAYS_WITHOUT: _days_without,
    DeedAsked.PER_DAY: _days,
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
    DeedAsked.HIGHLIGHTS: _highlights,
    DeedAsked.OUTCOME: _outcome,
    DeedAsked.BRIEFLY: _briefly,
    DeedAsked.WHETHER: _whether,
    DeedAsked.DEEDS: _deeds,
}
_GOAL = re.compile(
    r'^\W*(?!.*\b(?:through|did|have|story|account|report)\b)(?:i\b|looking\s+for\b|where\b(?!.*\b(?:you|we|robot|end(?:ed)?\s+up)\b)'
    r'|(?:take|bring|lead|guide|drive|navigate|go|move|get|head|return|come|escort|point|direct|visit|find|locate'
    r'|proceed|meet|wait|walk|show)\b)',
    re.IGNORECASE,
)
"""A wish to be taken somewhere, where the robot may have done something."""
_JUST = re.compile(
    r'^\W*what\s+(?:(?:have|did|were)\s+you\s+just|are\s+you)\s+do(?:ing|ne)?(?:\s+(?:right\s+)?now)?\W*$',
    re.IGNORECASE,
)
_EARLIER = re.compile(r'[.,;:!?\u2013-]\s.*\b(?:it|them|him|her)\b', re.IGNORECASE)
_OF_A_DAY = (DeedAsked.DEEDS, DeedAsked.BRIEFLY)
_OF_NONE = (_count, _why, _days_without, _of_several)  # which have an answer where nothing is found
_OF_SIGHTS = {DeedAsked.DAYS, DeedAsked.DAY_OF_MOST, DeedAsked.PER_DAY, DeedAsked.DAYS_WITHOUT}
