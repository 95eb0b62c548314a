"""Whose memories a question is about, and of where: robots, maps, floors and "here" that it names."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.agent.model.grounding import Choice
from remembr_ros.agent.model.quoting import any_case
from remembr_ros.agent.offline.question_terms import ASKING
from remembr_ros.agent.offline.request import Request, parse_request
from remembr_ros.agent.overview.floors import floor_of_map, floors_in, without_floors
from remembr_ros.agent.times.time_expression import Reach
from remembr_ros.memory.matching.terms import STOP_WORDS, words
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.places.place import NamedPlace
from remembr_ros.memory.places.places import Places
from remembr_ros.memory.recall_protocol import Recall

MOST_NAMES = 20  # that are looked for among the robots; each takes a count

_NAME = re.compile(r"[^\W_](?:[\w.-]*[^\W_])?(?='s\b|[^\w-]|$)")
_SEEN = r'(?:see|saw|seen|meet|met|passe?d?|find|found)'
_CLAUSE = any_case(r'\b(?:before|after|until|once|while|when) (?:you|we|i|it|they|the|\w+ing)\b[^,;.:?!]*$')
_OF_YOU = {'is': 'are', 'was': 'were', 'has': 'have', 'does': 'do'}
HERE_RADIUS_M = 10.0  # What is 'here' is this near


@dataclass(frozen=True, slots=True)
class NamedScope:
    """Whose memories a question is about.

    :param text: the question; a robot that did something is 'you' in it, and its map is left out
    :param robots: as the memory spells them; empty: any
    :param map_id: None: none is named
    :param place: the named place that it is within; None: none is named
    :param unknown: a sentence about a robot of which nobody can tell; empty: there is none such
    :param reach: since when and until when there are memories; None: there are none
    """

    text: str
    robots: tuple[str, ...] = ()
    map_id: str | None = None
    reach: Reach | None = None
    unknown: str = ''
    place: NamedPlace | None = None


def named_scope(text: str, recall: Recall) -> NamedScope:
    """Return the robots and the map that a question names."""
    robots, unknown = dict[str, None](), ''
    for spoken, name in _candidates(text)[:MOST_NAMES]:
        if not recall.count(Scope(robots=(name,))):
            continue
        if re.search(rf'\b{_SEEN}\s+{re.escape(spoken)}', text, re.IGNORECASE):
            unknown = f'I do not know {name} by sight.'
        else:
            robots[name] = None
            text = _without_robot(text, spoken)
    survey = recall.survey()
    map_ids = [area.map_id for area in survey.areas if area.map_id]
    map_id = None
    for known_map in sorted(map_ids, key=len, reverse=True):
        spelled = r'[\s_-]*'.join(map(re.escape, re.findall(r'[^\W\d_]+|\d+', known_map)))
        place = rf'\b(?:on|in|at|of|inside)\s+(?:the\s+)?(?:map\s+)?{spelled}(?:\s+(?:map|floor))?(?![\w-])'
        if (found := re.search(place, text, re.IGNORECASE)) is not None:
            map_id, text = known_map, text[: found.start()] + text[found.end() :]
            break
    floors = floors_in(text)
    on_floor = [known_map for known_map in map_ids if len(floors) == 1 and floor_of_map(known_map) in floors]
    if map_id is None and len(on_floor) == 1:
        map_id = on_floor[0]
        text = re.sub(r'\b(?:on|at|in|of)\s+(?:the\s+)?(?=\s|[?.!,]|$)', '', without_floors(text))
    first_ns, last_ns = survey.first_ns, survey.last_ns
    reach = None if first_ns is None or last_ns is None else (first_ns, last_ns)
    other = re.search(r'\brobot[\s_-]?\d+\b', text, re.IGNORECASE)
    unknown = f'I know no robot of the name {other[0]}.' if other else unknown
    return NamedScope(' '.join(text.split()), tuple(robots), map_id, reach, unknown)


def within_place(named: NamedScope, places: Places, recall: Recall) -> NamedScope:
    """Return the scope of a question that says within which place: 'Is there a fridge in the kitchen?'"""
    known = [place for place in places.all if named.map_id in (None, place.memory.map_id)]
    for (start, end), place in named_in(named.text, known):
        inside = re.search(r'\b(?:in|inside(?:\s+of)?|within|at)\s+$', named.text[:start], re.IGNORECASE)
        of_thing = re.match(r'\s+([^\W\d_]+)', named.text[end:])  # 'in the kitchen sink'
        if inside is None or (of_thing and of_thing[1].lower() not in ASKING):
            continue
        if _CLAUSE.search(named.text[: inside.start()]):
            continue  # where that was which is before or after what is asked
        # 'At the lift' it may have been before its door.
        stood = inside[0][:2].lower() != 'at'
        if stood or recall.count(Scope(place=place.name, map_id=place.memory.map_id)):
            text = f'{named.text[: inside.start()]} {named.text[end:]}'
            text = re.sub(r'\s+(?=[?.!,])', '', ' '.join(text.split()))
            return replace(named, text=text, map_id=place.memory.map_id, place=place)
    return named


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


def _candidates(text: str) -> list[tuple[str, str]]:
    """Return what may be the name of a robot, as it is said and as it may be spelled."""
    spoken = _NAME.findall(text)
    named = [
        (f'{a} {b}', f'{a}{mark}{b}') for a, b in pairwise(spoken) if b.isdigit() for mark in ('-', '_', '')
    ]
    named += [(b, b) for a, b in pairwise(spoken) if a.lower() == 'robot']
    named += [(w, w) for w in spoken if re.search(r'[A-Z\d_-]', w) and not w.isdigit()]
    spelled = ((word, name) for word, spelling in named for name in (spelling, spelling.lower()))
    return [(word, name) for word, name in dict.fromkeys(spelled) if word.lower() not in STOP_WORDS]


def _without_robot(text: str, spoken: str) -> str:
    name = rf'(?:\b(?:the\s+)?robot\s+)?(?<![\w-]){re.escape(spoken)}(?![\w-])'
    acting = re.sub(
        rf'\b(did|does|do|has|have|had|was|were|is|are|can|could|will)\s+{name}',
        lambda found: f'{_OF_YOU.get(found[1].lower(), found[1])} you',
        text,
        flags=re.IGNORECASE,
    )
    named = rf"(?:\b(?:by|with|of|from|for|to)\s+)?{name}(?:'s)?(?:\s*,)?"
    return re.sub(named, ' ', acting, flags=re.IGNORECASE)


def asked_of(named: NamedScope, question: Question) -> tuple[Request, Scope]:
    """Return what a question asks for, and of which memories."""
    request = parse_request(named.text, question.now_ns, question.zone, named.reach)
    window, place = request.window, named.place
    map_id = named.map_id if named.map_id is not None else question.map_id or None
    robots, name = named.robots, None if place is None else place.name
    return request, Scope(window.after_ns, window.before_ns, robots=robots, map_id=map_id, place=name)


def around_here(request: Request, question: Question, scope: Scope) -> Scope:
    """Narrow down a scope for a question such as 'Is there a printer here?' or 'Where are you?'."""
    if not request.here or question.here is None or request.relation is not None:
        return scope
    whether = request.kind in (Kind.BINARY, Kind.TEXT) and request.choice is Choice.CITED_FIRST
    is_of_here = whether if request.target else request.window.at_ns is None
    return replace(scope, near=question.here.position, radius_m=HERE_RADIUS_M) if is_of_here else scope
