"""What chooses what a robot does next: the truth, chance, rules, or a language model."""

import random
import re
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import NamedTuple

from remembr_ros.agent.chat.client import Call, ChatClient, Message, Tool
from remembr_ros.agent.chat.loose_json import read_object
from remembr_ros.agent.llm.reply_text import calls_in_text
from remembr_ros.agent.model.usage import Ledger
from remembr_ros.errors import BudgetExceeded, ReplyInvalid
from remembr_ros.evaluation.embodied.tasks import EmbodiedTask
from remembr_ros.evaluation.tasks.robot import HomeRobot, Option

KEPT = 8  # deeds that a language model is told of


class Offer(NamedTuple):
    """What is chosen from.

    :param options: the last ones end the task: the answers, or that it is done
    :param outcome: what became of what was chosen before; empty: nothing was
    """

    observation: str
    options: Sequence[Option]
    outcome: str

    def find(self, kind: str, of: str = '') -> Option | None:
        """Return the option of a kind, and about a thing if one is named; None: there is none."""
        return next((one for one in self.options if one.kind == kind and of in ('', one.of)), None)


Choice = tuple[Option, str]
"""An option, and the words that it takes."""
Player = Callable[[Offer], Choice]
"""Chooses in one task. It raises ReplyInvalid where it chose nothing that there is, and another RemembrError
where it cannot go on."""
_Going = Generator[Choice | None, Offer, None]


def _started(going: _Going) -> Player:
    next(going)
    return going.send  # type: ignore[return-value]


def oracle(task: EmbodiedTask, robot: HomeRobot) -> Player:
    """Return what does as the predicates say, one after the other."""

    def go_on() -> _Going:
        now = yield None
        for kind, of in _deeds(task):
            ways = [(kind, of)]
            if kind == 'go' and of.isdigit():
                if robot.world.is_near(int(of)):
                    continue
                room, base = robot.simulator.things[of].room, str(robot.world.base(int(of)))
                ways += [('go', room), ('turn', ''), (kind, of), ('go', base), (kind, of)]
            for way in ways:
                if option := now.find(*way):
                    now = yield option, ''
                    if way == (kind, of):
                        break
        while True:
            now = yield now.options[-1], ''

    return _started(go_on())


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
            yield from (('go', of), *([(by, of)] if by else []))


def by_chance(seed: str) -> Player:
    """Return what chooses anything that takes no words."""
    rng = random.Random(seed)
    return lambda now: (rng.choice([one for one in now.options if not one.takes]), '')


_FORMS = (
    (r'.+ on (.+)\? Go there and look', ('go', r'\1')),
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
    """Return what asks the memory, without a language model, where each part of an instruction is, goes there
    and does it."""

    def go_on() -> _Going:
        now = yield None
        me = re.match(r'I am in (the .+?)\. ', task.instruction)
        text = task.instruction[me.end() if me else 0 :].rstrip('.')
        found = next(((fit, form[1:]) for form in _FORMS if (fit := re.fullmatch(form[0], text))), None)
        for part in found[1] if found else ():
            deed, of = map(found[0].expand, part)
            now = yield from _reach(re.sub(' here$', f' in {me[1]}' if me else '', of), now, deed.lower())
        if me:
            now = yield from _reach(me[1], now, 'go')
        if task.choices:
            now = yield now.find('ask'), re.sub(r'\? .*', '?', task.instruction)
        while True:
            ends = [one for one in now.options if one.kind in ('answer', 'done')]
            now = yield max(ends, key=lambda one: len(_words(one.of) & _words(now.outcome))), ''

    return _started(go_on())


def _reach(of: str, now: Offer, deed: str) -> Generator[Choice, Offer, Offer]:
    """Go to something, by what is seen or else what the memory says; and do something to it."""
    said = of
    seen = [one for one in now.options if one.kind == 'go' and one.text.startswith(f'go to {of}')]
    if seen:
        now = yield seen[0], ''
    else:
        now = yield now.find('ask'), f'Go to {of}.'
        said = f'{of} {now.outcome}'
        if label := re.search(r'\bm\d+', now.outcome.rpartition('[')[2]):
            now = yield now.find('go_to_memory'), label[0]
    for _ in range(4 if deed != 'go' else 0):
        for kind in (deed, 'go'):
            if fit := [one for one in now.options if one.kind == kind and _likeness(one, said)]:
                break
        else:
            kind, fit = 'turn', [now.find('turn')]
        now = yield max(fit, key=lambda one: _likeness(one, said)), ''
        if kind == deed:
            break
    return now


def _words(text: str) -> set[str]:
    return set(re.findall(r'\w+', text.lower())) - {'the', 'in'}


def _likeness(option: Option, said: str) -> int:
    """Return how many words of an option were said; 0 unless those of the thing's name were."""
    text = option.text.partition(' on the ' if option.kind == 'place' else ' the ')[2]
    name = _words(re.split(' on the | in the ', text)[0])
    return len(_words(text) & _words(said)) if name and name <= _words(said) else 0


_NUMBER, _TEXT = (
    {'type': 'integer', 'description': 'its number'},
    {'type': 'string', 'description': 'if it takes any'},
)
_CHOOSE = Tool(
    'choose',
    'Choose what the robot does next.',
    {'type': 'object', 'properties': {'option': _NUMBER, 'words': _TEXT}, 'required': ['option']},
)
_SYSTEM = (
    'You are a robot in a home. You have a memory of yesterday, and carry out an instruction step by step: '
    'call the tool `choose` with the number of one option. The last options end the task.'
)


def model(task: EmbodiedTask, chat: ChatClient, ledger: Ledger, deadline: float) -> Player:
    """Return what lets a language model choose, which is told of the last deeds.

    :param deadline: on time.monotonic's clock [s]
    """
    done: deque[str] = deque(maxlen=KEPT)

    def choose(now: Offer) -> Choice:
        if done and now.outcome:
            done[-1] += f': {now.outcome}'
        listed = [
            f'{i}. {one.text}' + f' (words: {one.takes})' * bool(one.takes)
            for i, one in enumerate(now.options, 1)
        ]
        told = [
            f'Instruction: {task.instruction}',
            'Done so far:',
            *(done or ['nothing']),
            now.observation,
            *listed,
        ]
        messages = [Message('system', _SYSTEM), Message('user', '\n'.join(told))]
        done.append('no choice')
        if (left_s := deadline - time.monotonic()) <= 0.0:
            raise BudgetExceeded('the time is over')
        reply = chat.complete(Call(messages, [_CHOOSE], must_call='choose', timeout_s=left_s, ledger=ledger))
        calls = reply.tool_calls or calls_in_text(reply.content)
        arguments = (read_object(calls[0].arguments) if calls else None) or {}
        number, words = arguments.get('option'), arguments.get('words') or ''
        if not isinstance(number, int) or not 1 <= number <= len(listed) or not isinstance(words, str):
            raise ReplyInvalid(f'call choose with an option from 1 to {len(listed)}, and words as a text')
        done[-1] = f'{now.options[number - 1].text} {words}'.strip()
        return now.options[number - 1], words

    return choose
