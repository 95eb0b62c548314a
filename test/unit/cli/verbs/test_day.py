"""remembr day: days, parts of them and robots; what is printed, and what is said where there is nothing."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.timestamps import NS, parse_time

Run = Callable[..., tuple[int, str, str]]
RunJson = Callable[..., dict[str, Any]]

NOW = ['--now', '2026-11-23T15:00:00Z', '--time-zone', 'UTC']
ROOM = {
    '2026-11-23T09:00:00Z': 'KITCHEN',
    '2026-11-23T13:00:00Z': 'LIBRARY',
    '2026-11-22T20:00:00Z': 'OFFICE',
}


def visit(robot: str, start: str, room: str) -> list[Memory]:
    """Return a drive of 16 m and a stay of a minute in a room."""
    start_ns = parse_time(start)
    made = [
        Memory(
            f'{robot}-{room}-{i}',
            robot,
            start_ns + 3 * i * NS,
            start_ns + 3 * (i + 1) * NS,
            'A corridor.',
            Pose(2.0 * i + 1.0, 1.0),
            travelled=2.0,
        )
        for i in range(8)
    ]
    end_ns = made[-1].end_ns
    stood = Memory(
        f'{robot}-{room}',
        robot,
        end_ns,
        end_ns + 60 * NS,
        f'A {room.lower()} with tables.',
        Pose(16.2, 1.0),
        merged=20,
        scene_text=(room,),
    )
    return [*made, stood]


@pytest.fixture(scope='module')
def days(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp('days') / 'memory.db')
    seen = [memory for start, room in ROOM.items() for memory in visit('ann', start, room)]
    seen += visit('bob', '2026-11-21T09:00:00Z', 'WORKSHOP')
    with open_store(path, HashingEmbedder(256), create=True) as store:
        store.add([Observation(memory) for memory in seen])
    return path


def test_today_is_told_as_a_list(command: Run, days: str) -> None:
    code, out, err = command('day', '--memory', days, *NOW)
    assert (code, err) == (0, '')
    lines = out.splitlines()
    assert lines[0] == 'Monday, 2026-11-23, morning:'
    assert lines[1].startswith('09:00:00 to 09:00:2')
    assert 'drove 16 m to (1' in lines[1]
    assert 'stood 1 minute' in lines[2]
    assert lines[2].endswith(' at (16.2, 1.0). A kitchen with tables. Read: "KITCHEN".')
    assert lines[3] == 'Monday, 2026-11-23, afternoon:'
    assert 'LIBRARY' in lines[5]
    assert len(lines) == 6


def test_the_tree_as_json(command_json: RunJson, days: str) -> None:
    told = command_json('day', 'today', '--memory', days, *NOW)
    assert (told['start'], told['end']) == ('2026-11-23T00:00:00.000000Z', '2026-11-24T00:00:00.000000Z')
    (day,) = told['days']
    assert day['date'] == '2026-11-23'
    assert [part['part'] for part in day['parts']] == ['morning', 'afternoon']
    leg, stay = day['parts'][0]['episodes']
    assert (leg['kind'], stay['kind']) == ('leg', 'stay')
    assert leg['travelled'] == pytest.approx(16.0, abs=1.0)
    assert leg['memories'] == [f'ann-KITCHEN-{i}' for i in range(8)]
    assert stay.pop('start') == leg['end']
    assert stay.pop('end') == '2026-11-23T09:01:24.000000Z'
    assert stay.pop('position') == pytest.approx([16.2, 1.0, 0.0])
    assert stay.pop('travelled') == pytest.approx(0.0, abs=1.0)
    assert stay == {
        'kind': 'stay',
        'robot': 'ann',
        'frame_id': 'map',
        'map': '',
        'place': '',
        'seen': ['A kitchen with tables.'],
        'read': ['KITCHEN'],
        'deeds': [],
        'memories': ['ann-KITCHEN'],
    }


@pytest.mark.parametrize(
    ('when', 'rooms'),
    [
        (['2026-11-22'], ['OFFICE']),
        (['yesterday'], ['OFFICE']),
        (['yesterday', 'evening'], ['OFFICE']),
        (['last 3 hours'], ['LIBRARY']),
        (['this morning'], ['KITCHEN']),
        (['Saturday'], ['WORKSHOP']),
        (['since', 'yesterday'], ['OFFICE', 'KITCHEN', 'LIBRARY']),
    ],
    ids=str,
)
def test_a_time_in_words(command_json: RunJson, days: str, when: list[str], rooms: list[str]) -> None:
    told = command_json('day', *when, '--memory', days, *NOW)
    read = [
        text
        for day in told['days']
        for part in day['parts']
        for episode in part['episodes']
        for text in episode['read']
    ]
    assert read == rooms


def test_days_begin_in_the_time_zone(command_json: RunJson, days: str) -> None:
    told = command_json('day', 'yesterday', '--memory', days, NOW[0], NOW[1], '--time-zone', 'Asia/Tokyo')
    assert (told['start'], told['end']) == ('2026-11-22T15:00:00.000000Z', '2026-11-23T15:00:00.000000Z')
    parts = [part['part'] for day in told['days'] for part in day['parts']]
    assert parts == ['morning', 'evening']


def test_a_robot_alone(command: Run, days: str) -> None:
    assert command('day', 'Saturday', '--memory', days, *NOW, '--robot', 'bob')[0] == 0
    code, out, err = command('day', 'Saturday', '--memory', days, *NOW, '--robot', 'ann')
    assert (code, out) == (1, '')
    assert 'there are memories of 2026-11-23, 2026-11-22.' in err


@pytest.mark.parametrize('json', [[], ['--json']])
def test_where_nothing_is_remembered_the_days_with_something_are_named(
    command: Run, days: str, json: list[str]
) -> None:
    code, out, err = command('day', '2026-11-20', '--memory', days, *NOW, *json)
    assert (code, out) == (1, '')
    assert err == (
        'remembr day: Nothing is remembered of that time; there are memories of '
        '2026-11-23, 2026-11-22, 2026-11-21.\n'
    )


def test_an_empty_memory_says_so(command: Run, tmp_path: Path) -> None:
    path = str(tmp_path / 'empty.db')
    open_store(path, HashingEmbedder(256), create=True).close()
    assert command('day', '--memory', path) == (1, '', 'remembr day: The memory holds nothing.\n')


def test_what_is_no_time_is_wrong_usage(command: Run, days: str) -> None:
    code, out, err = command('day', 'purple', '--memory', days)
    assert (code, out) == (2, '')
    assert "'purple' is not a time" in err


@pytest.fixture
def deeds(command: Run, tmp_path: Path) -> str:
    """Make a memory of a round, and of what was done on it."""
    path = str(tmp_path / 'deeds.db')
    with open_store(path, HashingEmbedder(256), create=True) as store:
        store.add([Observation(memory) for memory in visit('ann', '2026-11-23T09:00:00Z', 'KITCHEN')])
    lines = [
        {'kind': 'go', 'place': 'kitchen', 'begin': '2026-11-23T09:00:01Z', 'end': '2026-11-23T09:00:20Z'},
        {'kind': 'place', 'object': 'mug', 'receptacle': 'sink', 'begin': '2026-11-23T09:00:40Z'},
        {'kind': 'dock', 'begin': '2026-11-22T20:00:00Z', 'outcome': 'failed', 'reason': 'it is taken'},
    ]
    log = tmp_path / 'log.jsonl'
    log.write_text('\n'.join(map(json.dumps, lines)))
    assert command('event', '--file', log, '--robot', 'ann', '--memory', path)[0] == 0
    return path


def test_what_the_robot_did_is_told_where_it_did_it(command: Run, deeds: str) -> None:
    code, out, err = command('day', 'since', 'yesterday', '--memory', deeds, *NOW)
    assert (code, err) == (0, '')
    night, failed, morning, drive, stay = out.splitlines()
    assert (night, morning) == ('Sunday, 2026-11-22, evening:', 'Monday, 2026-11-23, morning:')
    assert failed == (
        '20:00:00 to 20:00:00 was busy 0 seconds at a place unknown. '
        'At 20:00:00: Failed to dock: it is taken.'
    )
    assert drive.endswith('A corridor. At 09:00:01: Drove to the kitchen.')
    assert stay.endswith('A kitchen with tables. Read: "KITCHEN". At 09:00:40: Put the mug on the sink.')


def test_what_the_robot_did_as_json(command_json: RunJson, deeds: str) -> None:
    told = command_json('day', 'today', '--memory', deeds, *NOW)
    drive, stay = told['days'][0]['parts'][0]['episodes']
    assert [one['text'] for one in drive['deeds']] == ['Drove to the kitchen']
    (put,) = stay['deeds']
    assert put.pop('id') in stay['memories']
    assert put == {
        'start': '2026-11-23T09:00:40.000000Z',
        'end': '2026-11-23T09:00:40.000000Z',
        'text': 'Put the mug on the sink',
        'outcome': 'unknown',
    }
    assert stay['seen'] == ['A kitchen with tables.']
