"""Tasks made from what is true of a day in a home, and of the home as the day left it."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest

from remembr_ros.evaluation.embodied.predicates import Demand
from remembr_ros.evaluation.findingdory.episode import HomeEpisode
from remembr_ros.evaluation.findingdory.truth import Handling
from remembr_ros.memory.objects.wording import plural
from remembr_ros.simulation.homes.catalogue import FURNITURE, ON_FURNITURE, PAINTS
from remembr_ros.simulation.homes.world import ACTIONS, OPENS

CHOICES = 4  # at most, one of them is right

_Filling = tuple[str, tuple[str, ...], tuple[Demand, ...], tuple[str, ...]]
"""An instruction with gaps, what fills them, what is demanded, and answers to choose from."""


@dataclass(frozen=True, slots=True)
class EmbodiedTask:
    """An instruction, and what has to hold when it is carried out.

    :param id: unique in its home
    :param pattern: what the instruction was made from
    :param choices: answers to choose from; empty: nothing is asked
    """

    id: str
    category: str
    pattern: str
    instruction: str
    demands: tuple[Demand, ...]
    choices: tuple[str, ...]


class _Facts:
    """What can be said of a home without doubt.

    :ivar said: how a thing is called, by id, if that tells it from all others
    :ivar objects: ids of those that the robot knows and that have a name of their own
    :ivar once: handlings of such an object that is handled once; ends: the first and the last of all, if so
    """

    def __init__(self, episode: HomeEpisode, rng: random.Random) -> None:
        truth, self.rng = episode.truth, rng
        self.things, self.rooms = truth.simulator.things, truth.simulator.rooms
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
        self.handled, times = truth.handled, Counter(one.thing for one in truth.handled)
        self.once = [one for one in self.handled if times[one.thing] == 1 and one.thing in self.objects]
        ends = (('first', self.handled[0]), ('last', self.handled[-1]))
        self.ends = [(which, one) for which, one in ends if one in self.once]

    def asked(
        self, text: str, words: tuple[str, ...], right: str, others: Iterable[str], *more: Demand
    ) -> _Filling:
        """Return a question with answers in any order, the right one among them."""
        wrong = sorted({*others} - {right})
        some = [right, *self.rng.sample(wrong, min(CHOICES - 1, len(wrong)))]
        return text, words, (*more, Demand('choose', right)), tuple(self.rng.sample(some, len(some)))

    def name_all(self, keys: Iterable[str]) -> list[str]:
        return [self.said[key] for key in keys]

    def put(self) -> Iterator[tuple[Handling, str]]:
        """Yield handlings, each with words that tell the thing by its label and where it was put."""
        label = {key: thing.label for key, thing in self.things.items()}
        times = Counter((label[one.thing], one.target) for one in self.handled)
        for one in self.once:
            if times[label[one.thing], one.target] == 1 and one.target in self.said:
                yield one, f'the {label[one.thing]} that you put on {self.said[one.target]} yesterday'


def _attribute(facts: _Facts) -> Iterator[_Filling]:
    for one, said in facts.put():
        if colour := facts.things[one.thing].attributes.get('colour', ''):
            yield facts.asked('What colour is {}?', (said,), colour, PAINTS)
    names, moved = facts.name_all(facts.objects), facts.name_all(one.thing for one in facts.once)
    for which, one in facts.ends:
        yield facts.asked('Which thing did you move {} yesterday?', (which,), facts.said[one.thing], names)
    touched = {one.thing for one in facts.handled}
    for key in facts.objects if len(moved) >= CHOICES - 1 else ():
        if key not in touched:
            yield facts.asked('Which of these did you not move yesterday?', (), facts.said[key], moved)


def _spatial(facts: _Facts) -> Iterator[_Filling]:
    for one in facts.once:
        for text, piece in (
            ('From which piece of furniture did you take {} yesterday?', one.source),
            ('Where did you put {} yesterday?', one.target),
        ):
            if piece in facts.said:
                words, pieces = (facts.said[one.thing],), facts.name_all(facts.furniture)
                yield facts.asked(text, words, facts.said[piece], pieces)
    for key in facts.objects:
        yield facts.asked('In which room is {}?', (facts.said[key],), facts.things[key].room, facts.rooms)
    for piece in facts.furniture:
        there, look = [key for key, on in facts.on.items() if on == piece], Demand('agent_pass', piece)
        for label, count in Counter(facts.things[key].label for key in there).items():
            words = (plural(label), facts.said[piece])
            yield facts.asked('How many {} are on {}? Go there and look.', words, str(count), '12345', look)
        others = facts.name_all(key for key in facts.objects if key not in there)
        for right in facts.name_all(key for key in facts.objects if key in there):
            words = (facts.said[piece],)
            yield facts.asked('Which of these is on {}? Go there and look.', words, right, others, look)


def _navigation(facts: _Facts) -> Iterator[_Filling]:
    for which, one in facts.ends:
        yield 'Go to the thing that you moved {} yesterday.', (which,), _at(one.thing), ()
    for one in facts.once:
        words = (facts.said[one.thing],)
        yield 'Go to the piece of furniture from which you took {} yesterday.', words, _at(one.source), ()
        yield 'Go to the room from which you took {} yesterday.', words, _at(one.picked.room), ()
    for key in facts.objects:
        yield 'Go to {}.', (facts.said[key],), _at(key), ()
    for key in facts.furniture:
        for room in facts.rooms:
            if room != facts.things[key].room:
                demands = (Demand('agent_pass', room), *_at(key))
                yield 'Go to {} by way of the {}.', (facts.said[key], room), demands, ()


def _interaction(facts: _Facts) -> Iterator[_Filling]:
    for key in facts.objects:
        said, target = facts.said[key], facts.rng.choice(facts.furniture)
        yield 'Fetch {}.', (said,), (Demand('grab_once', key), Demand('grab', key)), ()
        if facts.things[key].label in ON_FURNITURE:
            yield 'Bring {} to {}.', (said, facts.said[target]), (Demand('at', key, target),), ()
    for one in facts.once:
        back = (Demand('at', one.thing, one.source),)
        yield 'Put {} back where you took it from yesterday.', (facts.said[one.thing],), back, ()
    for key, said in facts.said.items():
        for action, labels in {'open': OPENS, **ACTIONS}.items():
            if facts.things[key].label in labels:
                demands = (Demand('special_action_success', key, action),)
                yield '{} {}.', (action.capitalize(), said), demands, ()


def _social(facts: _Facts) -> Iterator[_Filling]:
    room = next(one.room for one in facts.things.values() if one.label == 'person')
    for key in facts.objects:
        demands = (Demand('grab', key), *_at(room))
        yield 'I am in the {}. Bring me {}.', (room, facts.said[key]), demands, ()
    for one in facts.once:
        text = 'I am in the {}. Put {} back where you took it from yesterday, then come to me.'
        yield text, (room, facts.said[one.thing]), (Demand('at', one.thing, one.source), *_at(room)), ()
    for one, said in facts.put():
        for key in facts.furniture:
            if facts.things[key].room == room != facts.things[one.target].room:
                words = (room, said, facts.things[key].label)
                demands = (Demand('at', one.thing, key), *_at(room))
                yield 'I am in the {}. Bring {} to the {} here.', words, demands, ()


def _at(of: str) -> tuple[Demand, ...]:
    return (Demand('agent_at', of),)


CATEGORIES = (_attribute, _spatial, _navigation, _interaction, _social)


def candidates(seed: int, episode: HomeEpisode) -> Iterator[EmbodiedTask]:
    """Yield tasks, of each category in turn and of each of its patterns in turn, until none is left."""
    rng = random.Random(f'embodied {seed}')
    facts = _Facts(episode, rng)
    first = seed % len(CATEGORIES)  # which categories have one task more is another in each home
    order = CATEGORIES[first:] + CATEGORIES[:first]
    for number, row in enumerate(zip_longest(*(_in_turn(fill(facts), rng) for fill in order)), start=1):
        for fill, filling in zip(order, row, strict=True):
            if filling is not None:
                (text, words, *rest), name = filling, fill.__name__[1:]
                yield EmbodiedTask(f'{name}-{number}', name, text, text.format(*words), *rest)


def _in_turn(fillings: Iterable[_Filling], rng: random.Random) -> Iterator[_Filling]:
    by_pattern = defaultdict(list)
    for one in fillings:
        by_pattern[one[0]].append(one)
    for some in (every := list(by_pattern.values()), *every):
        rng.shuffle(some)
    return (one for row in zip_longest(*every) for one in row if one is not None)
