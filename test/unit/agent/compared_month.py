"""36 questions about the month of deeds that compare, group or leave out; its log says what is true."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import dist

from remembr_ros.agent.model.answer import Answer, Kind
from test.unit.agent.deeds_month import PLANTS, SPOTS
from test.unit.agent.questions_month import (
    CASE,
    CAT,
    DANCES,
    DEMOS,
    FIRE,
    HERE,
    LOADS,
    OPENED,
    PARCEL,
    POLISH,
    SONG,
    TENT,
    UNPACK,
    Asked,
    dates,
    find,
    is_in,
    names,
    number,
    total,
)

MORE, FIRST, NEARER, LONGER, MOST, EACH, NOT, EXCEPT = SORTS = (
    *('more or fewer', 'first or last', 'nearer or farther', 'longer'),
    *('most or fewest', 'by group', 'not', 'except'),
)
_LEFT_OUT = re.compile(
    r'\b(?:apart from|other than|except(?: for)?|besides|but|without)[^.,:;]*', re.IGNORECASE
)
_BETTER = (
    r'\b(?:more|most|fewer|fewest|less|least|first|last|later|earlier|longe\w+|nea\w+|close\w+|far\w+)\b'
)
_CANNOT = re.compile(
    r"\b(?:cannot|can't|do not|don't) (?:tell|say|know|compare)\b|\bnobody can\b", re.IGNORECASE
)
_UNDERSTOOD = re.compile(r' I understood: .*; not: .*$', re.DOTALL)


@dataclass(frozen=True)
class Compared(Asked):
    """A question that compares, groups or leaves out, and its truth.

    :param sort: number of one of SORTS, from 1 on
    :param wins: what the answer names alone, before `over`, or as what is more; alternatives between bars
    :param over: what else there was to choose
    :param groups: what is said of each name, after it or before it
    :param untold: no memory can tell of this: what is right is to say so; words between bars
    """

    wins: str = ''
    over: Sequence[str] = ()
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    untold: str = ''

    def faults(self, answer: Answer) -> list[str]:
        """Return what an answer lacks; nothing: it is right."""
        text = _UNDERSTOOD.sub('', answer.text)  # which repeats the question
        if self.untold:
            unknown = re.search(
                rf'\b(?:no|not|never|nothing)\b[^.:;]*\b(?:{self.untold})', text, re.IGNORECASE
            )
            admits = answer.kind is Kind.NOT_SEEN or (
                answer.binary is None and (unknown or _CANNOT.search(text))
            )
            return [] if admits and 'not understand' not in text else ['does not say that nobody can tell']
        said = re.match(r'\W*(?:perhaps )?(?:(yes)|no)\b', text, re.IGNORECASE)
        if answer.binary is None and said:
            answer = replace(answer, binary=bool(said[1]))
        # What an answer repeats as left out it does not list.
        kept = replace(answer, text=_LEFT_OUT.sub('', text) if self.sort == 8 else text)
        found = super().faults(kept)
        if self.yes is None and text != answer.text:
            found.append('not understood')
        if self.wins and not wins(self.wins, self.over, text):
            found.append(f'not {self.wins} before {", ".join(self.over)}')
        if self.groups and not is_grouped(self.groups, text):
            found.append(f'not by group {dict(self.groups)}')
        return found


def at(part: str, text: str) -> int:
    """Return where the first of some words between bars is in a text; -1: none is."""
    places = [text.lower().find(one.lower()) for one in part.split('|')]
    return min((place for place in places if place >= 0), default=-1)


def wins(winner: str, over: Sequence[str], text: str) -> bool:
    """Tell whether a text names one before all others, or in a clause of its own as what is more."""
    if re.match(r'\W*(?:perhaps )?(?:yes|no|not seen)\b', text, re.IGNORECASE):
        return False
    place = at(winner, text)
    if place >= 0 and not any(0 <= at(other, text) < place for other in over):
        return True
    clauses = re.split(r'[.:;,](?=\s|$)', text)
    own = [one for one in clauses if at(winner, one) >= 0 and all(at(other, one) < 0 for other in over)]
    return any(re.search(_BETTER, one, re.IGNORECASE) for one in own)


def is_grouped(groups: Mapping[str, Sequence[str]], text: str) -> bool:
    """Tell whether a text says of each name what is true of it: always after the name, or always before."""
    spots = sorted((at(name, text), name) for name in groups)
    if spots[0][0] < 0:
        return False
    ends = [*(place for place, _ in spots), len(text)]
    pieces = [(name, text[a:b]) for (_, name), (a, b) in zip(spots, pairwise(ends), strict=True)]
    before = [(name, text[a:b]) for (_, name), (a, b) in zip(spots, pairwise([0, *ends]), strict=False)]
    return any(
        all(any(is_in(one, piece) for one in part.split('|')) for name, piece in way for part in groups[name])
        for way in (pieces, before)
    )


def dated(date: str) -> str:
    """Return how an answer may write a day of the month."""
    day = int(date[-2:])
    return f'{date}|September {day}|{day} September|{day} Sep|Sep {day}|{day}th|{day}st|{day}nd'


def top(counted: Mapping[str, float], least: bool = False) -> str:
    """Return what has the most, or the least, which must be one alone."""
    ((first, one), (_, other)) = sorted(counted.items(), key=lambda item: item[1] * (1 if least else -1))[:2]
    assert one != other
    return first


def others(some: Iterable[str], but: str) -> list[str]:
    return sorted(one for one in set(some) if one != but)


def away(spot: str, place: tuple[float, float] = HERE) -> float:
    return dist(SPOTS[spot][1], place)


def better(one: str, other: str, left: float, right: float) -> dict[str, object]:
    """Return what is right of two that are compared: the greater, if either."""
    assert left != right
    return {'wins': one, 'over': [other]} if left > right else {'wins': other, 'over': [one]}


def _times(**about: str) -> int:
    return len(find(outcome='succeeded', **about))


def _moved(thing: str) -> int:
    return _times(kind='place', object=thing)


WEEK, THIS_WEEK = range(21, 28), range(28, 31)  # the one before that of the question, and that
SPENT: Counter[str] = Counter()
for done in find():
    SPENT[done.place] += round(done.seconds)
WATERINGS = Counter(one.object for one in find(kind='water'))
WATERED_NOW = names(find(*THIS_WEEK, kind='water'))
WATERED_TODAY = [one.object for one in find(30, kind='water')]
FAILURES = Counter(one.date for one in find(outcome='failed'))
FAILED_LAST = [one for one in find(*WEEK, outcome='failed') if one.object]
KINDS = ('tea demo', 'cube demo', 'dance demo')
DONE_WELL = Counter(one.object for one in DEMOS if one.outcome == 'succeeded')
TRIED = Counter(one.object for one in DEMOS)
CARRIED = Counter(one.object for one in find(kind='place'))
DEMO_DAYS = Counter(one.date for one in DEMOS)
LONG_S = 210
LONG = [one for one in DEMOS if one.seconds > LONG_S]
TEA_8, CUBES_8 = (find(8, kind='demo', object=f'{kind} demo') for kind in ('tea', 'cube'))
WEEK_DANCES = dates(one for one in DANCES if one.begin.day in WEEK)
NO_DANCE = sorted({one.date for one in find(*WEEK)} - set(WEEK_DANCES))
AUDIENCES = Counter(one.text.rstrip('.').split()[-1] for one in find(kind='introduce'))
TAKEN = names(find(30, hours=(0, 12), kind='pick', place='kitchen'))
ASKERS = {one.text.split()[1].strip(',') for one in find(kind='answer')}
NEVERS = ('never went', 'never been', 'not seen', 'not been', 'no, never', 'did not go')


def of(sort: str, text: str, *says: str, **about: object) -> Compared:
    return Compared(SORTS.index(sort) + 1, text, says, **about)  # type: ignore[arg-type]


QUESTIONS = [
    of(MORE, 'Did you carry more mugs or more bowls?',
       **better('mug', 'bowl', _moved('mug'), _moved('bowl'))),
    of(MORE, 'What did you do more often, sharpen the bread knife or unpack the microscope?',
       'equal|same|both|each|as often|tie|neither|no difference',
       **({} if _times(kind='sharpen') == _times(kind='unpack') else {'yes': False})),
    of(MORE, 'did you dance more often than you gave the tea demo',
       yes=TRIED['dance demo'] > DONE_WELL['tea demo']),
    of(MORE, 'Have you moved more guitars or more hammers this month?', untold='guitar'),
    of(MORE, 'Is the mug heavier than the bowl?', untold='heav|weigh'),
    of(FIRST, 'What did you do first on the 18th, open the tool cabinet or carry the violin case?',
       **better('violin', 'tool cabinet', OPENED.begin.timestamp(), CASE[-2].begin.timestamp())),
    of(FIRST, 'Did you polish the silver tray before you tried to fold the tent yesterday?',
       yes=POLISH.begin < TENT.begin),
    of(FIRST, 'Which came last this month: the fire drill, the birthday song or the orange cat?',
       wins='song|sang|sing|birthday', over=['fire', 'drill', 'cat'],
       lacks=() if SONG.begin > max(FIRE.begin, CAT[-1].begin) else ['song']),
    of(FIRST, 'Did you hand Paula the parcel before or after you sang for Ines?',
       wins='before|first|earlier', over=['after', 'later'],
       lacks=() if PARCEL.begin < SONG.begin else ['before']),
    of(FIRST, f'Which got its water earlier today, the {WATERED_TODAY[-1]} or the {WATERED_TODAY[0]}?',
       wins=WATERED_TODAY[0], over=[WATERED_TODAY[-1]]),
    of(NEARER, 'Which is closer to you, the fridge or the sofa?',
       **better('sofa', 'fridge', -away('sofa'), -away('fridge'))),
    of(NEARER, 'Is the sink nearer to the fridge than the dishwasher is?',
       yes=away('sink', SPOTS['fridge'][1]) < away('dishwasher', SPOTS['fridge'][1])),
    of(NEARER, "What's farther from here, the bookshelf or the workbench?",
       **better('bookshelf', 'workbench', away('bookshelf'), away('workbench'))),
    of(NEARER, 'Of the coffee table, the sink and the workbench, which one is nearest to the dock?',
       wins=(near := min(('coffee table', 'sink', 'workbench'), key=lambda one: away(one, SPOTS['dock'][1]))),
       over=others(('coffee table', 'sink', 'workbench'), near)),
    of(NEARER, 'Is the aquarium closer to you than the fridge?', untold='aquarium'),
    of(LONGER, 'Did the tea demo take longer than the cube demo on the 8th?',
       yes=min(one.seconds for one in TEA_8) > max(one.seconds for one in CUBES_8)),
    of(LONGER, 'Were you longer in the kitchen or in the lounge this month?',
       **better('kitchen', 'lounge', SPENT['kitchen'], SPENT['lounge'])),
    of(LONGER, 'Which demos took longer than three and a half minutes?',
       *map(dated, dates(LONG)), lacks=sorted({one.date for one in DEMOS} - set(dates(LONG)))[:4]),
    of(LONGER, 'What took more time on the 20th, unpacking the microscope or loading the dishwasher?',
       **better('unpack|microscope', 'load|dishwasher', UNPACK.seconds, total(find(20, kind='load')))),
    of(MOST, 'On which day did most go wrong?', wins=dated(top(FAILURES)),
       over=others(FAILURES, top(FAILURES))),
    of(MOST, 'In which room did you spend the least time?', wins=top(SPENT, least=True),
       over=others(SPENT, top(SPENT, least=True))),
    of(MOST, 'Which plant got watered the most?', wins=top(WATERINGS), over=others(PLANTS, top(WATERINGS))),
    of(MOST, 'What thing did you carry around most often in September?',
       f'{CARRIED[top(CARRIED)]}|most|often|more', wins=top(CARRIED),
       over=others(CARRIED, top(CARRIED))),
    of(EACH, 'How often did you water each plant?',
       groups={plant: [number(range(count))] for plant, count in WATERINGS.items()}),
    of(EACH, 'What failed per day last week?',
       groups={dated(day): [f'{one.object}|teacup' if 'tea' in one.object else one.object
                            for one in FAILED_LAST if one.date == day] for day in dates(FAILED_LAST)}),
    of(EACH, 'How many demos of each kind did you give this month?',
       groups={kind: [f'{DONE_WELL[kind]}|{TRIED[kind]}'] for kind in KINDS}),
    of(EACH, 'To whom did you introduce yourself, and how many times each?',
       groups={who: [number(range(count))] for who, count in AUDIENCES.items()}),
    of(NOT, 'Which plants did you not water this week?', *sorted(set(PLANTS) - set(WATERED_NOW)),
       lacks=WATERED_NOW),
    of(NOT, 'which days last week did you not dance?', *map(dated, NO_DANCE), lacks=WEEK_DANCES),
    of(NOT, 'Did you never go to the greenhouse?', 'greenhouse|potting bench|went|times|was there',
       lacks=NEVERS if find(place='greenhouse') else ['went']),
    of(NOT, 'Was there any day last week without a failure?',
       yes=len({one.date for one in find(*WEEK, outcome='failed')}) < len(WEEK)),
    of(NOT, 'Which of the goldfish did you never feed?', untold='goldfish|fish'),
    of(EXCEPT, 'What did you pick up in the kitchen this morning apart from the bowl?',
       *others(TAKEN, 'bowl'), lacks=['bowl'], ),
    of(EXCEPT, 'How many of the dishwasher loads did not fail?',
       number([one for one in LOADS if one.outcome == 'succeeded'])),
    of(EXCEPT, 'Who asked you something, apart from Ines and Omar?', *sorted(ASKERS - {'Ines', 'Omar'}),
       lacks=['Ines', 'Omar']),
    of(EXCEPT, 'Other than the glass jug, what went wrong on the 14th?',
       *others(names(find(14, outcome='failed')), 'glass jug'), lacks=['broke']),
]  # fmt: skip
