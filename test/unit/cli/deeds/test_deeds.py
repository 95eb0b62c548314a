"""Deeds of two robots on a morning, asked for."""

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.forms.deeds import DeedsForm
from remembr_ros.forms.scope import ScopeForm
from remembr_ros.geometry import Pose
from remembr_ros.memory.deeds.deed import deed
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.timestamps import NS, parse_time

Run = Callable[..., tuple[int, str, str]]
RunJson = Callable[..., dict[str, Any]]

NINE_NS = parse_time('2026-11-20T09:00:00Z')
ROBOT = 'r1'


def done(minute: int, seconds: int, robot: str = ROBOT, x: float = 0.0, **about: Any) -> Memory:
    begin_ns = NINE_NS + minute * 60 * NS
    return deed(begin_ns, begin_ns + seconds * NS, pose=Pose(x, 0.0), **about).memory(robot)


MORNING = {
    'opened': done(0, 20, kind='open', object='fridge', place='kitchen', outcome='succeeded', travelled=2.5),
    'milk': done(1, 30, kind='pick', object='soy milk', receptacle='fridge', outcome='succeeded', x=1.0),
    'slipped': done(2, 10, kind='pick', object='red cup', outcome='failed', reason='it slipped', x=5.0),
    'cup': done(4, 40, kind='pick', object='red cup', outcome='succeeded', travelled=1.5, x=4.0),
    'docked': done(6, 60, kind='dock', outcome='succeeded', map_id='cellar', x=9.0),
    'watered': done(8, 0, text='watered the plants', x=8.0),
    'other': done(3, 5, 'r2', kind='dock', outcome='cancelled', x=-3.0),
}
NAMES = {memory.id: name for name, memory in MORNING.items()}


@pytest.fixture(scope='module')
def memory() -> Iterator[list[str]]:
    with tempfile.TemporaryDirectory(dir='/dev/shm' if os.access('/dev/shm', os.W_OK) else None) as folder:
        path = str(Path(folder) / 'm.db')
        with open_store(path, HashingEmbedder()) as store:
            store.add([Observation(memory) for memory in MORNING.values()])
        yield ['--memory', path]


@pytest.mark.parametrize(
    ('options', 'found'),
    [
        ('', 'opened milk slipped other cup docked watered'),
        ('--kind grasped', 'milk slipped cup'),
        ('--kind pick --object mug', 'slipped cup'),
        ('--receptacle fridge', 'milk'),
        ('--place kitchen', 'opened'),
        ('--attribute plants', 'watered'),
        ('--outcome failed --outcome cancelled', 'slipped other'),
        ('--after 2026-11-20T09:06:00Z', 'docked watered'),
        ('--before 1795165260', 'opened milk'),
        ('--after opened --before slipped', 'milk'),
        ('--after 2026-11-20T09:02:00Z --before docked', 'slipped other cup'),
        ('--after picked --right', 'slipped cup docked'),
        ('--before docked --right --robot r1', 'cup'),
        ('--at 2026-11-20T09:01:10Z', 'milk'),
        ('--order last --limit 2', 'watered docked'),
        ('--order longest --nth 1', 'docked'),
        ('--kind pick --nth -1', 'cup'),
        ('--kind pick --nth 4', ''),
        ('--order nearest --here 9 0 0 --limit 2', 'docked watered'),
        ('--order farthest --here 9 0 0 --limit 1', 'other'),
        ('--kind pick --order way --here 9 0 0', 'slipped cup milk'),
        ('--robot r2', 'other'),
        ('--robot r2 --robot nobody', 'other'),
        ('--map-id cellar', 'docked'),
        ('--kind pick --never object', 'opened'),
    ],
)
def test_what_is_asked_for_is_found(
    command_json: RunJson, memory: list[str], options: str, found: str
) -> None:
    told = command_json('deeds', *memory, *options.split())
    assert [NAMES[one['id']] for one in told['deeds']] == found.split()
    assert told['whole']


