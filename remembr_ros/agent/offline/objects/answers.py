"""What the rules answer about objects: by reference, every place, time and number from what is known."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import dist

from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.agent.model.grounding import Choice, Claim, choose
from remembr_ros.agent.model.memory_prompt import ago
from remembr_ros.agent.offline.objects.request import Asked, ObjectRequest, parse_object_request
from remembr_ros.agent.offline.request import Request
from remembr_ros.memory.deeds.object_ids import REACH_M
from remembr_ros.memory.deeds.occurrences import IN_VIEW_NS, Happened, hits_of, in_view, last_of_each
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
_SHADES = {
    'white': ('grey',),
    'grey': ('white', 'black'),
    'gray': ('grey', 'white', 'black'),
    'black': ('grey',),
    'red': ('orange', 'pink'),
    'orange': ('red', 'yellow', 'brown'),
    'yellow': ('orange',),
    'green': (),
    'blue': ('purple',),
    'purple': ('blue', 'pink'),
    'pink': ('purple', 'red'),
    'brown': ('orange', 'black'),
}
"""Colours, and those that they look like in another light."""
_SAID = {'appeared': 'seen for the first time', 'moved': 'moved', 'missing': 'gone', 'returned': 'back'}


_AWAY_M = 2.0 * REACH_M  # from where the robot put a thing: somebody moved it since


@dataclass(frozen=True)
class _About:
    """What an answer is about.

    :param request: the question, understood
    :param objects: what of it is about objects
    :param scope: the times, robots and maps that count
    """

    request: Request
    objects: ObjectRequest
    question: Question
    recall: Recall
    scope: Scope

    @cached_property
    def put(self) -> dict[str, Occurrence]:
        """The deeds by which the robot put things onto or into others, and left them there, by their ids."""
        done = Happened(self.recall).deeds(replace(self.scope, after_ns=None, before_ns=None))
        last = [one for one in last_of_each(done, 'pick', 'place') if is_same_kind(one.facts.kind, 'place')]
        return {one.facts.object_id: one for one in last if one.facts.object_id and one.facts.receptacle}

    @property
    def in_time(self) -> bool:
        """Whether a time is asked about."""
        return self.scope.after_ns is not None or self.scope.before_ns is not None

    def own_deed(self, known: KnownObject) -> Occurrence | None:
        """Return the deed by which the robot put a thing where it is; None: it was seen elsewhere since."""
        own = None if self.in_time else self.put.get(known.id)
        if own is None or known.memory.end_ns <= own.end_ns:
            return own
        carriers = self.find(own.facts.receptacle_id).objects if own.facts.receptacle_id else ()
        stood = [own.memory.pose, *(one.known for one in carriers[:1])]  # it may have been carried since
        at = [one.position for one in stood if one is not None]
        return own if not at or any(dist(known.position[:2], xy[:2]) <= _AWAY_M for xy in at) else None

    def find(self, called: str = '', **conditions: object) -> FoundObjects:
        """Return the objects of the asked robots and map."""
        scope = conditions.pop('scope', replace(self.scope, after_ns=None, before_ns=None))
        return self.recall.find_objects(ObjectQuery(called, scope=scope, **conditions))  # type: ignore[arg-type]


def answer_by_objects(request: Request, question: Question, recall: Recall, scope: Scope) -> Claim | None:
    """Return what the objects say to a question; None: it asks for something else, or for what is none."""
    asked = parse_object_request(request)
    if asked is None:
        return None
    about = _About(request, asked, question, recall, scope)
    if asked.asked is Asked.CHANGES:
        return _changes(about)
    if asked.relation:
        return _related(about)
    found = _meant(about, asked.thing)
    return _ANSWERS[asked.asked](about, found) if found else None


def _meant(about: _About, name: str) -> tuple[FoundObject, ...]:
    """Return what is called so; else what may be, by its colour in the shade, or if none could be told."""
    if found := about.find(name).objects:
        return found
    colours = [word for word in words(name) if word in _SHADES]
    thing = ' '.join(word for word in words(name) if word not in colours)
    may_be = {'', *(shade for colour in colours for shade in _SHADES[colour])}
    found = about.find(thing).objects if colours and thing else ()
    return tuple(one for one in found if one.known.facts.colour in may_be)


def _related(about: _About) -> Claim | None:
    """Say what lies so to the anchor, or whether, where, when and how many of the asked ones do."""
    asked = about.objects
    known, anchors = (_meant(about, name) if name else () for name in (asked.thing, asked.anchor))
    if not anchors or (asked.thing and not known):
        return None
    called, anchor = (
        name if not some or is_meant(some[0].known, name) else some[0].known.id
        for name, some in ((asked.thing, known), (asked.anchor, anchors))
    )
    found = about.find(called, relation=asked.relation, anchor=anchor, scope=about.scope)
    where = f'{asked.relation} the {asked.anchor}'
    if asked.asked is Asked.IS:
        return _is_there(about, found, known, where)
    if found.objects and asked.asked in (Asked.WHERE, Asked.WHEN):
        return _ANSWERS[asked.asked](about, found.objects)
    evidence = _hits(found.objects or found.anchors)
    own = _put_there(about, found) if asked.asked is Asked.RELATED and asked.relation in ('in', 'on') else []
    if own and not about.in_time:
        told = [f'{_capital(where)}: {_listed(found.objects)}'] if found.objects else []
        text = f'{". ".join([*told, *map(_own, own)])}.'
        return Claim(Kind.TEXT, text, [*evidence, *hits_of(own)], confidence=ONE)
    if not found.objects:
        thing = f'no {asked.thing}' if asked.thing else 'nothing'
        text = f'{thing[0].upper()}{thing[1:]} that I know of {_be((), about)} {where}.'
    elif asked.asked is Asked.HOW_MANY:
        number = f'{len(found.objects)} that I know of {_be(found.objects, about)}'
        text = f'{number} {where}: {_listed(found.objects)}.'
    else:
        text = f'{_capital(where)}{" there was" if about.in_time else ""}: {_listed(found.objects)}.'
    return Claim(Kind.TEXT, text, evidence, confidence=_sure(found.objects or found.anchors))


def _put_there(about: _About, found: FoundObjects) -> list[Occurrence]:
    """Return the deeds by which the robot put what is there, of things that are not seen there."""
    anchors, seen = {one.id for one in found.anchors}, {one.known.id for one in found.objects}
    own = [(name, one) for name, one in about.put.items() if one.facts.receptacle_id in anchors]
    there = [(about.find(name).objects, one) for name, one in own if name not in seen]
    return [one for known, one in there if not known or about.own_deed(known[0].known) is one]


def _own(one: Occurrence) -> str:
    return f'I {one.memory.caption[:1].lower()}{one.memory.caption[1:].rstrip(".")}'


def _is_there(about: _About, found: FoundObjects, known: Sequence[FoundObject], where: str) -> Claim:
    if found.objects:
        there = f'{_listed(found.objects)} {_be(found.objects, about)} {where}'
        text = f'Yes: {there}{_since(found.objects[0], about)}.'
        return Claim(Kind.BINARY, text, _hits(found.objects), binary=True, confidence=_sure(found.objects))
    if not known:
        text = f'No: nothing that I know of {_be((), about)} {where}.'
        return Claim(Kind.BINARY, text, _hits(found.anchors), binary=False, confidence=_sure(found.anchors))
    one = known[0]
    there = 'gone' if one.known.missing_ns is not None else _lies(one) or 'elsewhere'
    text = f'No: {_the(one)} is {there}{_since(one, about)}.'
    return Claim(Kind.BINARY, text, _hits(known[:3]), binary=False, confidence=_sure(known[:1]))


def _where(about: _About, found: Sequence[FoundObject]) -> Claim | None:
    request, question = about.request, about.question
    hits = _hits(found)
    if about.in_time:
        hits = [hit for one in found for hit in _seen_in(one.known, about.scope)]
    elif any(one.known.missing_ns is None for one in found):
        hits = _hits([one for one in found if one.known.missing_ns is None])
    if not hits:
        return None
    choice = Choice.LATEST if request.choice is Choice.CITED_FIRST else request.choice
    decisive = choose(hits, choice, question)
    one = next(one for one in found if one.known.id == decisive.memory.id)
    lies = '' if about.in_time or one.known.missing_ns else _lies(one, ' ')
    others = f', one of {len(hits)}' if len(hits) > 1 else ''
    bearing = '' if one.known.facts.measured else ' in this direction, how far away is not known'
    own = about.own_deed(one.known)
    if own is not None and one.known.memory.end_ns <= own.end_ns:  # nobody has seen it since
        return Claim(Kind.POSITION, _own(own), hits_of([own]), confidence=ONE)
    told = f'{_own(own)}. ' if own is not None else ''
    text = f'{told}{_capital(_the(one))} was {"" if about.in_time else "last "}seen{lies}{others}{bearing}'
    return Claim(Kind.POSITION, text, hits, choice=choice, confidence=_sure([one]))


def _before(about: _About, found: Sequence[FoundObject]) -> Claim:
    moved = [one for one in found if one.known.moves]
    if not moved:
        one = found[0]
        text = f'{_capital(_the(one))} has not been moved, as far as I know'
        return Claim(Kind.POSITION, text, _hits(found[:1]), confidence=_sure(found[:1]))
    one = max(moved, key=lambda one: one.known.moves[-1][1])
    left_ns, came_ns, at, _ = one.known.moves[-1]
    there = replace(one.known.placed_at(at).memory, end_ns=max(left_ns, one.known.memory.start_ns))
    zone = about.question.zone
    text = f'{_capital(_the(one))}, which was moved by {format_clock(came_ns, zone)}, was before'
    return Claim(Kind.POSITION, text, [Hit(there, 1.0)], confidence=_sure([one]))


def _when(about: _About, found: Sequence[FoundObject]) -> Claim | None:
    choice = Choice.EARLIEST if about.request.choice is Choice.EARLIEST else Choice.LATEST
    if kinds := about.objects.changes:
        return _when_changed(about, found, kinds[0])
    hits = [Hit(seen, 1.0) for one in found for seen in seen_in(one.known.memory, about.scope)]
    if not hits:
        return None
    last = choose(hits, choice, about.question)
    one = next(one for one in found if one.known.id == last.memory.id)
    return Claim(Kind.TIME, f'{_capital(_the(one))} was seen', hits, choice=choice, confidence=_sure([one]))


def _when_changed(about: _About, found: Sequence[FoundObject], kind: str) -> Claim | None:
    changes = [change for one in found for change in changes_of(one.known, 0) if change.kind == kind]
    if not changes:
        return _moved(about, found) if kind == 'moved' else _still(about, found)
    last = max(changes, key=lambda change: change.at_ns)
    noticed = replace(
        last.known.memory, end_ns=last.at_ns, start_ns=min(last.known.memory.start_ns, last.at_ns)
    )
    text = f'It was noticed that the {described(last.known)} is {_SAID[kind]}'
    return Claim(Kind.TIME, text, [Hit(noticed, 1.0)], confidence=_sure([last.known]))


def _history(about: _About, found: Sequence[FoundObject]) -> Claim:
    one, zone = found[0], about.question.zone
    told = '; '.join(
        f'{event} {format_clock(at_ns, zone)}' for at_ns, event in events_of(one.known)[-EVENTS:]
    )
    text = f'{_capital(_the(one))}: {told}{_since(one, about)}.'
    return Claim(Kind.TEXT, text, _hits([one]), confidence=_sure([one]))


def _how_many(about: _About, found: Sequence[FoundObject]) -> Claim | None:
    if about.in_time:
        window = about.scope.after_ns, about.scope.before_ns
        found = [one for one in found if one.known.seen_within(*window)]
        if not found:
            return None
    there = [one for one in found if one.known.missing_ns is None]
    gone = f', {len(found) - len(there)} more gone' if len(there) < len(found) else ''
    number = 'one is known' if len(there) == 1 else f'{len(there) or "none"} are known'
    text = f'{about.request.thing}: {number}, each at a place of its own{gone}.'
    if not about.objects.thing:
        text = f'{len(there)} objects are known: {_listed(there)}{gone}.'
    return Claim(Kind.TEXT, text, _hits(there or found), confidence=_sure(found))


def _colour(about: _About, found: Sequence[FoundObject]) -> Claim:
    colours = Counter(one.known.facts.colour or 'of no one colour' for one in found)
    told = ', '.join(f'{number} {colour}' for colour, number in colours.items())
    one = next(iter(colours))
    text = f'{_capital(about.objects.thing)}: {told if len(found) > 1 else one}.'
    return Claim(Kind.TEXT, text, _hits(found), confidence=_sure(found))


def _still(about: _About, found: Sequence[FoundObject]) -> Claim:
    gone = [one for one in found if one.known.missing_ns is not None]
    asked_gone = about.objects.changes == ('missing',)
    one = (gone or found)[0]
    there = not gone
    if gone:
        those = f'{len(gone)} of {len(found)}' if len(found) > 1 else _the(one)
        text = f'{those} {_be(gone, about)} not there any more{_since(one, about)}'
    else:
        text = f'{_the(one)} is {_lies(one) or "there"}, as far as I know{_since(one, about)}'
    yes = not there if asked_gone else there
    text = f'{"Yes" if yes else "No"}: {text}.'
    return Claim(Kind.BINARY, text, _hits(gone or found), binary=yes, confidence=_sure([one]))


def _moved(about: _About, found: Sequence[FoundObject]) -> Claim:
    since_ns = about.scope.after_ns or 0
    moves = [change for one in found for change in changes_of(one.known, since_ns) if change.kind == 'moved']
    if not moves:
        gone = [one for one in found if one.known.missing_ns is not None]
        one = (gone or found)[0]
        text = f'{_the(one)} {"is gone" if gone else "is where it was"}{_since(one, about)}'
        return Claim(Kind.BINARY, f'No: {text}.', _hits([one]), binary=False, confidence=_sure([one]))
    last = max(moves, key=lambda change: change.at_ns)
    one = next(one for one in found if one.known is last.known)
    by = format_clock(last.at_ns, about.question.zone)
    x, y, _ = one.known.position
    text = f'Yes: {_the(one)} was moved by {by}, and is {_lies(one) or f"at ({x:.1f}, {y:.1f})"}.'
    return Claim(Kind.BINARY, text, _hits([one]), binary=True, confidence=_sure([one]))


def _in_view(about: _About, _: Sequence[FoundObject]) -> Claim | None:
    """Say what is in view, or was last; None: captions alone tell of now."""
    now_ns, scope = about.question.now_ns, about.scope
    head, found = in_view(about.recall, now_ns, about.question.here, scope)
    now = replace(scope, after_ns=max(now_ns - IN_VIEW_NS, 0), source=CAPTIONER)
    seen = any(one.known.seen_within(now.after_ns, None) for one in found.objects)
    if not seen and (not found.objects or about.recall.count(now)):
        return None
    return Claim(Kind.TEXT, f'{head}: {_listed(found.objects)}.', _hits(found.objects), confidence=ONE)


def _changes(about: _About) -> Claim | None:
    """Say what appeared, moved, came back and was missed since a time, or the visit before the latest."""
    asked, zone = about.objects, about.question.zone
    everything = [one.known for one in about.find().objects]
    if not everything:
        return None
    since_ns, until_ns = about.scope.after_ns, about.scope.before_ns
    visits = visits_among(everything)
    if since_ns is None and (asked.since_visit or not asked.changes or 'appeared' in asked.changes):
        since_ns = visits[-2][1] if len(visits) > 1 else visits[0][1]
    latest = [changes[-1] for one in everything if (changes := changes_of(one, since_ns or 0, until_ns))]
    found = [change for change in latest if change.kind in (asked.changes or tuple(_SAID))]
    found.sort(key=lambda change: list(_SAID).index(change.kind) if change.kind != 'appeared' else len(_SAID))
    since = f'since {format_clock(since_ns, zone)}' if since_ns else ''
    if not found:
        what = ' or '.join(_SAID[kind] for kind in asked.changes) or 'changed'
        text = f'nothing is known to be {what}'
    else:
        text = '; '.join(
            f'{_SAID[kind]}: {listed(change.known for change in found if change.kind == kind)}'
            for kind in dict.fromkeys(change.kind for change in found)
        )
    evidence = [Hit(change.known.memory, 1.0) for change in found] or _hits(everything[:1])
    return Claim(Kind.TEXT, _capital(f'{since}{", " if since else ""}{text}.'), evidence, confidence=ONE)


_ANSWERS: dict[Asked, Callable[[_About, Sequence[FoundObject]], Claim | None]] = {
    Asked.WHERE: _where,
    Asked.BEFORE: _before,
    Asked.WHEN: _when,
    Asked.HOW_MANY: _how_many,
    Asked.COLOUR: _colour,
    Asked.IN_VIEW: _in_view,
    Asked.STILL: _still,
    Asked.MOVED: _moved,
    Asked.HISTORY: _history,
}


def _hits(found: Iterable[FoundObject | KnownObject]) -> list[Hit]:
    known = (one.known if isinstance(one, FoundObject) else one for one in found)
    return [Hit(one.memory, 1.0) for one in known]


def _seen_in(known: KnownObject, scope: Scope) -> list[Hit]:
    """Return where an object was seen in a time, and when."""
    stays = stays_of(known)
    return [
        Hit(replace(known.placed_at(stay.at).memory, start_ns=seen.start_ns, end_ns=seen.end_ns), 1.0)
        for seen in seen_in(known.memory, scope)
        for stay in [one for one in stays if one.since_ns <= seen.end_ns][-1:]
    ]


def _the(one: FoundObject) -> str:
    return f'the {described(one.known)}'


def _be(found: Sequence[FoundObject], about: _About) -> str:
    forms = ('was', 'were') if about.in_time else ('is', 'are')
    return forms[len(found) > 1]


def _capital(text: str) -> str:
    return f'{text[:1].upper()}{text[1:]}'


def _lies(one: FoundObject, before: str = '') -> str:
    """Return what an object lies on, in or under, else next to; empty: nobody knows."""
    return next((f'{before}{of.words}' for of in one.relations), '')


def _listed(found: Iterable[FoundObject]) -> str:
    return listed(one.known for one in found)


def _since(one: FoundObject, about: _About) -> str:
    """Return what became of an object since it was seen, in words."""
    note = presence_note(one.known.memory, about.question.now_ns, about.question.zone)
    seen = f'seen {ago(one.known.memory.end_ns, about.question.now_ns)}'
    return f', {seen}, {note}' if note else f', {seen}'


def _sure(found: Iterable[FoundObject | KnownObject]) -> float:
    """Return how surely the first of some objects is what it is called."""
    known = next(one.known if isinstance(one, FoundObject) else one for one in found)
    labels, seen = known.facts.labels, known.facts.observations
    agreed = 1.0 if known.facts.named else labels[known.recognised_as] / sum(labels.values())
    return ONE * agreed * seen / (seen + 1)
