from dataclasses import fields

from remembr_ros.geometry import Pose
from remembr_ros.memory.model.codec import hit_json, memory_json
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import Memory

MEMORY = Memory(
    'id0',
    'robbie',
    1_700_000_000_000_000_000,
    1_700_000_003_500_000_000,
    'A <b>lift</b>.',
    Pose(1.0, 2.0, 0.5, -0.25),
    map_id='cellar',
    travelled=1.5,
    scene_text=('LIFT',),
    captioner='vlm',
    camera='front',
    keyframes=('a.jpg',),
    merged=3,
    facts={'size': [1, 2]},
)


def test_everything_that_a_memory_is_becomes_json() -> None:
    assert memory_json(MEMORY) == {
        'id': 'id0',
        'robot': 'robbie',
        'map': 'cellar',
        'frame_id': 'map',
        'start': '2023-11-14T22:13:20.000000Z',
        'end': '2023-11-14T22:13:23.500000Z',
        'position': [1.0, 2.0, 0.5],
        'yaw': -0.25,
        'travelled': 1.5,
        'caption': 'A <b>lift</b>.',
        'scene_text': ['LIFT'],
        'captioner': 'vlm',
        'camera': 'front',
        'source': 'captioner',
        'keyframes': ['a.jpg'],
        'merged': 3,
        'facts': {'size': [1, 2]},
    }
    renamed = {'start_ns': 'start', 'end_ns': 'end', 'pose': 'position', 'map_id': 'map'}
    assert {renamed.get(field.name, field.name) for field in fields(Memory)} <= set(memory_json(MEMORY))


def test_a_hit_is_a_memory_and_why_it_was_found() -> None:
    unplaced = Memory('id1', 'robbie', 0, 0, 'A door.')
    found = hit_json(Hit(unplaced, 0.5, offset_s=-2.0))
    assert found == {
        **memory_json(unplaced),
        'score': 0.5,
        'distance': None,
        'time_offset_sec': -2.0,
        'place': '',
        'sentence': None,
    }
    assert (found['position'], found['yaw']) == (None, None)
