"""Tasks made from what is true of a day in a home, and of the home as the day left it."""

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from remembr_ros.evaluation.embodied.predicates import Demand
from remembr_ros.evaluation.findingdory.episode import HomeEpisode
from remembr_ros.memory.objects.wording import plural
from remembr_ros.simulation.homes.catalogue import FURNITURE, ON_FURNITURE, PAINTS
from remembr_ros.simulation.homes.home import ACTIONS, OPENS

CHOICES = 4  # at most, one of them is right
CATEGORIES = ('attribute', 'spatial', 'navigation', 'interaction', 'social')


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


_Filling = tuple[str, str, Sequence[str], tuple[Demand, ...], Collection[str]]
"""A category, a pattern, what fills its gaps, what is demanded, and answers, right ones among them."""


def candidates(seed: int, episode: HomeEpisode) -> Iterator[EmbodiedTask]:
    """Yield tasks, of each category in turn and of each of its patterns in turn, until none is left."""
    rng = random.Random(f'embodied {seed}')
    every = list(_fillings(episode, rng))
    rng.shuffle(every)
    for category, pattern, words, demands, answers in _by_turns(_by_turns(every, 1), 0):
        right = demands[-1].of
        wrong = sorted({*answers} - {right})
        choices = [right, *rng.sample(wrong, min(CHOICES - 1, len(wrong)))] if answers else []
        rng.shuffle(choices)
        yield EmbodiedTask(category, pattern, pattern.format(*words), demands, tuple(choices))


def _by_turns(fillings: list[_Filling], part: int) -> list[_Filling]:
    """Return first one of each category (part 0) or pattern (1), then the second of each, and so on."""
    turns: defaultdict[object, Iterator[int]] = defaultdict(count)
    return sorted(fillings, key=lambda filling: next(turns[filling[part]]))


def _fillings(episode: HomeEpisode, rng: random.Random) -> Iterator[_Filling]:
    """Yield what can be said of a home without doubt."""
    truth, things, rooms = episode.truth, episode.simulator.things, episode.simulator.rooms
    here = next(thing.room for thing in things.values() if thing.label == 'person')
    names = Counter(thing.name for thing in things.values())
    in_room = Counter((thing.name, thing.room) for thing in things.values())
    said = {
        key: f'the {one.name}' + (f' in the {one.room}' if names[one.name] > 1 else '')
        for key, one in things.items()
        if in_room[one.name, one.room] == 1 and (key in truth.known or one.label in FURNITURE)
    }
    pieces = [key for key in said if things[key].kind == 'receptacle' and things[key].label != 'fridge']
    small = [k for k in truth.objects if names[truth.name(k)] == 1 and truth.label(k) in ON_FURNITURE]
    to_here = Demand('agent_at', here)
    moves = Counter(one.thing for one in truth.handled)
    put = Counter((truth.label(one.thing), one.target) for one in truth.handled)
    for one in truth.handled:
        if moves[one.thing] > 1 or one.thing not in small:
            continue
        name, label, back = said[one.thing], truth.label(one.thing), Demand('at', one.thing, one.source)
        if one is truth.handled[-1]:
            text, answers = 'Which thing did you move last yesterday?', [said[key] for key in small]
            yield 'attribute', text, (), (Demand('choose', name),), answers
        text = 'Go to the piece of furniture from which you took {} yesterday.'
        yield 'navigation', text, (name,), (Demand('agent_at', one.source),), ()
        yield 'interaction', 'Put {} back where you took it from yesterday.', (name,), (back,), ()
        text = 'I am in the {}. Put {} back where you took it from yesterday, then come to me.'
        yield 'social', text, (here, name), (back, to_here), ()
        if one.target in pieces and put[label, one.target] == 1:
            right, answers = Demand('choose', said[one.target]), [said[key] for key in pieces]
            yield 'spatial', 'Where did you put {} yesterday?', (name,), (right,), answers
            words, to = f'the {label} that you put on {said[one.target]} yesterday', rng.choice(pieces)
            yield 'interaction', 'Bring {} to {}.', (words, said[to]), (Demand('at', one.thing, to),), ()
            if colour := things[one.thing].attributes.get('colour'):
                yield 'attribute', 'What colour is {}?', (words,), (Demand('choose', colour),), PAINTS
    for key in small:
        name, grab = said[key], Demand('grab', key)
        yield 'spatial', 'In which room is {}?', (name,), (Demand('choose', things[key].room),), rooms
        yield 'navigation', 'Go to {}.', (name,), (Demand('agent_at', key),), ()
        yield 'interaction', 'Fetch {}.', (name,), (Demand('grab_once', key), grab), ()
        yield 'social', 'I am in the {}. Bring me {}.', (here, name), (grab, to_here), ()
    for key, name in said.items():
        for deed, labels in {'open': OPENS, **ACTIONS}.items():
            if things[key].label in labels:
                done = Demand('special_action_success', key, deed)
                yield 'interaction', '{} {}.', (deed.capitalize(), name), (done,), ()
    for key in pieces:
        there = [things[str(n)].label for n, at in episode.placements.items() if str(at.receptacle) == key]
        for label, times in Counter(there).items():
            text, look = 'How many {} are on {}? Go there and look.', Demand('agent_pass', key)
            yield 'spatial', text, (plural(label), said[key]), (look, Demand('choose', str(times))), '12345'
        for room in sorted({*rooms} - {things[key].room}):
            demands = (Demand('agent_pass', room), Demand('agent_at', key))
            yield 'navigation', 'Go to {} by way of the {}.', (said[key], room), demands, ()
