"""remembr ingest --detections: objects of what others detected."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from test.vision_messages import DEPTHS, FOUND, ToldHome

Run = Callable[..., tuple[int, str, str]]
RunJson = Callable[..., dict[str, Any]]
MEMORY = ('--captioner', 'none', '--embedder', 'hashing')
DEEP = ('--depth-topic', DEPTHS)
BOXES_ONLY = ',box_px=0.001'
"""Of the simulated detector: with it there are no masks, which nobody can tell in a message."""


@pytest.fixture(scope='module')
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a recorded home: about 250 images of one visit."""
    pytest.importorskip('remembr_bench', reason='needs the worlds of remembr_bench')
    from remembr_bench.simulation.homes.home_bag import record_home
    from remembr_bench.simulation.homes.layout import generate_home

    folder = tmp_path_factory.mktemp('home')
    record_home(folder, generate_home(11, 1), 1.5)
    return folder


@pytest.mark.parametrize(
    'told', [('2D', 'sqlite3', BOXES_ONLY, DEEP), ('3D', 'mcap', '', ())], ids=['flat', 'in space']
)
def test_objects_are_those_of_the_detector_itself(
    home: Path, command_json: RunJson, tmp_path: Path, told: Any
) -> None:
    kind, storage, errors, deep = told
    bag = ToldHome(home, errors).write(tmp_path, kind, storage)
    found = []
    for options in (
        (home / 'bag', '--detector', f'simulation:{home}{errors}', *DEEP),
        (bag, '--detections', FOUND, *deep),
    ):
        memory = tmp_path / f'{len(found)}.db'
        result = command_json('ingest', *options, '--memory', memory, *MEMORY)
        assert result['objects_images'] > 200
        assert not result['objects_left_out']
        found.append(command_json('objects', '--memory', memory, '--limit', 1000)['objects'])
    (expected, others), same_colour = found, []
    assert len(expected) == len(others) > 40
    for one in expected:
        alike = [other for other in others if other['name'] == one['name']]
        nearest = min(alike, key=lambda other: math.dist(other['position'], one['position']))
        others.remove(nearest)
        assert math.dist(nearest['position'], one['position']) < 0.05
        assert math.dist(nearest['size'], one['size']) < 0.1
        assert nearest['keyframes']
        same_colour.append(nearest['colour'] == one['colour'])
    # The box around a box in space shows what is beside the thing, too.
    assert sum(same_colour) >= {'2D': 1.0, '3D': 0.8}[kind] * len(expected)


@pytest.mark.parametrize(
    ('options', 'why'),
    [
        (('--detections', '/found', '--detector', 'onnx:model.onnx'), 'without --detector'),
        (('--detections', '/found', '--labels', 'labels.txt'), 'without --detector and --labels'),
        (DEEP, 'go with --detector'),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    command: Run, bag: Path, tmp_path: Path, options: Any, why: str
) -> None:
    code, _, err = command('ingest', bag, '--memory', tmp_path / 'memory.db', *MEMORY, *options)
    assert code == 2
    assert why in err
    assert not (tmp_path / 'memory.db').exists()


def test_a_topic_that_is_not_there_is_told_with_all_that_are(command: Run, bag: Path, tmp_path: Path) -> None:
    code, _, err = command(
        'ingest', bag, '--memory', tmp_path / 'memory.db', *MEMORY, '--detections', '/found'
    )
    assert code == 1
    assert "no topic '/found'" in err
    assert 'its topics: ' in err
    assert not (tmp_path / 'memory.db').exists()