def test_the_json_form(command_json: RunJson, memory: list[str]) -> None:
    told = command_json('deeds', *memory, '--kind', 'pick', '--after', 'opened', '--limit', '2')
    assert (told['total'], told['seconds'], told['mean_seconds']) == (3, 80.0, pytest.approx(80 / 3))
    assert told['metres'] == 1.5
    assert [one['object'] for one in told['anchors']] == ['fridge']
    one = told['deeds'][1]
    assert (one['source'], one['caption'][:6], one['start']) == (
        'agent',
        'Failed',
        '2026-11-20T09:02:00.000000Z',
    )
    about = ('kind', 'object', 'receptacle', 'place', 'outcome', 'reason', 'seconds', 'metres')
    assert [one[name] for name in about] == ['pick', 'red cup', '', '', 'failed', 'it slipped', 10.0, 0.0]
    nothing = command_json('deeds', *memory, '--object', 'piano')
    assert nothing == {
        'deeds': [],
        'total': 0,
        'anchors': [],
        'whole': True,
        'seconds': 0.0,
        'mean_seconds': None,
        'metres': 0.0,
    }


def test_lines_for_people(command: Run, memory: list[str]) -> None:
    assert command('deeds', *memory, '--object', 'red cup')[1].splitlines() == [
        '2026-11-20 09:02:00 UTC  Failed to pick the red cup: it slipped  failed  10 seconds',
        '2026-11-20 09:04:00 UTC  Picked the red cup  succeeded  40 seconds  1.5 m',
        '2 in all, 50 seconds in total, 25 seconds on average, 1.5 m',
    ]
    assert command('deeds', *memory, '--object', 'piano')[1] == '0 in all\n'
    assert command('deeds', *memory, '--attribute', 'plants')[1].splitlines()[0] == (
        '2026-11-20 09:08:00 UTC  Watered the plants'
    )
    assert command('deeds', *memory, '--kind', 'pick', '--never', 'object')[1].splitlines() == [
        'fridge  2026-11-20 09:00:00 UTC  Opened the fridge (kitchen)',
        '1 in all',
    ]


def test_counts(command: Run, command_json: RunJson, memory: list[str]) -> None:
    assert command('deeds', *memory, '--count', '--kind', 'pick')[1] == '3\n2 succeeded, 1 failed\n'
    assert command('deeds', *memory, '--count', '--kind', 'pick', '--nth', '1')[1].startswith('3\n')
    assert command('deeds', *memory, '--count', '--object', 'piano')[1] == '0\n'
    told = command_json('deeds', *memory, '--count', '--kind', 'pick')
    assert told == {'total': 3, 'outcomes': {'succeeded': 2, 'failed': 1}, 'whole': True}


def test_a_stay_is_told_by_its_place(command: Run, memory: list[str]) -> None:
    assert command('deeds', *memory, '--kind', 'stay')[1].splitlines() == [
        '2026-11-20 09:00:00 UTC  Was in kitchen  20 seconds',
        '1 in all, 20 seconds in total, 20 seconds on average',
    ]


def test_what_is_no_deed_has_its_own_times_and_facts(
    command: Run, command_json: RunJson, tmp_path: Path
) -> None:
    memory = ['--memory', str(tmp_path / 'm.db')]
    with open_store(memory[1], HashingEmbedder()) as store:
        for i in range(10):  # 1 m in 3 s
            start_ns = NINE_NS + i * 3 * NS
            seen = Memory(f'id{i}', ROBOT, start_ns, start_ns + 3 * NS, f'mug {i}', Pose(float(i), 0.0))
            store.add([Observation(seen)])
    [drive] = command_json('deeds', *memory, '--kind', 'driving')['deeds']
    assert (drive['kind'], drive['seconds'] > 20.0, drive['metres'] > 5.0) == ('driving', True, True)
    assert drive['facts']['text'].startswith('drove ')
    assert f'  {drive["facts"]["text"]}  ' in command('deeds', *memory, '--kind', 'driving')[1]
    sights = command_json('deeds', *memory, '--kind', 'sight', '--object', 'mug', '--nth', '2')
    assert (sights['total'], sights['deeds'][0]['caption']) == (10, 'mug 1')
    assert sights['deeds'][0]['facts'] == {'kind': 'sight', 'object': 'mug', 'outcome': 'unknown'}


