"""What the rules answer about named places: who was where for how long is measured, and never guessed."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.agent.model.grounding import Choice, Claim, shown, yes_or_no
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
    :param all_visits: in that time, in its order; of what asks for none, there are none
    """

    asked: PlaceRequest
    request: Request
    places: Places
    question: Question
    recall: Recall
    scope: Scope
    all_visits: Sequence[PlaceVisit]

    @property
    def visits(self) -> list[PlaceVisit]:
        """Those to a place that is named, if one is."""
        named = self.asked.places
        return [visit for visit in self.all_visits if not named or visit.place in named]


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
    made, whole = list[PlaceVisit](), True
    if asked.asked not in _OF_NO_VISIT:
        memories, whole = every(recall, scope)
        inside = (
            visit.within(scope.after_ns, scope.before_ns)
            for visit in visits(memories, places.without_parts_of(asked.places))
        )
        made = list(filter(None, inside))
    about = _About(asked, request, places, question, recall, scope, made)
    never = asked.asked in _NEVER and not about.visits
    unseen = not about.visits and asked.asked in _NEVER | {PlaceAsked.UNVISITED}
    if unseen and _did_anything_at(asked.places or places.all, recall, scope):
        return None  # deeds tell more
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
    name = 'no place that has a name' if found is None else found.said
    text = f'I {"am" if known else "was last"} in {name}.'
    hits = newest if found is None else shown([found.memory])
    if not about.asked.places:
        return Claim(Kind.TEXT, text, hits)
    return yes_or_no(found is not None and places.is_part(found, about.asked.places[0]), text, hits)


def _known(about: _About) -> Claim:
    known = sorted(about.places.all, key=lambda place: place.name)
    number = 'One place has a name' if len(known) == 1 else f'{len(known)} places have names'
    return Claim(Kind.TEXT, f'{number}: {described(known)}.', shown(place.memory for place in known))


def _visited(about: _About) -> Claim:
    found = about.visits
    if (at_ns := about.request.window.at_ns) is not None:
        found = [min(found, key=lambda visit: max(visit.start_ns - at_ns, at_ns - visit.end_ns))]
    if about.asked.says('first|last'):
        visit = found[0 if about.asked.says('first') else -1]
        return Claim(Kind.TEXT, f'That was {visit.place.said}, {_when(visit, about)}.', _middles([visit]))
    stays = _by_place(found)
    return Claim(
        Kind.TEXT, f'I was in {_counted(stays, about)}.', _middles([made[0] for made in stays.values()])
    )


def _unvisited(about: _About) -> Claim:
    if not about.recall.count(about.scope):
        return _never(about)
    seen, places = {visit.place for visit in about.visits}, about.places
    by_name = sorted(places.all, key=lambda place: place.name)
    left = [place for place in by_name if not any(places.is_part(other, place) for other in seen)]
    if not left:
        return Claim(Kind.TEXT, 'I was in every place that has a name.', _middles(about.visits))
    return Claim(Kind.TEXT, f'I was not in {_counted(left, about)}.', shown(place.memory for place in left))


def _next(about: _About) -> Claim | None:
    if not about.visits:
        return None  # it may have been seen, from elsewhere
    here = about.visits[0 if about.asked.says('first') else -1]
    found = [visit for visit in about.all_visits if visit.robot == here.robot]
    if about.asked.says('after'):
        when = f'after {here.place.said}'
        found = [visit for visit in found if visit.end_ns > here.end_ns]
    else:
        when = f'before {here.place.said}'
        found = [visit for visit in found if visit.start_ns < here.start_ns]
        found.sort(key=lambda visit: -visit.end_ns)
    if not found:
        return Claim(Kind.NOT_SEEN, f'I remember no place {when}.')
    told = found if about.asked.says('rooms|places|areas') else found[:1]
    return Claim(Kind.TEXT, f'I was in {described([*_by_place(told)])} {when}.', _middles(told))


