from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from remembr_bench.cli.demo import DemoQuestion, is_right, questions, remove_earlier
from remembr_bench.simulation.truth import RecordingTruth, SignTruth, View
from remembr_ros.agent.model.answer import Answer, Kind
from remembr_ros.errors import InvalidRequest, RemembrError
from remembr_ros.geometry import Pose

NS = 1_000_000_000
START_NS = 1_700_000_000 * NS
TEXTS = ('ROOM 101', 'ROOM 102', 'ROOM 103', 'EXIT', 'EXIT', 'LIFT', 'CAFETERIA', 'STAIRS', 'PRINTER')


def sign(i: int, text: str, readable: bool = True) -> SignTruth:
    """Readable from x = 10 i, from second 10 i to second 10 i + 2."""
    start_ns = START_NS + 10 * i * NS
    view = View(start_ns, start_ns + 2 * NS, (Pose(10.0 * i, 0.0),))
    return SignTruth(text, (10.0 * i, 1.0, 1.5), 0.0, 'corridor', (view,) if readable else ())


TRUTH = RecordingTruth(
    0, START_NS, START_NS + 100 * NS, tuple(sign(i, text) for i, text in enumerate(TEXTS)), (), (), 'map'
)


def test_five_questions_are_asked_one_of_each_sort() -> None:
    asked = questions(TRUTH)
    kinds = [question.kind for question in asked]
    assert kinds == [Kind.POSITION, Kind.POSITION, Kind.TIME, Kind.TEXT, Kind.NOT_SEEN]
    assert [question.navigate for question in asked] == [False, True, False, False, False]
    assert [question.texts for question in asked] == [
        ('ROOM 102',),
        ('LIFT',),
        ('CAFETERIA',),
        ('PRINTER',),
        (),
    ]


def test_only_signs_that_could_be_read_are_asked_for() -> None:
    hidden = replace(TRUTH, signs=(*(sign(i, 'ROOM 104', False) for i in range(9)), *TRUTH.signs))
    assert questions(hidden) == questions(TRUTH)
    with pytest.raises(RemembrError, match='--seed'):
        questions(replace(TRUTH, signs=TRUTH.signs[:4]))


def answer(kind: Kind, x: float | None = None, second: float | None = None, text: str = '') -> Answer:
    return Answer(
        kind,
        text,
        'offline',
        pose=None if x is None else Pose(x, 0.0),
        time_ns=None if second is None else START_NS + round(second * NS),
    )


EXIT = DemoQuestion('Where is the exit?', Kind.POSITION, ('EXIT',))  # at 30 m and 40 m
WHEN = DemoQuestion('When did you see the lift?', Kind.TIME, ('LIFT',))  # from 50 s to 52 s
READ = DemoQuestion('What can be read near the lift?', Kind.TEXT, ('LIFT',))
POOL = DemoQuestion('Where is the swimming pool?', Kind.NOT_SEEN, ())


@pytest.mark.parametrize(
    ('asked', 'given', 'expected'),
    [
        (EXIT, answer(Kind.POSITION, 30.0), True),
        (EXIT, answer(Kind.POSITION, 44.9), True),
        (EXIT, answer(Kind.POSITION, 45.1), False),
        (EXIT, answer(Kind.POSITION), False),
        (EXIT, answer(Kind.NOT_SEEN), False),
        (EXIT, answer(Kind.TIME, 30.0, 30.0), False),
        (WHEN, answer(Kind.TIME, second=51.0), True),
        (WHEN, answer(Kind.TIME, second=45.0), True),
        (WHEN, answer(Kind.TIME, second=44.9), False),
        (WHEN, answer(Kind.TIME, second=57.1), False),
        (WHEN, answer(Kind.TIME), False),
        (READ, answer(Kind.TEXT, text='One can read "Lift".'), True),
        (READ, answer(Kind.TEXT, text='Nothing.'), False),
        (POOL, answer(Kind.NOT_SEEN), True),
        (POOL, answer(Kind.POSITION, 30.0), False),
    ],
)
def test_an_answer_is_held_against_the_truth(asked: DemoQuestion, given: Answer, expected: bool) -> None:
    assert is_right(asked, given, TRUTH) is expected


def test_a_memory_that_no_demo_made_is_not_deleted(command: Callable[..., Any], tmp_path: Path) -> None:
    pytest.importorskip('rclpy', reason='needs ROS 2: make setup')
    database = tmp_path / 'memory.db'
    database.write_bytes(b'of a robot')
    code, _, err = command('demo', '--out', tmp_path)
    assert (code, database.read_bytes()) == (2, b'of a robot')
    assert '--out' in err


@pytest.mark.parametrize('name', ['memory.db', 'memory.db.keyframes'])
def test_what_no_demo_made_is_not_deleted(tmp_path: Path, name: str) -> None:
    (tmp_path / 'logs').mkdir()  # as many programs have
    mine = tmp_path / name
    mine.mkdir()
    (mine / 'a.jpg').write_bytes(b'mine')
    for _ in range(2):
        with pytest.raises(InvalidRequest, match=f'{mine} is of no demo'):
            remove_earlier(tmp_path / 'memory.db')
    assert (mine / 'a.jpg').read_bytes() == b'mine'


def test_what_an_earlier_demo_made_is_deleted(tmp_path: Path) -> None:
    database, keyframes = tmp_path / 'memory.db', tmp_path / 'memory.db.keyframes'
    mine = tmp_path / 'mine'
    mine.mkdir()
    remove_earlier(database)
    for _ in range(2):  # the second one was killed before it had a database
        keyframes.symlink_to(mine)
        database.touch()
        remove_earlier(database)
        assert not database.exists()
        assert not keyframes.is_symlink()
        assert mine.exists()
