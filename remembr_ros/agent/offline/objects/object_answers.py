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
from remembr_ros.memory.objects.query import FoundObject, FoundObjects, is_meant
from remembr_ros.memory.objects.wording import changes_of, events_of, listed, visits_among
from remembr_ros.memory.recall_protocol import Recall
from remembr_ros.timestamps import format_clock

EVENTS = 12  # that are told of an object
_SHADES = classes_of('shade')
_SAID = {'moved': 'moved', 'missing': 'gone', 'returned': 'back', 'appeared': 'seen for the first time'}


def answer_by_objects(request: Request, question: Question, recall: Recall, scope: Scope) -> Claim | None:
    """Return what the objects say to a question; None: it asks for something else, or for what is none."""
    asked = parse_object_request(request)
    if asked is None:
        return None
    about = ObjectAnswer(request, asked, question, recall, scope)
    if asked.relation:
        claim = _related(about)
    else:
        found = _meant(about, asked.thing)
        claim = _ANSWERS[asked.asked](about, found) if found else None
    others = '' if asked.thing else 'other'  # 'What other things are on the table?'
    others += ' while there' if asked.asked is Asked.CHANGES else ''
    named = f'{asked.thing} {asked.relation} {asked.anchor} {others}'
    if claim is not None and asked.asked is not Asked.HOW_MANY:  # 'chairs: 3 are known', as of sights
        claim = replace(claim, text=capital(claim.text))
    return claim and replace(claim, about=named)


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
    near = about.find(called, relation=asked.relation, anchor=anchor, scope=about.scope)
    found = near.objects
    if found and asked.asked in (Asked.WHERE, Asked.WHEN):
        return _ANSWERS[asked.asked](about, found)
    place, things = f'{asked.relation} the {asked.anchor}', listed(item.known for item in found)
    be, cited = form_of_be(found, about), found or anchors
    sure = confidence_of(cited[0])
    if asked.asked is Asked.IS and known and not found:
        item, cited = known[0], known[:3]
        state = 'gone' if item.known.missing_ns is not None else relation_words(item, 'elsewhere')
        text, sure = f'{with_the(item)} is {state}{seen_note(item, about)}.', confidence_of(item)
        if asked.relation == 'under':  # what lies on it hides it
            sure = min(sure, PERHAPS)
    elif not found:
        text = f'{f"no {asked.thing}" if asked.thing else "nothing"} that I know of {be} {place}.'
        if asked.relation == 'in':  # from outside nobody sees what is in it
            sure = min(sure, PERHAPS)
    elif asked.asked is Asked.IS:
        text = f'{things} {be} {place}{seen_note(found[0], about)}.'
    elif asked.asked is Asked.HOW_MANY:
        text = f'{len(found)} that I know of {be} {place}: {things}.'
    else:
        text = f'{place}{" there was" if about.in_time else ""}: {things}.'
    if asked.asked is Asked.IS:
        return yes_or_no(bool(found), text, object_hits(cited), sure=sure)
    own = _put_there(about, near) if asked.asked is Asked.RELATED and asked.relation in ('in', 'on') else []
    if own and not about.in_time:
        text = ' '.join([capital(text)] * bool(found) + [f'{_own(deed)}.' for deed in own])
        return Claim(Kind.TEXT, text, [*object_hits(cited), *hits_of(own)], confidence=ONE)
    return Claim(Kind.TEXT, text, object_hits(cited), confidence=sure)


def _put_there(about: ObjectAnswer, found: FoundObjects) -> list[Occurrence]:
    """Return the deeds by which the robot put what is there, of things that are not seen there."""
    anchors, seen = {deed.id for deed in found.anchors}, {deed.known.id for deed in found.objects}
    own = [(name, deed) for name, deed in about.put.items() if deed.facts.receptacle_id in anchors]
    known_and_deed = [(about.find(name).objects, deed) for name, deed in own if name not in seen]
    return [deed for known, deed in known_and_deed if not known or about.own_deed(known[0].known) is deed]


def _own(deed: Occurrence) -> str:
    return f'I {deed.memory.caption[:1].lower()}{deed.memory.caption[1:].rstrip(".")}'


