"""The 60 instructions by their meanings, each filled from the truth of an episode wherever that can be.

Words are this project's own, and a second time after the paper's; see wordings.py. What is counted are
handlings: a thing was picked and put elsewhere.
"""

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from operator import attrgetter
from typing import Any

from remembr_bench.evaluation.findingdory.truth import EpisodeTruth, Handling
from remembr_bench.evaluation.findingdory.wordings import FINDINGDORY, OURS, PAPERS, in_papers_words
from remembr_bench.evaluation.tasks.goals import Goal, Predicate, Quantifier, Task, Where, shortest
from remembr_ros.memory.objects.wording import plural
from remembr_ros.timestamps import NS, format_iso

NEARLY_M = 1.0  # what is less nearer than the farthest is as far
CLEARLY = 1.1  # by this factor the longest has to be longer than the next
_ORDINALS = 'first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth'.split()
_NUMBERS = 'zero one two three four five six seven eight nine ten eleven'.split()
_MINUTE_NS = 60 * NS


@dataclass(frozen=True, slots=True)
class Filling:
    """Words for a template, and the parts of its goal."""

    parts: tuple[Predicate, ...]
    words: dict[str, str] = field(default_factory=dict)


Fill = Callable[[EpisodeTruth], Iterable[Filling]]


@dataclass(frozen=True, slots=True)
class Template:
    """An instruction with gaps, all ways to fill it, and what an episode lacks where it cannot be filled."""

    category: str
    text: str
    fill: Fill
    why: str = 'nothing of that kind took place'
    quantifier: Quantifier = Quantifier.EXISTS


def fill_templates(
    truth: EpisodeTruth, rng: random.Random, each: int
) -> tuple[list[tuple[Task, float]], dict[str, str]]:
    """Return at most so many tasks of each template with the shortest ways [m], and why others gave none.

    Each is there twice, in two wordings.
    """
    tasks: list[tuple[Task, float]] = []
    unfilled: dict[str, str] = {}
    for number, template in enumerate(TEMPLATES, start=1):
        fillings = [one for one in template.fill(truth) if one.parts]
        rng.shuffle(fillings)
        made = 0
        for filling in fillings:
            if made == each:
                break
            goal = Goal(template.quantifier, filling.parts)
            metres = shortest(goal, truth.here, truth.simulator)
            if metres < float('inf'):
                made += 1
                text = re.sub(r'\ba (?=[aeiou])', 'an ', template.text.format(**filling.words))
                for mark, wording, said in (
                    ('', OURS, text),
                    ('p', PAPERS, in_papers_words(text, FINDINGDORY)),
                ):
                    name = f'{number:02}-{made}{mark}'
                    task = Task(name, template.category, template.text, said, goal, wording)
                    tasks.append((task, metres))
        if not made:
            why = 'nobody can stand where it would be fulfilled' if fillings else template.why
            unfilled[template.text] = f'{template.category}: {why}'
    return tasks, unfilled


def _parts(truth: EpisodeTruth, which: str) -> tuple[Predicate, ...]:
    """Return the parts of a goal that is about some things of a truth, by the name of its property."""
    where = Where.AT_OBJECT if which in ('objects', 'touched', 'untouched') else Where.AT_RECEPTACLE
    return tuple(Predicate(where, one) for one in getattr(truth, which))


def _any(which: str) -> Fill:
    return lambda truth: [Filling(_parts(truth, which))]


def _by_label(which: str, besides: str = '', said: Callable[[str], str] = str) -> Fill:
    """Fill {label}, {object} or {receptacle} with each label, rather with those of the others as well."""

    def fill(truth: EpisodeTruth) -> Iterator[Filling]:
        by_label = defaultdict(list)
        for part in _parts(truth, which):
            by_label[truth.label(part.of)].append(part)
        others = {truth.label(part.of) for part in _parts(truth, besides)} if besides else set()
        for label in [label for label in by_label if label in others] or by_label:
            names = dict.fromkeys(('label', 'object', 'receptacle'), said(label))
            yield Filling(tuple(by_label[label]), names)

    return fill


def _from_label(truth: EpisodeTruth) -> Iterator[Filling]:
    for label in dict.fromkeys(map(truth.label, truth.sources)):
        picked = {one.thing for one in truth.handled if truth.label(one.source) == label}
        yield Filling(tuple(part for part in _parts(truth, 'touched') if part.of in picked), {'label': label})


def _attribute(name: str) -> Fill:
    def fill(truth: EpisodeTruth) -> Iterator[Filling]:
        by_value = defaultdict(list)
        for part in _parts(truth, 'touched'):
            by_value[truth.simulator.things[part.of].attributes.get(name, '')].append(part)
        for value in filter(None, by_value):
            yield Filling(tuple(by_value[value]), {'value': value})

    return fill


def _farthest(which: str) -> Fill:
    def fill(truth: EpisodeTruth) -> Iterator[Filling]:
        away = {part: truth.away_m(part.of) for part in _parts(truth, which)}
        if len(away) > 1:
            yield Filling(tuple(part for part in away if away[part] >= max(away.values()) - NEARLY_M))

    return fill


