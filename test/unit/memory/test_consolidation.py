import math

import pytest

from remembr_ros.embedding.hashing import HashingEmbedder
from remembr_ros.geometry import Pose
from remembr_ros.memory.consolidation import consolidate
from remembr_ros.memory.record import Memory
from remembr_ros.timestamps import NS

DOOR, LAMP = 'A closed door in a corridor.', 'Two people carry a lamp past the window.'


HERE = Pose(1.0, 2.0)


def memory(i: int, caption: str = DOOR, pose: Pose | None = HERE, **changes) -> Memory:
    fields = {'id': f'm{i}', 'robot': 'r', 'start_ns': 3 * i * NS, 'end_ns': (3 * i + 3) * NS}
    return Memory(**{**fields, 'caption': caption, 'pose': pose, **changes})


@pytest.fixture
def embedder():
    return HashingEmbedder(128)


def test_a_parked_hour_is_one_memory_that_stands_for_all(embedder):
    hour = [memory(i) for i in range(1200)]
    (one,) = consolidate(hour, embedder)
    assert (one.id, one.start_ns, one.end_ns, one.merged) == ('m0', 0, 3600 * NS, 1200)


def test_a_change_in_the_scene_starts_a_new_one(embedder):
    seen = [memory(0), memory(1), memory(2, LAMP), memory(3), memory(4)]
    assert [(m.id, m.merged) for m in consolidate(seen, embedder)] == [('m0', 2), ('m2', 1), ('m3', 2)]


def test_other_signs_are_a_change(embedder):
    seen = [memory(0, scene_text=('EXIT',)), memory(1, scene_text=('EXIT',)), memory(2, scene_text=('LIFT',))]
    assert [m.id for m in consolidate(seen, embedder)] == ['m0', 'm2']


@pytest.mark.parametrize(
    'pose',
    [Pose(1.6, 2.0), Pose(1.0, 2.0, 0.0, math.radians(25.0)), None],
    ids=['moved', 'turned', 'unplaced'],
)
def test_a_robot_that_does_not_stand_remembers_anew(embedder, pose):
    assert len(consolidate([memory(0), memory(1, pose=pose)], embedder)) == 2


def test_standing_is_measured_from_where_the_stay_began(embedder):
    creeping = [memory(i, pose=Pose(0.3 * i, 0.0)) for i in range(6)]
    assert [m.id for m in consolidate(creeping, embedder)] == ['m0', 'm2', 'm4']


def test_yaw_is_compared_the_short_way_round(embedder):
    around = [memory(0, pose=Pose(0.0, 0.0, 0.0, 3.1)), memory(1, pose=Pose(0.0, 0.0, 0.0, -3.1))]
    assert len(consolidate(around, embedder)) == 1


def test_a_stay_of_another_time_robot_or_map_is_another(embedder):
    assert len(consolidate([memory(0), memory(100)], embedder)) == 2
    assert len(consolidate([memory(0), memory(1, robot='s')], embedder)) == 2
    assert len(consolidate([memory(0), memory(1, map_id='cellar')], embedder)) == 2
    assert consolidate([], embedder) == []
