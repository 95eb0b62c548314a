"""Reading a question about named places: what of them it asks."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from remembr_ros.agent.model.answer import Kind
from remembr_ros.agent.model.quoting import any_case
from remembr_ros.agent.offline.question_terms import target_of
from remembr_ros.agent.offline.request import Request
from remembr_ros.agent.offline.word_classes import word_class
from remembr_ros.memory.matching.terms import STOP_WORDS, words
from remembr_ros.memory.places.place import NamedPlace

PlaceAsked = Enum('PlaceAsked', 'HERE KNOWN UNVISITED VISITED MOST NEXT STAYS CONTENTS WHERE BETWEEN')
"""What a question asks of places; STAYS: how often, how long, when or whether somebody was in one."""


@dataclass(frozen=True, slots=True)
class PlaceRequest:
    """A question about named places, understood.

    :param said: the question in lower case, without the names of places
    :param places: that it names, in its order
    """

    asked: PlaceAsked
    said: str
    places: tuple[NamedPlace, ...] = ()

    def says(self, pattern: str) -> bool:
        """Tell whether one of these is said."""
        return re.search(rf'\b(?:{pattern})\b', self.said) is not None


SELF_TEXT = r'(?:you|we|i|the robot)'
ROOM_TEXT = r'(?:rooms?|(?:named )?places?|areas?)'
_I = rf'(?:{SELF_TEXT}|it|visited|entered|inspected|explored|checked)'
_ME = any_case(rf'\b{_I}\b(?!.*\b(?:see|saw|seen|find|found|look\w*|pass(?:ed)?(?! through))\b)')
_NOT = r"(?:\bnot\b|n['\u2019]t\b|\bnever\b|\bunvisited\b|\bmiss(?:ed)?\b|\bskip|\b(?:yet|left) to\b)"
_DRIVEN = any_case(rf'\b(?:far|distance)\b.*\b(?:did|have|has) {SELF_TEXT}\b')  # which is no straight line
_BESIDE = any_case(
    r'\b(?:after|before|near|behind|beside|next to|opposite|around|outside|left|right|front)\b'
)
_SAID_OF_NONE = {
    PlaceAsked.UNVISITED: rf'\b{ROOM_TEXT}\b.*{_NOT}|\bunvisited {ROOM_TEXT}'
    rf'|^\W*(?:did|have|has)\b.*\b(?:all|every)\b.*\b{ROOM_TEXT}',
    PlaceAsked.MOST: rf'\b(?:{ROOM_TEXT}|where|which|or)\b(?!.*\b(?:stop|stood|stand|wait|park))'
    rf'.*\b(?:longe(?:r|st)|shortest|more|most|least|briefest)\b|\b(?:each|every) {ROOM_TEXT}\b',
    PlaceAsked.HERE: rf'\b(?:which|what) {ROOM_TEXT} (?:are (?:you|we)|am i|is (?:this|it|the robot))\b'
    rf'|\b(?:is|of) this {ROOM_TEXT}\b',
    PlaceAsked.VISITED: rf'\b{ROOM_TEXT}\b(?! can\b).*\b{_I}\b(?! know)|\bwhere have {SELF_TEXT} been\b',
    PlaceAsked.KNOWN: r'\b(?:which|what|how many|list|names?|tell|show|know).*\b(?:rooms|places|areas)\b',
}
_OF_NONE = {asked: any_case(pattern) for asked, pattern in _SAID_OF_NONE.items()}
_NEXT = any_case(rf'\b(?:{ROOM_TEXT}|where)\b(?:.*{_ME.pattern}| c[ao]mes?\b).*\b(?:after|before)\b')
_HERE = any_case(rf'^\W*(?:are|is|am) {SELF_TEXT} (?:\w+ )?(?:in|inside|at)\b|^\W*is this\b')
_WHAT = any_case(
    r"^\W*(?:what(?:['\u2019]s| (?:is|are|was|were|does|can|kinds?|sorts?|things|stuff|objects|items))"
    rf'|what (?:do|did|have) {_I}|list|describe|tell)\b(?!.*\b(?:first|last)\b)'
)
_DEEDS = any_case(
    rf'\b{SELF_TEXT} (?:ever |also |never )?(?:exit(?:ed)?|check(?:ed)?(?: on)?|ma[dk]e|h[au]ng'
    r'|stop(?:ped)? by|set foot)\b'
)
"""What else is a thing: 'the exit', 'a check'."""


def parse_places(request: Request, places: Sequence[NamedPlace]) -> PlaceRequest | None:
    """Return what a question asks of named places; None: it is about something else.

    :param places: those that it may mean
    """
    text = request.plain
    spans = named_in(text, places)
    found = tuple(dict.fromkeys(place for _, place in spans))
    for (start, end), _ in reversed(spans):
        text = f'{text[:start]} {text[end:]}'
    rest = ' '.join(text.lower().split())
    if _thing(rest) or _DRIVEN.search(rest):
        return None
    if len(found) > 1 and re.search(r'\b(?:between|from|apart|distance|far)\b', rest):
        asked: PlaceAsked | None = PlaceAsked.BETWEEN
    elif len(found) == 1:
        asked = _of_one(rest, request)
    else:
        asked = next((asked for asked, said in _OF_NONE.items() if said.search(rest)), None)
    return asked and PlaceRequest(asked, rest, found)


def _of_one(rest: str, request: Request) -> PlaceAsked | None:
    """Return what is asked of the one place that is named."""
    for asked, said in ((PlaceAsked.NEXT, _NEXT), (PlaceAsked.HERE, _HERE)):
        if said.search(rest):
            return asked
    if _ME.search(rest) and (request.visits or request.kind in (Kind.DURATION, Kind.TIME, Kind.BINARY)):
        return PlaceAsked.STAYS
    if _BESIDE.search(rest):
        return None
    if _WHAT.search(rest):
        return PlaceAsked.CONTENTS
    return PlaceAsked.WHERE if request.kind is Kind.POSITION else None


def named_in(text: str, places: Sequence[NamedPlace]) -> list[tuple[tuple[int, int], NamedPlace]]:
    """Return where a text names places, in its order; the longest name counts.

    A name that is a word of every sentence, such as 'A', is one only as it is written.
    """
    found: list[tuple[tuple[int, int], NamedPlace]] = []
    names = sorted(
        ((name, place) for place in places for name in place.names), key=lambda named: -len(named[0])
    )
    for name, place in names:
        parts = re.findall(r'[^\W\d_]+|\d+', name)
        if not all(part.lower() in text.lower() for part in parts):
            continue  # of a thousand, most are not
        spelled = '|'.join(filter(None, (r'(?:_|[^\w.,;:!?])*'.join(parts), re.escape(name))))
        case = 0 if STOP_WORDS.issuperset(words(name)) else re.IGNORECASE
        pattern = rf'(?:\b[Tt]he\s+)?(?<![\w-])(?:{spelled})(?![\w-])'
        for match in re.finditer(pattern, text, case):
            if all(match.end() <= start or end <= match.start() for (start, end), _ in found):
                found.append((match.span(), place))
    return sorted(found, key=lambda place: place[0])


def _thing(rest: str) -> str:
    """Return what else than places a question is about; empty: nothing."""
    plain = re.sub(r"(?<=\w)n?['\u2019][a-z]+\b", ' ', _DEEDS.sub(' you ', rest))
    beside = word_class('beside_place')
    return target_of(' '.join(word for word in re.findall(r'\w+', plain) if word not in beside))
