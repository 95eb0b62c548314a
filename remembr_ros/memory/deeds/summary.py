"""A short summary of many deeds: counts by kind, days, exceptions."""

import math
from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime, timedelta, tzinfo

from remembr_ros.memory.deeds.query import Occurrence
from remembr_ros.memory.deeds.verbs import base
from remembr_ros.memory.matching.terms import words
from remembr_ros.timestamps import NS, format_duration

RARE = 3  # words of a sentence that say how rare it is
NAMED = 4  # things of each kind


def by_day(deeds: Sequence[Occurrence], zone: tzinfo) -> dict[date, list[Occurrence]]:
    """Return what began on each day of a calendar."""
    days: dict[date, list[Occurrence]] = {}
    for deed in deeds:
        days.setdefault(datetime.fromtimestamp(deed.start_ns // NS, zone).date(), []).append(deed)
    return days


def days_without(deeds: Sequence[Occurrence], whole: Sequence[Occurrence], zone: tzinfo) -> list[date]:
    """Return the days between the first and the last of all on which none of some began."""
    days, busy = sorted(by_day(whole, zone)), by_day(deeds, zone)
    every = [days[0] + timedelta(days=n) for n in range((days[-1] - days[0]).days + 1)] if days else []
    return [day for day in every if day not in busy]


def times_said(number: int) -> str:
    """Return how often something was: '0 times', 'once', '3 times'."""
    return 'once' if number == 1 else f'{number} times'


def spent_said(stays: Sequence[Occurrence]) -> str:
    """Return how often and how long a robot was somewhere: '2 times, 3 minutes 49 seconds in all'."""
    return f'{times_said(len(stays))}, {format_duration(sum(stay.seconds for stay in stays))} in all'


def kinds_said(deeds: Sequence[Occurrence], most: int | None = None) -> str:
    """Return how many there are of each kind, and what most were done to: 'pick 3 times (cup, tray)'.

    :param most: kinds that are told; None: all
    """
    things: dict[str, Counter[str]] = {}
    for act in deeds:
        things.setdefault(act.facts.kind or 'other', Counter())[act.facts.object or act.facts.receptacle] += 1
    phrases = []
    for kind, counts in sorted(things.items(), key=lambda item: -item[1].total())[:most]:
        names = ', '.join(name for name, _ in counts.most_common(NAMED) if name)
        phrases.append(f'{kind} {times_said(counts.total())}' + (f' ({names})' if names else ''))
    return ', '.join(phrases)


def rarest(deeds: Sequence[Occurrence], done: Sequence[Occurrence], most: int) -> list[Occurrence]:
    """Return those that are told in the rarest words, in the order of time.

    :param done: all deeds, which tell how rare a word is
    """
    words_of = {id(deed): {base(word) for word in words(deed.memory.caption)} for deed in (*done, *deeds)}
    common = Counter(word for deed in done for word in words_of[id(deed)])

    def novelty(deed: Occurrence) -> tuple[float, bool]:
        numbers = sorted(max(common[word], 1) for word in words_of[id(deed)])[:RARE]
        return -sum(map(math.log, numbers)) / max(len(numbers), 1), deed.failed

    return sorted(sorted(deeds, key=novelty, reverse=True)[:most], key=lambda deed: deed.start_ns)
