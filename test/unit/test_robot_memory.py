"""The memory as scripts use it."""

import math
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from remembr_ros import RobotMemory, open_memory
from remembr_ros.agent.model.answer import Kind
from remembr_ros.errors import (
    InvalidRequest,
    NothingRemembered,
    RemembrError,
    StoreMismatch,
    StoreUnavailable,
)
from remembr_ros.memory.model.record import memory_id
from remembr_ros.timestamps import NS
from test.read_only_disk import read_only

NOON = datetime(2026, 11, 23, 12, tzinfo=timezone.utc)
NOON_S = 1_795_435_200

CUP, KEY, TAP = 'The blue cup is on the table.', 'The spare key is behind the fridge.', 'The tap drips.'


@pytest.fixture(autouse=True)
def no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules answer, whatever the environment says."""
    for name in ('REMEMBR_LLM', 'REMEMBR_LLM_URL', 'OPENAI_API_KEY', 'OPENAI_BASE_URL', 'REMEMBR_TRACE'):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / 'kitchen.db'


@pytest.fixture
def memory(path: Path) -> Iterator[RobotMemory]:
    """Three notes: a cup at 9, a key at 10, a tap at noon."""
    with open_memory(path, embedder='hashing', time_zone='UTC') as opened:
        opened.remember(CUP, position=(1.0, 0.0, 0.0), time=NOON - timedelta(hours=3), robot='anna')
        opened.remember(KEY, position=(5.0, 0.0, 0.0), time='2026-11-23T11:00:00+01:00', map='cellar')
        opened.remember(TAP, time=NOON_S)
        yield opened


def captions(memory: RobotMemory, *text: str, **conditions: Any) -> list[str]:
    return [hit.memory.caption for hit in memory.recall(*text, **conditions)]


def test_a_note_is_a_persons_with_its_id_place_and_time(path: Path) -> None:
    with open_memory(str(path), embedder='hashing') as memory:
        identity = memory.remember(CUP, position=[1, 2.5, 0], time=NOON, robot='anna', map='cellar')
        (hit,) = memory.recall()
    found = hit.memory
    assert identity == found.id == memory_id('anna', 'person', NOON_S * NS)
    assert (found.source, found.robot, found.map_id, found.start_ns) == (
        'person',
        'anna',
        'cellar',
        NOON_S * NS,
    )
    assert found.pose is not None
    assert found.pose.position == (1.0, 2.5, 0.0)


def test_a_recall_is_by_text_else_by_position_else_by_time_else_of_the_newest(memory: RobotMemory) -> None:
    assert captions(memory, 'spare key', limit=1) == [KEY]
    assert captions(memory, text='spare key', position=(1.0, 0.0, 0.0), time=NOON, limit=1) == [KEY]
    assert captions(memory, position=(1.0, 0.0, 0.0), time=NOON, limit=1) == [CUP]
    assert captions(memory, time='2026-11-23T09:10Z') == [CUP, KEY, TAP]
    assert captions(memory) == [TAP, KEY, CUP]
    near = memory.recall(position=np.array([1.0, 3.0, 0.0]), time=NOON, limit=np.int64(1))  # type: ignore[arg-type]
    assert (near[0].distance_m, near[0].offset_s) == (3.0, -3 * 3600.0)


def test_conditions_narrow_a_recall_down(memory: RobotMemory) -> None:
    assert captions(memory, position=(0.0, 0.0, 0.0), radius=2.0) == [CUP]
    assert captions(memory, 'spare key', position=(0.0, 0.0, 0.0), radius=2) == [CUP]
    assert captions(memory, after=NOON - timedelta(hours=2)) == [TAP, KEY]
    assert captions(memory, before=NOON_S - 7200.0) == [KEY, CUP]
    assert captions(memory, robot='anna') == [CUP]
    assert captions(memory, map='cellar') == [KEY]
    assert captions(memory, source='captioner') == []
    assert len(memory.recall(limit=1_000)) == 3


def test_a_question_is_answered_and_the_next_one_refers_to_it(memory: RobotMemory) -> None:
    answer = memory.ask('Where is the spare key?', now=NOON, here=(5.0, 3.0, 0.0), map='cellar')
    assert (answer.kind, answer.planner) == (Kind.POSITION, 'offline')
    assert answer.pose is not None
    assert answer.pose.position == (5.0, 0.0, 0.0)
    assert '3.0 m from here' in answer.text
    assert [hit.memory.caption for hit in answer.evidence] == [KEY]
    assert memory.ask('Take me there', now=NOON).pose == answer.pose
    assert memory.ask('Where is the swimming pool?').kind is Kind.NOT_SEEN


def test_a_day_is_told_on_the_clock_of_the_zone(memory: RobotMemory, path: Path) -> None:
    for day in ('2026-11-23', date(2026, 11, 23)):
        assert f'09:00:00 anna stood 0 seconds at (1.0, 0.0). {CUP}' in memory.day(day).lines(memory.zone)
    assert memory.day('yesterday', now=NOON + timedelta(days=1), robot='anna').diary.days
    with open_memory(path, time_zone='Asia/Tokyo') as far:
        assert '18:00:00' in far.day('2026-11-23', robot='anna').lines(far.zone)
    with pytest.raises(NothingRemembered, match='there are memories of 2026-11-23'):
        memory.day('2020-01-01')


def test_where_there_is_no_memory_reading_says_so_and_the_first_note_makes_one(path: Path) -> None:
    memory = open_memory(path, embedder='hashing')
    readings: tuple[Callable[[], object], ...] = (memory.recall, memory.day, lambda: memory.ask('Where?'))
    for reading in readings:
        with pytest.raises(StoreUnavailable, match=f'there is no memory at {path}'):
            reading()
    for nonsense in ({'text': ' '}, {'text': 'a', 'position': (0, 0, math.nan)}, {'text': 'a', 'robot': ''}):
        with pytest.raises(InvalidRequest):
            memory.remember(**nonsense)
    assert list(path.parent.iterdir()) == []
    memory.remember(TAP)
    assert captions(memory) == [TAP]
    memory.close()


@pytest.mark.parametrize(
    ('method', 'arguments', 'words'),
    [
        ('recall', {'text': 5}, 'text is 5: it has to be a text'),
        ('recall', {'text': ''}, 'text is empty'),
        ('recall', {'limit': 0}, 'limit is 0: it has to be at least 1'),
        ('recall', {'limit': 10_000}, 'limit is 10000: it has to be at most 1000'),
        ('recall', {'room': 'kitchen'}, "no argument 'room': it is called place"),
        ('recall', {'place': (1, 2)}, 'coordinates are a position'),
        ('recall', {'limit': 2.5}, 'limit is 2.5'),
        ('recall', {'position': (math.nan, 0, 0)}, 'give x, y and z in metres'),
        ('recall', {'text': 'cup', 'position': (math.inf, 0, 0)}, 'give x, y and z in metres'),
        ('recall', {'position': (1,)}, 'position is'),
        ('recall', {'position': np.zeros(4)}, 'position is'),
        ('recall', {'position': 'here'}, "position is 'here'"),
        ('recall', {'radius': 1.0}, 'a radius needs near'),
        ('recall', {'position': (0, 0, 0), 'radius': -1.0}, 'radius is -1.0: it has to be at least 0'),
        ('recall', {'time': datetime(2026, 11, 23)}, 'no time zone; give it one'),
        ('recall', {'after': 'soon'}, 'not a time; give ISO 8601'),
        ('recall', {'after': math.nan}, 'not a time'),
        ('recall', {'before': NOON_S * NS}, 'out of range'),
        ('recall', {'before': datetime.max.replace(tzinfo=timezone.utc)}, 'out of range'),
        ('recall', {'time': np.datetime64('2026-11-23')}, 'time is'),
        ('recall', {'after': NOON_S, 'before': 1}, 'empty'),
        ('recall', {'source': 'nobody'}, "one of 'captioner', 'person'"),
        ('recall', {'robot': 5}, 'robot is 5'),
        ('ask', {'question': None}, 'question is missing'),
        ('ask', {'question': ' '}, 'question is empty'),
        ('ask', {'question': 'Where?', 'here': (0, 0, math.nan)}, 'give x, y and z'),
        ('ask', {'question': 'Where?', 'now': datetime(2026, 11, 23)}, 'no time zone'),
        ('remember', {'text': 5}, 'text is 5'),
        ('remember', {'text': 'a', 'robot': ''}, "robot is ''"),
        ('remember', {'text': 'a', 'time': '1990-01-01'}, 'check the clock'),
        ('day', {'day': 5}, 'day is 5'),
        ('day', {'day': 'banana'}, 'not a time'),
    ],
)
def test_what_makes_no_sense_is_refused_by_its_name(
    memory: RobotMemory, method: str, arguments: dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidRequest, match=words):
        getattr(memory, method)(**arguments)


@pytest.mark.parametrize(
    ('uri', 'options', 'error', 'words'),
    [
        (5, {}, InvalidRequest, 'uri is 5'),
        ('', {}, InvalidRequest, 'has no name'),
        ('http://:::', {}, InvalidRequest, 'no server; give http'),
        ('http://127.0.0.1:9', {}, StoreUnavailable, 'cannot be reached: start the server'),
        ('/', {}, InvalidRequest, 'cannot be the name'),
        ('/dev', {}, StoreUnavailable, 'is a folder'),
        ('a.db', {'time_zone': 'Mars'}, InvalidRequest, 'no time zone'),
        ('a.db', {'embedder': 5}, InvalidRequest, 'embedder is 5'),
    ],
)
def test_what_cannot_be_opened_is_refused(
    uri: Any, options: dict[str, Any], error: type[RemembrError], words: str
) -> None:
    with pytest.raises(error, match=words):
        open_memory(uri, **options)


def test_a_file_that_is_no_memory_and_another_embedder_are_refused(
    memory: RobotMemory, path: Path, tmp_path: Path
) -> None:
    with pytest.raises(StoreMismatch, match='hashing-256'):
        open_memory(path, embedder='hashing-64')
    (tmp_path / 'notes.txt').write_text('no database\n' * 100)
    with pytest.raises(StoreUnavailable, match='is not a memory'):
        open_memory(tmp_path / 'notes.txt')


def test_a_closed_memory_says_so(path: Path) -> None:
    with open_memory(path, embedder='hashing') as memory:
        memory.remember(TAP)
    memory.close()
    uses: tuple[Callable[[], object], ...] = (
        memory.recall,
        memory.day,
        lambda: memory.ask('Where?'),
        lambda: memory.remember(TAP),
    )
    for use in uses:
        with pytest.raises(StoreUnavailable, match='is closed; open it again'):
            use()


TRY = """
import sys
from remembr_ros import open_memory
from remembr_ros.errors import StoreUnavailable
try:
    with open_memory(sys.argv[1]) as memory:
        print(len(memory.recall()))
