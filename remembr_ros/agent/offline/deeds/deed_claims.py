"""Answers from the deeds that a query found: how many, how long, how far, when and why."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.agent.model.grounding import Choice, Claim, yes_or_no
from remembr_ros.agent.offline.deeds.deed_request import (
    AVERAGE,
    DETAIL,
    DISTINCT,
    NEVER,
    TOTAL,
    TRIED,
    DeedAsked,
    DeedRequest,
)
from remembr_ros.geometry import distance
from remembr_ros.memory.deeds.choice import choose_deeds
from remembr_ros.memory.deeds.names import DeedNames
from remembr_ros.memory.deeds.occurrences import OccurrenceSource, hits_of
from remembr_ros.memory.deeds.query import STAY, DeedOrder, DeedQuery, FoundDeeds, Occurrence
from remembr_ros.memory.deeds.summary import by_day, kinds_said, rarest, times_said
from remembr_ros.memory.deeds.verbs import is_same_kind
from remembr_ros.memory.model.recall import Hit
from remembr_ros.timestamps import NS, format_clock

SURE = 0.9  # what is told by code holds; whether the question was understood, the rules do not know
SHOWN = 40  # deeds that an answer tells one by one; of more it tells the kinds and numbers
DETAILS = 150  # where somebody wants all of them, but drives
LISTED = 20  # that are told with their number
LAST = 5  # that are told of those that there were
HIGHLIGHTS = 8


@dataclass(frozen=True, slots=True)
class FoundAnswer:
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
    occurrences: OccurrenceSource

    @property
    def some(self) -> Sequence[Occurrence]:
        return self.found.found

    def told(self, deeds: Iterable[Occurrence]) -> str:
        return listed(self.question, deeds)

    def says(self, pattern: str) -> bool:
        return re.search(pattern, self.asked.says, re.IGNORECASE) is not None


def _by_name(deeds: Iterable[Occurrence], field: str) -> dict[str, list[Occurrence]]:
    """Return the deeds that have a name in a field, by it, in the order of time."""
    groups: dict[str, list[Occurrence]] = {}
    for deed in sorted(deeds, key=lambda deed: deed.start_ns):
        groups.setdefault(getattr(deed.facts, field), []).append(deed)
    return {name: named for name, named in groups.items() if name}


def listed(question: Question, deeds: Iterable[Occurrence]) -> str:
    texts = ((deed, deed.memory.caption if deed.facts.kind != STAY else f'In {deed.where}') for deed in deeds)
    return '; '.join(
        f'{format_clock(deed.start_ns, question.zone)[:16]} {text.rstrip(".")}' for deed, text in texts
    )


def _deeds(about: FoundAnswer) -> Claim:
    deeds = about.some
    if len(deeds) > SHOWN and about.query.names_nothing:
        if not DETAIL.search(about.asked.says):
            return _briefly(about)
        deeds = [deed for deed in deeds if not is_same_kind(deed.facts.kind, 'go')][:DETAILS]
        return Claim(Kind.TEXT, f'{about.told(deeds)}.', hits_of((*rarest(deeds, about.done, 5), *deeds)))
    shown = sorted(deeds, key=lambda deed: deed.start_ns) if about.query.order is DeedOrder.LAST else deeds
    more = f'; and {len(shown) - SHOWN} more' if len(shown) > SHOWN else ''
    return Claim(Kind.TEXT, f'{about.told(shown[:SHOWN])}{more}.', hits_of(shown))


def _briefly(about: FoundAnswer) -> Claim:
    deeds = about.some
    failed = [deed for deed in deeds if deed.failed]
    problems = f' Not everything succeeded: {about.told(failed[:5])}.' if failed else ''
    rare = rarest(deeds, about.done, 5)
    text = f'{len(deeds)} deeds: {kinds_said(deeds)}.{problems} Of note: {about.told(rare)}.'
    return Claim(Kind.TEXT, text, hits_of((*rare, *failed, *deeds)))


def _highlights(about: FoundAnswer) -> Claim:
    rare = rarest(about.some, about.done, HIGHLIGHTS)
    return Claim(Kind.TEXT, f'{about.told(rare)}.', hits_of(rare))


def _count(about: FoundAnswer) -> Claim | None:
    deeds = about.some
    if not deeds:
        return Claim(Kind.TEXT, '0 times: never, as far as I remember.', hits_of(about.done[-1:]))
    if DISTINCT.search(about.asked.says):
        of_places = about.query.kind == STAY or about.says(r'\bhow many (?:rooms|places)\b')
        named = _by_name(deeds, 'place' if of_places else 'object')
        if names := sorted({name.casefold() for name in named}):
            text = f'{len(names)}: {", ".join(names)}.'
            return Claim(Kind.TEXT, text, hits_of(done[0] for done in named.values()))
    failed = [deed for deed in deeds if deed.failed]
    text = times_said(len(deeds))
    if failed and len(failed) < len(deeds):
        text += f': {len(deeds) - len(failed)} succeeded, {len(failed)} failed ({about.told(failed[:SHOWN])})'
        deeds = (*failed, *deeds)
    elif len(deeds) <= LISTED:
        text += f': {about.told(deeds)}'
    return _said(about, text, deeds)


def _said(about: FoundAnswer, text: str, deeds: Sequence[Occurrence], *, yes: bool = True) -> Claim:
    """Return an answer; one with yes or no, where that is asked for."""
    text, hits = f'{text}.', hits_of(deeds)
    return yes_or_no(yes, text, hits) if about.asked.yes else Claim(Kind.TEXT, text, hits)


def _days(about: FoundAnswer) -> Claim:
    days = by_day(about.some, about.question.zone)
    often = {day: f' ({len(deeds)} times)' if len(deeds) > 1 else '' for day, deeds in days.items()}
    number = f'{len(days)} days: ' if about.says('how many') else ''
    text = f'{number}{", ".join(f"{day}{times}" for day, times in often.items())}'
    return Claim(Kind.TEXT, f'{text}.', hits_of((*(deeds[0] for deeds in days.values()), *about.some)))


def _one(about: FoundAnswer) -> Occurrence:
    """Return the one that is meant: the last unless the order says another one."""
    first = about.query.nth is not None or about.query.order is not DeedOrder.FIRST
    return about.some[0 if first else -1]


def _time(about: FoundAnswer) -> Claim:
    deed = _one(about)
    also = f' (the last of {len(about.some)} times)' if len(about.some) > 1 else ''
    text = f'{deed.memory.caption.rstrip(".")}{also}'
    return Claim(Kind.TIME, text, [Hit(deed.as_memory, 1.0)], choice=Choice.EARLIEST)


def _where(about: FoundAnswer) -> Claim | None:
    deed = next((deed for deed in reversed(about.some) if not deed.failed), about.some[-1])
    kind = Kind.TEXT if deed.memory.pose is None else Kind.POSITION
    return Claim(kind, deed.memory.caption, hits_of([deed]), choice=Choice.CITED_FIRST)


def _rooms(about: FoundAnswer) -> Claim | None:
    deeds = [stays[0] for stays in _by_name(about.some, 'place').values()]
    if not deeds:
        return no_deed_claim(about)
    never = 'Not in: ' if about.query.never else ''
    return Claim(Kind.TEXT, f'{never}{", ".join(deed.where for deed in deeds)}.', hits_of(deeds))


def _duration(about: FoundAnswer) -> Claim | None:
    deeds = about.some
    average = AVERAGE.search(about.asked.says) is not None
    if average or TOTAL.search(about.asked.says):
        seconds = sum(deed.seconds for deed in deeds) / (len(deeds) if average else 1)
        how = 'On average' if average else 'In total'
        text = f'{how}, of {len(deeds)} times'
    elif about.query.names_nothing and len(ends := about.found.anchors) > 1 and about.query.nth is None:
        seconds = (ends[-1].end_ns - ends[0].start_ns) / NS
        text, deeds = f'From the one to the other ({about.told((ends[0], ends[-1]))})', ends
    else:
        deed = _one(about)
        seconds, text = deed.seconds, about.told([deed])
        text += f' ({deed.metres:.1f} m)' if deed.metres > 0.0 else ''
        deeds = [deed]
    hits = hits_of(deeds)
    last = max(hits, key=lambda hit: hit.memory.end_ns)
    return Claim(Kind.DURATION, text, hits, start=hits[0], end=last, duration_s=seconds)


def _distance(about: FoundAnswer) -> Claim | None:
    deeds = about.some
    if about.query.order is DeedOrder.LONGEST:
        deeds = sorted(about.found.every, key=lambda deed: deed.metres)[-1:]
    metres = sum(deed.metres for deed in deeds)
    moved = [deed for deed in deeds if deed.metres > 0.0]
    if not moved:
        return None
    detail = f': {about.told(moved)}' if len(moved) <= 3 else f' in {len(moved)} deeds'
    return Claim(Kind.TEXT, f'I moved {metres:.2f} m{detail}.', hits_of((*about.found.anchors, *moved)))


def _why(about: FoundAnswer) -> Claim | None:
    deeds = [deed for deed in (*about.some, *about.found.anchors) if deed.failed]
    whole = replace(about.query, outcomes=(), nth=None)
    base = choose_deeds(whole, about.occurrences).found if not deeds else ()
    if base and not about.query.names_nothing:
        inside = DeedQuery(outcomes=('failed', 'cancelled'), during=whole)
        deeds = [*(deed for deed in base if deed.failed), *choose_deeds(inside, about.occurrences).found]
    if deeds or (base and not about.asked.yes):
        return _said(about, about.told((deeds or base)[:SHOWN]), deeds or base)
    if about.asked.yes:
        shown = about.found.anchors or base[:SHOWN]
        return _said(about, 'nothing went wrong, as far as I remember', shown, yes=False)
    return no_deed_claim(about)


def _outcome(about: FoundAnswer) -> Claim:
    deed = about.some[-1]
    return _said(about, f'{about.told([deed])}: {deed.outcome}', [deed], yes=not deed.failed)


def _whether(about: FoundAnswer) -> Claim:
    if NEVER.search(about.asked.says):
        return _deeds(about)
    deeds = about.some
    often = f'{len(deeds)} times, last: ' if len(deeds) > LAST else ''
    done = bool(about.query.outcomes) or about.says(TRIED) or not all(deed.failed for deed in deeds)
    return _said(about, f'{often}{about.told(deeds[-LAST:])}', (*deeds[-LAST:], *deeds), yes=done)


def _from_here(about: FoundAnswer) -> Claim | None:
    deed, here = _one(about), about.question.here
    if here is None or deed.memory.pose is None:
        return None
    metres = distance(here.position, deed.memory.pose.position)
    return Claim(Kind.TEXT, f'{metres:.1f} m from here: {about.told([deed])}.', hits_of([deed]))


def no_deed_claim(about: FoundAnswer) -> Claim | None:
    if about.asked.yes:
        return Claim(Kind.BINARY, 'No, not that I remember.', hits_of(about.done[-1:]), binary=False)
    return Claim(Kind.NOT_SEEN, 'I remember no such deed.')


ANSWERS: dict[DeedAsked, Callable[[FoundAnswer], Claim | None]] = {
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
OF_NONE = (_count, _why)  # which have an answer where nothing is found
