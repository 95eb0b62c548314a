"""What the rules answer about objects: by reference, every place, time and number from what is known."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import dist

from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.agent.model.grounding import Choice, Claim, choose, shown, yes_or_no
from remembr_ros.agent.model.memory_prompt import ago
from remembr_ros.agent.model.quoting import any_case
from remembr_ros.agent.model.relevance_model import PERHAPS
from remembr_ros.agent.offline.not_seen import no_answer
from remembr_ros.agent.offline.reader.object_request import Asked, ObjectRequest, parse_object_request
from remembr_ros.agent.offline.request import Request
from remembr_ros.agent.offline.word_classes import classes_of
from remembr_ros.memory.deeds.object_ids import REACH_M
from remembr_ros.memory.deeds.occurrences import IN_VIEW_NS, OccurrenceSource, hits_of, in_view, last_of_each
from remembr_ros.memory.deeds.query import Occurrence
from remembr_ros.memory.deeds.verbs import is_same_kind
from remembr_ros.memory.matching.terms import words
from remembr_ros.memory.model.recall import Hit, Scope
from remembr_ros.memory.model.record import CAPTIONER
from remembr_ros.memory.objects.known import KnownObject, seen_in
from remembr_ros.memory.objects.query import FoundObject, FoundObjects, ObjectQuery, is_meant
from remembr_ros.memory.objects.relations import stays_of
from remembr_ros.memory.objects.wording import (
    changes_of,
    described,
    events_said,
    listed,
    presence_note,
    visits_among,
)
from remembr_ros.memory.recall_protocol import Recall
from remembr_ros.timestamps import format_clock

EVENTS = 12  # that are told of an object
ONE = 0.9  # how surely a thing that was seen often, and called the same each time, is what it is called
_AWAY_M = 2.0 * REACH_M  # from where the robot put a thing: somebody moved it since
_SHADES = classes_of('shade')
_SAID = {'moved': 'moved', 'missing': 'gone', 'returned': 'back', 'appeared': 'seen for the first time'}
_ONE_STATE = {said.replace('_', ' '): one for one, of in classes_of('state').items() for said in of}
_OPPOSITES = ({'open', 'closed'}, {'on', 'off'}, {'full', 'empty'})
_UNMOVED = ' has not been moved, as far as I know'
_VISIT = any_case(r'\b(?:last|previous|latest)\b|\bsince (?:you|we|i)\b')


def answer_by_objects(request: Request, question: Question, recall: Recall, scope: Scope) -> Claim | None:
    """Return what the objects say to a question; None: it asks for something else, or for what is none."""
    asked = parse_object_request(request)
    if asked is None:
        return None
    answer = _ObjectAnswer(request, asked, question, recall, scope)
    found = answer.meant(asked.thing) if asked.thing or not asked.relation else ()
    tell = _ObjectAnswer.related if asked.relation else _ANSWERS[asked.asked]
    claim = tell(answer, found) if found or (asked.relation and not asked.thing) else None
    others = '' if asked.thing else 'other'  # 'What other things are on the table?'
    others += ' while there' if asked.asked is Asked.CHANGES else ''
    about = f'{asked.thing} {asked.relation} {asked.anchor} {asked.said} {others}'
    return claim and replace(claim, text=f'{claim.text[:1].upper()}{claim.text[1:]}', about=about)


@dataclass(frozen=True)
class _ObjectAnswer:
    """Finds the objects that are meant, and says what is asked of them.

    :param request: the question, understood
    :param asked: what of it is about objects
    :param scope: the times, robots and maps that count
    """

    request: Request
    asked: ObjectRequest
    question: Question
    recall: Recall
    scope: Scope

    def meant(self, name: str) -> Sequence[FoundObject]:
        """Return what is called so; else what may be, by its colour in the shade, or if that is unknown."""
        if found := self._find(name).objects:
            return found
        colours = [word for word in words(name) if word in _SHADES]
        thing = ' '.join(word for word in words(name) if word not in colours)
        may_be = {'', *(shade for colour in colours for shade in _SHADES[colour])}
        found = self._find(thing).objects if colours and thing else ()
        return [item for item in found if item.known.facts.colour in may_be]

    def related(self, known: Sequence[FoundObject]) -> Claim | None:
        """Say what lies so to the anchor, or whether, where, when and how many of the asked ones do."""
        asked, anchors, whether = self.asked, self.meant(self.asked.anchor), self.asked.asked is Asked.IS
        called, anchor = (
            name if not meant or is_meant(meant[0].known, name) else meant[0].known.id
            for name, meant in ((asked.thing, known), (asked.anchor, anchors))
        )
        near = self._find(called, self.scope, relation=asked.relation, anchor=anchor)
        found, cited, hidden = near.objects, near.objects or anchors, False
        if not anchors or (found and asked.asked is Asked.SEEN):
            return self.seen(found) if anchors else None
        if whether and known and not found and asked.relation in ('in', 'on'):
            put = self._own_deed(known[0].known)  # in a bowl, which was carried since
            if put is not None and put.facts.receptacle_id in {thing.id for thing in near.anchors}:
                return yes_or_no(True, f'{_own(put)}.', hits_of([put]), sure=ONE)
        things, be = listed(item.known for item in found), self._be(found)
        place = f'{asked.relation} the {asked.anchor}'
        text = f'{place}{" there was" if self._in_time else ""}: {things}.'
        if whether and asked.thing and not found:
            cited, hidden = known[:3], asked.relation == 'under'  # what lies on it hides it
            text = f'{self._state(known[0], " elsewhere")}.'
        elif not found:
            hidden = asked.relation == 'in'  # from outside nobody sees what is in it
            text = f'{f"no {asked.thing}" if asked.thing else "nothing"} that I know of {be} {place}.'
        elif whether:
            text = f'{things} {be} {place}{self._since(found[0])}.'
        elif asked.asked is Asked.HOW_MANY:
            text = f'{len(found)} that I know of {be} {place}: {things}.'
        claim = _claim(text, cited, yes=bool(found) if whether else None)
        if asked.asked is Asked.RELATED and asked.relation in ('in', 'on') and (own := self._put_there(near)):
            text = ' '.join([text] * bool(found) + [f'{_own(deed)}.' for deed in own])
            return replace(claim, text=text, evidence=[*claim.evidence, *hits_of(own)], confidence=ONE)
        return replace(claim, confidence=min(claim.confidence, PERHAPS if hidden else ONE))

    def seen(self, found: Sequence[FoundObject]) -> Claim | None:
        """Say where or when things were seen."""
        when, choice = self.request.kind is Kind.TIME, self.request.choice
        if choice is Choice.CITED_FIRST or (when and choice is not Choice.EARLIEST):
            choice = Choice.LATEST
        hits = _hits([item for item in found if item.known.missing_ns is None] or found)
        if when or self._in_time:
            hits = [
                Hit(replace(at.memory, start_ns=seen.start_ns, end_ns=seen.end_ns), 1.0)
                for item in found
                for seen in seen_in(item.known.memory, self.scope)
                for stay in [stay for stay in stays_of(item.known) if stay.since_ns <= seen.end_ns][-1:]
                for at in [item.known.placed_at(stay.at)]
            ]
        if not hits:
            return None
        decisive = choose(hits, choice, self.question).memory.id
        item = next(item for item in found if item.known.id == decisive)
        claim = replace(_claim(f'{_the(item)} was seen', [item]), evidence=hits, choice=choice)
        if when:
            return replace(claim, kind=Kind.TIME)
        own = self._own_deed(item.known)
        if own is not None and item.known.memory.end_ns <= own.end_ns:  # nobody has seen it since
            return Claim(Kind.POSITION, _own(own), hits_of([own]), confidence=ONE)
        text = claim.text if self._in_time else f'{_the(item)} was last seen'
        text += '' if self._in_time or item.known.missing_ns else _lies(item)
        text += f', one of {len(hits)}' if len(hits) > 1 else ''
        text += '' if item.known.facts.measured else ' in this direction, how far away is not known'
        return replace(claim, kind=Kind.POSITION, text=text if own is None else f'{_own(own)}. T{text[1:]}')

    def before(self, found: Sequence[FoundObject]) -> Claim:
        """Say where what was moved last was before."""
        item = max(found, key=lambda item: [came_ns for _, came_ns, _, _ in item.known.moves[-1:]])
        if not item.known.moves:
            return replace(_claim(f'{_the(item)}{_UNMOVED}', [item]), kind=Kind.POSITION)
        left_ns, came_ns, at, _ = item.known.moves[-1]
        memory = item.known.placed_at(at).memory
        was = Hit(replace(memory, end_ns=max(left_ns, memory.start_ns)), 1.0)
        text = f'{_the(item)}, which was moved by {self._clock(came_ns)}, was before'
        return replace(_claim(text, [item]), kind=Kind.POSITION, evidence=[was])

    def how_many(self, found: Sequence[FoundObject]) -> Claim | None:
        """Say how many there are, or were in a time."""
        found = [item for item in found if item.known.seen_within(self.scope.after_ns, self.scope.before_ns)]
        present = [item for item in found if item.known.missing_ns is None]
        number = 'one is known' if len(present) == 1 else f'{len(present) or "none"} are known'
        text = f'{self.request.thing}: {number}, each at a place of its own'
        if not self.asked.thing:
            text = f'{len(present)} objects are known: {listed(item.known for item in present)}'
        gone = f', {len(found) - len(present)} more gone' if len(present) < len(found) else ''
        return replace(_claim(f'{text}{gone}.', found), evidence=_hits(present or found)) if found else None

    def colour(self, found: Sequence[FoundObject]) -> Claim:
        """Say of which colours things are, and how many of each."""
        colours = Counter(item.known.facts.colour or 'of no one colour' for item in found)
        told = ', '.join(f'{number} {colour}' for colour, number in colours.items())
        return _claim(f'{self.asked.thing}: {told if len(found) > 1 else told[2:]}.', found)

    def size(self, found: Sequence[FoundObject]) -> Claim:
        """Say how large a thing is: its box along the map's axes, as far as that was measured."""
        item = found[0]
        if not item.known.facts.measured:
            return no_answer(f'I cannot tell how large {_the(item)} is: I know its direction alone.')
        wide, deep, high = *sorted(item.known.size[:2])[::-1], item.known.size[2]
        across, up = f'{wide:.2f} x {deep:.2f} m', f'{high:.2f} m high'
        size = up if self.asked.said in ('tall', 'high', 'height') else f'{across}, and {up}'
        text = f'{_the(item)} is about {size}, by what I saw of it'
        text += f', one of {len(found)}' if len(found) > 1 else ''
        return _claim(f'{text}{self._since(item)}.', [item])

    def state(self, found: Sequence[FoundObject]) -> Claim:
        """Say how deeds left a thing; nobody knows more of how it is."""
        item = max(found, key=lambda item: item.known.state[1])
        (left, since_ns), asked = item.known.state, self.asked.said
        is_asked, is_so = (_ONE_STATE.get(said, said) for said in (asked, left))
        known, whether = f'{left} since {self._clock(since_ns)}', self.request.kind is Kind.BINARY
        if left and (not whether or is_so == is_asked or {is_so, is_asked} in _OPPOSITES):
            yes = is_so == is_asked if whether else None
            return _claim(f'{_the(item)} is {known}, as far as I know.', [item], yes=yes)
        why = f'all that I know is that it is {known}' if left else 'no deed that I know of says so'
        how = f'whether the {self.asked.thing} is {asked}' if whether else f'how the {self.asked.thing} is'
        return no_answer(f'I cannot tell {how}: {why}.')

    def history(self, found: Sequence[FoundObject]) -> Claim:
        """Say what happened to a thing."""
        told = events_said(found[0].known, self.question.zone, EVENTS)
        return _claim(f'{_the(found[0])}: {told}{self._since(found[0])}.', found[:1])

    def became(self, found: Sequence[FoundObject]) -> Claim:
        """Say whether things are still there, gone or moved, or when that was noticed."""
        change, since_ns = self.asked.change, self.scope.after_ns or 0
        news = [(new, item) for item in found for new in changes_of(item.known, since_ns)]
        made = [(new.at_ns, item) for new, item in news if new.kind == change]
        gone = [item for item in found if item.known.missing_ns is not None]
        at_ns, item = max(made, key=lambda pair: pair[0], default=(0, (gone or found)[0]))
        if made and self.request.kind is Kind.TIME:
            memory = item.known.memory
            noticed = replace(memory, end_ns=at_ns, start_ns=min(memory.start_ns, at_ns))
            claim = _claim(f'it was noticed that {_the(item)} is {_SAID[change]}', [item])
            return replace(claim, kind=Kind.TIME, evidence=[Hit(noticed, 1.0)])
        if made and change == 'moved':
            x, y, _ = item.known.position
            at = _lies(item) or f' at ({x:.1f}, {y:.1f})'
            return _claim(f'{_the(item)} was moved by {self._clock(at_ns)}, and is{at}.', [item], yes=True)
        item = (gone or found)[0]
        text = self._state(item, ' there')
        if gone and len(found) > 1:
            text = f'{len(gone)} of {len(found)} {self._be(gone)} gone{self._since(item)}'
        elif change == 'moved' and not gone:
            text = f'{_the(item)}{_UNMOVED}{self._since(item)}'
        yes = bool(gone) if change == 'missing' else not (gone or change)
        return _claim(f'{text}.', gone or found, yes=yes)

    def in_view(self, _: Sequence[FoundObject]) -> Claim | None:
        """Say what is in view, or was last; None: captions alone tell of now."""
        head, found = in_view(self.recall, self.question.now_ns, self.question.here, self.scope)
        now = replace(self.scope, after_ns=max(self.question.now_ns - IN_VIEW_NS, 0), source=CAPTIONER)
        seen = any(item.known.seen_within(now.after_ns, None) for item in found.objects)
        if not found.objects or (not seen and self.recall.count(now)):
            return None
        text = f'{head}: {listed(item.known for item in found.objects)}.'
        return Claim(Kind.TEXT, text, _hits(found.objects), confidence=ONE)

    def changes(self, everything: Sequence[FoundObject]) -> Claim:
        """Say what appeared, moved, came back and was missed since a time, or the visit before the latest."""
        change, since_ns = self.asked.change, self.scope.after_ns
        if since_ns is None and (change in ('changed', 'appeared') or _VISIT.search(self.request.plain)):
            since_ns = visits_among(item.known for item in everything)[-2:][0][1]
        told: dict[str, list[FoundObject]] = {kind: [] for kind in _SAID if change in (kind, 'changed')}
        for item in everything:
            for new in changes_of(item.known, since_ns or 0, self.scope.before_ns)[-1:]:
                told.get(new.kind, []).append(item)
        parts = [f'{_SAID[kind]}: {listed(item.known for item in of)}' for kind, of in told.items() if of]
        text = '; '.join(parts) or f'nothing is known to be {_SAID.get(change, change)}'
        since = f'since {self._clock(since_ns)}, ' if since_ns else ''
        found = [item for of in told.values() for item in of] or everything[:1]
        return Claim(Kind.TEXT, f'{since}{text}.', _hits(found), confidence=ONE)

    @cached_property
    def _put(self) -> dict[str, Occurrence]:
        """The deeds by which the robot put things onto or into others, and left them there, by their ids."""
        last = last_of_each(OccurrenceSource(self.recall).deeds(self.scope), 'pick', 'place')
        put = [deed for deed in last if deed.facts.receptacle and is_same_kind(deed.facts.kind, 'place')]
        return {deed.facts.object_id: deed for deed in put if deed.facts.object_id and not self._in_time}

    def _own_deed(self, known: KnownObject) -> Occurrence | None:
        """Return the deed by which the robot put a thing where it is; None: it was seen elsewhere since."""
        own = self._put.get(known.id)
        if own is None or known.memory.end_ns <= own.end_ns:
            return own
        carriers = self._find(own.facts.receptacle_id).objects if own.facts.receptacle_id else ()
        stood = [own.memory.pose, *(item.known for item in carriers[:1])]  # it may have been carried since
        at = [item.position for item in stood if item is not None]
        return own if not at or any(dist(known.position[:2], xy[:2]) <= _AWAY_M for xy in at) else None

    def _put_there(self, near: FoundObjects) -> list[Occurrence]:
        """Return the deeds by which the robot put what is there, of things that are not seen there."""
        anchors, seen = {thing.id for thing in near.anchors}, {item.known.id for item in near.objects}
        put = [deed for name, deed in self._put.items() if name not in seen]
        there = [deed for deed in put if deed.facts.receptacle_id in anchors]
        known = [(self._find(deed.facts.object_id).objects, deed) for deed in there]
        return [deed for found, deed in known if not found or self._own_deed(found[0].known) is deed]

    def _find(self, called: str, scope: Scope | None = None, **related: str) -> FoundObjects:
        """Return the objects of the asked robots and map; without a scope whenever they were seen."""
        scope = scope or replace(self.scope, after_ns=None, before_ns=None)
        return self.recall.find_objects(ObjectQuery(called, scope=scope, **related))  # type: ignore[arg-type]

    @property
    def _in_time(self) -> bool:
        return self.scope.after_ns is not None or self.scope.before_ns is not None

    def _be(self, found: Sequence[FoundObject]) -> str:
        return (('was', 'were') if self._in_time else ('is', 'are'))[len(found) > 1]

    def _clock(self, at_ns: int) -> str:
        return format_clock(at_ns, self.question.zone)

    def _since(self, item: FoundObject) -> str:
        """Return when an object was seen last, and what became of it since, in words."""
        note = presence_note(item.known.memory, self.question.now_ns, self.question.zone)
        return f', seen {ago(item.known.memory.end_ns, self.question.now_ns)}{note and f", {note}"}'

    def _state(self, item: FoundObject, otherwise: str) -> str:
        """Return whether an object is still there, and where, in words; otherwise: nobody knows where."""
        at = ' gone' if item.known.missing_ns else f'{_lies(item) or otherwise}, as far as I know'
        return f'{_the(item)} is{at}{self._since(item)}'