except StoreUnavailable as error:
    print(error)
"""


def tried_elsewhere(path: Path) -> str:
    """Return how many memories another process finds, or why it cannot."""
    command = [sys.executable, '-c', TRY, str(path)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60.0, check=True).stdout.strip()


@pytest.mark.parametrize('error', [ValueError, KeyboardInterrupt])
def test_other_processes_read_the_file_while_it_is_open_and_however_that_ends(
    path: Path, error: type[BaseException]
) -> None:
    def work() -> None:
        with open_memory(path, embedder='hashing') as memory:
            memory.remember(TAP)
            with open_memory(path) as second:  # in the same process
                assert captions(second) == [TAP]
            assert tried_elsewhere(path) == '1'
            raise error

    with pytest.raises(error):
        work()
    assert tried_elsewhere(path) == '1'


def test_threads_share_a_memory_and_notes_of_one_instant_are_several(path: Path) -> None:
    with open_memory(path, embedder='hashing') as memory:

        def write(thread: int) -> None:
            for number in range(5):
                memory.remember(f'note {thread} {number}', time=NOON)

        threads = [threading.Thread(target=write, args=(thread,)) for thread in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(set(captions(memory, limit=100))) == 20


def test_what_cannot_be_written_is_read(memory: RobotMemory, path: Path) -> None:
    memory.close()
    with read_only(path.parent), open_memory(path) as locked:
        assert captions(locked, limit=1) == [TAP]
        with pytest.raises(StoreUnavailable, match='cannot be changed'):
            locked.remember(CUP)


def test_a_language_model_that_is_none_is_refused(path: Path) -> None:
    with open_memory(path, embedder='hashing', llm_url='nonsense') as memory:
        memory.remember(TAP)
        with pytest.raises(InvalidRequest, match='no language model server'):
            memory.ask('Where is the tap?')


def test_the_package_alone_imports_nothing_of_this() -> None:
    code = 'import sys, remembr_ros; print(*sys.modules); remembr_ros.open_memory; print(*sys.modules)'
    ended = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, timeout=60, check=True
    )
    before, after = map(set, map(str.split, ended.stdout.splitlines()))
    assert {name for name in before if name.startswith('remembr_ros')} == {'remembr_ros'}
    assert not before & {'numpy', 'pydantic', 'dateutil', 'pymilvus'}
    assert {'numpy', 'remembr_ros.robot_memory'} <= after


def test_a_name_that_the_package_lacks_is_missed_as_ever() -> None:
    import remembr_ros

    with pytest.raises(AttributeError, match='nonsense'):
        _ = remembr_ros.nonsense  # type: ignore[attr-defined]
