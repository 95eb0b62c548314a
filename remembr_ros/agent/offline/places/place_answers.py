"""What the rules answer about named places: who was where for how long is measured, and never guessed."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.agent.model.grounding import Choice, Claim, yes_or_no
from remembr_ros.agent.offline.answer_sentences import what_is_there
from remembr_ros.agent.offline.places.place_request import PlaceAsked, PlaceRequest, parse_places
from remembr_ros.agent.offline.request import Request
from remembr_ros.geometry import distance
from remembr_ros.memory.deeds.occurrences import OccurrenceSource
from remembr_ros.memory.model.recall import Hit, Query, Scope
from remembr_ros.memory.objects.query import ObjectQuery
from remembr_ros.memory.objects.wording import listed
from remembr_ros.memory.places.place import NamedPlace
from remembr_ros.memory.places.places import Places, PlaceVisit, described, times_said, visits
from remembr_ros.memory.recall_protocol import Recall, every
from remembr_ros.timestamps import NS, format_clock, format_duration

SURE = 0.9  # what is measured holds; whether the question was understood, the rules do not know
SHOWN = 20  # memories and things that an answer names

_LEAVING = r'leave|left|exit|exited|out|last|(?:ago|since)(?: you| we| i| the robot)? (?:were|was)'


@dataclass(frozen=True, slots=True)
class _About:
    """What an answer is about.

    :param places: on the map that counts
    :param scope: the times, robots and maps that count
    :param visits: in that time, in its order; only those to a place that is named
    """

    asked: PlaceRequest
    request: Request
    places: Places
    question: Question
    recall: Recall
    scope: Scope
    visits: Sequence[PlaceVisit]


def answer_by_places(request: Request, question: Question, recall: Recall, scope: Scope) -> Claim | None:
    """Return what named places tell of a question; None: it is about something else.

    :param scope: the time, the robots and the map that the question is about
    """
    places = question.places
    if scope.map_id is not None:
        places = Places(place.memory for place in places.all if place.memory.map_id == scope.map_id)
    if not places:
        return None
    asked = parse_places(request, places.all)
    if asked is None or (request.here and asked.asked not in (PlaceAsked.HERE, PlaceAsked.WHERE)):
        return None
    found, whole = list[PlaceVisit](), True
    if asked.asked in _OF_VISITS:
        memories, whole = every(recall, scope)
        named = asked.places
        made = visits(memories, places.without_parts_of(named))
        inside = (visit.within(scope.after_ns, scope.before_ns) for visit in made)
        others = not named or asked.asked in _OF_OTHERS
        found = [visit for visit in inside if visit is not None and (others or visit.place in named)]
    about = _About(asked, request, places, question, recall, scope, found)
    never = asked.asked in _OF_VISITS - _OF_OTHERS and not found
    if never and _did_anything_at(asked.places or places.all, recall, scope):
        return None
    claim = _never(about) if never else _ANSWERS[asked.asked](about)
    note = '' if whole else 'Of the latest that I remember: '
    names = ' '.join(name for place in asked.places for name in place.names)
    return claim and replace(claim, text=f'{note}{claim.text}', about=names, confidence=SURE)


def _did_anything_at(places: Sequence[NamedPlace], recall: Recall, scope: Scope) -> bool:
    names = {name.casefold() for place in places for name in place.names}
    return any(deed.facts.place.casefold() in names for deed in OccurrenceSource(recall).deeds(scope))


def _here(about: _About) -> Claim:
    question, places = about.question, about.places
    newest = about.recall.find(Query(scope=about.scope, limit=1))
    if not newest:
        return _never(about)
    known = question.here is not None
    found = places.of_pose(question.map_id, question.here) if known else places.of(newest[0].memory)
    text = (
        f'I {"am" if known else "was last"} in {"no place that has a name" if found is None else found.said}.'
    )
    shown = newest if found is None else [_hit(found)]
    if not about.asked.places:
        return Claim(Kind.TEXT, text, shown)
    return yes_or_no(found is not None and places.is_part(found, about.asked.places[0]), text, shown)


def _known(about: _About) -> Claim:
    known = sorted(about.places.all, key=lambda place: place.name)
    number = 'One place has a name' if len(known) == 1 else f'{len(known)} places have names'
    return Claim(Kind.TEXT, f'{number}: {described(known)}.', list(map(_hit, known)))


def _visited(about: _About) -> Claim:
    found = about.visits
    if (at_ns := about.request.window.at_ns) is not None:
        found = [min(found, key=lambda visit: max(visit.start_ns - at_ns, at_ns - visit.end_ns))]
    if about.asked.says('first|last'):
        visit = found[0] if about.asked.says('first') else found[-1]
        return Claim(Kind.TEXT, f'That was {visit.place.said}, {_when(visit, about)}.', [_of(visit)])
    first_visit = {visit.place: visit for visit in reversed(found)}
    places = list(dict.fromkeys(visit.place for visit in found))
    return Claim(
        Kind.TEXT, f'I was in {_counted(places, about)}.', [_of(first_visit[place]) for place in places]
    )


def _unvisited(about: _About) -> Claim:
    found = about.visits
    if not about.recall.count(about.scope):
        return _never(about)
    seen = [visit.place for visit in found]
    left = [
        place for place in about.places.all if not any(about.places.is_part(other, place) for other in seen)
    ]
    if not left:
        return Claim(Kind.TEXT, 'I was in every place that has a name.', list(map(_of, found))[:SHOWN])
    left.sort(key=lambda place: place.name)
    return Claim(Kind.TEXT, f'I was not in {_counted(left, about)}.', list(map(_hit, left)))


def _next(about: _About) -> Claim | None:
    [place] = about.asked.places
    after = about.asked.says('after')
    of_it = [visit for visit in about.visits if visit.place == place]
    if not of_it:
        return None  # it may have been seen, from elsewhere
    here = of_it[0 if about.asked.says('first') else -1]
    found = [visit for visit in about.visits if visit.robot == here.robot]
    if after:
        found = [visit for visit in found if visit.end_ns > here.end_ns]
    else:
        found = sorted(
            (visit for visit in found if visit.start_ns < here.start_ns), key=lambda visit: -visit.end_ns
        )
    when = f'{"after" if after else "before"} {place.said}'
    if not found:
        return Claim(Kind.NOT_SEEN, f'I remember no place {when}.')
    shown = found if about.asked.says('rooms|places|areas') else found[:1]
    names = described(list(dict.fromkeys(visit.place for visit in shown)))
    return Claim(Kind.TEXT, f'I was in {names} {when}.', list(map(_of, shown))[:SHOWN])


def _most(about: _About) -> Claim:
    often = about.asked.says('often|frequently|visit|visited|times')
    totals: dict[NamedPlace, list[PlaceVisit]] = {}
    for visit in about.visits:
        totals.setdefault(visit.place, []).append(visit)
    ordered = sorted(
        totals.values(),
        key=lambda stays: (len(stays), _spent(stays)) if often else (_spent(stays), len(stays)),
        reverse=True,
    )
    if about.asked.says('shortest|least|briefest'):
        ordered.reverse()
    texts = [f'{stays[0].place.said} ({_total(stays)})' for stays in ordered]
    if about.asked.says('each|every'):
        return Claim(Kind.TEXT, f'I was in {", ".join(texts)}.', [_of(stays[0]) for stays in ordered])
    others = f'; then {" and ".join(texts[1:3])}' if texts[1:] else ''
    return Claim(Kind.TEXT, f'That was {texts[0]}{others}.', list(map(_of, ordered[0]))[:SHOWN])


def _how_long(about: _About) -> Claim:
    found, [place] = about.visits, about.asked.places
    text = f'I was in {place.said} {times_said(found)}, in all'
    hits, end = list(map(_of, found)), Hit(found[-1].memories[-1], 1.0)
    return Claim(Kind.DURATION, text, hits, start=hits[0], end=end, duration_s=_spent(found) / NS)


def _how_often(about: _About) -> Claim:
    found, [place] = about.visits, about.asked.places
    return Claim(Kind.TEXT, f'I was in {place.said} {times_said(found)}.', list(map(_of, found))[:SHOWN])


def _when(visit: PlaceVisit, about: _About) -> str:
    start, end = (format_clock(ns, about.question.zone) for ns in (visit.start_ns, visit.end_ns))
    until = end.split(' ')[1] if end[:10] == start[:10] else end
    return f'from {start.rsplit(" ", 1)[0]} to {until}'


def _when_there(about: _About) -> Claim:
    found, [place] = about.visits, about.asked.places
    visit = found[0] if about.asked.says('first') else found[-1]
    ends = about.asked.says(_LEAVING) and not about.asked.says('first')
    shown = Hit(visit.memories[-1] if ends else visit.memories[0], 1.0)
    choice = Choice.CITED_FIRST if ends else Choice.EARLIEST
    return Claim(Kind.TIME, f'I was in {place.said} {_when(visit, about)}', [shown], choice=choice)


def _whether(about: _About) -> Claim:
    found, [place] = about.visits, about.asked.places
    text = f'I was in {place.said} {times_said(found)}, last {_when(found[-1], about)}.'
    return yes_or_no(True, text, [_of(found[-1])])


def _contents(about: _About) -> Claim:
    [place] = about.asked.places
    inside = replace(about.scope, place=place.name, map_id=place.memory.map_id)
    things = about.recall.find_objects(ObjectQuery(scope=inside, missing=False, limit=SHOWN))
    if things.objects:
        names = listed(thing.known for thing in things.objects)
        hits = [Hit(thing.known.memory, 1.0) for thing in things.objects]
        return Claim(Kind.TEXT, f'In {place.said}: {names}.', hits)
    hits = about.recall.find(Query(scope=inside, limit=SHOWN))
    if not hits:
        return Claim(Kind.NOT_SEEN, f'I remember nothing of {place.said}.')
    return Claim(Kind.TEXT, what_is_there(hits, f'in {place.said}'), hits)


def _where(about: _About) -> Claim:
    [place] = about.asked.places
    return Claim(Kind.POSITION, f'{place.said[0].upper()}{place.said[1:]} is', [_hit(place)])


def _between(about: _About) -> Claim:
    first, second = about.asked.places[:2]
    if about.asked.says('how far|distance|metres|meters'):
        if first.memory.map_id != second.memory.map_id:
            return Claim(Kind.NOT_SEEN, f'On different maps are {described([first, second])}.')
        metres = distance(first.pose.position, second.pose.position)
        way = f'{first.said} to that of {second.said}'
        text = f'From the middle of {way} it is {metres:.1f} m in a straight line.'
        return Claim(Kind.TEXT, text, [_hit(first), _hit(second)])
    passages = list(_passages(about.visits, first, second))
    if not passages and not about.asked.says('from'):
        passages = list(_passages(about.visits, second, first))
    if not passages:
        return Claim(Kind.NOT_SEEN, f'I do not remember going from {first.said} to {second.said}.')
    left, between, came = max(passages, key=lambda passage: passage[2].start_ns)
    ends = Hit(left.memories[-1], 1.0), Hit(came.memories[0], 1.0)
    way = f'from {left.place.said} to {came.place.said}'
    if about.request.kind is Kind.DURATION:
        seconds = max(came.start_ns - left.end_ns, 0) / NS
        return Claim(Kind.DURATION, f'Going {way} took', ends, start=ends[0], end=ends[1], duration_s=seconds)
    if about.asked.says('rooms?|places?'):
        names = described(list(dict.fromkeys(visit.place for visit in between)))
        return Claim(
            Kind.TEXT, f'Going {way} I came through {names or "no other place"}.', [*ends, *map(_of, between)]
        )
    scope = about.scope.within(left.end_ns, came.start_ns)
    hits = about.recall.find(Query(scope=scope, limit=SHOWN)) if scope else []
    return Claim(Kind.TEXT, what_is_there(hits or ends, f'on the way {way}'), hits or ends)


def _passages(
    found: Sequence[PlaceVisit], start: NamedPlace, goal: NamedPlace
) -> Iterable[tuple[PlaceVisit, list[PlaceVisit], PlaceVisit]]:
    """Yield how a robot went from a place to another one: the visits to both, and those between."""
    for robot in dict.fromkeys(visit.robot for visit in found):
        between: list[PlaceVisit] = []
        left: PlaceVisit | None = None
        for visit in (visit for visit in found if visit.robot == robot):
            if visit.place == start:
                left, between = visit, []
            elif visit.place == goal and left is not None:
                yield left, between, visit
                left, between = None, []
            else:
                between.append(visit)


def _never(about: _About) -> Claim:
    places = about.asked.places
    if not about.recall.count(about.scope):
        return Claim(Kind.NOT_SEEN, 'I remember nothing of that time.')
    if not places:
        return Claim(Kind.NOT_SEEN, 'I was in no place that has a name.')
    text, shown = f'I was not in {described(places)}.', list(map(_hit, places))
    if about.asked.asked is PlaceAsked.WHETHER:
        return yes_or_no(False, text, shown)
    return Claim(Kind.TEXT, text, shown)


def _counted(places: Sequence[NamedPlace], about: _About) -> str:
    return f'{len(places)} places: {described(places)}' if about.asked.says('how many') else described(places)


def _hit(place: NamedPlace) -> Hit:
    return Hit(place.memory, 1.0)


def _of(visit: PlaceVisit) -> Hit:
    """Return a memory of a visit, from its middle."""
    return Hit(visit.memories[len(visit.memories) // 2], 1.0)


def _spent(visits: Sequence[PlaceVisit]) -> int:
    return sum(visit.spent_ns for visit in visits)


def _total(visits: Sequence[PlaceVisit]) -> str:
    return f'{format_duration(_spent(visits) / NS)}, {times_said(visits)}'


_ANSWERS: dict[PlaceAsked, Callable[[_About], Claim | None]] = {
    PlaceAsked.HERE: _here,
    PlaceAsked.KNOWN: _known,
    PlaceAsked.UNVISITED: _unvisited,
    PlaceAsked.VISITED: _visited,
    PlaceAsked.MOST: _most,
    PlaceAsked.HOW_LONG: _how_long,
    PlaceAsked.HOW_OFTEN: _how_often,
    PlaceAsked.WHEN: _when_there,
    PlaceAsked.WHETHER: _whether,
    PlaceAsked.CONTENTS: _contents,
    PlaceAsked.WHERE: _where,
    PlaceAsked.BETWEEN: _between,
    PlaceAsked.NEXT: _next,
}
_OF_OTHERS = {PlaceAsked.UNVISITED, PlaceAsked.BETWEEN, PlaceAsked.NEXT}  # than the named ones, too
_OF_VISITS = set(PlaceAsked) - {PlaceAsked.HERE, PlaceAsked.KNOWN, PlaceAsked.CONTENTS, PlaceAsked.WHERE}
