"""What chooses what a robot does next: the truth, chance, rules, or a language model."""

import random
import re
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import NamedTuple

from remembr_ros.evaluation.embodied.tasks import EmbodiedTask
from remembr_ros.evaluation.tasks.chooser import Chooser
from remembr_ros.evaluation.tasks.robot import HomeRobot, Option


class Offer(NamedTuple):
    """What is chosen from.

    :param options: the last ones end the task: the answers, or that it is done
    :param outcome: what became of what was chosen before; empty: nothing was
    """

    observation: str
    options: Sequence[Option]
    outcome: str

    def of_kind(self, *kinds: str) -> list[Option]:
        return [one for one in self.options if one.kind in kinds]


Choice = tuple[Option, str]
"""An option, and the words that it takes."""
Player = Callable[[Offer], Choice]
"""Chooses in one task. ReplyInvalid: it chose nothing; another RemembrError: it cannot go on."""
_Going = Generator[Choice, Offer, Offer]


def _player(go_on: Callable[[Offer], _Going]) -> Player:
    """Return a player that goes on until it has nothing left to do, and then ends the task."""
    going: list[_Going] = []

    def choose(now: Offer) -> Choice:
        try:
            if going:
                return going[0].send(now)
            going.append(go_on(now))
            return next(going[0])
        except StopIteration as done:
            now = done.value or now
            ends = now.of_kind('answer', 'done')
            return max(ends, key=lambda one: len(_words(one.of) & _words(now.outcome))), ''

    return choose


def oracle(task: EmbodiedTask, robot: HomeRobot) -> Player:
    """Return what does as the predicates say, one after the other."""

    def go_on(now: Offer) -> _Going:
        for kind, of in _deeds(task):
            ways = [(kind, of)]
            if kind == 'go' and of.isdigit():
                room, base = robot.simulator.things[of].room, str(robot.world.base(int(of)))
                ways += [('go', room), ('turn', ''), (kind, of), ('go', base), (kind, of)]
                ways = [] if robot.world.is_near(int(of)) else ways
            for way in ways:
                if options := [one for one in now.of_kind(way[0]) if one.of == way[1]]:
                    now = yield options[0], ''
                    if way == (kind, of):
                        break
        return now

    return _player(go_on)


def _deeds(task: EmbodiedTask) -> Iterator[tuple[str, str]]:
    held = ''
    for check, of, by in task.demands:
        if check in ('grab', 'grab_once', 'at') and held != of:
            held = of
            yield from (('go', of), ('pick', of))
        if check == 'choose':
            yield 'answer', of
        elif check == 'at':
            yield from (('go', by), ('place', by))
        elif check not in ('grab', 'grab_once'):
            yield from (('go', of), (by, of))


def by_chance(seed: str) -> Player:
    """Return what chooses anything that takes no words."""
    rng = random.Random(seed)
    return lambda now: (rng.choice([one for one in now.options if not one.takes]), '')


_FORMS = (
    (r'.+? (?:on|in) (.+)\? Go there and look', ('go', r'\1')),
    (r'Go to (.+) by way of (.+)', ('go', r'\2'), ('go', r'\1')),
    (r'Go to (.+)', ('go', r'\1')),
    (r'(?:Bring me|Fetch) (.+)', ('pick', r'\1')),
    (r'Put (.+) back where you took it from yesterday.*', ('pick', r'\1'),
     ('place', r'the piece of furniture from which you took \1 yesterday')),
    (r'Bring (.+) to (.+)', ('pick', r'\1'), ('place', r'\2')),
    (r'(Switch on|Open|Slice|Light|Water|Fill) (.+)', (r'\1', r'\2')),
)  # fmt: skip
"""How the parts of an instruction are read: what is done, and to what."""


def offline(task: EmbodiedTask) -> Player:
    """Return what asks the memory where each part of an instruction is, goes there and does it: by rules."""

    def go_on(now: Offer) -> _Going:
        me, text = re.match(r'I am in (the .+?)\. ', task.instruction), task.instruction.rstrip('.')
        for form, *parts in _FORMS:
            if found := re.fullmatch(form, text[me.end() if me else 0 :]):
                for part in parts:
                    deed, of = map(found.expand, part)
                    of = re.sub(' here$', f' in {me[1]}' if me else '', of)
                    now = yield from _reach(of, deed.lower(), now)
                break
        if me:
            now = yield from _reach(me[1], 'go', now)
        if task.choices:
            now = yield now.of_kind('ask')[0], re.sub(r'\? .*', '?', task.instruction)
        return now

    return _player(go_on)


def _reach(of: str, deed: str, now: Offer) -> _Going:
    """Go to something, by what is seen or else what the memory says; and do something to it."""
    said = of
    if seen := [one for one in now.of_kind('go') if one.text.startswith(f'go to {of}')]:
        now = yield seen[0], ''
    else:
        now = yield now.of_kind('ask')[0], f'Go to {of}.'
        said += now.outcome
        if label := re.search(r'\bm\d+', now.outcome.rpartition('[')[2]):
            now = yield now.of_kind('go_to_memory')[0], label[0]
    for kind in (deed, 'go', deed, 'turn', deed, 'go', deed) if deed != 'go' else ():
        fit = {one: _likeness(one, said) for one in now.of_kind(kind)}
        if fit and (kind == 'turn' or max(fit.values()) > 0):
            now = yield max(fit, key=lambda one: fit[one]), ''
            if kind == deed:
                break
    return now


def _words(text: str) -> set[str]:
    return set(re.findall(r'\w+', text.lower())) - {'the', 'in'}


def _likeness(option: Option, said: str) -> int:
    """Return how many words of an option were said; 0 unless those of the thing's name were."""
    text = option.text.partition(' on the ' if option.kind == 'place' else ' the ')[2]
    name = _words(re.split(' on the | in the ', text)[0])
    return len(_words(text) & _words(said)) if name <= _words(said) else 0


SYSTEM = (
    'You are a robot in a home, with a memory of yesterday. Carry out an instruction step by step: call the '
    'tool `choose` with the number of one option. The last options end the task.'
)


def model(task: EmbodiedTask, chooser: Chooser, deadline: float) -> Player:
    """Return what lets a language model choose.

    :param deadline: on time.monotonic's clock [s]
    """

    def choose(now: Offer) -> Choice:
        chooser.timeout_s = deadline - time.monotonic()
        told = [f'Instruction: {task.instruction}', now.outcome, now.observation]
        return chooser.choose('\n'.join(filter(None, told)), now.options)

    return choose