def _most(about: _About) -> Claim:
    often = about.asked.says('often|frequently|visit|visited|times')
    ordered = sorted(
        _by_place(about.visits).values(),
        key=lambda made: (len(made), _spent_s(made)) if often else (_spent_s(made), len(made)),
        reverse=not about.asked.says('shortest|least|briefest'),
    )
    texts = [
        f'{made[0].place.said} ({format_duration(_spent_s(made))}, {times_said(made)})' for made in ordered
    ]
    if about.asked.says('each|every'):
        return Claim(Kind.TEXT, f'I was in {", ".join(texts)}.', _middles([made[0] for made in ordered]))
    others = f'; then {" and ".join(texts[1:3])}' if texts[1:] else ''
    return Claim(Kind.TEXT, f'That was {texts[0]}{others}.', _middles(ordered[0]))


def _stays(about: _About) -> Claim:
    """Say how often, how long or when a place was visited, or that it was."""
    found, [place], kind = about.visits, about.asked.places, about.request.kind
    was = f'I was in {place.said}'
    if about.request.visits:
        return Claim(Kind.TEXT, f'{was} {times_said(found)}.', _middles(found))
    if kind is Kind.BINARY:
        text = f'{was} {times_said(found)}, last {_when(found[-1], about)}.'
        return yes_or_no(True, text, _middles(found[-1:]))
    if kind is Kind.DURATION:
        hits, end = _middles(found), Hit(found[-1].memories[-1], 1.0)
        text = f'{was} {times_said(found)}, in all'
        return Claim(Kind.DURATION, text, hits, start=hits[0], end=end, duration_s=_spent_s(found))
    first = about.asked.says('first')
    visit, ends = found[0 if first else -1], about.asked.says(_LEAVING) and not first
    hit = Hit(visit.memories[-1 if ends else 0], 1.0)
    choice = Choice.CITED_FIRST if ends else Choice.EARLIEST
    return Claim(Kind.TIME, f'{was} {_when(visit, about)}', [hit], choice=choice)


def _when(visit: PlaceVisit, about: _About) -> str:
    start, end = (format_clock(ns, about.question.zone) for ns in (visit.start_ns, visit.end_ns))
    until = end.split(' ')[1] if end[:10] == start[:10] else end
    return f'from {start.rsplit(" ", 1)[0]} to {until}'


def _contents(about: _About) -> Claim:
    [place] = about.asked.places
    inside = replace(about.scope, place=place.name, map_id=place.memory.map_id)
    things = about.recall.find_objects(ObjectQuery(scope=inside, missing=False, limit=SHOWN))
    if things.objects:
        known = [thing.known for thing in things.objects]
        return Claim(Kind.TEXT, f'In {place.said}: {listed(known)}.', shown(thing.memory for thing in known))
    hits = about.recall.find(Query(scope=inside, limit=SHOWN))
    if not hits:
        return Claim(Kind.NOT_SEEN, f'I remember nothing of {place.said}.')
    return Claim(Kind.TEXT, what_is_there(hits, f'in {place.said}'), hits)


def _where(about: _About) -> Claim:
    [place] = about.asked.places
    return Claim(Kind.POSITION, f'{place.said[0].upper()}{place.said[1:]} is', shown([place.memory]))


