"""Tasks made from what is true of a day in a home, and of the home as the day left it."""

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, zip_longest

from remembr_ros.evaluation.embodied.predicates import Demand
from remembr_ros.evaluation.findingdory.episode import HomeEpisode
from remembr_ros.evaluation.findingdory.truth import Handling
from remembr_ros.memory.objects.wording import plural
from remembr_ros.simulation.homes.catalogue import FURNITURE, ON_FURNITURE, PAINTS
from remembr_ros.simulation.homes.world import ACTIONS, OPENS

CHOICES = 4  # at most, one of them is right
CATEGORIES = ('attribute', 'spatial', 'navigation', 'interaction', 'social')

_Filling = tuple[str, str, tuple[str, ...], tuple[Demand, ...], Collection[str]]
"""A category, an instruction with gaps, what fills them, what is demanded, and wrong answers."""


@dataclass(frozen=True, slots=True)
class EmbodiedTask:
    """An instruction, and what has to hold when it is carried out.

    :param pattern: what the instruction was made from
    :param choices: answers to choose from; empty: nothing is asked
    """

    category: str
    pattern: str
    instruction: str
    demands: tuple[Demand, ...]
    choices: tuple[str, ...]


class _Facts:
    """What can be said of a home without doubt.

    :ivar said: how a thing is called, by id, if that tells it from all others
    :ivar at: the same with on or in, of furniture
    :ivar objects: ids of those that the robot knows and that have a name of their own
    :ivar once: handlings of such an object that is handled once
    :ivar here: the room of the person
    """

    def __init__(self, episode: HomeEpisode) -> None:
        truth = episode.truth
        self.things, self.rooms, self.handled = truth.simulator.things, truth.simulator.rooms, truth.handled
        self.on = {str(number): str(at.receptacle) for number, at in episode.placements.items()}
        names = Counter(one.name for one in self.things.values())
        in_room = Counter((one.name, one.room) for one in self.things.values())
        self.said = {
            key: f'the {one.name}' + (f' in the {one.room}' if names[one.name] > 1 else '')
            for key, one in self.things.items()
            if in_room[one.name, one.room] == 1 and (key in truth.known or one.label in FURNITURE)
        }
        self.objects = [key for key in truth.objects if names[truth.name(key)] == 1]
        self.furniture = [key for key in self.said if self.things[key].kind == 'receptacle']
        where = {key: 'in' if self.things[key].label == 'fridge' else 'on' for key in self.furniture}
        self.at = {key: f'{where[key]} {self.said[key]}' for key in self.furniture}
        times = Counter(one.thing for one in self.handled)
        self.once = [one for one in self.handled if times[one.thing] == 1 and one.thing in self.objects]
        self.here = next(one.room for one in self.things.values() if one.label == 'person')

    def names(self, keys: Iterable[str]) -> list[str]:
        return [self.said[key] for key in keys]

    def by_label(self) -> Iterator[tuple[Handling, str]]:
        """Yield handlings, each with words that tell the thing by its label and where it was put."""
        label = {key: thing.label for key, thing in self.things.items()}
        times = Counter((label[one.thing], one.target) for one in self.handled)
        for one in self.once:
            if times[label[one.thing], one.target] == 1 and one.target in self.said:
                yield one, f'the {label[one.thing]} that you put {self.at[one.target]} yesterday'

    def of_handlings(self) -> Iterator[_Filling]:
        pieces, here = self.names(self.furniture), _at(self.here)
        for which, one in (('first', self.handled[0]), ('last', self.handled[-1])):
            if one in self.once:
                right, names = _right(self.said[one.thing]), self.names(self.objects)
                yield 'attribute', 'Which thing did you move {} yesterday?', (which,), right, names
                yield (
                    'navigation',
                    'Go to the thing that you moved {} yesterday.',
                    (which,),
                    _at(one.thing),
                    (),
                )
        for one in self.once:
            said, back = self.said[one.thing], Demand('at', one.thing, one.source)
            for text, piece in (('From which piece of furniture did you take {} yesterday?', one.source),
                                ('Where did you put {} yesterday?', one.target)):  # fmt: skip
                if piece in self.said:
                    yield 'spatial', text, (said,), _right(self.said[piece]), pieces
            text = 'Go to the {} from which you took {} yesterday.'
            yield 'navigation', text, ('piece of furniture', said), _at(one.source), ()
            yield 'navigation', text, ('room', said), _at(one.picked.room), ()
            yield 'interaction', 'Put {} back where you took it from yesterday.', (said,), (back,), ()
            text = 'I am in the {}. Put {} back where you took it from yesterday, then come to me.'
            yield 'social', text, (self.here, said), (back, *here), ()
        for one, said in self.by_label():
            if colour := self.things[one.thing].attributes.get('colour', ''):
                yield 'attribute', 'What colour is {}?', (said,), _right(colour), PAINTS
            for key in self.furniture:
                if self.things[key].room == self.here != self.things[one.target].room:
                    words, put = (self.here, said, self.things[key].label), Demand('at', one.thing, key)
                    yield 'social', 'I am in the {}. Bring {} to the {} here.', words, (put, *here), ()

    def of_objects(self, rng: random.Random) -> Iterator[_Filling]:
        moved, touched = self.names(one.thing for one in self.once), {one.thing for one in self.handled}
        for key in self.objects:
            said, target, grab = self.said[key], rng.choice(self.furniture), Demand('grab', key)
            if key not in touched and len(moved) >= CHOICES - 1:
                yield 'attribute', 'Which of these did you not move yesterday?', (), _right(said), moved
            yield 'spatial', 'In which room is {}?', (said,), _right(self.things[key].room), self.rooms
            yield 'navigation', 'Go to {}.', (said,), _at(key), ()
            if self.things[key].label in ON_FURNITURE:
                yield 'interaction', 'Fetch {}.', (said,), (Demand('grab_once', key), grab), ()
                words = (self.here, said)
                yield 'social', 'I am in the {}. Bring me {}.', words, (grab, *_at(self.here)), ()
                words = (said, self.said[target])
                yield 'interaction', 'Bring {} to {}.', words, (Demand('at', key, target),), ()
        for key, said in self.said.items():
            for deed, labels in {'open': OPENS, **ACTIONS}.items():
                if self.things[key].label in labels:
                    demands = (Demand('special_action_success', key, deed),)
                    yield 'interaction', '{} {}.', (deed.capitalize(), said), demands, ()

    def of_furniture(self) -> Iterator[_Filling]:
        for piece in self.furniture:
            said, look = self.said[piece], Demand('agent_pass', piece)
            there = [key for key, on in self.on.items() if on == piece]
            for label, count in Counter(self.things[key].label for key in there).items():
                text, words = 'How many {} are {}? Go there and look.', (plural(label), self.at[piece])
                yield 'spatial', text, words, (look, *_right(str(count))), '12345'
            others = self.names(key for key in self.objects if key not in there)
            for right in self.names(key for key in self.objects if key in there):
                text = 'Which of these is {}? Go there and look.'
                yield 'spatial', text, (self.at[piece],), (look, *_right(right)), others
            for room in self.rooms:
                if room != self.things[piece].room:
                    demands = (Demand('agent_pass', room), *_at(piece))
                    yield 'navigation', 'Go to {} by way of the {}.', (said, room), demands, ()