@pytest.mark.parametrize(
    ('options', 'said'),
    [
        (['--outcome', 'well'], "outcome.0 is 'well': it has to be one of 'succeeded'"),
        (['--nth', '0'], 'nth counts from 1'),
        (['--nth', 'one'], "--nth is 'one': it has to be a whole number"),
        (['--limit', '0'], 'at least 1'),
        (['--order', 'nearest'], 'nearest needs a place to start from'),
        (['--order', 'prettiest'], "--order is 'prettiest': it has to be one of 'first'"),
        (['--order', 'nearest', '--position', 'nan', '0', '0'], 'is not a position'),
        (['--position', '1e300', '0', '0', '--order', 'nearest'], 'is not a position'),
        (['--right'], 'give one'),
        (['--right', '--after', '2026-11-20'], 'give one'),
        (['--right', '--after', 'opened', '--before', 'docked'], 'give one'),
        (['--never', 'kind'], "--never is 'kind': it has to be one of 'object'"),
        (['--time', 'soon'], "'soon' is not a time"),
        (['--after', 'played the piano'], "no such deed as 'played the piano': give a time"),
        (['--before', 'played the piano', '--after', 'opened'], "'played the piano'"),
        (['--after', 'opened', '--robot', 'r2'], "no such deed as 'opened'"),
        (['--after', ''], "--after is '': '' is not a time"),
        (['--after', '1e999'], "no such deed as '1e999'"),
        (['--before', 'x' * 10_000], 'or words of a deed that is remembered'),
        (['--after', '2027', '--before', '2026'], 'the time window is empty'),
    ],
)
def test_what_makes_no_sense_is_refused(
    command: Run, memory: list[str], options: list[str], said: str
) -> None:
    code, out, error = command('deeds', *memory, *options)
    assert (code, out) == (2, '')
    assert said in error
    assert len(error) < 3000


@pytest.mark.parametrize('name', ['kind', 'object', 'receptacle', 'place', 'attribute', 'robot', 'map'])
def test_a_long_word_finds_nothing(command_json: RunJson, memory: list[str], name: str) -> None:
    assert command_json('deeds', *memory, f'--{name}', 'x' * 10_000)['total'] == 0


@pytest.mark.parametrize('name', ['kind', 'place', 'robot', 'map'])
def test_a_word_that_is_too_long_is_refused_by_its_option(command: Run, memory: list[str], name: str) -> None:
    code, out, error = command('deeds', *memory, f'--{name}', 'x' * 10_001)
    assert (code, out) == (2, '')
    assert f'--{name}' in error
    assert 'at most 10000 characters' in error


def test_there_is_no_memory(command: Run, tmp_path: Path) -> None:
    code, _, error = command('deeds', '--memory', tmp_path / 'none.db')
    assert code == 1
    assert 'none.db' in error


def test_nothing_is_changed(command: Run, memory: list[str]) -> None:
    before = command('recall', *memory, '--limit', '100', '--json')[1]
    command('deeds', *memory, '--never', 'object')
    assert json.loads(command('recall', *memory, '--limit', '100', '--json')[1]) == json.loads(before)


def test_every_field_is_documented() -> None:
    text = (Path(__file__).resolve().parents[4] / 'docs' / 'deeds.md').read_text()
    asking = text[text.index('## Asking') : text.index('## What the graph tells')]
    own = DeedsForm.model_fields.keys() - ScopeForm.model_fields.keys()
    assert [name for name in own | {'after', 'before', 'place'} if f'`{name}`' not in asking] == []