def _seen(about: ObjectAnswer, found: Sequence[FoundObject]) -> Claim | None:
    """Say where or when things were seen, else when something became of them."""
    when, choice = about.objects.asked is Asked.WHEN, about.request.choice
    if when and about.objects.changes:
        return _became(about, found)
    if choice is Choice.CITED_FIRST or (when and choice is not Choice.EARLIEST):
        choice = Choice.LATEST
    seen = object_hits([item for item in found if item.known.missing_ns is None] or found)
    if when or about.in_time:
        seen = [hit for item in found for hit in sights_in(item.known, about.scope)]
    if not seen:
        return None
    decisive = choose(seen, choice, about.question)
    item = next(item for item in found if item.known.id == decisive.memory.id)
    if when:
        text = f'{with_the(item)} was seen'
        return Claim(Kind.TIME, text, seen, choice=choice, confidence=confidence_of(item))
    place = '' if about.in_time or item.known.missing_ns else relation_words(item, '')
    others = f', one of {len(seen)}' if len(seen) > 1 else ''
    bearing = '' if item.known.facts.measured else ' in this direction, how far away is not known'
    own = about.own_deed(item.known)
    if own is not None and item.known.memory.end_ns <= own.end_ns:  # nobody has seen it since
        return Claim(Kind.POSITION, _own(own), hits_of([own]), confidence=ONE)
    deed = f'{_own(own)}. ' if own is not None else ''
    last = '' if about.in_time else 'last '
    text = f'{deed}{capital(with_the(item))} was {last}seen{place and f" {place}"}{others}{bearing}'
    return Claim(Kind.POSITION, text, seen, choice=choice, confidence=confidence_of(item))


def _before(about: ObjectAnswer, found: Sequence[FoundObject]) -> Claim:
    item = max(found, key=lambda item: [came_ns for _, came_ns, _, _ in item.known.moves[-1:]])
    known, sure = item.known, confidence_of(item)
    if not known.moves:
        text = f'{with_the(item)} has not been moved, as far as I know'
        return Claim(Kind.POSITION, text, object_hits([item]), confidence=sure)
    left_ns, came_ns, at, _ = known.moves[-1]
    memory = replace(known.placed_at(at).memory, end_ns=max(left_ns, known.memory.start_ns))
    text = f'{with_the(item)}, which was moved by {format_clock(came_ns, about.question.zone)}, was before'
    return Claim(Kind.POSITION, text, [Hit(memory, 1.0)], confidence=sure)


def _history(about: ObjectAnswer, found: Sequence[FoundObject]) -> Claim:
    item, zone = found[0], about.question.zone
    events = [f'{event} {format_clock(at_ns, zone)}' for at_ns, event in events_of(item.known)[-EVENTS:]]
    text = f'{with_the(item)}: {"; ".join(events)}{seen_note(item, about)}.'
    return Claim(Kind.TEXT, text, object_hits([item]), confidence=confidence_of(item))


def _how_many(about: ObjectAnswer, found: Sequence[FoundObject]) -> Claim | None:
    found = [item for item in found if item.known.seen_within(about.scope.after_ns, about.scope.before_ns)]
    if not found:
        return None
    present = [item for item in found if item.known.missing_ns is None]
    gone = f', {len(found) - len(present)} more gone' if len(present) < len(found) else ''
    number = 'one is known' if len(present) == 1 else f'{len(present) or "none"} are known'
    text = f'{about.request.thing}: {number}, each at a place of its own{gone}.'
    if not about.objects.thing:
        text = f'{len(present)} objects are known: {listed(item.known for item in present)}{gone}.'
    return Claim(Kind.TEXT, text, object_hits(present or found), confidence=confidence_of(found[0]))


def _colour(about: ObjectAnswer, found: Sequence[FoundObject]) -> Claim:
    colours = Counter(item.known.facts.colour or 'of no one colour' for item in found)
    told = [f'{number} {colour}' if len(found) > 1 else colour for colour, number in colours.items()]
    text = f'{about.objects.thing}: {", ".join(told)}.'
    return Claim(Kind.TEXT, text, object_hits(found), confidence=confidence_of(found[0]))


