"""Reading a question about named places: what of them it asks."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from remembr_ros.agent.offline.question_terms import target_of
from remembr_ros.memory.places.place import NamedPlace
from remembr_ros.memory.places.places import Places


class PlaceAsked(Enum):
    """What a question asks of places."""

    HERE = 'here'
    KNOWN = 'known'
    UNVISITED = 'unvisited'
    VISITED = 'visited'
    MOST = 'most'
    HOW_LONG = 'how long'
    HOW_OFTEN = 'how often'
    WHEN = 'when'
    WHETHER = 'whether'
    CONTENTS = 'contents'
    WHERE = 'where'
    BETWEEN = 'between'


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


_I = r'(?:you|we|i|it|the\s+robot)'
_ROOM = r'(?:rooms?|(?:named\s+)?places?|areas?)'
_WHICH = rf'\b(?:which|what|how\s+many|list|name|tell\s+me)\b.*\b{_ROOM}\b'
_BEEN = r'(?:(?:visit|enter|inspect|pass)(?:ed)?|go|gone|went|drive|drove|driven|been|explored?|in)'
_NOT = r"(?:\bnot\b|n['\u2019]t\b|\bnever\b|\bunvisited\b|\bmiss(?:ed)?\b|\bskip)"
_OF_NONE = (
    (PlaceAsked.UNVISITED, rf'\b{_ROOM}\b.*{_NOT}'),
    (
        PlaceAsked.MOST,
        rf'(?:\b(?:which|what)\s+{_ROOM}\b|\bwhere\b).*\b(?:longest|shortest|most|least|briefest)\b',
    ),
    (
        PlaceAsked.HERE,
        rf'\b(?:which|what)\s+{_ROOM}\s+(?:are\s+(?:you|we)|am\s+i|is\s+(?:this|it|the\s+robot))\b',
    ),
    (PlaceAsked.VISITED, rf'{_WHICH}.*\b{_I}\b.*\b{_BEEN}\b'),
    (
        PlaceAsked.KNOWN,
        rf'{_WHICH}\W*(?:(?:are|is)\s+(?:there|known|here)|do\s+you\s+know|have\s+names?|exist)?\W*$',
    ),
)  # fmt: skip
_OF_ONE = (
    (PlaceAsked.HOW_LONG, rf'\bhow\s+(?:long|much\s+time)\b.*\b{_I}\b'),
    (PlaceAsked.HOW_OFTEN, rf'\bhow\s+(?:often|many\s+times)\b.*\b{_I}\b.*\b{_BEEN}\b'),
    (
        PlaceAsked.WHEN,
        rf'\b(?:when|what\s+time|how\s+long\s+ago)\b.*\b{_I}\b'
        rf'.*\b(?:{_BEEN}|leave|left|reach(?:ed)?|arrive|get|got|come|came|last|at)\b',
    ),
    (PlaceAsked.WHETHER, rf'^\W*(?:did|have|has|were|was|are|is)\s+{_I}\b.*\b(?:{_BEEN}|at)\b'),
)  # fmt: skip
_PLAIN = frozenset(
    'room rooms place places area areas longest shortest most least often briefest time times spent spend '
    'visit visited unvisited never not have has had was were did do been enter entered leave left from to '
    'between and known know first last after before name names named called far long distance way drive '
    'drives drove driven go went gone going take took explore explored inspect inspected arrive arrived '
    'reach reached exist miss missed skip skipped pass passed through ever at all total in inside stay '
    'stayed get got there thing things object objects item items yet any contain contains does please '
    'again come came apart'.split()
)
_CONTENTS = re.compile(
    r"^\W*(?:what(?:['\u2019]s|\s+is|\s+are|\s+was|\s+were)|what\s+(?:things|objects|items)\b.*|what\s+do\s+you\s+know"
    r'(?:\s+\w+)?|list|describe|tell\s+me|what\s+does|what\s+can)\b'
)
_OTHER = re.compile(r'\b(?:see|saw|seen|read|pick|put|placed?|took|take|happen(?:ed)?|do|did|done)\b')


def parse_places(text: str, places: Sequence[NamedPlace], *, position: bool) -> PlaceRequest | None:
    """Return what a question asks of named places; None: it is about something else.

    :param text: the question without its words of time
    :param places: those that it may mean
    :param position: it asks where something is, or to be taken there
    """
    said = ' '.join(text.lower().split())
    spans = named_in(said, places)
    found = tuple(one for _, one in spans)
    rest = said
    for (start, end), _ in reversed(spans):
        rest = f'{rest[:start]} {rest[end:]}'
    if len(set(found)) > 1 and re.search(r'\b(?:between|from|to|and)\b', said) and not _thing(rest):
        return PlaceRequest(PlaceAsked.BETWEEN, rest, found)
    of_one = len(found) == 1 and not re.search(rf'\b(?:which|what)\s+{_ROOM}\b', rest)
    for asked, pattern in _OF_ONE if of_one else _OF_NONE:
        if (
            re.search(pattern, rest)
            and not _thing(rest)
            and not (of_one and _OTHER.search(_without_did(rest)))
        ):
            return PlaceRequest(asked, rest, found)
    if of_one and not _thing(rest):
        if position:
            return PlaceRequest(PlaceAsked.WHERE, rest, found)
        if _CONTENTS.search(rest) and not _OTHER.search(rest):
            return PlaceRequest(PlaceAsked.CONTENTS, rest, found)
    return None


def named_in(text: str, places: Sequence[NamedPlace]) -> list[tuple[tuple[int, int], NamedPlace]]:
    """Return where a text names places, in its order; the longest name counts."""
    found: list[tuple[tuple[int, int], NamedPlace]] = []
    names = sorted(((name, one) for one in places for name in one.names), key=lambda named: -len(named[0]))
    for name, one in names:
        spelled = r'[\s_-]*'.join(map(re.escape, re.findall(r'[^\W\d_]+|\d+', name))) or re.escape(name)
        for match in re.finditer(rf'(?:\bthe\s+)?(?<![\w-]){spelled}(?![\w-])', text, re.IGNORECASE):
            if all(match.end() <= start or end <= match.start() for (start, end), _ in found):
                found.append((match.span(), one))
    return sorted(found, key=lambda one: one[0])


def without_room(text: str, places: Places) -> str:
    """Return 'Where is the cup?' for 'In which room is the cup?', and any other text as it is."""
    if not places:
        return text
    asked = re.match(
        rf'^\W*(?:in|on|at)?\s*(?:which|what)\s+{_ROOM}\s+(?P<verb>is|are|was|were|did|do|have|has|can|could|contains?|had)\s+'
        r'(?P<rest>.+?)(?:\s+(?:in|at))?\W*$',
        text,
        re.IGNORECASE,
    )
    own = asked and re.match(rf'{_I}\b(?!.*\b(?:see|seen|find|found|read|put|placed?)\b)', asked['rest'])
    if asked is None or own or asked['rest'].lower() == 'this':
        return text
    holds = asked['verb'].lower() in ('has', 'had', 'contain', 'contains') and not asked['rest'].startswith(
        'you '
    )
    return f'Where {"is" if holds else asked["verb"]} {asked["rest"]}?'


def _without_did(text: str) -> str:
    return re.sub(rf'\b(?:did|do)\s+{_I}\b', ' ', text)


def _thing(rest: str) -> str:
    """Return what else than places a question is about; empty: nothing."""
    plain = re.sub(r"(?<=\w)n?['\u2019][a-z]+\b", ' ', rest)
    return target_of(' '.join(word for word in re.findall(r'\w+', plain) if word not in _PLAIN))
