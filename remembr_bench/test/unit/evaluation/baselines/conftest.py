"""A drive past four things, twice the lift, and a recall of it."""

from collections.abc import Callable
from typing import Any

import pytest

from remembr_ros.agent.model.answer import Question
from remembr_ros.agent.planner import Run
from remembr_ros.geometry import Pose
from remembr_ros.memory.matching.terms import content_stems
from remembr_ros.memory.model.recall import ANYTHING, Hit, Query, Scope, Survey, survey_of
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import NS

START_NS = 1_700_000_000 * NS

SEEN = ['A lift with a red door.', 'A brown bench.', 'A printer.', 'Room 117.', 'A lift, its door open.']


def memories(**changes: Any) -> list[Memory]:
    """Every 20 s, at x = 0, 10, 20 ... m; t0, t1 ..."""
    return [
        Memory(
            **{
                'id': f't{i}',
                'robot': 'robbie',
                'start_ns': START_NS + i * 20 * NS,
                'end_ns': START_NS + (i * 20 + 3) * NS,
                'caption': caption,
                'pose': Pose(10.0 * i, 1.0),
                **changes,
            }
        )
        for i, caption in enumerate(SEEN)
    ]


class Remembered:
    """A recall of memories; what has a word of the text has a good score. Keeps what it was asked by text."""

    def __init__(self, remembered: list[Memory]) -> None:
        self._memories = remembered
        self.asked: list[tuple[str, int]] = []

    def find(self, query: Query) -> list[Hit]:
        if query.text is None:
            return [Hit(m, 1.0) for m in reversed(self._memories)][: query.limit]
        self.asked.append((query.text, query.limit))
        stems = content_stems(query.text)
        hits = [Hit(m, 0.7 if stems & content_stems(m.caption) else 0.2) for m in self._memories]
        return sorted(hits, key=lambda hit: -hit.score)[: query.limit]

    def count(self, scope: Scope = ANYTHING) -> int:
        return len(self._memories)

    embedder_name = 'remembered'

    def survey(self, scope: Scope = ANYTHING) -> Survey:
        return survey_of(self._memories)


@pytest.fixture
def remember() -> Callable[..., Remembered]:
    """Return a function that makes a recall of the drive, with fields of its memories changed."""
    return lambda **changes: Remembered(memories(**changes))


@pytest.fixture
def nothing() -> Remembered:
    return Remembered([])


@pytest.fixture
def drive(remember: Callable[..., Remembered]) -> Remembered:
    return remember()


@pytest.fixture
def ask_about() -> Callable[[str], Question]:
    """Make a question, asked 2 minutes after the start from x = 32 m."""
    return lambda text: Question(text, START_NS + 120 * NS, Pose(32.0, 1.0))


@pytest.fixture
def run() -> Run:
    return Run(deadline=float('inf'))
