"""Answers what compares, groups or leaves out: counts, times, lengths and distances, side by side."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.agent.model.grounding import Claim, yes_or_no
from remembr_ros.agent.model.relevance_model import PERHAPS
from remembr_ros.agent.offline.executor.superlatives import (
    ANY_THING,
    litres,
    numbered_signs,
    outstanding_object,
)
from remembr_ros.agent.offline.executor.took_place import Selection, TookPlace, listed
from remembr_ros.agent.offline.not_seen import no_answer
from remembr_ros.agent.offline.reader.contrast import Among, ComparedBy, Contrast
from remembr_ros.agent.offline.reader.deed_request import MOVED, SEEN
from remembr_ros.agent.offline.reader.read_contrast import read_contrast
from remembr_ros.agent.offline.request import Request
from remembr_ros.agent.offline.word_classes import word_class
from remembr_ros.geometry import Point, distance
from remembr_ros.memory.deeds.deed import DeedFacts
from remembr_ros.memory.deeds.occurrences import hits_of
from remembr_ros.memory.deeds.query import Occurrence, is_named, is_said
from remembr_ros.memory.deeds.summary import by_day, days_without, kinds_said, spent_said, times_said
from remembr_ros.memory.deeds.verbs import is_same_kind
from remembr_ros.memory.matching.terms import words
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.objects.wording import described
from remembr_ros.memory.places.place import said_name
from remembr_ros.memory.places.places import in_a_row
from remembr_ros.memory.recall_protocol import Recall
from remembr_ros.timestamps import format_clock, format_duration

SHOWN = 20  # groups, or occurrences, that are told
MOST_SIDES = 50  # that are compared
LAST = 3  # that are told of those that are counted
_DONE = {
    'standing': 'stopped',
    'driving': 'drove',
    'turning left': 'turned left',
    'turning right': 'turned right',
}
_COUNTS = re.compile(r'\W*(?:how|count|number)\b', re.IGNORECASE)
_MEAN = re.compile(r'\b(?:take|took|taken|last|lasted|need|needed)\b', re.IGNORECASE)
_ANY_PLACE = ('room', 'rooms', 'place', 'places', 'area', 'areas')


def answer_contrast(
    request: Request, question: Question, recall: Recall, scope: Scope
) -> tuple[Claim, str] | None:
    """Return what is said of things side by side, and which way to answer knows of them; None: nothing is
    compared, or nothing known is.

    :param scope: the time, the robots and the map that the question is about
    :raises StoreUnavailable: there is no store
    """
    text = request.window.rest
    if ' or ' in text and 'earlier' in words(question.text):  # which of them, and not earlier today
        text = f'{text.rstrip(" ?.!")} earlier'
    asked = read_contrast(text)
    if asked is not None and asked.measure is ComparedBy.AWAY and not asked.sides:
        names = tuple(place.name for place in question.places.all if not is_named(asked.anchor, place.name))
        if asked.group != 'place':
            things = TookPlace(question, recall, scope).things(asked.grouped)
            names = tuple(dict.fromkeys(described(thing.known) for thing in things))
        asked = replace(asked, sides=names[:MOST_SIDES], names=names[:MOST_SIDES]) if names[1:] else None
    if asked is None or (asked.measure is ComparedBy.NUMBER and question.places):
        return None
    at_once = numbered_signs(asked, recall, scope) or outstanding_object(asked, recall, scope)
    tally = _Tally(asked, question, TookPlace(question, recall, scope))
    # Of two times each is that of a side.
    unclear = request.window.unclear and not all(map(tally.took_place.window, asked.sides))
    of_all = asked.measure is ComparedBy.NUMBER or (asked.measure is ComparedBy.SIZE and not asked.names)
    if at_once or of_all or unclear:
        return at_once
    told = [tally.selected(side) for side in asked.sides]
    unknown = told[0].unknown if told[0] else (asked.grouped,)
    # No log has names of sorts, as of 'each plant', or of 'no plant'.
    sort = asked.grouped if asked.group == 'object' and asked.grouped in unknown else ''
    sort = unknown[0] if asked.among is Among.NONE and told[0] and len(unknown) == 1 else sort
    if sort:
        told = [tally.took_place.of(re.sub(rf'\b(?:(?:an?|any) )?{re.escape(sort)}\b', '', asked.sides[0]))]
    if asked.names and asked.among is Among.LIMIT:  # nothing was done to what nobody knows
        told = [found if found and not found.unknown else Selection((), 'deeds') for found in told]
        asked = replace(asked, said=(*asked.said, *asked.names))
    for name, found in zip(asked.names, told, strict=bool(asked.names)):
        if found is None or found.unknown:
            nothing = no_answer(f'I know nothing of "{name}", so I cannot compare it.')
            return replace(nothing, about=text), 'sights'
    known = [found for found in told if found is not None and not found.unknown]
    claim = None
    if len(known) == len(told):
        both = [deed for found in known for deed in found.occurrences]
        claim = tally.by_side(known) if asked.names else tally.by_group(replace(known[0], occurrences=both))
    if claim is None or not (claim.evidence or claim.denies):
        return None  # nothing shows that nothing was
    if claim.kind is Kind.NOT_SEEN:
        return replace(claim, about=text), 'sights'
    seen = SEEN.search(text) is not None
    guessed = any(
        (found.by == 'sights' and asked.measure is ComparedBy.COUNT)  # are captions of one thing?
        or (found.by in ('sights', 'objects') and asked.measure is ComparedBy.SECONDS and not seen)
        for found in known
    )
    noun, whole = asked.grouped, (*_ANY_PLACE, '')
    unsorted = (
        asked.group == 'place'
        and noun not in whole
        and not any(is_named(noun, deed.where) for found in known for deed in found.occurrences)
    )
    guessed = guessed or unsorted or bool((sort or claim.note) and claim.text.startswith('There is none'))
    sure = min([PERHAPS] * guessed + [found.sure for found in known])
    usual = word_class('usual') if asked.measure is ComparedBy.SECONDS else ()  # it is on average
    about = ' '.join(
        (*asked.said, *usual, *asked.without, sort, *(word for found in known for word in found.known))
    )
    note = f' I took these for all that you call "{sort}".' if sort else claim.note
    return replace(claim, about=about, confidence=claim.confidence or sure, note=note), known[0].by


@dataclass(frozen=True)
class _Tally:
    """Values of what is compared.

    :param took_place: knows what there is of each
    """

    asked: Contrast
    question: Question
    took_place: TookPlace

    def selected(self, side: str) -> Selection | None:
        """Return what took place of a side; of what is far away a place is as good."""
        place = self.took_place.place(side) if self.asked.measure is ComparedBy.AWAY else None
        if place is None or self.took_place.things(side):
            return self.took_place.of(side)
        return Selection((_occurrence(place.memory),), 'places', known=words(' '.join(place.names)))

    def by_side(self, told: Sequence[Selection]) -> Claim:
        """Say which of the sides has more."""
        asked, values = self.asked, list[_Value]()
        for name, side, found in zip(asked.names, asked.sides, told, strict=True):
            occurrences = self._kept(found.occurrences)
            value = self._value(name, side, occurrences)
            if value is None:
                return no_answer(f'I do not know that of {name}, so I cannot compare it.')
            values.append(_Value(name, value, occurrences, found.by))
        if asked.among is Among.LIMIT:
            hits = hits_of(deed for side in values for deed in side.occurrences[:1])
            such = [side.name for side in values if asked.least <= side.value <= asked.fewest]
            text = f'{"" if asked.fewest else "Not "}{", ".join(such)}.' if such else 'None of them.'
            return Claim(Kind.TEXT, text, hits) if hits else no_answer('I remember none of these.')
        ordered = sorted(values, key=lambda side: -side.value if asked.most else side.value)
        alike = ordered[0].value == ordered[1].value
        texts = [f'{side.name}, {self._said(side)}' for side in (values if asked.yes else ordered)]
        if asked.measure in (ComparedBy.FIRST, ComparedBy.LAST) and not (asked.yes or alike):
            texts[0] = f'{ordered[0].name} {asked.measure.value}, {self._said(ordered[0])}'
        text = f'{"both alike, " if alike else ""}{"; ".join(texts)}.'
        hits = hits_of(deed for side in ordered for deed in (*side.occurrences[:1], *side.occurrences))
        if asked.yes and asked.least:
            one, other = (side.value for side in values)
            return yes_or_no(asked.least * other <= one <= asked.fewest * max(other, 1.0), text, hits)
        if asked.yes:
            return yes_or_no(not alike and ordered[0] is values[0], text, hits)
        return Claim(Kind.TEXT, text, hits)

    def by_group(self, told: Selection) -> Claim | None:
        """Say what there is in each group, in which there is most or none, or how much there is at all."""
        asked, occurrences = self.asked, self._kept(told.occurrences)
        if not asked.group:
            return self._in_all(told, occurrences)
        groups = self._groups(occurrences)
        if asked.among is Among.LIMIT and not asked.least and asked.group in ('day', 'place'):
            groups = {name: groups.get(name, []) for name in self._every_group()}
        if asked.among is Among.NONE:
            return self._without(told, groups, occurrences)
        measured = [
            _Value(name, value, of, told.by)
            for name, of in groups.items()
            if (value := self._value(name, asked.sides[0], of)) is not None
        ]
        if asked.group == 'each' and asked.among is Among.EACH and len(measured) > SHOWN:
            return self._briefly(told, occurrences)
        if asked.among is Among.LIMIT:
            return self._reaching(told, measured)
        if asked.among is Among.BEST:
            return self._best(told, measured)
        return self._each(told, measured)

    def _each(self, told: Selection, values: Sequence['_Value']) -> Claim | None:
        parts = [self._told(group) for group in values[:SHOWN]]
        parts += [f'and {len(values) - SHOWN} more'] * (len(values) > SHOWN)
        text = f'{"; ".join(parts)}.'
        if not values and self.asked.yes and self.asked.without:
            return yes_or_no(
                False,
                f'nothing but that which you name ({_times(len(told.occurrences), told.by)}).',
                hits_of(told.occurrences),
            )
        if not values:
            return None
        hits = hits_of(deed for group in values for deed in (*group.occurrences[:1], *group.occurrences))
        return yes_or_no(True, text, hits) if self.asked.yes else Claim(Kind.TEXT, _capital(text), hits)

    def _reaching(self, told: Selection, measured: Sequence['_Value']) -> Claim | None:
        """Say which groups have so much, or how many they are."""
        asked = self.asked
        values = [group for group in measured if asked.least <= group.value <= asked.fewest]
        if not measured:
            return None
        if asked.group == 'each' and _COUNTS.match(asked.sides[0]):
            times = _times(len(values), told.by)
            text = (
                f'{_capital(times)}: {listed(self.question, [one.occurrences[0] for one in values[-LAST:]])}.'
            )
            if told.by == 'motion' or not values:
                text = f'I {_DONE.get(told.occurrences[0].facts.kind, "did so")} {times}.'
            return Claim(Kind.TEXT, text, hits_of(one for of in values or measured for one in of.occurrences))
        if values:
            return self._each(told, values)
        fewest = asked.fewest < float('inf')
        most = (min if fewest else max)(measured, key=lambda group: group.value)
        told_most = f'{len(measured)}; the {"least" if fewest else "most"} is {self._told(most)}.'
        text = f'{"none" if asked.yes else "None"} of {told_most}'
        hits = hits_of(most.occurrences)
        return yes_or_no(False, text, hits) if asked.yes else Claim(Kind.TEXT, text, hits)

    def _best(self, told: Selection, measured: Sequence['_Value']) -> Claim | None:
        """Say which group has most, or least, and which come next."""
        asked = self.asked
        if not asked.most and asked.measure is ComparedBy.COUNT and asked.group != 'each':
            known = {group.name for group in measured}
            never = [name for name in self._every_group() if name not in known]
            if never:  # whoever asks for the least may know of none
                text = f'Never: {", ".join(map(self._name, never))}.'
                claim = Claim(Kind.TEXT, text, hits_of(told.occurrences))
                return replace(claim, confidence=PERHAPS) if told.occurrences else None
        values = sorted(measured, key=_Value.rank, reverse=asked.most)
        if not values:
            return None
        values = [group for group in values if group.value != values[0].value] if asked.nth == 2 else values
        if not values:
            return None
        best = [group for group in values if group.rank() == values[0].rank()]
        alike = len(values) > 1 and len({group.value for group in values}) == 1
        sure = PERHAPS if alike else 0.0
        told_best = ' and '.join(map(self._called, best))
        others = [
            f'{self._called(group)} ({self._said(group)})' for group in values[len(best) : len(best) + 2]
        ]
        then = f'; then {" and ".join(others)}' if others else ''
        hits = hits_of(deed for group in values for deed in (*group.occurrences[:1], *group.occurrences))
        return Claim(Kind.TEXT, f'That was {told_best} ({self._said(best[0])}){then}.', hits, confidence=sure)

    def _called(self, group: '_Value') -> str:
        if self.asked.group == 'each':
            return listed(self.question, group.occurrences)
        return self._name(group.name)

    def _name(self, name: str) -> str:
        """Return a group as a sentence has it."""
        return said_name(name) if self.asked.group == 'place' else name

    def _briefly(self, told: Selection, occurrences: Sequence[Occurrence]) -> Claim:
        """Say to what many were done, or of which kinds they are."""
        things = Counter(deed.facts.object for deed in occurrences)
        text = f'{len(occurrences)} times: {kinds_said(occurrences)}'
        if '' not in things:
            text = ', '.join(f'{name} ({_times(number, told.by)})' for name, number in things.items())
        return Claim(Kind.TEXT, f'{_capital(text)}.', hits_of(occurrences))

    def _in_all(self, told: Selection, occurrences: Sequence[Occurrence]) -> Claim | None:
        """Say how many there are, or whether so many."""
        asked, number = self.asked, len(occurrences)
        last = (
            f': {listed(self.question, occurrences[-LAST:])}' if occurrences and told.by != 'objects' else ''
        )
        text = f'{_times(number, told.by)}{last}.'
        hits = hits_of(occurrences or self.took_place.done[-1:])
        if asked.yes and hits:
            return yes_or_no(asked.least <= number <= asked.fewest, text, hits)
        return Claim(Kind.TEXT, _capital(text), hits) if hits else None

    def _without(
        self, told: Selection, groups: Mapping[str, Sequence[Occurrence]], occurrences: Sequence[Occurrence]
    ) -> Claim | None:
        """Say in which groups there is none."""
        if not self.took_place.recall.count(self.took_place.scope):
            return no_answer('I remember nothing of that time.')
        asked, every_group, note = self.asked, self._every_group(), ''
        if asked.group == 'object' and not every_group:  # a sort: of all to which it was done at any time
            scope = replace(self.took_place.scope, after_ns=None, before_ns=None)
            ever = TookPlace(self.question, self.took_place.recall, scope).of(asked.sides[0])
            every_group = self._groups(ever.occurrences) if ever and ever.by == 'deeds' else {}
            note = f' I took these for all that you call "{asked.grouped}".'
        if not every_group or told.by == 'sights':
            return None  # who sees nothing of a thing in a room need not have looked
        if told.by == 'places':  # who was in a part of a place was in that
            known = self.took_place.source.places
            parts = [part for part in known.all if part.name in groups]
            wholes = [whole.name for whole in known.all if any(known.is_part(part, whole) for part in parts)]
            groups = dict.fromkeys(wholes, ()) | dict(groups)
        left = [
            name
            for name in every_group
            if not any(name == has or (asked.group != 'day' and is_named(name, has)) for has in groups)
            and not any(is_named(out, name) for out in asked.without)
        ]
        counted = 'how many' in self.question.text.lower()
        number = f'{len(left)} {asked.group}s: ' if counted else ''
        text = f'{number}{", ".join(left)}' if left else 'There is none'
        if told.by == 'places':
            not_in = f'I was not in {number}{in_a_row(map(self._name, left))}'
            text = not_in if left else 'I was in every place that has a name'
        shown = [of[0] for name, of in every_group.items() if name in left and of]
        hits = hits_of(shown if told.by == 'places' and left else [*shown, *occurrences])
        if asked.yes and hits:
            return yes_or_no(bool(left), f'{text}.', hits)
        return Claim(Kind.TEXT, f'{_capital(text)}.', hits, note=note) if hits else None

    def _every_group(self) -> dict[str, list[Occurrence]]:
        """Return all groups that there may be, with what else took place in them."""
        done, asked = self.took_place.done, self.asked
        in_time = [deed for deed in done if self.took_place.scope.admits(deed.as_memory)]
        if asked.group == 'day':
            days = by_day(in_time, self.question.zone)
            return {
                str(day): days.get(day, [])[:1]
                for day in [*days, *days_without((), in_time, self.question.zone)]
            }
        every_group: dict[str, list[Occurrence]] = {}
        if asked.group == 'place':
            places = sorted(self.took_place.source.places.all, key=lambda place: place.name)
            every_group = {place.name: [_occurrence(place.memory)] for place in places}
        for deed in done:
            if name := _field(deed, asked.group):
                every_group.setdefault(name, [deed])
        if asked.group != 'object' or not asked.grouped or asked.grouped in ANY_THING:
            return self._of_sort(every_group)
        called = {name: some for name, some in every_group.items() if is_named(asked.grouped, name)}
        seen = [thing.known for thing in self.took_place.things(asked.grouped)]
        return {described(known): [_occurrence(known.memory)] for known in seen} | called

    def _groups(self, occurrences: Sequence[Occurrence]) -> dict[str, list[Occurrence]]:
        asked = self.asked
        if asked.group == 'each':
            return {str(number): [deed] for number, deed in enumerate(occurrences)}
        if asked.group in ('day', 'weekday'):
            days: dict[str, list[Occurrence]] = {}
            for day, some in by_day(occurrences, self.question.zone).items():
                days.setdefault(f'{day:%A}' if asked.group == 'weekday' else str(day), []).extend(some)
            return days
        kinds = {deed.facts.kind for deed in occurrences}
        group = 'object' if asked.group == 'kind' and len(kinds) == 1 else asked.group
        groups: dict[str, list[Occurrence]] = {}
        for deed in occurrences:
            if name := _field(deed, group):
                groups.setdefault(name, []).append(deed)
        return self._of_sort(groups)

    def _of_sort(self, groups: dict[str, list[Occurrence]]) -> dict[str, list[Occurrence]]:
        """Return the groups that are called so: of wards those that have that in their name."""
        noun = self.asked.grouped
        if self.asked.group != 'place' or noun in _ANY_PLACE:
            return groups
        return {name: some for name, some in groups.items() if is_named(noun, name)} or groups

    def _kept(self, occurrences: Sequence[Occurrence]) -> list[Occurrence]:
        """Return those that are not left out."""
        out = [name for said in self.asked.without for name in (said, *self._other_names(said))]
        return [deed for deed in occurrences if not any(_is(deed, name) for name in out)]

    def _other_names(self, said: str) -> Sequence[str]:
        place = self.took_place.place(said)
        return place.names if place else ()

    def _value(self, name: str, side: str, occurrences: Sequence[Occurrence]) -> float | None:
        """Return that by which something is compared; None: nobody knows."""
        measure = self.asked.measure
        if measure is ComparedBy.COUNT:
            return float(len(occurrences))
        if measure in (ComparedBy.AWAY, ComparedBy.SIZE):
            return self._away(name, occurrences) if measure is ComparedBy.AWAY else self._size(name)
        return _VALUES[measure](occurrences, bool(_MEAN.search(side))) if occurrences else None

    def _away(self, name: str, occurrences: Sequence[Occurrence]) -> float | None:
        """Return how far something is from the anchor, or from here [m]."""
        here, end = self.question.here, self._point(name, occurrences)
        start = (self.question.map_id or (end and end[0]), here.position) if here else None
        if self.asked.anchor:
            start = self._point(self.asked.anchor, ())
        # Between maps there is no distance.
        return distance(start[1], end[1]) if start and end and start[0] == end[0] else None

    def _point(self, name: str, occurrences: Sequence[Occurrence]) -> tuple[str, Point] | None:
        """Return on which map something is, and where; of several the last one that was seen."""
        if things := self.took_place.things(name):
            return things[0].known.memory.map_id, things[0].known.position
        if place := self.took_place.place(name):
            return place.memory.map_id, place.pose.position
        found = occurrences or (told.occurrences if (told := self.took_place.of(name)) else ())
        at = [
            (deed.memory.map_id, deed.memory.pose.position) for deed in found if deed.memory.pose is not None
        ]
        return at[-1] if at else None

    def _size(self, name: str) -> float | None:
        things = self.took_place.things(name)
        return float(prod(things[0].known.size)) if things else None

    def _said(self, group: '_Value') -> str:
        """Return a value in words."""
        value, measure = group.value, self.asked.measure
        if group.by == 'places' and measure in (ComparedBy.COUNT, ComparedBy.SECONDS) and self.asked.group:
            return spent_said(group.occurrences)
        if measure is ComparedBy.COUNT:
            return _times(round(value), group.by)
        if measure in (ComparedBy.FIRST, ComparedBy.LAST):
            return format_clock(round(value), self.question.zone)
        if measure is ComparedBy.SECONDS:
            number = len(group.occurrences)
            often = (
                f' (on average of {number} times)' if number > 1 and _MEAN.search(self.asked.sides[0]) else ''
            )
            return f'{format_duration(value)}{often}'
        if measure is ComparedBy.SIZE:
            return litres(value)
        return f'{value:.1f} m{" away" if measure is ComparedBy.AWAY else ""}'

    def _told(self, group: '_Value') -> str:
        """Return what there is in a group: how much, or which deeds where these are asked for."""
        counted = self.asked.measure is ComparedBy.COUNT
        if self.asked.group == 'each':
            if group.by == 'objects':
                facts = group.occurrences[0].facts
                return f'{facts.object} ({facts.place})' if facts.place else facts.object
            return f'{listed(self.question, group.occurrences)}{"" if counted else f" ({self._said(group)})"}'
        if self.asked.among is Among.EACH and counted and not _COUNTS.match(self.asked.sides[0]):
            return f'{group.name}: {listed(self.question, group.occurrences[:SHOWN])}'
        return f'{group.name}: {self._said(group)}'


def _seconds(occurrences: Sequence[Occurrence], mean: bool) -> float:
    """Return how long these took in all, or on average [s]."""
    return sum(deed.seconds for deed in occurrences) / (len(occurrences) if mean else 1)


_VALUES: dict[ComparedBy, Callable[[Sequence[Occurrence], bool], float]] = {
    ComparedBy.FIRST: lambda of, _: float(min(deed.start_ns for deed in of)),
    ComparedBy.LAST: lambda of, _: float(max(deed.end_ns for deed in of)),
    ComparedBy.METRES: lambda of, _: sum(deed.metres for deed in of),
    ComparedBy.SECONDS: _seconds,
}


@dataclass(frozen=True)
class _Value:
    """A side or a group with its value."""

    name: str
    value: float
    occurrences: Sequence[Occurrence]
    by: str

    def rank(self) -> tuple[float, ...]:
        """Return by what it comes before others: of stays as many those that took as long."""
        seconds = sum(deed.seconds for deed in self.occurrences)
        return (self.value, seconds, float(len(self.occurrences))) if self.by == 'places' else (self.value,)


def _occurrence(memory: Memory) -> Occurrence:
    return Occurrence(memory.start_ns, memory.end_ns, DeedFacts(), (memory,))


def _capital(text: str) -> str:
    return f'{text[:1].upper()}{text[1:]}'


def _times(number: int, by: str) -> str:
    return str(number) if by == 'objects' else times_said(number)


def _field(deed: Occurrence, name: str) -> str:
    if name == 'place':
        return deed.where
    if name == 'robot':
        return deed.memory.robot
    return deed.outcome if name == 'outcome' else str(getattr(deed.facts, name))


def _is(deed: Occurrence, name: str) -> bool:
    """Tell whether an occurrence is of something, in something, or was that."""
    facts = deed.facts
    named = is_said(name, deed.told)
    carried = MOVED.search(name) and any(is_same_kind(facts.kind, kind) for kind in ('pick', 'place'))
    return named or bool(carried) or any(is_same_kind(word, facts.kind) for word in words(name) if facts.kind)
