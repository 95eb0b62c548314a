"""36 questions about the month of deeds that compare, group or leave out; its log says what is true."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from math import dist
from typing import Any

from remembr_ros.agent.model.answer import Answer, Kind
from test.unit.agent import questions_month as month
from test.unit.agent.deeds_month import PLANTS, SPOTS
from test.unit.agent.questions_month import Asked, dates, find, is_in, names, number

SORTS = ('more', 'first', 'nearer', 'longer', 'most', 'each', 'not', 'except')
_BETTER = r'(?:more|most|fewer|fewest|less|least|first|last|later|earlier|longe\w+|nea\w+|close\w+|far\w+)'
_LEFT_OUT = re.compile(r'(?i)\b(?:apart from|other than|except|besides|but|without)\b[^.,:;]*')
_CANNOT = re.compile(r"(?i)\b(?:cannot|can't|do not|don't|nobody can) (?:tell|say|know|compare)\b")
_UNDERSTOOD = re.compile(r' I understood: .*; not: (.*)$', re.DOTALL)
_NEEDED = rf'"(?:{_BETTER}|than|or|each|every|per|before|no|not|never|apart|other|except|but|without)"'


@dataclass(frozen=True)
class Compared(Asked):
    """A question that compares, groups or leaves out, and its truth.

    :param sort: number of one of SORTS, from 1 on
    :param wins: what the answer names alone, before `over`, or as what is more; alternatives between bars
    :param over: what else there was to choose
    :param groups: what is said of each name, always after it or always before it
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
            none = rf'(?i)\b(?:no|not|never|nothing)\b[^.:;]*\b(?:{self.untold})'
            says_so = answer.binary is None and (re.search(none, text) or _CANNOT.search(text))
            says_so = says_so or answer.kind is Kind.NOT_SEEN
            return [] if says_so and 'not understand' not in text else ['does not say that nobody can tell']
        said = re.match(r'(?i)\W*(?:perhaps )?(?:(yes)|no)\b', text)
        if answer.binary is None and said:
            answer = replace(answer, binary=bool(said[1]))
        # What an answer repeats as left out it does not list.
        kept = _LEFT_OUT.sub('', text) if SORTS[self.sort - 1] == 'except' else text
        found = super().faults(replace(answer, text=kept))
        left = _UNDERSTOOD.search(answer.text)
        if left and re.search(_NEEDED, left[1]):
            found.append('not understood')
        if self.wins and not wins(self.wins, self.over, text):
            found.append(f'not {self.wins} before {", ".join(self.over)}')
        if self.groups and not is_grouped(self.groups, text):
            found.append(f'not by group {dict(self.groups)}')
        return found


def wins(winner: str, over: Sequence[str], text: str) -> bool:
    """Tell whether a text names one before all others, or in a clause of its own as what is more."""
    if re.match(r'(?i)\W*(?:perhaps )?(?:yes|no|not seen)\b', text):
        return False
    named = re.compile(rf'(?i)\b(?:({winner})|{"|".join(over)})')
    if (first := named.search(text)) and first[1]:
        return True
    clauses = (one for one in re.split(r'[.:;,](?=\s|$)', text) if re.search(rf'(?i)\b{_BETTER}\b', one))
    return any({bool(one[1]) for one in named.finditer(clause)} == {True} for clause in clauses)


def is_grouped(groups: Mapping[str, Sequence[str]], text: str) -> bool:
    """Tell whether a text says of each name what is true of it."""
    found = {name: re.search(rf'(?i)\b(?:{name})', text) for name in groups}
    spots = sorted((spot.start(), name) for name, spot in found.items() if spot)
    places = [place for place, _ in spots]
    ways = [pairwise([*places, len(text)]), pairwise([0, *places])]
    cut = [[(groups[name], text[a:b]) for (_, name), (a, b) in zip(spots, way, strict=True)] for way in ways]
    return len(spots) == len(groups) and any(
        all(any(is_in(one, piece) for one in part.split('|')) for parts, piece in way for part in parts)
        for way in cut
    )