def _right(answer: str) -> tuple[Demand, ...]:
    return (Demand('choose', answer),)


def _at(of: str) -> tuple[Demand, ...]:
    return (Demand('agent_at', of),)


def candidates(seed: int, episode: HomeEpisode) -> Iterator[EmbodiedTask]:
    """Yield tasks, of each category in turn and of each of its patterns in turn, until none is left."""
    rng, facts = random.Random(f'embodied {seed}'), _Facts(episode)
    first = seed % len(CATEGORIES)  # which categories have one task more is another in each home
    patterns: dict[str, dict[str, list[_Filling]]] = {
        name: defaultdict(list) for name in CATEGORIES[first:] + CATEGORIES[:first]
    }
    for one in chain(facts.of_handlings(), facts.of_objects(rng), facts.of_furniture()):
        patterns[one[0]][one[1]].append(one)
    for some in patterns.values():
        for fillings in some.values():
            rng.shuffle(fillings)
    mixed = [rng.sample(list(some.values()), len(some)) for some in patterns.values()]
    for row in zip_longest(*(chain.from_iterable(zip_longest(*of_category)) for of_category in mixed)):
        for name, text, words, demands, others in filter(None, row):
            choices: list[str] = []
            if demands[-1].check == 'choose':
                wrong = sorted({*others} - {demands[-1].of})
                choices = [demands[-1].of, *rng.sample(wrong, min(CHOICES - 1, len(wrong)))]
            rng.shuffle(choices)
            yield EmbodiedTask(name, text, text.format(*words), demands, tuple(choices))