_PartOf = Callable[[Handling], Predicate]


def _part(where: Where, name: str, handling: Handling) -> Predicate:
    """Return the predicate about a property of a handling, by the property's name."""
    return Predicate(where, attrgetter(name)(handling))


_thing = partial(_part, Where.AT_OBJECT, 'thing')
_source, _target = (partial(_part, Where.AT_RECEPTACLE, name) for name in ('source', 'target'))
_picked_in, _placed_in = (partial(_part, Where.IN_ROOM, name) for name in ('picked.room', 'placed.room'))


def _nth(part: _PartOf) -> Fill:
    """Fill {n} with each place in the order of handlings."""
    return lambda truth: [
        Filling((part(one),), {'n': n}) for one, n in zip(truth.handled, _ORDINALS, strict=False)
    ]


def _steps(part: _PartOf, *steps: int) -> Fill:
    """Fill {o} and {k}: what came so many handlings after {o}, or before it if negative."""

    def fill(truth: EpisodeTruth) -> Iterator[Filling]:
        for i, step in product(truth.once(), steps):
            if 0 <= i + step < len(truth.handled):
                words = {'o': truth.name(truth.handled[i].thing), 'k': _NUMBERS[abs(step)]}
                yield Filling((part(truth.handled[i + step]),), words)

    return fill


def _between(part: _PartOf) -> Fill:
    """Fill {a} and {b} with things of which one or two others were handled between."""

    def fill(truth: EpisodeTruth) -> Iterator[Filling]:
        for i, j in product(truth.once(), repeat=2):
            if 2 <= j - i <= 3:
                a, b = (truth.name(truth.handled[at].thing) for at in (i, j))
                yield Filling(tuple(map(part, truth.handled[i + 1 : j])), {'a': a, 'b': b})

    return fill