def most(counted: Mapping[str, Any], things: str = '', *, reverse: bool = True) -> dict[str, Any]:
    """Return what is right of a choice: that which has the most of these things."""
    (first, count), *rest = sorted(counted.items(), key=lambda item: item[1], reverse=reverse)
    assert count != rest[0][1]
    says = (f'most|{things}|twice|({count})|: {count}',)
    return {'wins': first, 'over': [name for name, _ in rest], 'says': says if things else ()}


least = partial(most, reverse=False)


def each(counted: Mapping[str, int]) -> dict[str, list[str]]:
    return {name: [number(range(count))] for name, count in counted.items()}


def of(sort: str, text: str, *says: str, **about: Any) -> Compared:
    return Compared(SORTS.index(sort) + 1, text, **({'says': says} | about))


def _dated(date: str) -> str:
    """Return how an answer may write a day of the month."""
    day = int(date[-2:])
    return f'{date}|September {day}|{day} September|{day} Sep|Sep {day}|{day}th|{day}st|{day}nd'


def _away(*spots: str, place: tuple[float, float] = month.HERE) -> dict[str, float]:
    return {spot: dist(SPOTS[spot][1], place) for spot in spots}


WEEK, THIS_WEEK = range(21, 28), range(28, 31)  # the one before that of the question, and that
SPENT = {place: month.total(find(place=place)) for place, _ in SPOTS.values()}
WATERED = Counter(one.object for one in find(kind='water'))
WET, (DRANK, *_, DRANK_LAST) = names(find(*THIS_WEEK, kind='water')), find(30, kind='water')
FAILED = [one for one in find(*WEEK, outcome='failed') if one.object]
WELL, TRIED = (Counter(one.object for one in month.DEMOS if one.outcome in ended)
               for ended in (('succeeded',), ('succeeded', 'failed')))  # fmt: skip
CARRIED = Counter(one.object for one in find(kind='place'))
LONG = dates(one for one in month.DEMOS if one.seconds > 210)
TEA_8, CUBES_8 = (find(8, kind='demo', object=f'{kind} demo') for kind in ('tea', 'cube'))
DANCES = dates(one for one in month.DANCES if one.begin.day in WEEK)
TAKEN = set(names(find(30, hours=(0, 12), kind='pick', place='kitchen')))
ASKERS = {one.text.split()[1].strip(',') for one in find(kind='answer')}

