"""Questions that compare, negate and group, asked of the offline planner; how many it has right, and how sure
it is of what is wrong. REMEMBR_COMPARED_ONLY=month asks of that memory alone."""

import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from functools import partial
from tempfile import TemporaryDirectory

from remembr_ros.agent.agent import Agent
from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.planner import Run
from remembr_ros.memory.model.record import Observation
from remembr_ros.memory.opening import open_store
from test.bench.asked_right import SURE
from test.bench.bench_asked import EMBEDDER
from test.bench.figure import Figure
from test.simulated.compared_homes import HOMES
from test.unit.agent.compared_month import QUESTIONS, SORTS, Compared
from test.unit.agent.deeds_month import LOG
from test.unit.agent.listed_recall import ListedRecall

ON_REQUEST = True

CLASSES = ('right', 'honest', 'hedged', 'SURE')
NO_ANSWER = re.compile(r'(?i)\W*(?:not seen\W+)?i (?:do not|cannot) (?:know|tell|say|understand|compare)\b')
Asking = Callable[[Compared], Answer]


def run() -> list[Figure]:
    """Ask all, and print what is not right."""
    counted = Counter[tuple[str, str]]()
    memories = os.environ.get('REMEMBR_COMPARED_ONLY', '').split() or list(MEMORIES)
    for name in memories:
        with MEMORIES[name]() as (questions, ask):
            for one in questions:
                answer = ask(one)
                worth, faults = judged(one, answer)
                counted.update((row, worth) for row in (name, SORTS[one.sort - 1], 'all'))
                if worth != 'right':
                    said = f'{worth:6} {answer.confidence:.2f} [{name}] {one.text} -> {answer.text!r}'
                    print(f'{said}; {", ".join(faults)}', flush=True)
    print(f'{"":18}' + ''.join(f'{worth:>7}' for worth in CLASSES))
    for row in [*SORTS, *memories, 'all']:
        print(f'{row:18}' + ''.join(f'{counted[row, worth]:7}' for worth in CLASSES))
    return [Figure(f'compared: {worth}', counted['all', worth], None, 'answers') for worth in CLASSES]


def judged(one: Compared, answer: Answer) -> tuple[str, list[str]]:
    """Return the class of an answer, one of CLASSES, and why it is not right."""
    faults, none = one.faults(answer), NO_ANSWER.match(answer.text)
    if not faults and (one.untold or not none):
        return 'right', []
    sure = answer.confidence >= SURE
    if none or (answer.kind is Kind.NOT_SEEN and not sure):
        return 'honest', faults
    return 'SURE' if sure else 'hedged', faults


@contextmanager
def _home(name: str) -> Iterator[tuple[list[Compared], Asking]]:
    home, questions = HOMES[name]()
    about = Question('', home.episode.now_ns, home.episode.truth.here)
    with (
        closing(home.episode.simulator),
        TemporaryDirectory(prefix='remembr-compared-') as folder,
        open_store(f'{folder}/memory.db', EMBEDDER) as store,
    ):
        store.add([Observation(memory) for memory in home.episode.memories])
        agent = Agent(store, [OfflinePlanner()])
        yield questions, lambda one: agent.ask(replace(about, text=one.text, asker=one.text))


@contextmanager
def _month() -> Iterator[tuple[list[Compared], Asking]]:
    recall, planner = ListedRecall([one.memory for one in LOG]), OfflinePlanner()
    yield QUESTIONS, lambda one: planner.answer(one.question, recall, Run(time.monotonic() + 60.0))


MEMORIES: dict[str, Callable[[], AbstractContextManager[tuple[list[Compared], Asking]]]] = {
    'month': _month,
    **{name: partial(_home, name) for name in HOMES},
}
