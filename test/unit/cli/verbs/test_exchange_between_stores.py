"""What is exported from one kind of memory and imported into others comes out as it was put in."""

import json
from itertools import pairwise
from pathlib import Path

import cv2
import numpy as np
import pytest

from remembr_ros.cli.main import main
from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store

NS = 1_000_000_000
T0 = 1_700_000_000 * NS
IMAGES = tuple(
    cv2.imencode('.jpg', np.full((16, 24, 3), shade, np.uint8))[1].tobytes() for shade in (40, 200)
)
MEMORIES = (
    Memory(
        'm1',
        'robbie',
        T0 + 1,
        T0 + NS + 7,
        'A lift. Beside it "ROOM 7" 🚪, and\na plant.',
        Pose(0.1, -2.5, 3e6, 1.5),
    ),
    Memory('m2', 'other', T0 + NS, T0 + 2 * NS, 'The tap drips.', map_id='first', source='person'),
    Memory(
        *('m3', 'robbie', T0 + 2 * NS, T0 + 9 * NS, 'Signs.', Pose(4_000_000.123, 500_000.25)),
        scene_text=('EXIT', "o'clock"),
        travelled=1.25,
        captioner='scene_text',
        camera='front',
        merged=3,
    ),
    Memory(
        *('m4', 'robbie', T0, T0 + 9 * NS, 'A red chair.', Pose(1.0, 2.0)),
        source='object',
        facts={'class': 'chair', 'sightings': [{'at': 1.5, 'seen': True}], 'was': None, 'name': 'Stuhl ü'},
    ),
)


def check_round(uris: list[str], folder: Path) -> None:
    """Fill the first memory, hand it on from each to the next, and compare the last with the first."""
    with open_store(uris[0], HashingEmbedder(16)) as store:
        store.add([Observation(MEMORIES[0], IMAGES), *map(Observation, MEMORIES[1:])])
    for number, (source, target) in enumerate(pairwise(uris)):
        file = folder / f'{number}.jsonl.gz'
        assert main(['export', str(file), '--memory', source]) == 0
        assert main(['import', str(file), '--memory', target, '--embedder', 'hashing-16']) == 0
    with open_store(uris[0]) as first, open_store(uris[-1]) as last:
        stored, ids = first.all(), [memory.id for memory in MEMORIES]
        assert {memory.id for memory in stored} == set(ids)
        assert last.all() == stored
        assert [(m.caption, m.pose, m.start_ns, m.end_ns, m.facts) for m in last.get(ids)] == [
            (m.caption, m.pose, m.start_ns, m.end_ns, m.facts) for m in MEMORIES
        ]
        assert [last.keyframe('m1', index) for index in range(2)] == list(IMAGES)
        before, after = first.engine.vectors(ids), last.engine.vectors(ids)
        assert before.keys() == after.keys() == set(ids)
        for memory_id in ids:
            np.testing.assert_allclose(after[memory_id], before[memory_id], atol=1e-3)


def test_between_a_file_and_milvus_lite(tmp_path: Path) -> None:
    pytest.importorskip('milvus_lite.server_manager', reason='needs Milvus Lite: make setup')
    names = ('first.db', 'milvus-lite:second.db', 'third.db', 'milvus-lite:fourth.db')
    uris = [name.replace(':', f':{tmp_path}/') if ':' in name else str(tmp_path / name) for name in names]
    check_round(uris, tmp_path)


def test_an_export_counts_the_keyframes_that_are_damaged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memory, file = str(tmp_path / 'm.db'), tmp_path / 'm.jsonl'
    with open_store(memory, HashingEmbedder(16)) as store:
        (stored,) = store.add([Observation(MEMORIES[0], IMAGES)])
        bad = stored.keyframes[0]
        (store.keyframes.folder / bad[:2] / bad).write_bytes(b'damaged')
    assert main(['export', str(file), '--memory', memory, '--json']) == 0
    assert json.loads(capsys.readouterr().out)['damaged_keyframes'] == 1
    assert main(['import', str(file), '--memory', str(tmp_path / 'other.db')]) == 0
    with open_store(str(tmp_path / 'other.db')) as store:
        assert store.get(['m1'])[0].keyframes == stored.keyframes[1:]