QUESTIONS = [
    of('more', 'Did you carry more mugs or more bowls?',
       **most({one: CARRIED[one] for one in ('mug', 'bowl')})),
    of('more', 'What did you do more often, sharpen the bread knife or unpack the microscope?',
       'equal|same|both|each|as often|tie|neither|no difference',
       lacks=() if len(find(kind='sharpen')) == len(find(kind='unpack')) else ['same']),
    of('more', 'did you dance more often than you gave the tea demo',
       yes=TRIED['dance demo'] > WELL['tea demo']),
    of('more', 'Have you moved more guitars or more hammers this month?', untold='guitar'),
    of('more', 'Is the mug heavier than the bowl?', untold='heav|weigh'),
    of('first', 'What did you do first on the 18th, open the tool cabinet or carry the violin case?',
       **least({'tool cabinet': month.OPENED.begin, 'violin': month.CASE[-2].begin})),
    of('first', 'Did you polish the silver tray before you tried to fold the tent yesterday?',
       yes=month.POLISH.begin < month.TENT.begin),
    of('first', 'Which came last this month: the fire drill, the birthday song or the orange cat?',
       **most({'fire|drill': month.FIRE.begin, 'song|sang': month.SONG.begin, 'cat': month.CAT[-1].begin})),
    of('first', 'Did you hand Paula the parcel before or after you sang for Ines?',
       **least({'before|first|earlier': month.PARCEL.begin, 'after|later': month.SONG.begin})),
    of('first', f'Which got its water earlier today, the {DRANK_LAST.object} or the {DRANK.object}?',
       **least({one.object: one.begin for one in (DRANK, DRANK_LAST)})),
    of('nearer', 'Which is closer to you, the fridge or the sofa?', **least(_away('fridge', 'sofa'))),
    of('nearer', 'Is the sink nearer to the fridge than the dishwasher is?',
       yes=least(_away('sink', 'dishwasher', place=SPOTS['fridge'][1]))['wins'] == 'sink'),
    of('nearer', "What's farther from here, the bookshelf or the workbench?",
       **most(_away('bookshelf', 'workbench'))),
    of('nearer', 'Of the coffee table, the sink and the workbench, which one is nearest to the dock?',
       **least(_away('coffee table', 'sink', 'workbench', place=SPOTS['dock'][1]))),
    of('nearer', 'Is the aquarium closer to you than the fridge?', untold='aquarium'),
    of('longer', 'Did the tea demo take longer than the cube demo on the 8th?',
       yes=min(one.seconds for one in TEA_8) > max(one.seconds for one in CUBES_8)),
    of('longer', 'Were you longer in the kitchen or in the lounge this month?',
       **most({room: SPENT[room] for room in ('kitchen', 'lounge')})),
    of('longer', 'Which demos took longer than three and a half minutes?',
       *map(_dated, LONG), lacks=sorted(set(dates(month.DEMOS)) - set(LONG))[:4]),
    of('longer', 'What took more time on the 20th, unpacking the microscope or loading the dishwasher?',
       **most({'unpack|microscope': month.UNPACK.seconds,
               'load|dishwasher': month.total(find(20, kind='load'))})),
    of('most', 'On which day did most go wrong?',
       **most(Counter(_dated(one.date) for one in find(outcome='failed')), 'times')),
    of('most', 'In which room did you spend the least time?', **least(SPENT)),
    of('most', 'Which plant got watered the most?', **most(WATERED, 'times')),
    of('most', 'What thing did you carry around most often in September?', **most(CARRIED, 'times')),
    of('each', 'How often did you water each plant?', groups=each(WATERED)),
    of('each', 'What failed per day last week?',
       groups={_dated(day): [f'{one.object}|teacup' if 'tea' in one.object else one.object
                             for one in FAILED if one.date == day] for day in dates(FAILED)}),
    of('each', 'How many demos of each kind did you give this month?',
       groups={kind: [f'{WELL[kind]}|{TRIED[kind]}'] for kind in TRIED}),
    of('each', 'To whom did you introduce yourself, and how many times each?',
       groups=each(Counter(one.text.rstrip('.').split()[-1] for one in month.INTRODUCED))),
    of('not', 'Which plants did you not water this week?', *({*PLANTS} - {*WET}), lacks=[*WET, 'tofu']),
    of('not', 'which days last week did you not dance?',
       *map(_dated, {one.date for one in find(*WEEK)} - {*DANCES}), lacks=DANCES),
    of('not', 'Did you never go to the greenhouse?', 'greenhouse|potting bench|went|times|was there',
       lacks=['never went', 'never been', 'not seen', 'not been'] if find(place='greenhouse') else ['went']),
    of('not', 'Was there any day last week without a failure?', yes=len(dates(FAILED)) < len(WEEK)),
    of('not', 'Which of the goldfish did you never feed?', untold='goldfish|fish'),
    of('except', 'What did you pick up in the kitchen this morning apart from the bowl?',
       *(TAKEN - {'bowl'}), lacks=['bowl']),
    of('except', 'How many of the dishwasher loads did not fail?',
       str(sum(one.outcome == 'succeeded' for one in month.LOADS))),
    of('except', 'Who asked you something, apart from Ines and Omar?', *(ASKERS - {'Ines', 'Omar'}),
       lacks=['Ines', 'Omar']),
    of('except', 'Other than the glass jug, what went wrong on the 14th?',
       *({*names(find(14, outcome='failed'))} - {'glass jug'}), lacks=['broke']),
]  # fmt: skip
