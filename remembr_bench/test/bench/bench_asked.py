"""Questions of people who were not told what the offline planner can do; what it says falsely and is sure of.

asked/questions.yaml has the questions and what is right. The month is made up, and kept where
REMEMBR_ASKED_MONTH says. REMEMBR_ASKED_DEMO is a memory of `remembr demo`, REMEMBR_ASKED_KITCHEN one of the
Red Kitchen's RGB-D bag with what yolox_nano finds. Copies are asked; what is not there is not.
REMEMBR_ASKED_ONLY=month asks only that.
"""

import os
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from remembr_ros.agent.agent import Agent
from remembr_ros.agent.model.answer import Answer, Question
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.timestamps import NS
from test.bench.asked_right import Case, Verdict
from test.bench.figure import Figure
from test.simulated.month import Month, month

ON_REQUEST = True

QUESTIONS = Path(__file__).parent / 'asked' / 'questions.yaml'
ROOT = Path(__file__).resolve().parents[3]
WHERE = {
    'demo': os.environ.get('REMEMBR_ASKED_DEMO', str(ROOT / 'demo_out' / 'memory.db')),
    'kitchen': os.environ.get('REMEMBR_ASKED_KITCHEN', str(ROOT / '.cache' / 'kitchen.db')),
    'month': os.environ.get('REMEMBR_ASKED_MONTH', str(ROOT / '.cache' / 'month.db')),
}
GROUPS = ('questions', 'picked', 'later')
EMBEDDER = 'all-MiniLM-L6-v2'
AT_ONCE = 500


@dataclass(frozen=True)
class Asked:
    """One question with its answer.

    :param group: of the memory's questions, one of GROUPS
    """

    memory: str
    group: str
    question: str
    right: list[Any]
    answer: Answer
    verdict: Verdict
    seconds: float


def run() -> list[Figure]:
    """Ask all, and count what is wrong."""
    asked = list(ask_all(os.environ.get('REMEMBR_ASKED_ONLY', '').split()))
    for one in asked:
        print(f'[{one.memory}] {one.question}\n    {one.answer.text}')
        how = f'{one.answer.kind.value}, {one.answer.confidence:.2f} sure, {one.seconds:.2f} s'
        print(f'    {how}: {one.verdict}')
        if not one.verdict.right:
            print(f'    right: {one.right}')
    figures = []
    for (memory, group), count in Counter((one.memory, one.group) for one in asked).items():
        verdicts = [one.verdict for one in asked if (one.memory, one.group) == (memory, group)]
        right = sum(verdict.right for verdict in verdicts)
        false = sum(verdict.sure and not verdict.right for verdict in verdicts)
        figures += [
            Figure(f'{memory}, {group}: right of {count}', right, None, 'answers'),
            Figure(f'{memory}, {group}: false and sure of {count}', false, None, 'answers'),
        ]
    return figures


def ask_all(only: list[str]) -> Iterator[Asked]:
    """Ask the memories that are there.

    :param only: names of memories; empty: all
    """
    for memory, about in yaml.safe_load(QUESTIONS.read_text()).items():
        if only and memory not in only:
            continue
        truth = month() if memory == 'month' else None
        if truth is not None:
            _keep(truth, Path(WHERE[memory]))
        if not Path(WHERE[memory]).exists():
            print(f'{memory} is not asked: there is no {WHERE[memory]}')
            continue
        with _copied(Path(WHERE[memory])) as path, open_store(path, EMBEDDER, create=False) as store:
            agent = Agent(store, [OfflinePlanner()])
            for group in GROUPS:
                for number, item in enumerate(about[group]):
                    usual = _usual(about, f'{group} {number}')
                    for asked in _talk(agent, usual, item.get('talk', [item]), truth):
                        yield Asked(memory, group, *asked)


def _talk(
    agent: Agent, usual: Question, turns: list[dict[str, Any]], truth: Month | None
) -> Iterator[tuple[str, list[Any], Answer, Verdict, float]]:
    """Yield each question of a conversation, what is right, the answer, its worth, and the time [s]."""
    before = None
    for turn in turns:
        began = time.perf_counter()
        answer = agent.ask(replace(usual, text=turn['ask']))
        seconds = time.perf_counter() - began
        verdict = Case(answer, truth, before).judge(turn['right'])
        yield (turn['ask'], turn['right'], answer, verdict, seconds)
        before = answer


def _usual(about: dict[str, Any], asker: str) -> Question:
    """Return what all questions of a conversation have in common."""
    return Question(
        '',
        now_ns=round(about['now'].timestamp()) * NS,
        here=Pose(*about['here']) if 'here' in about else None,
        map_id=about.get('map', ''),
        asker=asker,
    )


def _keep(made: Month, path: Path) -> None:
    """Remember the month, unless that was done."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with open_store(str(path), EMBEDDER) as store:
        store.expect_bulk()
        for start in range(0, len(made.memories), AT_ONCE):
            store.add([Observation(memory) for memory in made.memories[start : start + AT_ONCE]])


@contextmanager
def _copied(path: Path) -> Iterator[str]:
    """Yield a copy: a memory may be open in another process."""
    with tempfile.TemporaryDirectory(prefix='remembr-asked-') as folder:
        for beside in path.parent.glob(f'{path.name}*'):
            copy = shutil.copytree if beside.is_dir() else shutil.copy2
            if not beside.name.endswith('.keyframes'):
                copy(beside, Path(folder) / beside.name)
        yield str(Path(folder) / path.name)
