"""By what occurrences are told apart: days, rooms, things, kinds, reasons, robots, or each by itself."""

from collections.abc import Sequence
from datetime import date, tzinfo

from remembr_ros.agent.offline.executor.superlatives import ANY_THING
from remembr_ros.agent.offline.executor.took_place import TookPlace, as_occurrence
from remembr_ros.agent.offline.reader.contrast import Contrast
from remembr_ros.memory.deeds.query import Occurrence, is_named
from remembr_ros.memory.deeds.summary import by_day, days_without
from remembr_ros.memory.objects.wording import described

ANY_PLACE = ('', 'room', 'rooms', 'place', 'places', 'area', 'areas')

Groups = dict[str, list[Occurrence]]
"""Occurrences by what their group is called."""


def groups_of(asked: Contrast, occurrences: Sequence[Occurrence], zone: tzinfo) -> Groups:
    """Return occurrences by the group that they are in; those without a name for it are in none."""
    groups: Groups = {}
    if asked.group in ('day', 'weekday'):
        for day, some in by_day(occurrences, zone).items():
            groups.setdefault(_called(day, asked.group), []).extend(some)
        return groups
    kinds = {deed.facts.kind for deed in occurrences}
    group = 'object' if asked.group == 'kind' and len(kinds) == 1 else asked.group
    for number, deed in enumerate(occurrences):
        if name := str(number) if group == 'each' else _field(deed, group):
            groups.setdefault(name, []).append(deed)
    return _of_sort(asked, groups)


def every_group(asked: Contrast, took_place: TookPlace) -> Groups:
    """Return all groups that there may be, with what else took place in them."""
    done, zone = took_place.done, took_place.question.zone
    every: Groups = {}
    if asked.group in ('day', 'weekday'):
        in_time = [deed for deed in done if took_place.scope.admits(deed.as_memory)]
        days = by_day(in_time, zone)
        return {
            _called(day, asked.group): days.get(day, [])[:1]
            for day in [*days, *days_without((), in_time, zone)]
        }
    if asked.group == 'place':
        places = sorted(took_place.source.places.all, key=lambda place: place.name)
        every = {place.name: [as_occurrence(place.memory)] for place in places}
    for deed in done:
        if name := _field(deed, asked.group):
            every.setdefault(name, [deed])
    if asked.group != 'object' or not asked.grouped or asked.grouped in ANY_THING:
        return _of_sort(asked, every)
    called = {name: some for name, some in every.items() if is_named(asked.grouped, name)}
    seen = [thing.known for thing in took_place.things(asked.grouped)]
    return {described(known): [as_occurrence(known.memory)] for known in seen} | called


def _called(day: date, group: str) -> str:
    return f'{day:%A}' if group == 'weekday' else str(day)


def _of_sort(asked: Contrast, groups: Groups) -> Groups:
    """Return the groups that are called so: of wards those that have that in their name."""
    if asked.group != 'place' or asked.grouped in ANY_PLACE:
        return groups
    return {name: some for name, some in groups.items() if is_named(asked.grouped, name)} or groups


def _field(deed: Occurrence, name: str) -> str:
    if name == 'place':
        return deed.where
    if name == 'robot':
        return deed.memory.robot
    return deed.outcome if name == 'outcome' else str(getattr(deed.facts, name))
