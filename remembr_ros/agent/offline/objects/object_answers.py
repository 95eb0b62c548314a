"""What the rules answer about objects: by reference, every place, time and number from what is known."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.agent.model.grounding import Choice, Claim, choose, yes_or_no
from remembr_ros.agent.model.relevance_model import PERHAPS
from remembr_ros.agent.offline.objects.object_answer_text import (
    ONE,
    ObjectAnswer,
    capital,
    confidence_of,
    form_of_be,
    listed_objects,
    object_hits,
    relation_words,
    seen_note,
    sights_in,
    with_the,
)
from remembr_ros.agent.offline.objects.object_request import Asked, parse_object_request
from remembr_ros.agent.offline.request import Request
from remembr_ros.agent.offline.word_classes import classes_of
from remembr_ros.memory.deeds.occurrences import IN_VIEW_NS, hits_of, in_view
from remembr_ros.memory.deeds.query import Occurrence
from remembr_ros.memory.matching.terms import words
from remembr_ros.memory.model.recall import Hit, Scope
from remembr_ros.memory.model.record import CAPTIONER
from remembr_ros.memory.objects.known import seen_in
from remembr_ros.memory.objects.query import FoundObject, FoundObjects, is_meant
from remembr_ros.memory.objects.wording import changes_of, described, events_of, listed, visits_among
from remembr_ros.memory.recall_protocol import Recall
from remembr_ros.timestamps import format_clock

EVENTS = 12  # that are told of an object
_SHADES = classes_of('shade')
_SAID = {'appeared': 'seen for the first time', 'moved': 'moved', 'missing': 'gone', 'returned': 'back'}


def answer_by_objects(request: Request, question: Question, recall: Recall, scope: Scope) -> Claim | None:
    """Return what the objects say to a question; None: it asks for something else, or for what is none."""
    asked = parse_object_request(request)
    if asked is None:
        return None
    about = ObjectAnswer(request, asked, question, recall, scope)
    if asked.asked is Asked.CHANGES:
        return _changes(about)
    if asked.relation:
        claim = _related(about)
    else:
        found = _meant(about, asked.thing)
        claim = _ANSWERS[asked.asked](about, found) if found else None
    others = '' if asked.thing else 'other'  # 'What other things are on the table?'
    return claim and replace(claim, about=f'{asked.thing} {asked.relation} {asked.anchor} {others}')


def _meant(about: ObjectAnswer, name: str) -> tuple[FoundObject, ...]:
    """Return what is called so; else what may be, by its colour in the shade, or if none could be told."""
    if found := about.find(name).objects:
        return found
    colours = [word for word in words(name) if word in _SHADES]
    thing = ' '.join(word for word in words(name) if word not in colours)
    may_be = {'', *(shade for colour in colours for shade in _SHADES[colour])}
    found = about.find(thing).objects if colours and thing else ()
    return tuple(item for item in found if item.known.facts.colour in may_be)


def _related(about: ObjectAnswer) -> Claim | None:
    """Say what lies so to the anchor, or whether, where, when and how many of the asked ones do."""
    asked = about.objects
    known, anchors = (_meant(about, name) if name else () for name in (asked.thing, asked.anchor))
    if not anchors or (asked.thing and not known):
        return None
    called, anchor = (
        name if not matches or is_meant(matches[0].known, name) else matches[0].known.id
        for name, matches in ((asked.thing, known), (asked.anchor, anchors))
    )
    found = about.find(called, relation=asked.relation, anchor=anchor, scope=about.scope)
    place = f'{asked.relation} the {asked.anchor}'
    if asked.asked is Asked.IS:
        return _is_there(about, found, known, place)
    if found.objects and asked.asked in (Asked.WHERE, Asked.WHEN):
        return _ANSWERS[asked.asked](about, found.objects)
    evidence = object_hits(found.objects or found.anchors)
    own = _put_there(about, found) if asked.asked is Asked.RELATED and asked.relation in ('in', 'on') else []
    if own and not about.in_time:
        sentences = [f'{capital(place)}: {listed_objects(found.objects)}'] if found.objects else []
        text = f'{". ".join([*sentences, *map(_own, own)])}.'
        return Claim(Kind.TEXT, text, [*evidence, *hits_of(own)], confidence=ONE)
    if not found.objects:
        thing = f'no {asked.thing}' if asked.thing else 'nothing'
        text = f'{thing[0].upper()}{thing[1:]} that I know of {form_of_be((), about)} {place}.'
    elif asked.asked is Asked.HOW_MANY:
        number = f'{len(found.objects)} that I know of {form_of_be(found.objects, about)}'
        text = f'{number} {place}: {listed_objects(found.objects)}.'
    else:
        text = f'{capital(place)}{" there was" if about.in_time else ""}: {listed_objects(found.objects)}.'
    return Claim(Kind.TEXT, text, evidence, confidence=_sure_of(found, asked.relation))


def _put_there(about: ObjectAnswer, found: FoundObjects) -> list[Occurrence]:
    """Return the deeds by which the robot put what is there, of things that are not seen there."""
    anchors, seen = {deed.id for deed in found.anchors}, {deed.known.id for deed in found.objects}
    own = [(name, deed) for name, deed in about.put.items() if deed.facts.receptacle_id in anchors]
    known_and_deed = [(about.find(name).objects, deed) for name, deed in own if name not in seen]
    return [deed for known, deed in known_and_deed if not known or about.own_deed(known[0].known) is deed]


def _own(deed: Occurrence) -> str:
    return f'I {deed.memory.caption[:1].lower()}{deed.memory.caption[1:].rstrip(".")}'


def _is_there(about: ObjectAnswer, found: FoundObjects, known: Sequence[FoundObject], place: str) -> Claim:
    if found.objects:
        state = f'{listed_objects(found.objects)} {form_of_be(found.objects, about)} {place}'
        text = f'{state}{seen_note(found.objects[0], about)}.'
        return yes_or_no(True, text, object_hits(found.objects), sure=confidence_of(found.objects))
    if not known:
        text = f'nothing that I know of {form_of_be((), about)} {place}.'
        sure = _sure_of(found, about.objects.relation)
        return yes_or_no(False, text, object_hits(found.anchors), sure=sure)
    item = known[0]
    state = 'gone' if item.known.missing_ns is not None else relation_words(item) or 'elsewhere'
    text = f'{with_the(item)} is {state}{seen_note(item, about)}.'
    return yes_or_no(False, text, object_hits(known[:3]), sure=confidence_of(known[:1]))


def _sure_of(found: FoundObjects, relation: str) -> float:
    """Return how surely these lie so, or nothing does: from outside nobody sees what is in a thing."""
    sure = confidence_of(found.objects or found.anchors)
    return min(sure, PERHAPS) if relation == 'in' and not found.objects else sure


def _where(about: ObjectAnswer, found: Sequence[FoundObject]) -> Claim | None:
    request, question = about.request, about.question
    seen = object_hits(found)
    if about.in_time:
        seen = [hit for item in found for hit in sights_in(item.known, about.scope)]
    elif any(item.known.missing_ns is None for item in found):
        seen = object_hits([item for item in found if item.known.missing_ns is None])
    if not seen:
        return None
    choice = Choice.LATEST if request.choice is Choice.CITED_FIRST else request.choice
    decisive = choose(seen, choice, question)
    item = next(item for item in found if item.known.id == decisive.memory.id)
    place = '' if about.in_time or item.known.missing_ns else relation_words(item, ' ')
    others = f', one of {len(seen)}' if len(seen) > 1 else ''
    bearing = '' if item.known.facts.measured else ' in this direction, how far away is not known'
    own = about.own_deed(item.known)
    if own is not None and item.known.memory.end_ns <= own.end_ns:  # nobody has seen it since
        return Claim(Kind.POSITION, _own(own), hits_of([own]), confidence=ONE)
    deed = f'{_own(own)}. ' if own is not None else ''
    text = (
        f'{deed}{capital(with_the(item))} was {"" if about.in_time else "last "}seen{place}{others}{bearing}'
    )
    return Claim(Kind.POSITION, text, seen, choice=choice, confidence=confidence_of([item]))


def _before(about: ObjectAnswer, found: Sequence[FoundObject]) -> Claim:
    moved = [item for item in found if item.known.moves]
    if not moved:
        item = found[0]
        text = f'{capital(with_the(item))} has not been moved, as far as I know'
        return Claim(Kind.POSITION, text, object_hits(found[:1]), confidence=confidence_of(found[:1]))
    item = max(moved, key=lambda item: item.known.moves[-1][1])
    left_ns, came_ns, at, _ = item.known.moves[-1]
    memory = replace(item.known.placed_at(at).memory, end_ns=max(left_ns, item.known.memory.start_ns))
    zone = about.question.zone
    text = f'{capital(with_the(item))}, which was moved by {format_clock(came_ns, zone)}, was before'
    return Claim(Kind.POSITION, text, [Hit(memory, 1.0)], confidence=confidence_of([item]))


def _when(about: ObjectAnswer, found: Sequence[FoundObject]) -> Claim | None:
    choice = Choice.EARLIEST if about.request.choice is Choice.EARLIEST else Choice.LATEST
    if kinds := about.objects.changes:
        return _when_changed(about, found, kinds[0])
    sights = [Hit(seen, 1.0) for item in found for seen in seen_in(item.known.memory, about.scope)]
    if not sights:
        return None
    last = choose(sights, choice, about.question)
    item = next(item for item in found if item.known.id == last.memory.id)
    text = f'{capital(with_the(item))} was seen'
    return Claim(Kind.TIME, text, sights, choice=choice, confidence=confidence_of([item]))


def _when_changed(about: ObjectAnswer, found: Sequence[FoundObject], kind: str) -> Claim | None:
    changes = [change for item in found for change in changes_of(item.known, 0) if change.kind == kind]
    if not changes:
        return _moved(about, found) if kind == 'moved' else _still(about, found)
    last = max(changes, key=lambda change: change.at_ns)
    noticed = replace(
        last.known.memory, end_ns=last.at_ns, start_ns=min(last.known.memory.start_ns, last.at_ns)
    )
    text = f'It was noticed that the {described(last.known)} is {_SAID[kind]}'
    return Claim(Kind.TIME, text, [Hit(noticed, 1.0)], confidence=confidence_of([last.known]))


def _history(about: ObjectAnswer, found: Sequence[FoundObject]) -> Claim:
    item, zone = found[0], about.question.zone
    events = '; '.join(
        f'{event} {format_clock(at_ns, zone)}' for at_ns, event in events_of(item.known)[-EVENTS:]
    )
    text = f'{capital(with_the(item))}: {events}{seen_note(item, about)}.'
    return Claim(Kind.TEXT, text, object_hits([item]), confidence=confidence_of([item]))


def _how_many(about: ObjectAnswer, found: Sequence[FoundObject]) -> Claim | None:
    if about.in_time:
        window = about.scope.after_ns, about.scope.before_ns
        found = [item for item in found if item.known.seen_within(*window)]
        if not found:
            return None
    present = [item for item in found if item.known.missing_ns is None]
    gone = f', {len(found) - len(present)} more gone' if len(present) < len(found) else ''
    number = 'one is known' if len(present) == 1 else f'{len(present) or "none"} are known'
    text = f'{about.request.thing}: {number}, each at a place of its own{gone}.'
    if not about.objects.thing:
        text = f'{len(present)} objects are known: {listed_objects(present)}{gone}.'
    return Claim(Kind.TEXT, text, object_hits(present or found), confidence=confidence_of(found))


def _colour(about: ObjectAnswer, found: Sequence[FoundObject]) -> Claim:
    colours = Counter(item.known.facts.colour or 'of no one colour' for item in found)
    numbers = ', '.join(f'{number} {colour}' for colour, number in colours.items())
    item = next(iter(colours))
    text = f'{capital(about.objects.thing)}: {numbers if len(found) > 1 else item}.'
    return Claim(Kind.TEXT, text, object_hits(found), confidence=confidence_of(found))


def _still(about: ObjectAnswer, found: Sequence[FoundObject]) -> Claim:
    gone = [item for item in found if item.known.missing_ns is not None]
    asked_gone = about.objects.changes == ('missing',)
    item = (gone or found)[0]
    if gone:
        count = f'{len(gone)} of {len(found)}' if len(found) > 1 else with_the(item)
        text = f'{count} {form_of_be(gone, about)} not there any more{seen_note(item, about)}'
    else:
        place = relation_words(item) or 'there'
        text = f'{with_the(item)} is {place}, as far as I know{seen_note(item, about)}'
    yes = bool(gone) is asked_gone
    return yes_or_no(yes, f'{text}.', object_hits(gone or found), sure=confidence_of([item]))


def _moved(about: ObjectAnswer, found: Sequence[FoundObject]) -> Claim:
    since_ns = about.scope.after_ns or 0
    moves = [
        change for item in found for change in changes_of(item.known, since_ns) if change.kind == 'moved'
    ]
    if not moves:
        gone = [item for item in found if item.known.missing_ns is not None]
        item = (gone or found)[0]
        text = f'{with_the(item)} {"is gone" if gone else "is where it was"}{seen_note(item, about)}'
        return yes_or_no(False, f'{text}.', object_hits([item]), sure=confidence_of([item]))
    last = max(moves, key=lambda change: change.at_ns)
    item = next(item for item in found if item.known is last.known)
    by = format_clock(last.at_ns, about.question.zone)
    x, y, _ = item.known.position
    text = f'{with_the(item)} was moved by {by}, and is {relation_words(item) or f"at ({x:.1f}, {y:.1f})"}.'
    return yes_or_no(True, text, object_hits([item]), sure=confidence_of([item]))


def _in_view(about: ObjectAnswer, _: Sequence[FoundObject]) -> Claim | None:
    """Say what is in view, or was last; None: captions alone tell of now."""
    now_ns, scope = about.question.now_ns, about.scope
    head, found = in_view(about.recall, now_ns, about.question.here, scope)
    now = replace(scope, after_ns=max(now_ns - IN_VIEW_NS, 0), source=CAPTIONER)
    seen = any(item.known.seen_within(now.after_ns, None) for item in found.objects)
    if not seen and (not found.objects or about.recall.count(now)):
        return None
    text = f'{head}: {listed_objects(found.objects)}.'
    return Claim(Kind.TEXT, text, object_hits(found.objects), confidence=ONE)


def _changes(about: ObjectAnswer) -> Claim | None:
    """Say what appeared, moved, came back and was missed since a time, or the visit before the latest."""
    asked, zone = about.objects, about.question.zone
    everything = [known.known for known in about.find().objects]
    if not everything:
        return None
    since_ns, until_ns = about.scope.after_ns, about.scope.before_ns
    visits = visits_among(everything)
    if since_ns is None and (asked.since_visit or not asked.changes or 'appeared' in asked.changes):
        since_ns = visits[-2][1] if len(visits) > 1 else visits[0][1]
    latest = [changes[-1] for known in everything if (changes := changes_of(known, since_ns or 0, until_ns))]
    found = [change for change in latest if change.kind in (asked.changes or tuple(_SAID))]
    found.sort(key=lambda change: list(_SAID).index(change.kind) if change.kind != 'appeared' else len(_SAID))
    since = f'since {format_clock(since_ns, zone)}' if since_ns else ''
    if not found:
        kinds = ' or '.join(_SAID[kind] for kind in asked.changes) or 'changed'
        text = f'nothing is known to be {kinds}'
    else:
        text = '; '.join(
            f'{_SAID[kind]}: {listed(change.known for change in found if change.kind == kind)}'
            for kind in dict.fromkeys(change.kind for change in found)
        )
    evidence = [Hit(change.known.memory, 1.0) for change in found] or object_hits(everything[:1])
    return Claim(Kind.TEXT, capital(f'{since}{", " if since else ""}{text}.'), evidence, confidence=ONE)


_ANSWERS: dict[Asked, Callable[[ObjectAnswer, Sequence[FoundObject]], Claim | None]] = {
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
