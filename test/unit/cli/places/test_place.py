import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

Run = Callable[..., tuple[int, str, str]]
RunJson = Callable[..., dict[str, Any]]

SQUARE = ('0', '0', '4', '0', '4', '3', '0', '3')


@pytest.fixture
def memory(tmp_path: Path) -> tuple[str, ...]:
    return '--memory', str(tmp_path / 'm.db'), '--embedder', 'hashing'


def names(told: dict[str, Any]) -> list[str]:
    return [one['name'] for one in told['places']]


def test_add_list_and_remove(command: Run, command_json: RunJson, memory) -> None:
    made = command_json('place', 'add', 'the kitchen', '--outline', *SQUARE, '--also', 'galley', *memory)
    assert names(made) == ['kitchen']
    assert made['places'][0]['outline'][2] == [4.0, 3.0]
    command_json('place', 'add', 'dock', '--position', '9', '1', '0', '--radius', '0.5', *memory)
    command_json('place', 'add', 'dock', '--position', '9', '1', '0', '--map', 'upper', *memory)
    assert names(command_json('place', 'list', *memory)) == ['dock', 'kitchen', 'dock']
    assert names(command_json('place', 'list', '--map', 'upper', *memory)) == ['dock']
    code, out, _ = command('place', 'list', *memory)
    assert code == 0
    assert 'kitchen, galley  around (2.00, 1.50), 12.0 m2' in out
    assert 'dock  around (9.00, 1.00) on map upper, radius 2 m' in out
    code, _, err = command('place', 'remove', 'dock', *memory)
    assert code == 2
    assert "on the map '', 'upper'; name that map" in err
    assert names(command_json('place', 'remove', 'Dock', '--map', 'upper', *memory)) == ['dock', 'kitchen']


def test_memories_know_their_place_also_those_before_it(command_json: RunJson, memory) -> None:
    at = ('--position', '1', '1', '0')
    command_json('remember', 'a cup', *at, *memory)
    command_json('remember', 'a mug', '--position', '9', '1', '0', *memory)
    command_json('place', 'add', 'kitchen', '--outline', *SQUARE, *memory)
    found = command_json('recall', '--text', 'cup', *memory)['memories']
    assert {one['caption']: one['place'] for one in found} == {'a cup': 'kitchen', 'a mug': ''}
    assert [m['caption'] for m in command_json('recall', '--place', 'KITCHEN', *memory)['memories']] == [
        'a cup'
    ]


def test_a_place_is_found_only_where_it_is_asked_for(command_json: RunJson, command: Run, memory) -> None:
    command_json('place', 'add', 'kitchen', '--outline', *SQUARE, *memory)
    command_json('remember', 'a cup in the kitchen', '--position', '1', '1', '0', *memory)
    for how in ((), ('--text', 'kitchen'), ('--position', '1', '1', '0')):
        found = command_json('recall', *how, *memory)['memories']
        assert [one['source'] for one in found] == ['person']
    assert [one['source'] for one in command_json('recall', '--source', 'place', *memory)['memories']] == [
        'place'
    ]
    code, _, _ = command('forget', '--after', '2001-01-01', '--yes', *memory)
    assert code == 0
    assert names(command_json('place', 'list', *memory)) == ['kitchen']


@pytest.mark.parametrize('name', ['rooms.yaml', 'rooms.geojson'])
def test_export_and_import(command_json: RunJson, memory, tmp_path: Path, name: str) -> None:
    command_json('place', 'add', 'kitchen', '--outline', *SQUARE, *memory)
    command_json('place', 'add', 'dock', '--position', '9', '1', '0', *memory)
    file = str(tmp_path / name)
    command_json('place', 'export', file, *memory)
    other = ('--memory', str(tmp_path / 'other.db'), '--embedder', 'hashing')
    for _ in range(2):
        assert sorted(names(command_json('place', 'import', file, *other))) == ['dock', 'kitchen']
    assert sorted(names(command_json('place', 'list', *other))) == ['dock', 'kitchen']


@pytest.mark.parametrize(
    ('args', 'why'),
    [
        (('add', 'x', '--outline', '0', '0', '1', '1', '1', '0', '0', '1'), 'crosses or touches itself'),
        (('add', 'x', '--outline', '0', '0', '1'), 'has a corner without y'),
        (('add', 'x' * 10_000, '--at', '0', '0', '0'), 'at most 200 characters'),
        (('add', 'Kitchen', '--at', '50', '0', '0'), 'there is a place called .kitchen. already'),
        (('remove', 'attic'), "no place called 'attic'; there are: kitchen"),
        (('import', 'none.yaml'), 'cannot be read'),
        (('rooms',), 'give --map-file FILE'),
    ],
)
def test_what_makes_no_sense(command: Run, command_json: RunJson, memory, args, why: str) -> None:
    command_json('place', 'add', 'kitchen', '--outline', *SQUARE, *memory)
    code, out, err = command('place', *args, *memory)
    assert (code, out) == (2, '')
    assert re.search(why, err), err
    assert names(command_json('place', 'list', *memory)) == ['kitchen']


@pytest.fixture
def map_file(tmp_path: Path) -> str:
    """Two rooms of 4 m by 4 m, with a door between."""
    cells = np.full((100, 180), 254, np.uint8)
    cells[[5, 6, 92, 93], 5:174] = 0
    cells[5:94, [5, 6, 88, 89, 172, 173]] = 0
    cells[40:58, 88:90] = 254
    cells[:5], cells[94:], cells[:, :5], cells[:, 174:] = 205, 205, 205, 205
    cv2.imwrite(str(tmp_path / 'map.pgm'), cells)
    path = tmp_path / 'map.yaml'
    path.write_text('image: map.pgm\nresolution: 0.05\norigin: [0, 0, 0]\n')
    return str(path)


def test_the_rooms_of_a_map(command_json: RunJson, memory, map_file: str, tmp_path: Path) -> None:
    for second in range(3):
        made = (
            'remember',
            'we are in the kitchen',
            '--position',
            '2',
            '2',
            '0',
            '--time',
            f'170000000{second}',
        )
        command_json(*made, *memory)
    saved = str(tmp_path / 'found.yaml')
    told = command_json('place', 'rooms', '--map-file', map_file, '--save', saved, *memory)
    assert sorted(names(told)) == ['kitchen', 'unnamed 2'] or sorted(names(told)) == ['kitchen', 'unnamed 1']
    guessed = {one['name']: one['guessed'] for one in told['places']}
    assert guessed['kitchen'] == '3 of 3 memories made there say so'
    added = command_json('place', 'add', 'lab', '--position', '6', '2', '0', '--map-file', map_file, *memory)
    assert added['places'][0]['radius'] is None
    assert len(added['places'][0]['outline']) >= 4
    again = command_json('place', 'rooms', '--map', map_file, *memory)
    assert names(again) == ['kitchen']
    assert 'guessed: 3 of 3' in (tmp_path / 'found.yaml').read_text()


def test_that_no_room_was_found_is_told(command: Any, memory: Any, tmp_path: Path) -> None:
    (tmp_path / 'map.pgm').write_bytes(b'P5 40 40 255\n' + bytes([254]) * 1600)
    (tmp_path / 'map.yaml').write_text('image: map.pgm\nresolution: 0.05\norigin: [0, 0, 0]\n')
    command('place', 'add', 'dock', '--at', '1', '1', '0', *memory)
    code, out, _ = command('place', 'rooms', '--map', tmp_path / 'map.yaml', *memory)
    assert (code, 'no room without a name was found in' in out) == (0, True)
