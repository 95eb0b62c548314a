"""Tasks made from what is true of a day in a home and of the home afterwards, and what they demand."""

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

from remembr_bench.evaluation.findingdory.episode import HomeEpisode
from remembr_bench.evaluation.tasks.goals import Predicate, Where, standing
from remembr_bench.evaluation.tasks.robot import HomeRobot
from remembr_bench.simulation.homes.catalogue import FURNITURE, ON_FURNITURE, PAINTS
from remembr_bench.simulation.homes.home import ACTIONS, OPENS
from remembr_ros.memory.objects.wording import plural


class Demand(NamedTuple):
    """That a predicate holds.

    :param check: choose: an answer; agent_at, agent_pass: it is somewhere at the end, was at any time; at: a
        thing is in a receptacle at the end; grab_once, grab: it held a thing at any time, does at the end;
        special_action_success: it did something to a thing
    :param of: number of a thing, name of a room, or the answer
    :param by: of `at` the number of the receptacle, of a special action which, such as open
    """

    check: str
    of: str
    by: str = ''


def holds(demand: Demand, robot: HomeRobot, chosen: str | None) -> bool:
    """Tell whether a demand is met now.

    :param chosen: the answer; None: there is none
    """
    (check, of, by), world, home = demand, robot.world, robot.simulator
    if check == 'choose':
        return chosen == of
    if check in ('agent_at', 'agent_pass'):
        thing = home.things.get(of)
        where = Where.AT_RECEPTACLE if thing is not None and thing.kind == 'receptacle' else Where.AT_OBJECT
        there = Predicate(Where.IN_ROOM if of in home.rooms else where, of)
        # The latest first: where it went last is most often where it was to go.
        poses = robot.poses[-1:] if check == 'agent_at' else robot.poses[::-1]
        return any(standing(pose, there, home).succeeds for pose in poses)
    if check == 'at':
        return int(of) in world.making.placed and str(world.making.placed[int(of)].receptacle) == by
    if check == 'special_action_success':
        return any((deed.kind, str(deed.item)) == (by, of) for deed in world.done)
    return world.held == int(of) if check == 'grab' else int(of) in robot.held_once


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
