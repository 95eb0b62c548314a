"""Reading a question about named places: what of them it asks."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from remembr_ros.agent.offline.question_terms import target_of
from remembr_ros.agent.offline.word_classes import word_class
from remembr_ros.memory.matching.terms import STOP_WORDS, words
from remembr_ros.memory.places.place import NamedPlace

PlaceAsked = Enum(
    'PlaceAsked',
    'HERE KNOWN UNVISITED VISITED MOST NEXT HOW_LONG HOW_OFTEN WHEN WHETHER CONTENTS WHERE BETWEEN',
)
"""What a question asks of places."""


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


SELF_TEXT = r'(?:you|we|i|the\s+robot)'
_I = rf'(?:{SELF_TEXT}|it|visited|entered|inspected|explored|checked)'
ROOM_TEXT = r'(?:rooms?|(?:named\s+)?places?|areas?)'
_ME = rf'.*\b{_I}\b(?!.*\b(?:see|saw|seen|find|found|look\w*|pass(?:ed)?(?!\s+through))\b)'
_NOT = r"(?:\bnot\b|n['\u2019]t\b|\bnever\b|\bunvisited\b|\bmiss(?:ed)?\b|\bskip|\b(?:yet|left)\s+to\b)"
_BESIDE = r'(?:after|before|near|behind|beside|next\s+to|opposite|around|outside|left|right|front)'
_OF_NONE = (
    (
        PlaceAsked.UNVISITED,
        rf'\b{ROOM_TEXT}\b.*{_NOT}|\bunvisited\s+{ROOM_TEXT}|^\W*(?:did|have|has)\b.*\b(?:all|every)\b.*\b{ROOM_TEXT}',
    ),
    (
        PlaceAsked.MOST,
        rf'\b(?:{ROOM_TEXT}|where|which|or)\b(?!.*\b(?:stop|stood|stand|wait|park))'
        r'.*\b(?:longe(?:r|st)|shortest|more|most|least|briefest)\b'
        rf'|\b(?:each|every)\s+{ROOM_TEXT}\b',
    ),
    (
        PlaceAsked.HERE,
        rf'\b(?:which|what)\s+{ROOM_TEXT}\s+(?:are\s+(?:you|we)|am\s+i|is\s+(?:this|it|the\s+robot))\b'
        rf'|\b(?:is|of)\s+this\s+{ROOM_TEXT}\b',
    ),
    (
        PlaceAsked.VISITED,
        rf'\b{ROOM_TEXT}\b(?!\s+can\b).*\b{_I}\b(?!\s+know)|\bwhere\s+have\s+{SELF_TEXT}\s+been\b',
    ),
    (
        PlaceAsked.KNOWN,
        r'\b(?:which|what|how\s+many|list|names?|tell|show|know)\b.*\b(?:rooms|places|areas)\b',
    ),
)  # fmt: skip
_OF_ONE = (
    (PlaceAsked.NEXT, rf'\b(?:{ROOM_TEXT}|where)\b(?:{_ME}|\s+c[ao]mes?\b).*\b(?:after|before)\b'),
    (
        PlaceAsked.HOW_LONG,
        r'\b(?:how\s+(?:long|much\s+time|many\s+(?:seconds|minutes|hours))|total\s+time)\b'
        rf'(?!.*\b(?:ago|since)\b){_ME}',
    ),
    (PlaceAsked.HOW_OFTEN, rf'\bhow\s+(?:often|frequently|many\s+(?:times|visits))\b{_ME}'),
    (
        PlaceAsked.WHEN,
        rf'(?:^\W*(?:at\s+)?(?:when|(?:what|which)\s+(?:time|day))|\b(?:ago|since|(?:last|first)\s+time))\b{_ME}',
    ),
    (PlaceAsked.HERE, rf'^\W*(?:are|is|am)\s+{SELF_TEXT}\s+(?:\w+\s+)?(?:in|inside|at)\b|^\W*is\s+this\b'),
    (PlaceAsked.WHETHER, rf'^\W*(?:did|have|has|had|were|was)\b{_ME}'),
    (
        PlaceAsked.CONTENTS,
        rf"^(?!.*\b(?:{_BESIDE}|first|last)\b)\W*"
        r"(?:what(?:['\u2019]s|\s+(?:is|are|was|were|does|can|kinds?|sorts?|things|stuff|objects|items))"
        rf'|what\s+(?:do|did|have)\s+{_I}|list|describe|tell)\b',
    ),
)  # fmt: skip
_DEEDS = re.compile(
    rf'\b{SELF_TEXT}\s+(?:(?:ever|also|never)\s+)?(?:exit(?:ed)?|check(?:ed)?(?:\s+on)?|ma[dk]e|h[au]ng|stop(?:ped)?\s+by|set\s+foot)\b'
)
"""What else is a thing: 'the exit', 'a check'."""
_OTHER = re.compile(rf'\b(?:read|pick|put|placed?|took|happen(?:ed)?|{_I}\s+(?:do|take)|doing|done|signs?)\b')


def parse_places(text: str, places: Sequence[NamedPlace], *, position: bool) -> PlaceRequest | None:
    """Return what a question asks of named places; None: it is about something else.

    :param text: the question without politeness and times
    :param places: those that it may mean
    :param position: it asks where something is, or to be taken there
    """
    spans = named_in(text, places)
    found = tuple(dict.fromkeys(place for _, place in spans))
    for (start, end), _ in reversed(spans):
        text = f'{text[:start]} {text[end:]}'
    rest = ' '.join(text.lower().split())
    driven = rf'\b(?:far|distance)\b.*\b(?:did|have|has)\s+{SELF_TEXT}\b'  # which is no straight line
    if _thing(rest) or re.search(driven, rest) or (len(found) == 1 and _OTHER.search(rest)):
        return None
    if len(found) > 1 and re.search(r'\b(?:between|from|apart|distance|far)\b', rest):
        return PlaceRequest(PlaceAsked.BETWEEN, rest, found)
    of_one = len(found) == 1
    for asked, pattern in _OF_ONE if of_one else _OF_NONE:
        if re.search(pattern, rest):
            return PlaceRequest(asked, rest, found)
    beside = re.search(rf'\b{_BESIDE}\b', rest)
    return PlaceRequest(PlaceAsked.WHERE, rest, found) if of_one and position and not beside else None


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
