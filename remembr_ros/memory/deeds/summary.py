"""A short summary of many deeds: counts by kind, days, exceptions."""

import math
from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime, timedelta, tzinfo

from remembr_ros.memory.deeds.query import Occurrence
from remembr_ros.memory.deeds.verbs import base
from remembr_ros.memory.matching.terms import words
from remembr_ros.timestamps import NS

RARE = 3  # words of a sentence that say how rare it is
NAMED = 4  # things of each kind


def by_day(some: Sequence[Occurrence], zone: tzinfo) -> dict[date, list[Occurrence]]:
    """Return what began on each day of a calendar."""
    days: dict[date, list[Occurrence]] = {}
    for one in some:
        days.setdefault(datetime.fromtimestamp(one.start_ns // NS, zone).date(), []).append(one)
    return days


def days_without(some: Sequence[Occurrence], whole: Sequence[Occurrence], zone: tzinfo) -> list[date]:
    """Return the days between the first and the last of all on which none of some began."""
    days, busy = sorted(by_day(whole, zone)), by_day(some, zone)
    every = [days[0] + timedelta(days=n) for n in range((days[-1] - days[0]).days + 1)] if days else []
    return [day for day in every if day not in busy]


def kinds_said(some: Sequence[Occurrence]) -> str:
    """Return how many there are of each kind, and what most were done to: 'pick 3 times (cup, tray)'."""
    things: dict[str, Counter[str]] = {}
    for one in some:
        things.setdefault(one.facts.kind or 'other', Counter())[one.facts.object or one.facts.receptacle] += 1
    said = []
    for kind, of in sorted(things.items(), key=lambda item: -item[1].total()):
        names = ', '.join(name for name, _ in of.most_common(NAMED) if name)
        said.append(f'{kind} {of.total()} times' + (f' ({names})' if names else ''))
    return ', '.join(said)


def rarest(some: Sequence[Occurrence], done: Sequence[Occurrence], most: int) -> list[Occurrence]:
    """Return those that are told in the rarest words, in the order of time.

    :param done: all deeds, which tell how rare a word is
    """
    of = {id(one): {base(word) for word in words(one.memory.caption)} for one in (*done, *some)}
    common = Counter(word for deed in done for word in of[id(deed)])

    def novelty(one: Occurrence) -> tuple[float, bool]:
        numbers = sorted(max(common[word], 1) for word in of[id(one)])[:RARE]
        return -sum(map(math.log, numbers)) / max(len(numbers), 1), one.failed

    return sorted(sorted(some, key=novelty, reverse=True)[:most], key=lambda one: one.start_ns)