def _clock(*, receptacles: bool) -> Fill:
    """Fill {time} with minutes in which one thing, or one receptacle, was touched, and nothing is nearer."""

    def fill(truth: EpisodeTruth) -> Iterator[Filling]:
        touched: list[tuple[int, int, Predicate]] = []
        for one in truth.handled:
            if receptacles:
                touched.append((one.picked.start_ns, one.picked.end_ns, _source(one)))
                touched.append((one.placed.start_ns, one.placed.end_ns, _target(one)))
            else:
                touched.append((one.picked.start_ns, one.placed.end_ns, _thing(one)))
        for start_ns, end_ns, part in touched:
            minute_ns = -(-start_ns // _MINUTE_NS) * _MINUTE_NS  # the first that begins meanwhile, or after
            minute_ns -= 0 if minute_ns <= end_ns else _MINUTE_NS
            off_ns = {other: max(a - minute_ns, minute_ns - b, 0) for a, b, other in touched}
            within = {other for a, b, other in touched if a < minute_ns + _MINUTE_NS and b >= minute_ns}
            if within == {other for other in off_ns if off_ns[other] == min(off_ns.values())} == {part}:
                yield Filling((part,), {'time': format_iso(minute_ns)[11:16]})

    return fill


def _most(sign: int) -> Fill:
    """Fill with the thing that took longest to rearrange, or shortest if the sign is -1."""

    def fill(truth: EpisodeTruth) -> Iterator[Filling]:
        took = sorted(truth.handled, key=lambda one: -sign * one.seconds)
        if len(took) > 1 and (took[0].seconds / took[1].seconds) ** sign >= CLEARLY:
            yield Filling((_thing(took[0]),))

    return fill


def _longest_stay(truth: EpisodeTruth) -> Iterator[Filling]:
    rooms = sorted(truth.stays_s, key=lambda room: -truth.stays_s[room])
    if len(rooms) == 1 or truth.stays_s[rooms[0]] >= CLEARLY * truth.stays_s[rooms[1]]:
        yield Filling((Predicate(Where.IN_ROOM, rooms[0]),))


def _unvisited(truth: EpisodeTruth) -> Iterator[Filling]:
    left = [room for room in truth.simulator.rooms if room not in truth.stays_s]
    yield Filling(tuple(Predicate(Where.IN_ROOM, room) for room in left))


_AND = 'an object that you handled yesterday and that is'
_FROM, _ON = 'that you picked an object from', 'that you placed an object on'
_FAR = 'receptacle farthest from here that you'
_FEW, _MODELLED = 'too few things were handled', 'nothing in these homes has one'
_CLEAR = 'none was clearly so'
_ALL, _ORDERED = (_FEW, Quantifier.ALL), (_FEW, Quantifier.ALL_IN_ORDER)
_ORDER = 'yesterday, in the order in which you did'

# Each with what fills it, and where that is not "nothing of that kind took place", why nothing does.
_TABLE: dict[str, tuple[tuple[Any, ...], ...]] = {
    'object recall': (
        ('a {object}', _by_label('objects')),
        ('a {receptacle}', _by_label('receptacles')),
        ('a receptacle that you used', _any('used')),
        ('a receptacle that you did not use', _any('unused')),
    ),
    'interaction': (
        ('an object that you handled', _any('touched')),
        ('an object that you did not handle', _any('untouched')),
        (f'a receptacle {_FROM}', _any('sources')),
        (f'a receptacle {_ON}', _any('targets')),
    ),
    'conditional interaction': (
        ('the {label} that you handled', _by_label('touched', 'untouched')),
        ('a {label} that you did not handle', _by_label('untouched', 'touched')),
        ('a {label} that you did not use', _by_label('unused', 'used')),
        (f'a {{label}} {_FROM}', _by_label('sources')),
        (f'a {{label}} {_ON}', _by_label('targets')),
        ('the receptacle from which you picked the {o}', _steps(_source, 0)),
        ('the object that you picked from the {label}', _from_label),
    ),
    'object attributes': (
        (f'{_AND} shaped like a {{value}}', _attribute('shape')),
        (f'{_AND} {{value}}', _attribute('colour')),
        (f'{_AND} printed with {{value}}', lambda _: (), _MODELLED),
        (f'{_AND} made of {{value}}', lambda _: (), _MODELLED),
        (f'{_AND} used for {{value}}', _attribute('function')),
    ),
    'spatial relationship': (
        (f'the {_FAR} used', _farthest('used'), _FEW),
        (f'the {_FAR} did not use', _farthest('unused'), _FEW),
        (f'the {_FAR} picked an object from', _farthest('sources'), _FEW),
        (f'the {_FAR} placed an object on', _farthest('targets'), _FEW),
        ('the object farthest from here that you handled', _farthest('touched'), _FEW),
    ),
    'room visitation': (
        ('the room where you picked the {n} object', _nth(_picked_in)),
        ('the room where you placed the {n} object', _nth(_placed_in)),
        ('the room where you picked the {o}', _steps(_picked_in, 0)),
        ('the room where you placed the {o}', _steps(_placed_in, 0)),
        ('a room that you did not visit', _unvisited, 'the robot was in every room'),
    ),
    'interaction order': (
        ('the {n} object that you handled', _nth(_thing)),
        (f'the {{n}} receptacle {_FROM}', _nth(_source)),
        (f'the {{n}} receptacle {_ON}', _nth(_target)),
        ('the receptacle from which you picked the {n} object', _nth(_source)),
        ('the object that you picked from the {n} receptacle', _nth(_thing)),
        ('the object that you handled right after the {o}', _steps(_thing, 1), _FEW),
        ('the object that you handled right before the {o}', _steps(_thing, -1), _FEW),
        ('the object that you handled {k} interactions after the {o}', _steps(_thing, 2, 3, 4), _FEW),
        ('the object that you handled {k} interactions before the {o}', _steps(_thing, -2, -3, -4), _FEW),
        ('the object that you handled between the {a} and the {b}', _between(_thing), _FEW),
        (f'the receptacle {_ON} right before you picked the {{o}}', _steps(_target, -1), _FEW),
        (f'the receptacle {_FROM} right after you placed the {{o}}', _steps(_source, 1), _FEW),
        (f'the receptacle {_ON} {{k}} interactions before the {{o}}', _steps(_target, -2, -3, -4), _FEW),
        (f'the receptacle {_FROM} {{k}} interactions after the {{o}}', _steps(_source, 2, 3, 4), _FEW),
        (f'the receptacle {_ON} between the {{a}} and the {{b}}', _between(_target), _FEW),
        (f'the receptacle {_FROM} between the {{a}} and the {{b}}', _between(_source), _FEW),
    ),
    'time-based': (
        ('the receptacle that you used at {time}', _clock(receptacles=True), 'no minute tells one'),
        ('the object that you handled at {time}', _clock(receptacles=False), 'no minute tells one'),
    ),
    'duration tracking': (
        ('the object that took you longest to rearrange', _most(1), _CLEAR),
        ('the object that took you the shortest time to rearrange', _most(-1), _CLEAR),
        ('the room where you stayed the longest', _longest_stay, _CLEAR),
    ),
    'unordered revisitation': (
        (f'all receptacles {_FROM}', _any('sources'), *_ALL),
        (f'all receptacles {_ON}', _any('targets'), *_ALL),
        (f'all {{label}} {_ON}', _by_label('targets', said=plural), *_ALL),
        (f'all {{label}} {_FROM}', _by_label('sources', said=plural), *_ALL),
        ('all objects that you handled', _any('touched'), *_ALL),
        ('all receptacles that you used', _any('used'), *_ALL),
    ),
    'ordered revisitation': (
        (f'all receptacles {_FROM} {_ORDER}', _any('sources'), *_ORDERED),
        (f'all receptacles {_ON} {_ORDER}', _any('targets'), *_ORDERED),
        (f'all objects that you handled {_ORDER}', _any('touched'), *_ORDERED),
    ),
}


TEMPLATES = tuple(
    # What is asked of the robot's deeds is asked of yesterday.
    Template(
        category, f'Go to {text}{"" if "yesterday" in text or " you " not in text else " yesterday"}.', *rest
    )
    for category, rows in _TABLE.items()
    for text, *rest in rows
)
