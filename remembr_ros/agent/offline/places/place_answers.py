"""What the rules answer about named places: who was where for how long is measured, and never guessed."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property

from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.model.grounding import Choice, Claim, shown, yes_or_no
from remembr_ros.agent.model.quoting import any_case
from remembr_ros.agent.offline.answer_sentences import what_is_there
from remembr_ros.agent.offline.executor.tally import answer_contrast
from remembr_ros.agent.offline.named_scope import named_in
from remembr_ros.agent.offline.not_seen import SURE
from remembr_ros.agent.offline.question_terms import target_of
from remembr_ros.agent.offline.request import Request
from remembr_ros.agent.offline.word_classes import word_class
from remembr_ros.geometry import Pose, distance
from remembr_ros.memory.deeds.occurrences import OccurrenceSource, hits_of
from remembr_ros.memory.deeds.query import STAY, DeedQuery, Occurrence
from remembr_ros.memory.deeds.summary import times_said
from remembr_ros.memory.model.recall import Hit, Query, Scope
from remembr_ros.memory.model.record import CAPTIONER, PLACE
from remembr_ros.memory.objects.query import ObjectQuery
from remembr_ros.memory.objects.wording import listed
from remembr_ros.memory.places.place import NamedPlace, said_name
from remembr_ros.memory.places.places import Places, described, in_a_row
from remembr_ros.memory.recall_protocol import Recall
from remembr_ros.timestamps import NS, format_clock

_SELF = r'(?:you|we|i|the robot)'
_ROOM = r'(?:rooms?|(?:named )?places?|areas?)'
_TO_ROOM = any_case(rf'\bto the {_ROOM} (?:with|that has|where {_SELF} (?:saw|found)) ')
_IN_ROOM = any_case(
    r'^\W*(?:(?:and|so|please|can|could|do|you|know|tell|me|us|remember)\W+)*(?:(?:in|on|at) )?'
    rf'(?:which|what) (?:of the )?{_ROOM} (?P<holds>(?:has|had|have|contains?) (?!{_SELF}\b))?'
    rf'(?!\w+ {_SELF} (?:in|at|been|go|entere?d?|visit(?:ed)?)\b)(?P<rest>.+?)(?: (?:in|at))?\W*$'
)
SIGHTS = 5  # of a thing that tell its room: it may have been moved since the others
AHEAD_M = (0.0, 1.0, 2.0, 3.0)  # of a camera, where things may be
SHOWN = 20  # memories and things that an answer names
_I = rf'\b(?:{_SELF}|it|visited|entered|inspected|explored|checked)\b'
_ME = rf'{_I}(?!.*\b(?:see|saw|seen|find|found|look\w*|pass(?:ed)?(?! through))\b)'
_NOT = r'\b(?:not|never|unvisited|miss(?:ed)?|skip|(?:yet|left) to)\b'
_DRIVEN = re.compile(rf'\b(?:far|distance)\b.*\b(?:did|have|has) {_SELF}\b')  # which is no straight line
_NO_THING = re.compile(
    rf'\b{_SELF} (?:ever |also |never )?(?:exit(?:ed)?|check(?:ed)?(?: on)?|ma[dk]e|h[au]ng'
    rf"|stop(?:ped)? by|set foot)\b|(?<=\w)n?'[a-z]+\b|\b(?:{'|'.join(word_class('beside_place'))})\b|[^\w\s]"
)
"""What is no thing beside a place, but may be one elsewhere: an exit, a check."""
_LEAVING = r'leave|left|exit|exited|out|last|(?:ago|since)(?: you| we| i| the robot)? (?:were|was)'


def answer_by_places(request: Request, question: Question, recall: Recall, scope: Scope) -> Claim | None:
    """Return what named places tell of a question; None: it is about something else.

    :param scope: the time, the robots and the map that the question is about
    """
    asked = _Asked(request, question, recall, scope)
    claim = asked.answer() if asked.places else None
    note = '' if asked.source.whole else 'Of the latest that I remember: '
    about = ' '.join(name for place in asked.named for name in place.names)
    return claim and replace(claim, text=f'{note}{claim.text}', about=about, confidence=SURE)


class _Asked:
    """A question about named places, and the ways to answer it.

    :ivar places: on the map that counts
    :ivar named: those that it names, in its order
    :ivar said: it in lower case, without their names, and the kind of answer that it wants
    """

    def __init__(self, request: Request, question: Question, recall: Recall, scope: Scope) -> None:
        self.request, self.question, self.recall, self.scope = request, question, recall, scope
        self.source, self.kind = OccurrenceSource(recall), request.kind
        self.places = [one for one in question.places.all if scope.map_id in (None, one.memory.map_id)]
        said, spans = request.plain, named_in(request.plain, self.places)
        for (start, end), _ in reversed(spans):
            said = f'{said[:start]} {said[end:]}'
        self.named = tuple(dict.fromkeys(place for _, place in spans))
        self.said = f'{" ".join(said.lower().split())} <{"visits" if request.visits else self.kind.value}>'

    def answer(self) -> Claim | None:
        """Return what is asked for; None: it is about something else than places."""
        if _DRIVEN.search(self.said) or target_of(_NO_THING.sub(' ', self.said.partition('<')[0])):
            return None
        ways = _OF_ONE if len(self.named) == 1 else _OF_OTHERS
        way = next((way for way, said in ways.items() if re.search(said, self.said)), None)
        if len(self.named) > 1 and self.says('between|from|apart|distance|far'):
            way = _Asked.between
        told = way in (_Asked.here, _Asked.where) or not self.request.here
        return way(self) if way is not None and told else None

    def says(self, pattern: str) -> bool:
        """Tell whether one of these is said."""
        return re.search(rf'\b(?:{pattern})\b', self.said) is not None

    @cached_property
    def all_stays(self) -> Sequence[Occurrence]:
        """In the order of time, by where cameras were: those by where deeds were done are told with these."""
        query = DeedQuery(STAY, place=' / '.join(place.name for place in self.named), scope=self.scope)
        return [stay for stay in self.source(query) if stay.memory.source == CAPTIONER]

    @property
    def in_named(self) -> Sequence[Occurrence]:
        """The stays in a place that is named, if one is."""
        return [stay for stay in self.all_stays if not self.named or _is_in(stay, *self.named)]

    def stays(self) -> Claim | None:
        """Say how often, how long, when or whether the robot was in a place, or in which it was."""
        found, at_ns = self.in_named, self.request.window.at_ns
        if not found:
            return self.never()
        if len(self.named) != 1:
            if at_ns is not None:
                found = [min(found, key=lambda stay: max(stay.start_ns - at_ns, at_ns - stay.end_ns))]
            return self.visited(found)
        was, hits, first = f'I was in {self.named[0].said}', hits_of(found[:SHOWN]), self.says('first')
        often, last = times_said(len(found)), Hit(found[-1].memories[-1], 1.0)
        if self.request.visits:
            return Claim(Kind.TEXT, f'{was} {often}.', hits)
        if self.kind is Kind.BINARY:
            return yes_or_no(True, f'{was} {often}, last {self.when(found[-1])}.', hits_of(found[-1:]))
        if self.kind is Kind.DURATION:
            seconds = sum(stay.seconds for stay in found)
            return Claim(
                self.kind, f'{was} {often}, in all', hits, start=hits[0], end=last, duration_s=seconds
            )
        one, leaving = found[0 if first else -1], self.says(_LEAVING) and not first
        hit, choice = (last, Choice.CITED_FIRST) if leaving else (Hit(one.memories[1], 1.0), Choice.EARLIEST)
        return Claim(Kind.TIME, f'{was} {self.when(one)}', [hit], choice=choice)

    def visited(self, found: Sequence[Occurrence]) -> Claim:
        """Say in which places the robot was, or in which first or last."""
        if self.says('first|last'):
            one = found[0 if self.says('first') else -1]
            return Claim(Kind.TEXT, f'That was {said_name(one.where)}, {self.when(one)}.', hits_of([one]))
        rooms = _rooms(found)
        number = f'{len(rooms)} places: ' if self.says('how many') else ''
        return Claim(Kind.TEXT, f'I was in {number}{in_a_row(rooms)}.', hits_of(rooms.values()))

    def never(self) -> Claim | None:
        """Say that the robot was in none; None: deeds tell more."""
        names = {name.casefold() for place in self.named or self.places for name in place.names}
        if any(deed.facts.place.casefold() in names for deed in self.source.deeds(self.scope)):
            return None
        if not self.recall.count(self.scope):
            return Claim(Kind.NOT_SEEN, 'I remember nothing of that time.')
        if not self.named:
            return Claim(Kind.NOT_SEEN, 'I was in no place that has a name.')
        text, hits = f'I was not in {described(self.named)}.', shown(place.memory for place in self.named)
        return yes_or_no(False, text, hits) if self.kind is Kind.BINARY else Claim(Kind.TEXT, text, hits)

    def left_out(self) -> Claim | None:
        """Say in which places the robot was not."""
        window = replace(self.request.window, rest='Which rooms did you not visit?')
        told = answer_contrast(replace(self.request, window=window), self.question, self.recall, self.scope)
        return told and told[0]

    def next(self) -> Claim | None:
        """Say in which places the robot was after, or before, it was in one."""
        if not self.in_named:
            return None  # it may have been seen, from elsewhere
        here, after = self.in_named[0 if self.says('first') else -1], self.says('after')
        others = [stay for stay in self.all_stays if stay.memory.robot == here.memory.robot]
        earlier = [stay for stay in others if stay.start_ns < here.start_ns]
        found = sorted(earlier, key=lambda stay: -stay.end_ns)
        if after:
            found = [stay for stay in others if stay.end_ns > here.end_ns]
        found = found[: SHOWN if self.says('rooms|places|areas') else 1]
        when = f'{"after" if after else "before"} {said_name(here.where)}'
        if not found:
            return Claim(Kind.NOT_SEEN, f'I remember no place {when}.')
        return Claim(Kind.TEXT, f'I was in {in_a_row(_rooms(found))} {when}.', hits_of(found))

    def here(self) -> Claim | None:
        """Say in which place the robot is, or was last."""
        newest = self.recall.find(Query(scope=self.scope, limit=1))
        if not newest:
            return self.never()
        pose, places = self.question.here, Places(place.memory for place in self.places)
        found = places.of_pose(self.question.map_id, pose) if pose else places.of(newest[0].memory)
        name = 'no place that has a name' if found is None else found.said
        text = f'I {"am" if pose else "was last"} in {name}.'
        hits = newest if found is None else shown([found.memory])
        if not self.named:
            return Claim(Kind.TEXT, text, hits)
        return yes_or_no(found is not None and places.is_part(found, self.named[0]), text, hits)

    def known(self) -> Claim:
        """Say which places there are."""
        known = sorted(self.places, key=lambda place: place.name)
        number = 'One place has a name' if len(known) == 1 else f'{len(known)} places have names'
        return Claim(Kind.TEXT, f'{number}: {described(known)}.', shown(place.memory for place in known))

    def contents(self) -> Claim:
        """Say what is in a place: objects, or else what was seen there."""
        [place] = self.named
        inside = replace(self.scope, place=place.name, map_id=place.memory.map_id)
        things = self.recall.find_objects(ObjectQuery(scope=inside, missing=False, limit=SHOWN))
        if known := [thing.known for thing in things.objects]:
            return Claim(Kind.TEXT, f'In {place.said}: {listed(known)}.', shown(one.memory for one in known))
        if hits := self.recall.find(Query(scope=inside, limit=SHOWN)):
            return Claim(Kind.TEXT, what_is_there(hits, f'in {place.said}'), hits)
        return Claim(Kind.NOT_SEEN, f'I remember nothing of {place.said}.')

    def where(self) -> Claim:
        """Say where a place is."""
        [place] = self.named
        return Claim(Kind.POSITION, f'{place.said[0].upper()}{place.said[1:]} is', shown([place.memory]))

    def between(self) -> Claim | None:
        """Say how far two places are apart, or how the robot last went from the one to the other."""
        one, other = self.named[:2]
        if self.says('how far|distance|metres|meters'):
            if one.memory.map_id != other.memory.map_id:
                return Claim(Kind.NOT_SEEN, f'On different maps are {described([one, other])}.')
            metres = f'{distance(one.pose.position, other.pose.position):.1f} m in a straight line'
            text = f'From the middle of {one.said} to that of {other.said} it is {metres}.'
            return Claim(Kind.TEXT, text, shown([one.memory, other.memory]))
        passage = _passage(self.all_stays, one, other)
        if not passage and not self.says('from'):
            passage = _passage(self.all_stays, other, one)
        if not passage:
            text = f'I do not remember going from {one.said} to {other.said}.'
            return Claim(Kind.NOT_SEEN, text) if self.all_stays else None  # of deeds others tell
        left, *between, came = passage
        ends = Hit(left.memories[-1], 1.0), Hit(came.memories[1], 1.0)
        way = f'from {said_name(left.where)} to {said_name(came.where)}'
        if self.kind is Kind.DURATION:
            text, took = f'Going {way} took', max(came.start_ns - left.end_ns, 0) / NS
            return Claim(Kind.DURATION, text, ends, start=ends[0], end=ends[1], duration_s=took)
        if self.says('rooms?|places?'):
            text = f'Going {way} I came through {in_a_row(_rooms(between)) or "no other place"}.'
            return Claim(Kind.TEXT, text, [*ends, *hits_of(between[:SHOWN])])
        scope = self.scope.within(left.end_ns, came.start_ns)
        hits = (self.recall.find(Query(scope=scope, limit=SHOWN)) if scope else ()) or ends
        return Claim(Kind.TEXT, what_is_there(hits, f'on the way {way}'), hits)

    def when(self, stay: Occurrence) -> str:
        """Return when a stay was: 'from 2026-11-23 09:00:00 to 09:05:00'."""
        start, end = (format_clock(ns, self.question.zone) for ns in (stay.start_ns, stay.end_ns))
        until = end.split(' ')[1] if end[:10] == start[:10] else end
        return f'from {start.rsplit(" ", 1)[0]} to {until}'


def _passage(stays: Iterable[Occurrence], start: NamedPlace, goal: NamedPlace) -> list[Occurrence]:
    """Return how a robot went from a place to another one last: its stays, from the one to the other."""
    ways, last = dict[str, list[Occurrence]](), list[Occurrence]()
    for stay in stays:
        ways.get(stay.memory.robot, []).append(stay)
        if _is_in(stay, start):
            ways[stay.memory.robot] = [stay]
        elif _is_in(stay, goal):
            last = ways.pop(stay.memory.robot, last)
    return last


def _is_in(stay: Occurrence, *places: NamedPlace) -> bool:
    known = ((' / '.join(place.names), place.memory.map_id) for place in places)
    return (stay.facts.place, stay.memory.map_id) in known


def _rooms(stays: Iterable[Occurrence]) -> dict[str, Occurrence]:
    """Return the first stay in each place, by what that is called in a sentence."""
    rooms: dict[str, Occurrence] = {}
    for stay in stays:
        rooms.setdefault(said_name(stay.where), stay)
    return rooms


_Way = Callable[[_Asked], Claim | None]
_OF_ONE: dict[_Way | None, str] = {
    _Asked.next: rf'\b(?:{_ROOM}|where)\b(?:.*{_ME}| c[ao]mes?\b).*\b(?:after|before)\b',
    _Asked.here: rf'^\W*(?:are|is|am) {_SELF} (?:\w+ )?(?:in|inside|at)\b|^\W*is this\b',
    _Asked.stays: rf'{_ME}.*<(?:visits|duration|time|binary)>',
    None: r'\b(?:after|before|near|behind|beside|next to|opposite|around|outside|left|right|front)\b',
    _Asked.contents: r"^\W*(?:what(?:'s| (?:is|are|was|were|does|can|kinds?|sorts?|things|stuff|objects"
    rf'|items))|what (?:do|did|have) {_I}|list|describe|tell)\b(?!.*\b(?:first|last)\b)',
    _Asked.where: '<position>',
}
_OF_OTHERS: dict[_Way | None, str] = {
    _Asked.left_out: rf'\b{_ROOM}\b.*{_NOT}|\bunvisited {_ROOM}'
    rf'|^\W*(?:is|are|were|did|have|has)\b.*\b(?:all|each|every)\b.*\b{_ROOM}',
    _Asked.here: rf'\b(?:which|what) {_ROOM} (?:are (?:you|we)|am i|is (?:this|it|the robot))\b'
    rf'|\b(?:is|of) this {_ROOM}\b',
    _Asked.stays: rf'\b{_ROOM}\b(?! can\b).*{_I}(?! know)|\bwhere have {_SELF} been\b',
    _Asked.known: r'\b(?:which|what|how many|list|names?|tell|show|know).*\b(?:rooms|places|areas|every \w+)',
}
"""What is asked of one place that is named, or of others, by the words that ask for it; the first counts."""


def without_room(text: str, places: Places) -> str:
    """Return 'Where is the cup?' for 'In which room is the cup?', and any other text as it is.

    'Go to the room with the cup' is to the cup.
    """
    if not places:
        return text
    text = _TO_ROOM.sub('to ', text)
    asked = _IN_ROOM.match(text)
    if asked is None:
        return text
    return f'Where {"is " if asked["holds"] else ""}{asked["rest"]}?'


def in_room(answer: Answer, question: Question) -> Answer:
    """Return the answer to where a thing is with the room that it is in, as most of its last sights have it.

    A camera looks ahead: what it saw from a doorway is in the next room more often than in its own.
    """
    of_room = without_room(question.text, question.places) != question.text
    is_room = any(hit.memory.source == PLACE for hit in answer.evidence)
    if not of_room or is_room or answer.kind is not Kind.POSITION:
        return answer
    latest = sorted((hit.memory for hit in answer.evidence), key=lambda memory: -memory.end_ns)[:SIGHTS]
    votes = Counter(
        found.said
        for memory in latest
        for metres in (AHEAD_M if memory.source == CAPTIONER else AHEAD_M[:1])
        if memory.pose is not None
        and (found := question.places.of_pose(memory.map_id, Pose(*memory.pose.in_map((metres, 0.0, 0.0)))))
    )
    place = f'In {votes.most_common(1)[0][0]}: ' if votes else 'In no place that has a name: '
    return replace(answer, text=f'{place}{answer.text}')
