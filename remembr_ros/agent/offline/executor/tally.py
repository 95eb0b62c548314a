"""Answers what compares, groups or leaves out: counts, times, lengths and distances, side by side."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat

from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.agent.model.grounding import Claim, yes_or_no
from remembr_ros.agent.model.relevance_model import PERHAPS
from remembr_ros.agent.offline.executor.groups import ANY_PLACE, every_group, groups_of
from remembr_ros.agent.offline.executor.measures import Measures, Value, often
from remembr_ros.agent.offline.executor.superlatives import numbered_signs, outstanding_object
from remembr_ros.agent.offline.executor.took_place import Selection, TookPlace, as_occurrence, listed
from remembr_ros.agent.offline.not_seen import no_answer
from remembr_ros.agent.offline.reader.contrast import Among, ComparedBy, Contrast
from remembr_ros.agent.offline.reader.deed_request import MOVED, SEEN
from remembr_ros.agent.offline.reader.read_contrast import read_contrast
from remembr_ros.agent.offline.request import Request
from remembr_ros.agent.offline.word_classes import word_class
from remembr_ros.memory.deeds.occurrences import hits_of
from remembr_ros.memory.deeds.query import Occurrence, is_named, is_said
from remembr_ros.memory.deeds.summary import kinds_said
from remembr_ros.memory.deeds.verbs import is_same_kind
from remembr_ros.memory.matching.terms import words
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.objects.wording import described
from remembr_ros.memory.places.place import said_name
from remembr_ros.memory.places.places import in_a_row
from remembr_ros.memory.recall_protocol import Recall

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


def answer_contrast(
    request: Request, question: Question, recall: Recall, scope: Scope
) -> tuple[Claim, str] | None:
    """Return what is said of things side by side, and which way to answer knows of them; None: nothing is
    compared, or nothing known is.

    :param scope: the time, the robots and the map that the question is about
    :raises StoreUnavailable: there is no store
    """
    took_place = TookPlace(question, recall, scope)
    text, spoken = request.window.rest, set(words(question.text))
    if ' or ' in text and 'earlier' in spoken - set(words(text)):  # which of them, and not earlier today
        text = f'{text.rstrip(" ?.!")} earlier'
    asked = read_contrast(text)
    if asked is not None and asked.measure is ComparedBy.AWAY and not asked.sides:
        asked = _with_sides(asked, took_place)
    if asked is None or (asked.measure is ComparedBy.NUMBER and question.places):
        return None
    at_once = numbered_signs(asked, recall, scope) or outstanding_object(asked, recall, scope)
    # Of two times each is that of a side.
    unclear = request.window.unclear and not all(map(took_place.window, asked.sides))
    of_all = asked.measure is ComparedBy.NUMBER or (asked.measure is ComparedBy.SIZE and not asked.names)
    return at_once if at_once or of_all or unclear else _Tally(asked, took_place).answer(text)


def _with_sides(asked: Contrast, took_place: TookPlace) -> Contrast | None:
    """Return a question for the nearest of all places, or of all things of a name, with each as a side."""
    names = tuple(place.name for place in took_place.question.places.all)
    if asked.group != 'place':
        things = took_place.things(asked.grouped)
        names = tuple(dict.fromkeys(described(thing.known) for thing in things))
    elif asked.grouped not in ANY_PLACE:
        names = tuple(name for name in names if is_named(asked.grouped, name)) or names
    anchor = asked.anchor
    names = tuple(name for name in names if not (anchor and is_named(anchor, name)))[:MOST_SIDES]
    return replace(asked, sides=names, names=names) if names[1:] else None


def _is_guessed(asked: Contrast, known: Sequence[Selection], *, looked: bool) -> bool:
    """Tell whether what is counted or timed need not be what was asked for.

    :param looked: it is asked what was seen
    """
    noun, timed = asked.grouped, asked.measure is ComparedBy.SECONDS
    if any(found.by == 'sights' and asked.measure is ComparedBy.COUNT for found in known):
        return True  # are captions of one thing?
    if any(found.by in ('sights', 'objects') and timed and not looked for found in known):
        return True
    if asked.group != 'place' or noun in ANY_PLACE or asked.names:
        return False
    return not any(is_named(noun, deed.where) for found in known for deed in found.occurrences)


@dataclass(frozen=True)
class _Tally:
    """Values of what is compared.

    :param took_place: knows what there is of each
    """

    asked: Contrast
    took_place: TookPlace

    @property
    def question(self) -> Question:
        return self.took_place.question

    @property
    def measures(self) -> Measures:
        return Measures(self.asked, self.took_place)

    def answer(self, text: str) -> tuple[Claim, str] | None:
        """Return what is said of the sides or the groups; None: nothing is known of them.

        :param text: the question
        """
        asked = self.asked
        told, sort = self._told_of()
        for name, found in zip(asked.names, told, strict=bool(asked.names)):
            if found is None or found.unknown:
                nothing = no_answer(f'I know nothing of "{name}", so I cannot compare it.')
                return replace(nothing, about=text), 'sights'
        known = [found for found in told if found is not None and not found.unknown]
        if len(known) < len(told) or not all(map(self._leaves_out, asked.without, repeat(known))):
            return None
        both = [deed for found in known for deed in found.occurrences]
        claim = self.by_side(known) if asked.names else self.by_group(replace(known[0], occurrences=both))
        if claim is None or not (claim.evidence or claim.denies):
            return None  # nothing shows that nothing was
        if claim.kind is Kind.NOT_SEEN:
            return replace(claim, about=text), 'sights'
        none = bool(sort or claim.note) and claim.text.startswith('There is none')
        guessed = none or _is_guessed(asked, known, looked=SEEN.search(text) is not None)
        sure = min([PERHAPS] * guessed + [found.sure for found in known])
        usual = word_class('usual') if asked.measure is ComparedBy.SECONDS else ()  # it is on average
        named = asked.names if asked.among is Among.LIMIT else ()
        shown = (word for found in known for word in found.known)
        met = (*asked.said, *usual, *asked.without, *named, sort, *shown)
        note = f' I took these for all that you call "{sort}".' if sort else claim.note
        claim = replace(claim, about=' '.join(met), confidence=claim.confidence or sure, note=note)
        return claim, known[0].by

    def _told_of(self) -> tuple[list[Selection | None], str]:
        """Return what took place of each side, and a sort of which no log has the name: 'each plant'."""
        asked = self.asked
        told = [self.selected(side) for side in asked.sides]
        unknown = told[0].unknown if told[0] else (asked.grouped,)
        sort = asked.grouped if asked.group == 'object' and asked.grouped in unknown else ''
        sort = unknown[0] if asked.among is Among.NONE and told[0] and len(unknown) == 1 else sort
        if sort:
            whatever = re.sub(rf'\b(?:(?:an?|any) )?{re.escape(sort)}\b', '', asked.sides[0])
            told = [self.took_place.of(whatever)]
        if asked.names and asked.among is Among.LIMIT:  # nothing was done to what nobody knows
            told = [found if found and not found.unknown else Selection((), 'deeds') for found in told]
        return told, sort

    def _leaves_out(self, name: str, known: Sequence[Selection]) -> bool:
        """Tell whether it is known what is left out: of objects each has a name and a room, and no more."""
        objects = [deed for found in known if found.by == 'objects' for deed in found.occurrences]
        return (
            not objects or self.took_place.place(name) is not None or any(_is(one, name) for one in objects)
        )

    def selected(self, side: str) -> Selection | None:
        """Return what took place of a side; of what is far away a place is as good."""
        place = self.took_place.place(side) if self.asked.measure is ComparedBy.AWAY else None
        if place is None or self.took_place.things(side):
            return self.took_place.of(side)
        return Selection((as_occurrence(place.memory),), 'places', known=words(' '.join(place.names)))

    def by_side(self, told: Sequence[Selection]) -> Claim:
        """Say which of the sides has more."""
        asked, values = self.asked, list[Value]()
        for name, side, found in zip(asked.names, asked.sides, told, strict=True):
            occurrences = self._kept(found.occurrences)
            value = self.measures.value(name, side, occurrences)
            if value is None:
                return no_answer(f'I do not know that of {name}, so I cannot compare it.')
            values.append(Value(name, value, occurrences, found.by))
        if asked.among is Among.LIMIT:
            hits = hits_of(deed for side in values for deed in side.occurrences[:1])
            such = [side.name for side in values if asked.least <= side.value <= asked.fewest]
            text = f'{"" if asked.fewest else "Not "}{", ".join(such)}.' if such else 'None of them.'
            return Claim(Kind.TEXT, text, hits) if hits else no_answer('I remember none of these.')
        ordered = sorted(values, key=lambda side: -side.value if asked.most else side.value)
        alike = ordered[0].value == ordered[1].value
        texts = [f'{side.name}, {self.measures.said(side)}' for side in (values if asked.yes else ordered)]
        if asked.measure in (ComparedBy.FIRST, ComparedBy.LAST) and not (asked.yes or alike):
            texts[0] = f'{ordered[0].name} {asked.measure.value}, {self.measures.said(ordered[0])}'
        text = f'{"both alike, " if alike else ""}{"; ".join(texts)}.'
        hits = hits_of(deed for side in ordered for deed in (*side.occurrences[:1], *side.occurrences))
        if asked.yes and asked.least:
            one, other = (side.value for side in values)
            no_more = asked.fewest == float('inf') or one <= asked.fewest * other
            return yes_or_no(asked.least * other <= one and no_more, text, hits)
        if asked.yes:
            return yes_or_no(not alike and ordered[0] is values[0], text, hits)
        return Claim(Kind.TEXT, text, hits)

    def by_group(self, told: Selection) -> Claim | None:
        """Say what there is in each group, in which there is most or none, or how much there is at all."""
        asked, occurrences = self.asked, self._kept(told.occurrences)
        if not asked.group:
            return self._in_all(told, occurrences)
        groups = groups_of(asked, occurrences, self.question.zone)
        if asked.among is Among.LIMIT and not asked.least and asked.group in ('day', 'place'):
            groups = {name: groups.get(name, []) for name in every_group(asked, self.took_place)}
        if asked.among is Among.NONE:
            return self._without(told, groups, occurrences)
        measured = [
            Value(name, value, of, told.by)
            for name, of in groups.items()
            if (value := self.measures.value(name, asked.sides[0], of)) is not None
        ]
        if asked.group == 'each' and asked.among is Among.EACH and len(measured) > SHOWN:
            return self._briefly(told, occurrences)
        if asked.among is Among.LIMIT:
            return self._reaching(told, measured)
        if asked.among is Among.BEST:
            return self._best(told, measured)
        return self._each(told, measured)

    def _each(self, told: Selection, values: Sequence[Value]) -> Claim | None:
        parts = [self._told(group) for group in values[:SHOWN]]
        parts += [f'and {len(values) - SHOWN} more'] * (len(values) > SHOWN)
        text = f'{"; ".join(parts)}.'
        if not values and self.asked.yes and self.asked.without:
            only = f'nothing but that which you name ({often(len(told.occurrences), told.by)}).'
            return yes_or_no(False, only, hits_of(told.occurrences))
        if not values:
            return None
        hits = hits_of(deed for group in values for deed in (*group.occurrences[:1], *group.occurrences))
        return yes_or_no(True, text, hits) if self.asked.yes else Claim(Kind.TEXT, _capital(text), hits)

    def _reaching(self, told: Selection, measured: Sequence[Value]) -> Claim | None:
        """Say which groups have so much, or how many they are."""
        asked = self.asked
        values = [group for group in measured if asked.least <= group.value <= asked.fewest]
        if not measured:
            return None
        if asked.group == 'each' and _COUNTS.match(asked.sides[0]):
            times = often(len(values), told.by)
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

    def _best(self, told: Selection, measured: Sequence[Value]) -> Claim | None:
        """Say which group has most, or least, and which come next."""
        asked = self.asked
        if not asked.most and asked.measure is ComparedBy.COUNT and asked.group != 'each':
            known = {group.name for group in measured}
            never = [name for name in every_group(asked, self.took_place) if name not in known]
            if never:  # whoever asks for the least may know of none
                text = f'Never: {", ".join(map(self._name, never))}.'
                claim = Claim(Kind.TEXT, text, hits_of(told.occurrences))
                return replace(claim, confidence=PERHAPS) if told.occurrences else None
        values = sorted(measured, key=Value.rank, reverse=asked.most)
        for _ in range(1, asked.nth):
            values = [group for group in values if group.value != values[0].value]
        if not values:
            return None
        best = [group for group in values if group.rank() == values[0].rank()]
        alike = len(values) > 1 and len({group.value for group in values}) == 1
        sure = PERHAPS if alike else 0.0
        told_best = ' and '.join(map(self._called, best))
        said, rest = self.measures.said, values[len(best) : len(best) + 2]
        others = [f'{self._called(group)} ({said(group)})' for group in rest]
        then = f'; then {" and ".join(others)}' if others else ''
        hits = hits_of(deed for group in values for deed in (*group.occurrences[:1], *group.occurrences))
        return Claim(Kind.TEXT, f'That was {told_best} ({said(best[0])}){then}.', hits, confidence=sure)

    def _called(self, group: Value) -> str:
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
            text = ', '.join(f'{name} ({often(number, told.by)})' for name, number in things.items())
        return Claim(Kind.TEXT, f'{_capital(text)}.', hits_of(occurrences))

    def _in_all(self, told: Selection, occurrences: Sequence[Occurrence]) -> Claim | None:
        """Say how many there are, or whether so many."""
        asked, number = self.asked, len(occurrences)
        last = (
            f': {listed(self.question, occurrences[-LAST:])}' if occurrences and told.by != 'objects' else ''
        )
        text = f'{often(number, told.by)}{last}.'
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
        asked, note = self.asked, ''
        every = every_group(asked, self.took_place)
        if asked.group == 'object' and not every:  # a sort: of all to which it was done at any time
            scope = replace(self.took_place.scope, after_ns=None, before_ns=None)
            ever = TookPlace(self.question, self.took_place.recall, scope).of(asked.sides[0])
            of_deeds = ever is not None and ever.by == 'deeds'
            every = groups_of(asked, ever.occurrences, self.question.zone) if ever and of_deeds else {}
            note = f' I took these for all that you call "{asked.grouped}".'
        if not every or told.by == 'sights':
            return None  # who sees nothing of a thing in a room need not have looked
        if told.by == 'places':  # who was in a part of a place was in that
            known = self.took_place.source.places
            parts = [part for part in known.all if part.name in groups]
            wholes = [whole.name for whole in known.all if any(known.is_part(part, whole) for part in parts)]
            groups = dict.fromkeys(wholes, ()) | dict(groups)
        left = [
            name
            for name in every
            if not any(name == has or (asked.group != 'day' and is_named(name, has)) for has in groups)
            and not any(is_named(out, name) for out in asked.without)
        ]
        counted = 'how many' in self.question.text.lower()
        number = f'{len(left)} {asked.group}s: ' if counted else ''
        text = f'{number}{", ".join(left)}' if left else 'There is none'
        if told.by == 'places':
            not_in = f'I was not in {number}{in_a_row(map(self._name, left))}'
            text = not_in if left else 'I was in every place that has a name'
        shown = [of[0] for name, of in every.items() if name in left and of]
        hits = hits_of(shown if told.by == 'places' and left else [*shown, *occurrences])
        if asked.yes and hits:
            return yes_or_no(bool(left), f'{text}.', hits)
        return Claim(Kind.TEXT, f'{_capital(text)}.', hits, note=note) if hits else None

    def _kept(self, occurrences: Sequence[Occurrence]) -> list[Occurrence]:
        """Return those that are not left out."""
        out = [name for said in self.asked.without for name in (said, *self._other_names(said))]
        return [deed for deed in occurrences if not any(_is(deed, name) for name in out)]

    def _other_names(self, said: str) -> Sequence[str]:
        place = self.took_place.place(said)
        return place.names if place else ()

    def _told(self, group: Value) -> str:
        """Return what there is in a group: how much, or which deeds where these are asked for."""
        counted, said = self.asked.measure is ComparedBy.COUNT, self.measures.said(group)
        if self.asked.group == 'each':
            if group.by == 'objects':
                facts = group.occurrences[0].facts
                return f'{facts.object} ({facts.place})' if facts.place else facts.object
            return f'{listed(self.question, group.occurrences)}{"" if counted else f" ({said})"}'
        if self.asked.among is Among.EACH and counted and not _COUNTS.match(self.asked.sides[0]):
            return f'{group.name}: {listed(self.question, group.occurrences[:SHOWN])}'
        return f'{group.name}: {said}'


def _capital(text: str) -> str:
    return f'{text[:1].upper()}{text[1:]}'


def _is(deed: Occurrence, name: str) -> bool:
    """Tell whether an occurrence is of something, in something, or was that."""
    facts = deed.facts
    named = is_said(name, deed.told)
    carried = MOVED.search(name) and any(is_same_kind(facts.kind, kind) for kind in ('pick', 'place'))
    return named or bool(carried) or any(is_same_kind(word, facts.kind) for word in words(name) if facts.kind)