_ANSWERS: dict[Asked, Callable[[_ObjectAnswer, Sequence[FoundObject]], Claim | None]] = {
    Asked.SEEN: _ObjectAnswer.seen,
    Asked.BEFORE: _ObjectAnswer.before,
    Asked.HOW_MANY: _ObjectAnswer.how_many,
    Asked.COLOUR: _ObjectAnswer.colour,
    Asked.SIZE: _ObjectAnswer.size,
    Asked.STATE: _ObjectAnswer.state,
    Asked.IN_VIEW: _ObjectAnswer.in_view,
    Asked.BECAME: _ObjectAnswer.became,
    Asked.CHANGES: _ObjectAnswer.changes,
    Asked.HISTORY: _ObjectAnswer.history,
}


def _claim(text: str, found: Sequence[FoundObject], *, yes: bool | None = None) -> Claim:
    """Return a claim about objects, as sure as the first of them is what it is called."""
    facts = found[0].known.facts
    agreed = 1.0 if facts.named else max(facts.labels.values()) / sum(facts.labels.values())
    sure = ONE * agreed * facts.observations / (facts.observations + 1)
    if yes is not None:
        return yes_or_no(yes, text, _hits(found), sure=sure)
    return Claim(Kind.TEXT, text, _hits(found), confidence=sure)


def _hits(found: Iterable[FoundObject]) -> list[Hit]:
    return shown(item.known.memory for item in found)


def _the(item: FoundObject) -> str:
    return f'the {described(item.known)}'


def _lies(item: FoundObject) -> str:
    """Return what an object lies on, in or under, else next to, after a space; empty: nobody knows."""
    return next((f' {relation.words}' for relation in item.relations), '')


def _own(deed: Occurrence) -> str:
    return f'I {deed.memory.caption[:1].lower()}{deed.memory.caption[1:].rstrip(".")}'