def _became(about: ObjectAnswer, found: Sequence[FoundObject]) -> Claim:
    """Say whether things are still there, gone or moved, or when that was noticed."""
    asked, since_ns = about.objects, about.scope.after_ns or 0
    changes = [(change, item) for item in found for change in changes_of(item.known, since_ns)]
    of_kind = [(change, item) for change, item in changes if change.kind in asked.changes]
    if of_kind:
        last, item = max(of_kind, key=lambda pair: pair[0].at_ns)
        memory, at_ns, sure = item.known.memory, last.at_ns, confidence_of(item)
        if asked.asked is Asked.WHEN:
            noticed = replace(memory, end_ns=at_ns, start_ns=min(memory.start_ns, at_ns))
            text = f'it was noticed that {with_the(item)} is {_SAID[last.kind]}'
            return Claim(Kind.TIME, text, [Hit(noticed, 1.0)], confidence=sure)
        if last.kind == 'moved':
            x, y, _ = item.known.position
            by, at = format_clock(at_ns, about.question.zone), relation_words(item, f'at ({x:.1f}, {y:.1f})')
            text = f'{with_the(item)} was moved by {by}, and is {at}.'
            return yes_or_no(True, text, object_hits([item]), sure=sure)
    gone = [item for item in found if item.known.missing_ns is not None]
    item = (gone or found)[0]
    if gone:
        count = f'{len(gone)} of {len(found)}' if len(found) > 1 else with_the(item)
        state = f'{count} {form_of_be(gone, about)} not there any more'
    elif 'moved' in asked.changes:
        state = f'{with_the(item)} is where it was'
    else:
        state = f'{with_the(item)} is {relation_words(item, "there")}, as far as I know'
    yes = bool(gone) if 'missing' in asked.changes else not gone and not asked.changes
    text = f'{state}{seen_note(item, about)}.'
    return yes_or_no(yes, text, object_hits(gone or found), sure=confidence_of(item))


def _in_view(about: ObjectAnswer, _: Sequence[FoundObject]) -> Claim | None:
    """Say what is in view, or was last; None: captions alone tell of now."""
    now_ns, scope = about.question.now_ns, about.scope
    head, found = in_view(about.recall, now_ns, about.question.here, scope)
    now = replace(scope, after_ns=max(now_ns - IN_VIEW_NS, 0), source=CAPTIONER)
    seen = any(item.known.seen_within(now.after_ns, None) for item in found.objects)
    if not seen and (not found.objects or about.recall.count(now)):
        return None
    text = f'{head}: {listed(item.known for item in found.objects)}.'
    return Claim(Kind.TEXT, text, object_hits(found.objects), confidence=ONE)


def _changes(about: ObjectAnswer, everything: Sequence[FoundObject]) -> Claim:
    """Say what appeared, moved, came back and was missed since a time, or the visit before the latest."""
    asked = about.objects
    since_ns, until_ns = about.scope.after_ns, about.scope.before_ns
    if since_ns is None and (asked.since_visit or not asked.changes or 'appeared' in asked.changes):
        visits = visits_among(item.known for item in everything)
        since_ns = visits[-2][1] if len(visits) > 1 else visits[0][1]
    changes = [(item, changes_of(item.known, since_ns or 0, until_ns)) for item in everything]
    latest = [(item, made[-1].kind) for item, made in changes if made]
    told = {kind: [item for item, last in latest if last == kind] for kind in asked.changes or _SAID}
    found = [item for changed in told.values() for item in changed]
    text = '; '.join(
        f'{_SAID[kind]}: {listed(item.known for item in of_kind)}'
        for kind, of_kind in told.items()
        if of_kind
    )
    if not found:
        text = f'nothing is known to be {" or ".join(_SAID[kind] for kind in asked.changes) or "changed"}'
    since = f'since {format_clock(since_ns, about.question.zone)}, ' if since_ns else ''
    return Claim(Kind.TEXT, f'{since}{text}.', object_hits(found or everything[:1]), confidence=ONE)


_ANSWERS: dict[Asked, Callable[[ObjectAnswer, Sequence[FoundObject]], Claim | None]] = {
    Asked.WHERE: _seen,
    Asked.BEFORE: _before,
    Asked.WHEN: _seen,
    Asked.HOW_MANY: _how_many,
    Asked.COLOUR: _colour,
    Asked.IN_VIEW: _in_view,
    Asked.STILL: _became,
    Asked.MOVED: _became,
    Asked.CHANGES: _changes,
    Asked.HISTORY: _history,
}
