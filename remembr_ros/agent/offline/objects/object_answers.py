"""What the rules answer about objects: by reference, every place, time and number from what is known."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import dist

from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.agent.model.grounding import Choice, Claim, choose, shown, yes_or_no
from remembr_ros.agent.model.memory_prompt import ago
from remembr_ros.agent.model.quoting import any_case
from remembr_ros.agent.model.relevance_model import PERHAPS
from remembr_ros.agent.offline.objects.object_request import Asked, ObjectRequest, parse_object_request
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
    events_of,
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
_VISIT = any_case(r'\b(?:last|previous|latest)\b|\bsince (?:you|we|i)\b')


def answer_by_objects(request: Request, question: Question, recall: Recall, scope: Scope) -> Claim | None:
    """Return what the objects say to a question; None: it asks for something else, or for what is none."""
    asked = parse_object_request(request)
    claim = None if asked is None else _ObjectAnswer(request, asked, question, recall, scope).claim()
    if asked is None or claim is None:
        return None
    others = '' if asked.thing else 'other'  # 'What other things are on the table?'
    others += ' while there' if asked.asked is Asked.CHANGES else ''
    about = f'{asked.thing} {asked.relation} {asked.anchor} {others}'
    return replace(claim, text=f'{claim.text[:1].upper()}{claim.text[1:]}', about=about)


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

    def claim(self) -> Claim | None:
        """Return what the objects say; None: there is none, or they do not tell."""
        asked, found = self.asked, self._meant(self.asked.thing)
        claim = None
        if asked.relation and (found or not asked.thing):
            claim = self._related(found if asked.thing else ())
        elif found:
            match asked.asked:
                case Asked.WHERE | Asked.WHEN:
                    claim = self._seen(found)
                case Asked.BEFORE:
                    claim = self._before(
                        max(found, key=lambda item: [move[1] for move in item.known.moves[-1:]])
                    )
                case Asked.HOW_MANY:
                    claim = self._how_many(found)
                case Asked.COLOUR:
                    colours = Counter(item.known.facts.colour or 'of no one colour' for item in found)
                    told = [
                        f'{number} {name}' if len(found) > 1 else name for name, number in colours.items()
                    ]
                    claim = _claim(f'{asked.thing}: {", ".join(told)}.', found)
                case Asked.HISTORY:
                    events = events_of(found[0].known)[-EVENTS:]
                    told = [f'{event} {self._clock(at_ns)}' for at_ns, event in events]
                    claim = _claim(f'{_the(found[0])}: {"; ".join(told)}{self._since(found[0])}.', found[:1])
                case Asked.BECAME:
                    claim = self._became(found)
                case Asked.IN_VIEW:
                    claim = self._in_view()
                case Asked.CHANGES:
                    claim = self._changes(found)
        return claim

    def _meant(self, name: str) -> Sequence[FoundObject]:
        """Return what is called so; else what may be, by its colour in the shade, or if that is unknown."""
        if found := self._find(name).objects:
            return found
        colours = [word for word in words(name) if word in _SHADES]
        thing = ' '.join(word for word in words(name) if word not in colours)
        may_be = {'', *(shade for colour in colours for shade in _SHADES[colour])}
        found = self._find(thing).objects if colours and thing else ()
        return [item for item in found if item.known.facts.colour in may_be]

    def _related(self, known: Sequence[FoundObject]) -> Claim | None:
        """Say what lies so to the anchor, or whether, where, when and how many of the asked ones do."""
        asked, anchors = self.asked, self._meant(self.asked.anchor)
        called, anchor = (
            name if not meant or is_meant(meant[0].known, name) else meant[0].known.id
            for name, meant in ((asked.thing, known), (asked.anchor, anchors))
        )
        near = self._find(called, self.scope, relation=asked.relation, anchor=anchor)
        found, cited, whether = near.objects, near.objects or anchors, asked.asked is Asked.IS
        if not anchors or (found and asked.asked in (Asked.WHERE, Asked.WHEN)):
            return self._seen(found) if anchors else None
        place, be, hidden = f'{asked.relation} the {asked.anchor}', self._be(found), ''
        things = listed(item.known for item in found)
        if whether and known and not found:
            cited, hidden = known[:3], 'under'  # what lies on it hides it
            state = 'gone' if known[0].known.missing_ns is not None else _lies(known[0], 'elsewhere')
            text = f'{_the(known[0])} is {state}{self._since(known[0])}.'
        elif not found:
            hidden = 'in'  # from outside nobody sees what is in it
            text = f'{f"no {asked.thing}" if asked.thing else "nothing"} that I know of {be} {place}.'
        elif whether:
            text = f'{things} {be} {place}{self._since(found[0])}.'
        elif asked.asked is Asked.HOW_MANY:
            text = f'{len(found)} that I know of {be} {place}: {things}.'
        else:
            text = f'{place}{" there was" if self._in_time else ""}: {things}.'
        claim = _claim(text, cited, yes=bool(found) if whether else None)
        own = self._put_there(near) if asked.asked is Asked.RELATED and asked.relation in ('in', 'on') else []
        if own:
            text = ' '.join([text] * bool(found) + [f'{_own(deed)}.' for deed in own])
            return replace(claim, text=text, evidence=[*claim.evidence, *hits_of(own)], confidence=ONE)
        return replace(claim, confidence=min(claim.confidence, PERHAPS if asked.relation == hidden else ONE))

    def _seen(self, found: Sequence[FoundObject]) -> Claim | None:
        """Say where or when things were seen."""
        when, choice = self.asked.asked is Asked.WHEN, self.request.choice
        if choice is Choice.CITED_FIRST or (when and choice is not Choice.EARLIEST):
            choice = Choice.LATEST
        hits = _hits([item for item in found if item.known.missing_ns is None] or found)
        if when or self._in_time:
            hits = [hit for item in found for hit in self._sights(item.known)]
        if not hits:
            return None
        decisive = choose(hits, choice, self.question).memory.id
        item = next(item for item in found if item.known.id == decisive)
        own = None if when else self._own_deed(item.known)
        if own is not None and item.known.memory.end_ns <= own.end_ns:  # nobody has seen it since
            return Claim(Kind.POSITION, _own(own), hits_of([own]), confidence=ONE)
        text = f'{_the(item)} was {"" if when or self._in_time else "last "}seen'
        if not when:
            text += '' if self._in_time or item.known.missing_ns else f' {_lies(item, "")}'.rstrip()
            text += f', one of {len(hits)}' if len(hits) > 1 else ''
            text += '' if item.known.facts.measured else ' in this direction, how far away is not known'
            text = f'{_own(own)}. T{text[1:]}' if own is not None else text
        return replace(_claim(text, [item], Kind.TIME if when else Kind.POSITION, hits), choice=choice)

    def _before(self, item: FoundObject) -> Claim:
        """Say where a thing was before it was moved."""
        if not item.known.moves:
            return _claim(f'{_the(item)} has not been moved, as far as I know', [item], Kind.POSITION)
        left_ns, came_ns, at, _ = item.known.moves[-1]
        memory = item.known.placed_at(at).memory
        was = Hit(replace(memory, end_ns=max(left_ns, memory.start_ns)), 1.0)
        text = f'{_the(item)}, which was moved by {self._clock(came_ns)}, was before'
        return _claim(text, [item], Kind.POSITION, [was])

    def _how_many(self, found: Sequence[FoundObject]) -> Claim | None:
        """Say how many there are, or were in a time."""
        found = [item for item in found if item.known.seen_within(self.scope.after_ns, self.scope.before_ns)]
        present = [item for item in found if item.known.missing_ns is None]
        number = 'one is known' if len(present) == 1 else f'{len(present) or "none"} are known'
        text = f'{self.request.thing}: {number}, each at a place of its own'
        if not self.asked.thing:
            text = f'{len(present)} objects are known: {listed(item.known for item in present)}'
        gone = f', {len(found) - len(present)} more gone' if len(present) < len(found) else ''
        return _claim(f'{text}{gone}.', found, hits=_hits(present)) if found else None

    def _became(self, found: Sequence[FoundObject]) -> Claim:
        """Say whether things are still there, gone or moved, or when that was noticed."""
        change, since_ns = self.asked.change, self.scope.after_ns or 0
        news = [(new, item) for item in found for new in changes_of(item.known, since_ns)]
        made = [(new.at_ns, item) for new, item in news if new.kind == change]
        at_ns, item = max(made, key=lambda pair: pair[0], default=(0, found[0]))
        if made and self.request.kind is Kind.TIME:
            noticed = replace(
                item.known.memory, end_ns=at_ns, start_ns=min(item.known.memory.start_ns, at_ns)
            )
            text = f'it was noticed that {_the(item)} is {_SAID[change]}'
            return _claim(text, [item], Kind.TIME, [Hit(noticed, 1.0)])
        if made and change == 'moved':
            x, y, _ = item.known.position
            text = f'was moved by {self._clock(at_ns)}, and is {_lies(item, f"at ({x:.1f}, {y:.1f})")}'
            return _claim(f'{_the(item)} {text}.', [item], yes=True)
        gone = [item for item in found if item.known.missing_ns is not None]
        item = (gone or found)[0]
        state = f'{_the(item)} is {_lies(item, "there")}, as far as I know'
        if gone:
            count = f'{len(gone)} of {len(found)}' if len(found) > 1 else _the(item)
            state = f'{count} {self._be(gone)} not there any more'
        elif change == 'moved':
            state = f'{_the(item)} is where it was'
        yes = bool(gone) if change == 'missing' else not (gone or change)
        return _claim(f'{state}{self._since(item)}.', gone or found, yes=yes)

    def _in_view(self) -> Claim | None:
        """Say what is in view, or was last; None: captions alone tell of now."""
        now_ns = self.question.now_ns
        head, found = in_view(self.recall, now_ns, self.question.here, self.scope)
        now = replace(self.scope, after_ns=max(now_ns - IN_VIEW_NS, 0), source=CAPTIONER)
        seen = any(item.known.seen_within(now.after_ns, None) for item in found.objects)
        if not seen and (not found.objects or self.recall.count(now)):
            return None
        text = f'{head}: {listed(item.known for item in found.objects)}.'
        return Claim(Kind.TEXT, text, _hits(found.objects), confidence=ONE)

    def _changes(self, everything: Sequence[FoundObject]) -> Claim:
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
        done = OccurrenceSource(self.recall).deeds(replace(self.scope, after_ns=None, before_ns=None))
        last = [
            deed for deed in last_of_each(done, 'pick', 'place') if is_same_kind(deed.facts.kind, 'place')
        ]
        put = {deed.facts.object_id: deed for deed in last if deed.facts.object_id and deed.facts.receptacle}
        return {} if self._in_time else put

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
        own = [
            deed
            for name, deed in self._put.items()
            if deed.facts.receptacle_id in anchors and name not in seen
        ]
        known = [(self._find(deed.facts.object_id).objects, deed) for deed in own]
        return [deed for found, deed in known if not found or self._own_deed(found[0].known) is deed]

    def _find(self, called: str, scope: Scope | None = None, **related: str) -> FoundObjects:
        """Return the objects of the asked robots and map; without a scope whenever they were seen."""
        scope = scope or replace(self.scope, after_ns=None, before_ns=None)
        return self.recall.find_objects(ObjectQuery(called, scope=scope, **related))  # type: ignore[arg-type]

    def _sights(self, known: KnownObject) -> list[Hit]:
        """Return where an object was seen in the asked time, and when."""
        return [
            Hit(replace(known.placed_at(stay.at).memory, start_ns=seen.start_ns, end_ns=seen.end_ns), 1.0)
            for seen in seen_in(known.memory, self.scope)
            for stay in [stay for stay in stays_of(known) if stay.since_ns <= seen.end_ns][-1:]
        ]

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


def _claim(
    text: str,
    found: Sequence[FoundObject],
    kind: Kind = Kind.TEXT,
    hits: Sequence[Hit] = (),
    *,
    yes: bool | None = None,
) -> Claim:
    """Return a claim about objects, as sure as the first of them is what it is called."""
    known = found[0].known
    labels, seen = known.facts.labels, known.facts.observations
    agreed = 1.0 if known.facts.named else labels[known.recognised_as] / sum(labels.values())
    sure = ONE * agreed * seen / (seen + 1)
    if yes is not None:
        return yes_or_no(yes, text, _hits(found), sure=sure)
    return Claim(kind, text, hits or _hits(found), confidence=sure)


def _hits(found: Iterable[FoundObject]) -> list[Hit]:
    return shown(item.known.memory for item in found)


def _the(item: FoundObject) -> str:
    return f'the {described(item.known)}'


def _lies(item: FoundObject, otherwise: str) -> str:
    """Return what an object lies on, in or under, else next to; otherwise: nobody knows."""
    return next((relation.words for relation in item.relations), otherwise)


def _own(deed: Occurrence) -> str:
    return f'I {deed.memory.caption[:1].lower()}{deed.memory.caption[1:].rstrip(".")}'