def _between(about: _About) -> Claim | None:
    first, second = about.asked.places[:2]
    if about.asked.says('how far|distance|metres|meters'):
        if first.memory.map_id != second.memory.map_id:
            return Claim(Kind.NOT_SEEN, f'On different maps are {described([first, second])}.')
        metres = distance(first.pose.position, second.pose.position)
        way = f'{first.said} to that of {second.said}'
        text = f'From the middle of {way} it is {metres:.1f} m in a straight line.'
        return Claim(Kind.TEXT, text, shown([first.memory, second.memory]))
    passage = _passage(about, first, second)
    if not passage and not about.asked.says('from'):
        passage = _passage(about, second, first)
    if not passage:
        text = f'I do not remember going from {first.said} to {second.said}.'
        return Claim(Kind.NOT_SEEN, text) if about.all_visits else None  # of deeds others tell
    left, *between, came = passage
    ends = Hit(left.memories[-1], 1.0), Hit(came.memories[0], 1.0)
    way = f'from {left.place.said} to {came.place.said}'
    if about.request.kind is Kind.DURATION:
        seconds = max(came.start_ns - left.end_ns, 0) / NS
        return Claim(Kind.DURATION, f'Going {way} took', ends, start=ends[0], end=ends[1], duration_s=seconds)
    if about.asked.says('rooms?|places?'):
        text = f'Going {way} I came through {described([*_by_place(between)]) or "no other place"}.'
        return Claim(Kind.TEXT, text, [*ends, *_middles(between)])
    scope = about.scope.within(left.end_ns, came.start_ns)
    hits = about.recall.find(Query(scope=scope, limit=SHOWN)) if scope else []
    return Claim(Kind.TEXT, what_is_there(hits or ends, f'on the way {way}'), hits or ends)


def _passage(about: _About, start: NamedPlace, goal: NamedPlace) -> list[PlaceVisit]:
    """Return how a robot went from a place to another one last: its visits, from the one to the other."""
    ways: list[list[PlaceVisit]] = []
    for robot in {visit.robot for visit in about.all_visits}:
        made = [visit for visit in about.all_visits if visit.robot == robot]
        at_ends = [i for i, visit in enumerate(made) if visit.place in (start, goal)]
        ways += [made[i : j + 1] for i, j in pairwise(at_ends) if made[i].place == start != made[j].place]
    return max(ways, key=lambda way: way[-1].start_ns, default=[])


def _never(about: _About) -> Claim:
    places = about.asked.places
    if not about.recall.count(about.scope):
        return Claim(Kind.NOT_SEEN, 'I remember nothing of that time.')
    if not places:
        return Claim(Kind.NOT_SEEN, 'I was in no place that has a name.')
    text, hits = f'I was not in {described(places)}.', shown(place.memory for place in places)
    binary = about.request.kind is Kind.BINARY
    return yes_or_no(False, text, hits) if binary else Claim(Kind.TEXT, text, hits)


def _counted(places: Collection[NamedPlace], about: _About) -> str:
    number = f'{len(places)} places: ' if about.asked.says('how many') else ''
    return f'{number}{described([*places])}'


def _middles(visits: Sequence[PlaceVisit]) -> list[Hit]:
    """Return a memory of each of these visits, from its middle, but not of too many."""
    return [Hit(visit.memories[len(visit.memories) // 2], 1.0) for visit in visits[:SHOWN]]


def _by_place(visits: Iterable[PlaceVisit]) -> dict[NamedPlace, list[PlaceVisit]]:
    stays: dict[NamedPlace, list[PlaceVisit]] = {}
    for visit in visits:
        stays.setdefault(visit.place, []).append(visit)
    return stays


def _spent_s(visits: Sequence[PlaceVisit]) -> float:
    return sum(visit.spent_ns for visit in visits) / NS


_ANSWERS: dict[PlaceAsked, Callable[[_About], Claim | None]] = {
    PlaceAsked.HERE: _here,
    PlaceAsked.KNOWN: _known,
    PlaceAsked.CONTENTS: _contents,
    PlaceAsked.WHERE: _where,
    PlaceAsked.VISITED: _visited,
    PlaceAsked.MOST: _most,
    PlaceAsked.STAYS: _stays,
    PlaceAsked.UNVISITED: _unvisited,
    PlaceAsked.BETWEEN: _between,
    PlaceAsked.NEXT: _next,
}
_OF_NO_VISIT = {PlaceAsked.HERE, PlaceAsked.KNOWN, PlaceAsked.CONTENTS, PlaceAsked.WHERE}
_NEVER = {PlaceAsked.VISITED, PlaceAsked.MOST, PlaceAsked.STAYS}  # of these, no visit is an answer, too
