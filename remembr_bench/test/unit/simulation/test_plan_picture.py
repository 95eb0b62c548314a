import cv2
import numpy as np
import pytest

from remembr_bench.simulation.floor_plan import generate_building
from remembr_bench.simulation.plan_picture import draw_plan
from remembr_bench.simulation.tour import Tour
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import Memory

pytest.importorskip('matplotlib', reason='the simulation extra is not installed')


@pytest.fixture(scope='module')
def building():
    return generate_building(0)


@pytest.fixture(scope='module')
def track(building):
    tour = Tour(building)
    return [tour.pose_at(float(t)).position for t in range(0, 110, 2)]


def memory(number, pose):
    return Memory(str(number), 'robot', number, number + 1, 'a corridor', pose)


def draw(path, building, **layers):
    nothing = {'track': [], 'memories': [], 'hits': {}, 'goal': None, 'title': 'A plan'}
    draw_plan(path, building, **{**nothing, **layers})
    return cv2.imread(str(path))


def test_picture_is_large_and_not_blank(building, tmp_path):
    image = draw(tmp_path / 'new' / 'map.png', building)
    assert image.shape[1] == 1600
    assert image.shape[0] > 1000
    assert image.std() > 15.0


def test_track_memories_hits_and_goal_each_leave_their_mark(building, track, tmp_path):
    memories = [memory(i, Pose(x, y)) for i, (x, y, _) in enumerate(track)] + [memory(999, None)]
    hits = [Hit(memories[5], 0.9), Hit(memories[-1], 0.5)]
    layers = [
        {'track': track},
        {'memories': memories},
        {'hits': {'Where is it?': hits}},
        {'goal': Pose(10.0, 5.5, 0.0, 1.0)},
    ]
    plain = draw(tmp_path / 'plain.png', building, hits={'x': []})
    for layer in layers:
        image = draw(tmp_path / 'layer.png', building, **({'hits': {'x': []}} | layer))
        assert (np.abs(image.astype(int) - plain[: image.shape[0]]).max(axis=2) > 40).sum() > 200, layer


def test_each_question_adds_a_line_and_none_found_is_said(building, tmp_path):
    one = draw(tmp_path / 'one.png', building, hits={'Where is the pool?': []})
    two = draw(tmp_path / 'two.png', building, hits={'Where is the pool?': [], 'Where is the lake?': []})
    assert two.shape[0] > one.shape[0]
