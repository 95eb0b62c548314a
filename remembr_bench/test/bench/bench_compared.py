"""Questions that compare, negate and group, asked of the offline planner; how many it has right, and how sure
it is of what is wrong. REMEMBR_COMPARED_ONLY=month asks of that memory alone."""

import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from remembr_ros.agent.model.answer import Answer, Kind
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.planner import Run
from test.bench.asked_right import SURE
from test.bench.figure import Figure
from test.unit.agent.compared_month import QUESTIONS, SORTS, Compared
from test.unit.agent.deeds_month import LOG
from test.unit.agent.listed_recall import ListedRecall

ON_REQUEST = True

CLASSES = ('right', 'honest', 'hedged', 'SURE')
DEADLINE_S = 60.0
NO_ANSWER = re.compile(
    r'(?i)\W*(?:not seen\W+)?i '
    r"(?:am not sure|(?:do not|don't|cannot|can't) (?:know|tell|say|understand|compare))\b"
)
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
                counted.update([(name, worth), (SORTS[one.sort - 1], worth)])
                if worth != 'right':
                    said = f'{worth:6} {answer.confidence:.2f} [{name}] {one.text} -> {answer.text!r}'
                    print(f'{said}; {", ".join(faults)}', flush=True)
    rows = [*SORTS, *memories]
    print(f'{"":18}' + ''.join(f'{worth:>7}' for worth in CLASSES))
    for row in rows:
        print(f'{row:18}' + ''.join(f'{counted[row, worth]:7}' for worth in CLASSES))
    return [
        Figure(f'{name}: {worth}', counted[name, worth], None, 'answers')
        for name in memories
        for worth in CLASSES
    ]


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
def _month() -> Iterator[tuple[list[Compared], Asking]]:
    recall, planner = ListedRecall([one.memory for one in LOG]), OfflinePlanner()
    yield QUESTIONS, lambda one: planner.answer(one.question, recall, Run(time.monotonic() + DEADLINE_S))


MEMORIES: dict[str, Callable[[], AbstractContextManager[tuple[list[Compared], Asking]]]] = {'month': _month}
