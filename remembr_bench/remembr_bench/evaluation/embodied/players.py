"""What carries out a task: the truth, chance, rules, or a language model."""

import random
import re
import time
from collections.abc import Callable

from remembr_bench.evaluation.embodied.tasks import EmbodiedTask
from remembr_bench.evaluation.tasks.chooser import Chooser
from remembr_bench.evaluation.tasks.robot import HomeRobot, Option
from remembr_ros.agent.chat.client import ChatClient
from remembr_ros.agent.model.answer import Ledger
from remembr_ros.errors import ReplyInvalid
from remembr_ros.memory.deeds.query import is_named
from remembr_ros.memory.matching.terms import content_stems

SYSTEM = (
    'You are a robot in a home, with a memory of yesterday. Carry out an instruction step by step: call the '
    'tool `choose` with the number of one option. The last options end the task.'
)


class Playthrough:
    """A task while it is carried out.

    :param deadline: on time.monotonic's clock [s]
    :ivar options: of the robot now; the last ones end the task: the answers, or that it is done
    :ivar chosen: the answer; None: the task was not ended
    """

    def __init__(self, task: EmbodiedTask, robot: HomeRobot, steps: int, deadline: float) -> None:
        self.task, self.robot, self.deadline, self._steps = task, robot, deadline, steps
        ends = [Option('answer', f'answer: {choice}', choice) for choice in task.choices]
        self.ends = ends or [Option('done', 'done')]
        self.done: list[dict[str, str]] = []
        self.chosen: str | None = None
        self.ledger = Ledger()
        self.outcome, self.seen, self.options = '', robot.observe(), [*robot.options(), *self.ends]

    @property
    def over(self) -> bool:
        return len(self.done) >= self._steps or time.monotonic() > self.deadline or self.chosen is not None

    def do(self, option: Option, words: str = '') -> None:
        """Do one of the options, unless it is over."""
        if not self.over:
            self.chosen = option.of if option in self.ends else None
            self.did(option.text, words, self.robot.do(option, words) if self.chosen is None else '')

    def did(self, option: str, words: str, outcome: str) -> None:
        """Keep a step, and look what there is now."""
        self.done.append({'observation': self.seen, 'option': option, 'words': words, 'outcome': outcome})
        self.outcome, self.seen = outcome, self.robot.observe()
        self.options = [*self.robot.options(), *self.ends]

    def do_best(
        self, kind: str, fit: Callable[[Option], int] = lambda _: 1, words: str = ''
    ) -> Option | None:
        """Do the option of a kind that fits best; return it, if one fits."""
        best = max((option for option in self.options if option.kind == kind), key=fit, default=None)
        if best is None or fit(best) <= 0:
            return None
        self.do(best, words)
        return best


Player = Callable[[Playthrough], None]
"""Carries out a task. RemembrError: it cannot go on."""


def oracle(attempt: Playthrough) -> None:
    """Do as the predicates say, one after the other."""
    for check, of, by in attempt.task.demands:
        grabs = check in ('grab', 'grab_once')
        if (grabs or check == 'at') and str(attempt.robot.world.held) != of:
            _do_to(attempt, 'pick', of)
        if not grabs:
            deed = {'choose': 'answer', 'at': 'place'}.get(check, by or 'go')
            _do_to(attempt, deed, by if check == 'at' else of)
    attempt.do(attempt.ends[-1])


def _do_to(attempt: Playthrough, deed: str, of: str) -> None:
    """Do something to a thing or a room; go there before, by way of where the thing comes into view."""
    thing, fit = attempt.robot.simulator.things.get(of), {}
    if thing is not None:
        fit = {thing.room: 1, str(attempt.robot.world.base(int(of))): 2}
    _try(attempt, deed, lambda one: {**fit, of: 3}.get(one.of, 0), of)


def _try(attempt: Playthrough, deed: str, fit: Callable[[Option], int], of: str = '') -> None:
    """Do what fits, after going to what fits, until it is done.

    :param of: to this; empty: to anything that fits
    """
    for kind in (deed, 'go', deed, 'turn', deed, 'go', deed, 'go', deed):
        done = attempt.do_best(kind) if kind == 'turn' else attempt.do_best(kind, fit)
        if done is not None and kind == deed and of in ('', done.of):
            break


def by_chance(attempt: Playthrough) -> None:
    """Do anything that takes no words; the same in each run."""
    rng = random.Random(attempt.task.instruction)
    while not attempt.over:
        attempt.do(rng.choice([option for option in attempt.options if not option.takes]))


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
"""How an instruction is read: what is done, and to what."""


def offline(attempt: Playthrough) -> None:
    """Ask the memory where each part of an instruction is, go there and do it: by rules."""
    told = attempt.task.instruction
    me, text = re.match(r'I am in (the .+?)\. ', told), told.rstrip('.')
    for form, *parts in _FORMS:
        if found := re.fullmatch(form, text[me.end() if me else 0 :]):
            for deed, of in parts:
                _find(attempt, found.expand(deed).lower(), found.expand(of))
            break
    if me:
        _find(attempt, 'go', me[1])
    if attempt.task.choices:
        attempt.do_best('ask', words=re.sub(r'\? .*', '?', told))
    attempt.do(min(attempt.ends, key=lambda end: len(content_stems(end.of) - content_stems(attempt.outcome))))


def _find(attempt: Playthrough, deed: str, of: str) -> None:
    """Go to something, by what is seen or else what the memory says; and do something to it."""
    said = of
    if attempt.do_best('go', lambda one: one.text.startswith(f'go to {of}')) is None:
        attempt.do_best('ask', words=f'Go to {of}.')
        said += attempt.outcome
        if label := re.search(r'\bm\d+', attempt.outcome.rpartition('[')[2]):
            attempt.do_best('go_to_memory', words=label[0])
    if deed != 'go':
        _try(attempt, deed, lambda one: _likeness(one, said))


def _likeness(option: Option, said: str) -> int:
    """Return how many words of an option were said; 0 unless those of the thing's name were."""
    text = option.text.partition(' on the ' if option.kind == 'place' else ' the ')[2]
    name = re.split(' on the | in the ', text)[0]
    return len(content_stems(text) & content_stems(said)) if is_named(name, said) else 0


def model(attempt: Playthrough, chat: ChatClient) -> None:
    """Let a language model choose; what is no choice costs a step."""
    chooser = Chooser(chat, SYSTEM, 0.0)
    attempt.ledger = chooser.ledger
    while not attempt.over:
        chooser.timeout_s = attempt.deadline - time.monotonic()
        told = [f'Instruction: {attempt.task.instruction}', attempt.outcome, attempt.seen]
        try:
            attempt.do(*chooser.choose('\n'.join(filter(None, told)), attempt.options))
        except ReplyInvalid as error:
            attempt.did('', '', f'That was no choice: {error}.')


PLAYERS: dict[str, Player] = {'offline': offline, 'random': by_chance, 'oracle': oracle}
"""Those that need no language model."""
