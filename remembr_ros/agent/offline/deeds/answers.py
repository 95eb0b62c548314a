"""What the rules answer about deeds: of one query how many, how long, how far, when and why."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.agent.model.grounding import Choice, Claim
from remembr_ros.agent.offline.deeds.request import DeedAsked, DeedRequest, parse_deeds
from remembr_ros.agent.offline.deeds.understanding import DETAIL, SEEN, understood
from remembr_ros.agent.offline.request import Request
from remembr_ros.agent.times.time_expression import local
from remembr_ros.geometry import distance
from remembr_ros.memory.deeds.names import DeedNames
from remembr_ros.memory.deeds.occurrences import Happened, hits_of
from remembr_ros.memory.deeds.query import (
    SIGHT,
    STAY,
    DeedOrder,
    DeedQuery,
    FoundDeeds,
    Occurrence,
    choose_deeds,
)
from remembr_ros.memory.deeds.verbs import base, is_same_kind
from remembr_ros.memory.matching.terms import words
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.model.record import AGENT, Memory
from remembr_ros.memory.recall import Recall
from remembr_ros.timestamps import NS, format_clock

SURE = 0.9  # what is told by code holds; whether the question was understood, the rules do not know
SHOWN = 40  # deeds that an answer tells one by one; of more it tells the kinds and numbers
DETAILS = 150  # where somebody wants all of them, but drives
LISTED = 20  # that are told with their number
HIGHLIGHTS = 8
RARE = 3  # words of a sentence that say how rare it is
AROUND_NS = 900 * NS  # of a moment at which nothing was done, what was done so soon before or after is told


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

    def date(self, one: Occurrence) -> date:
        return local(one.start_ns, self.question.zone).date()

    def clock(self, one: Occurrence) -> str:
        return format_clock(one.start_ns, self.question.zone)[:16]

    def tell(self, one: Occurrence) -> str:
        said = one.memory.caption if one.facts.kind != STAY else f'In {one.where}'
        return f'{self.clock(one)} {said.rstrip(".")}'

    def listed(self, some: Iterable[Occurrence]) -> str:
        return '; '.join(map(self.tell, some))


def answer_deeds(request: Request, question: Question, recall: Recall, scope: Scope) -> Claim | None:
    """Return what the robot's deeds tell of a question; None: it is about something else, or no deed tells.

    :param scope: the time, the robots and the map that the question is about
    :raises StoreUnavailable: there is no store
    """
    anytime = replace(scope, after_ns=None, before_ns=None)
    if not recall.count(replace(anytime, source=AGENT)):
        return None
    happened = Happened(recall)
    done = happened.deeds(anytime, talk=True)
    asked = parse_deeds(request.window.rest)
    seen = SEEN.search(asked.says) is not None
    it = asked.asked is DeedAsked.TIME and _EARLIER.search(asked.says)  # the thing is named before
    if not done or (seen and asked.asked not in _OF_SIGHTS and not it):
        return None
    names = DeedNames(done, [(name, 'place') for one in happened.places.all for name in one.names])
    query: DeedQuery | None
    if seen:
        thing = re.split(r'[.,;:!?\u2013-]\s', asked.says)[0] if it else asked.main
        query = DeedQuery(kind=SIGHT, object=happened.words_seen(thing, scope), scope=scope)
    else:
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
    about = _About(asked, question, query, found, done, names, happened)
    claim = _of_several(about) if asked.alternatives else _ANSWERS[asked.asked](about)
    note = '' if happened.whole else 'Of the latest that I remember: '
    return claim and replace(claim, text=f'{note}{claim.text}', confidence=SURE)


def _deeds(about: _About) -> Claim | None:
    some = about.some
    if not some:
        return _nothing(about)
    if len(some) > SHOWN and about.query.names_nothing:
        if not DETAIL.search(about.asked.says):
            return _briefly(about)
        some = [one for one in some if not is_same_kind(one.facts.kind, 'go')][:DETAILS]
        return Claim(Kind.TEXT, f'{about.listed(some)}.', hits_of((*_rarest(some, about.done, 5), *some)))
    told = sorted(some, key=lambda one: one.start_ns) if about.query.order is DeedOrder.LAST else some
    more = f'; and {len(told) - SHOWN} more' if len(told) > SHOWN else ''
    return Claim(Kind.TEXT, f'{about.listed(told[:SHOWN])}{more}.', hits_of(told))


def _briefly(about: _About) -> Claim | None:
    some = about.some
    if not some:
        return _nothing(about)
    kinds = Counter(one.facts.kind or 'other' for one in some)
    parts = []
    for kind, number in kinds.most_common():
        of = Counter(
            one.facts.object or one.facts.receptacle for one in some if (one.facts.kind or 'other') == kind
        )
        names = ', '.join(name for name, _ in of.most_common(4) if name)
        parts.append(f'{kind} {number} times{f" ({names})" if names else ""}')
    failed = [one for one in some if one.failed]
    problems = f' Not everything succeeded: {about.listed(failed[:5])}.' if failed else ''
    rare = _rarest(some, about.done, 5)
    text = f'{len(some)} deeds: {", ".join(parts)}.{problems} Of note: {about.listed(rare)}.'
    return Claim(Kind.TEXT, text, hits_of((*rare, *failed, *some)))


def _highlights(about: _About) -> Claim | None:
    if not about.some:
        return _nothing(about)
    rare = _rarest(about.some, about.done, HIGHLIGHTS)
    return Claim(Kind.TEXT, f'{about.listed(rare)}.', hits_of(rare))


def _rarest(some: Sequence[Occurrence], done: Sequence[Occurrence], most: int) -> list[Occurrence]:
    """Return the deeds that are told in the rarest words, in the order of time."""
    said = {id(one): {base(word) for word in words(one.memory.caption)} for one in done}
    common = Counter(word for some_words in said.values() for word in some_words)

    def novelty(one: Occurrence) -> tuple[float, bool]:
        rarest = sorted(common[word] for word in {base(word) for word in words(one.memory.caption)})[:RARE]
        return -sum(map(math.log, rarest)) / len(rarest), one.failed

    best = sorted(some, key=novelty, reverse=True)[:most]
    return sorted(best, key=lambda one: one.start_ns)


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
    order = {
        DeedAsked.COUNT: lambda name: -len(done[name]),
        DeedAsked.DURATION: lambda name: -sum(one.seconds for one in done[name]),
    }.get(asked.asked, lambda name: done[name][0].start_ns)
    if asked.nth == -1:
        best = max(done, key=lambda name: done[name][-1].start_ns)
        told = [f'{best}, {about.clock(done[best][-1])}']
    elif asked.nth == 1 or asked.asked in (DeedAsked.COUNT, DeedAsked.DURATION):
        best = min(done, key=order)
        told = [f'{best}, {about.clock(done[best][0])}, {len(done[best])} times']
    else:
        told = list(done)
    return Claim(Kind.TEXT, f'{", ".join(told)}.', hits_of(done[name][0] for name in sorted(done, key=order)))


def _spanned(one: Occurrence) -> Memory:
    return replace(one.memory, start_ns=one.start_ns, end_ns=one.end_ns)


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
    text = 'Once' if len(some) == 1 else f'{len(some)} times'
    if failed and len(failed) < len(some):
        text += (
            f': {len(some) - len(failed)} succeeded, {len(failed)} failed ({about.listed(failed[:SHOWN])})'
        )
    elif len(some) <= LISTED:
        text += f': {about.listed(some)}'
    if about.query.outcomes:
        every = choose_deeds(replace(about.query, outcomes=()), about.happened).every
        good = [one for one in every if not one.failed]
        if good and len(good) < len(every):
            text += f'; of {len(every)} in all, {len(good)} succeeded, {len(every) - len(good)} failed'
    shown = some if not failed or len(failed) == len(some) else [*failed, *some]
    if about.asked.yes:
        return Claim(Kind.BINARY, f'Yes, {text}.', hits_of(shown), binary=True)
    return Claim(Kind.TEXT, f'{text}.', hits_of(shown))


def _by_day(about: _About) -> dict[date, list[Occurrence]]:
    days: dict[date, list[Occurrence]] = {}
    for one in about.some:
        days.setdefault(about.date(one), []).append(one)
    return days


def _days(about: _About) -> Claim | None:
    days = _by_day(about)
    if not days:
        return _nothing(about)
    told = ', '.join(
        f'{day.isoformat()}{f" ({len(some)} times)" if len(some) > 1 else ""}' for day, some in days.items()
    )
    number = f'{len(days)} days: ' if 'how many' in about.asked.says.lower() else ''
    return Claim(Kind.TEXT, f'{number}{told}.', hits_of((*(some[0] for some in days.values()), *about.some)))


def _per_day(about: _About) -> Claim | None:
    days = _by_day(about)
    if not days:
        return _nothing(about)
    if about.asked.average:
        whole = (max(days) - min(days)).days + 1
        text = f'{len(about.some) / whole:.1f} times a day, {len(about.some)} in {whole} days.'
    else:
        text = f'{", ".join(f"{day.isoformat()}: {len(some)}" for day, some in days.items())}.'
    return Claim(Kind.TEXT, text, hits_of((*(some[0] for some in days.values()), *about.some)))


def _day_of_most(about: _About) -> Claim | None:
    days = _by_day(about)
    if not days:
        return _nothing(about)
    least = re.search(r'\b(?:least|fewest)\b', about.asked.says, re.IGNORECASE) is not None
    day = (min if least else max)(days, key=lambda one: len(days[one]))
    text = f'On {day.isoformat()}: {len(days[day])} times.'
    return Claim(Kind.TEXT, text, hits_of(days[day]))


def _days_without(about: _About) -> Claim | None:
    with_it = set(_by_day(about))
    scope = about.query.scope
    days = {about.date(one) for one in about.done if scope.admits(_spanned(one))}
    if not days:
        return _nothing(about)
    first, last = min(days), max(days)
    every = [first + timedelta(days=n) for n in range((last - first).days + 1)]
    left = [day for day in every if day not in with_it]
    shown = hits_of([one for one in about.done if about.date(one) in left][:5] or about.done[-1:])
    text = ', '.join(day.isoformat() for day in left[:SHOWN]) if left else 'There was none'
    if about.asked.yes:
        return Claim(Kind.BINARY, f'{"Yes" if left else "No"}: {text}.', shown, binary=bool(left))
    return Claim(Kind.TEXT, f'{text}.', shown)


def _one(about: _About) -> Occurrence | None:
    """Return the one that is meant: the last unless the order says another one."""
    if not about.some:
        return None
    first = about.query.nth is not None or about.query.order is not DeedOrder.FIRST
    return about.some[0 if first else -1]


def _time(about: _About) -> Claim | None:
    one = _one(about)
    if one is None:
        return _nothing(about)
    also = f' (the last of {len(about.some)} times)' if len(about.some) > 1 else ''
    memory = replace(one.memory, start_ns=one.start_ns, end_ns=one.end_ns)
    (hit,) = hits_of([replace(one, memories=(memory,))])
    return Claim(Kind.TIME, f'{one.memory.caption.rstrip(".")}{also}', [hit], choice=Choice.EARLIEST)


def _where(about: _About) -> Claim | None:
    if not about.some:
        return None
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
    if not some:
        return _nothing(about)
    if about.asked.average or about.asked.total:
        seconds = sum(one.seconds for one in some)
        seconds = seconds / len(some) if about.asked.average else seconds
        how = 'On average' if about.asked.average else 'In total'
        text = f'{how}, of {len(some)} times,'
    else:
        one = _one(about) or some[-1]
        seconds, text = one.seconds, about.tell(one)
        text += f' ({one.metres:.1f} m)' if one.metres > 0.0 else ''
        some = [one]
    hits = hits_of(some)
    last = max(hits, key=lambda hit: hit.memory.end_ns)
    return Claim(Kind.DURATION, text, hits, start=hits[0], end=last, duration_s=seconds)


def _distance(about: _About) -> Claim | None:
    some = about.some
    if not some:
        return _nothing(about)
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
    if one is None or here is None or one.memory.pose is None:
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
    if some:
        text = f'{about.listed(some[:SHOWN])}.'
        if about.asked.yes:
            return Claim(Kind.BINARY, f'Yes: {text}', hits_of(some), binary=True)
        return Claim(Kind.TEXT, text, hits_of(some))
    if about.asked.yes:
        text = 'No: nothing went wrong, as far as I remember.'
        return Claim(Kind.BINARY, text, hits_of(about.found.anchors or base[:SHOWN]), binary=False)
    return (
        Claim(Kind.TEXT, f'{about.listed(base[-LISTED:])}.', hits_of(base[-LISTED:]))
        if base
        else _nothing(about)
    )


def _outcome(about: _About) -> Claim | None:
    if not about.some:
        return _nothing(about)
    one = about.some[-1]
    text = f'{about.tell(one)}: {one.outcome}.'
    if about.asked.yes:
        return Claim(
            Kind.BINARY, f'{"No" if one.failed else "Yes"}: {text}', hits_of([one]), binary=not one.failed
        )
    return Claim(Kind.TEXT, text, hits_of([one]))


def _whether(about: _About) -> Claim | None:
    some = about.some
    if about.asked.never:
        return _deeds(about)
    if not some:
        return Claim(Kind.BINARY, 'No, not that I remember.', hits_of(about.done[-1:]), binary=False)
    told = some[-5:]
    often = f' {len(some)} times, last' if len(some) > 5 else ''
    return Claim(Kind.BINARY, f'Yes{often}: {about.listed(told)}.', hits_of((*told, *some)), binary=True)


def _nothing(about: _About) -> Claim | None:
    if about.asked.yes:
        return Claim(Kind.BINARY, 'No, not that I remember.', hits_of(about.done[-1:]), binary=False)
    return Claim(Kind.NOT_SEEN, 'I remember no such deed.')


_ANSWERS: dict[DeedAsked, Callable[[_About], Claim | None]] = {
    DeedAsked.DAY_OF_MOST: _day_of_most,
    DeedAsked.DAYS_WITHOUT: _days_without,
    DeedAsked.PER_DAY: _per_day,
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
_EARLIER = re.compile(r'[.,;:!?\u2013-]\s.*\b(?:it|them|him|her)\b', re.IGNORECASE)
_OF_SIGHTS = {DeedAsked.DAYS, DeedAsked.DAY_OF_MOST, DeedAsked.PER_DAY, DeedAsked.DAYS_WITHOUT}
