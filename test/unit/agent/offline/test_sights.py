import time

import pytest

from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.planner import Run
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import NS
from test.unit.agent.listed_recall import ListedRecall

T = 1_700_000_000 * NS
CAPTIONS = (
    'A brick building behind a street.',
    'The entrance of a building with a glass door.',
    'An interior hallway with lockers.',
    'The interior of a lobby with red couches.',
    'An interior hallway with a lift.',
    'A building and a street with trees.',
    'A wide street with cars.',
    'The interior of a shop behind its window.',
)
SEEN = [
    Memory(f'm{i}', 'r', T + 60 * i * NS, T + (60 * i + 50) * NS, caption, Pose(10.0 * i, 0.0))
    for i, caption in enumerate(CAPTIONS)
]


def ask(text: str) -> Answer:
    question = Question(text, T + 600 * NS)
    return OfflinePlanner().answer(question, ListedRecall(SEEN), Run(time.monotonic() + 30.0))


@pytest.mark.parametrize(
    ('text', 'seconds'),
    [
        ('When did you enter the building?', 120),
        ('When did you go into the building?', 120),
        ('When did you leave the building?', 290),
        ('When did I get out of the building?', 290),
    ],
)
def test_a_building_is_entered_and_left_where_its_interior_is_seen(text: str, seconds: int) -> None:
    answer = ask(text)
    assert (answer.kind, answer.time_ns) == (Kind.TIME, T + seconds * NS)


def test_in_a_building_one_is_as_long_as_its_interior_is_seen() -> None:
    answer = ask('How long were you in the building for?')
    assert (answer.kind, answer.duration_s) == (Kind.DURATION, 170.0)


def test_a_thing_in_a_building_is_no_stay_inside() -> None:
    assert ask('Did you see red couches in the building?').evidence[0].memory.id == 'm3'
