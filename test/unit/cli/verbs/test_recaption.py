"""remembr recaption, with captions of a file in place of a model."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from remembr_ros.geometry import Pose
from remembr_ros.images import encode_jpeg
from remembr_ros.memory.model.recall import Query
from remembr_ros.memory.model.record import UNCAPTIONED, Memory, Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.timestamps import NS

START_S = 1_700_000_000


def observation(index: int, caption: str = UNCAPTIONED, images: int = 2, **more: Any) -> Observation:
    memory = Memory(
        f'm{index}',
        'spot',
        (START_S + 10 * index) * NS,
        (START_S + 10 * index + 3) * NS,
        caption,
        Pose(float(index), 0.0),
        captioner='' if caption == UNCAPTIONED else 'old',
        **more,
    )
    shades = [(10 * index + n) % 256 for n in range(images)]
    return Observation(memory, tuple(encode_jpeg(np.full((48, 64, 3), shade, np.uint8)) for shade in shades))


@pytest.fixture
def memory(tmp_path: Path) -> str:
    path = str(tmp_path / 'memory.db')
    with open_store(path, 'hashing-64', create=True) as store:
        store.add(
            [
                observation(0, scene_text=('EXIT',)),
                observation(1, 'A red door.'),
                observation(2),
                observation(3, images=0),
            ]
        )
    return path


@pytest.fixture
def captions(tmp_path: Path) -> Path:
    """Say something of the first three seconds of each memory but the last."""
    path = tmp_path / 'captions.json'
    records = [
        {
            'id': index,
            'position': [0.0, 0.0, 0.0],
            'time': START_S + 10 * index + 1.5,
            'start_time': START_S + 10 * index,
            'end_time': START_S + 10 * index + 3,
            'caption': f'A blue sofa, number {index}.',
            'file_start': '',
            'file_end': '',
        }
        for index in range(3)
    ]
    path.write_text(json.dumps(records))
    return path


def stored(path: str) -> dict[str, Memory]:
    with open_store(path) as store:
        return {memory.id: memory for memory in store.all()}


def test_memories_without_a_caption_get_one_and_keep_the_rest(
    command_json: Callable[..., dict[str, Any]], memory: str, captions: Path
) -> None:
    before = stored(memory)
    result = command_json('recaption', '--memory', memory, '--captions', captions)
    assert (result['memories'], result['captioned'], result['without_images'], result['failed']) == (
        3,
        2,
        1,
        0,
    )
    after = stored(memory)
    assert after['m0'].caption == 'A blue sofa, number 0.'
    assert (after['m0'].scene_text, after['m0'].captioner) == (('EXIT',), 'recorded')
    assert (after['m1'], after['m3']) == (before['m1'], before['m3'])
    for one in ('m0', 'm2'):
        assert (after[one].pose, after[one].keyframes) == (before[one].pose, before[one].keyframes)
    with open_store(memory) as store:
        assert {hit.memory.id for hit in store.find(Query('blue sofa', limit=2))} == {'m0', 'm2'}
        assert len(store.keyframes.those_of(after['m0'].keyframes)) == 2
    assert command_json('recaption', '--memory', memory, '--captions', captions)['captioned'] == 0


def test_all_replaces_captions_in_a_scope(
    command_json: Callable[..., dict[str, Any]], memory: str, captions: Path
) -> None:
    result = command_json(
        'recaption', '--memory', memory, '--captions', captions, '--all', '--before', START_S + 15
    )
    assert (result['memories'], result['captioned']) == (2, 2)
    after = stored(memory)
    assert after['m1'].caption == 'A blue sofa, number 1.'
    assert after['m2'].caption == UNCAPTIONED


def test_what_fails_is_left_as_it_is_and_said(
    command: Callable[..., tuple[int, str, str]], memory: str, captions: Path
) -> None:
    records = json.loads(captions.read_text())
    captions.write_text(json.dumps(records[:1]))
    code, out, err = command('recaption', '--memory', memory, '--captions', captions)
    assert code == 1
    assert 'memory m2' in err
    assert out.startswith('1 of 3 memories captioned, 1 have no keyframes, 1 still have no new caption')
    assert stored(memory)['m2'].caption == UNCAPTIONED


def test_a_captioner_that_always_fails_is_given_up(
    command: Callable[..., tuple[int, str, str]], tmp_path: Path, captions: Path
) -> None:
    path = str(tmp_path / 'many.db')
    with open_store(path, 'hashing-64', create=True) as store:
        store.add([observation(100 + index) for index in range(9)])
    code, out, err = command('recaption', '--memory', path, '--captions', captions)
    assert (code, err.count('memory m1')) == (1, 3)
    assert out.startswith('0 of 9 memories captioned, 9 still have no new caption')


def test_memories_whose_images_are_not_here_are_passed_over(
    command_json: Callable[..., dict[str, Any]], tmp_path: Path, captions: Path
) -> None:
    path = str(tmp_path / 'fleet.db')
    with open_store(path, 'hashing-64', create=True) as store:
        store.add([observation(index) for index in range(8)])
        others = [name for memory in store.all()[1:] for name in memory.keyframes]
        folder = store.keyframes.folder
    for name in others:
        for file in folder.rglob(f'{name}*'):
            file.unlink()
    result = command_json('recaption', '--memory', path, '--captions', captions)
    assert (result['captioned'], result['without_images'], result['failed']) == (1, 7, 0)
    assert stored(path)['m0'].is_captioned
