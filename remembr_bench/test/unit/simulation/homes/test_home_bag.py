import json

import numpy as np
import pytest

from remembr_bench.simulation.detector import recorded_detector
from remembr_bench.simulation.homes.home_bag import record_home
from remembr_bench.simulation.homes.home_views import camera_pose, frames_of
from remembr_bench.simulation.homes.layout import generate_home
from remembr_bench.simulation.homes.rounds import drive
from remembr_ros.objects.recorded_views import RecordedViews

pytest.importorskip('pyvista', reason='pyvista is not installed')
RATE_HZ = 0.25


@pytest.fixture(scope='module')
def home():
    return generate_home(5, 2)


@pytest.fixture(scope='module')
def recorded(home, tmp_path_factory):
    folder = tmp_path_factory.mktemp('home')
    record_home(folder, home, RATE_HZ)
    return folder


def views_of(folder):
    views = RecordedViews(folder / 'bag', None, '/camera/depth/image_raw')
    try:
        return list(views)
    finally:
        views.close()


def test_a_recording_gives_back_what_was_rendered(home, recorded):
    views = views_of(recorded)
    frames = [frame for visit in home.visits for frame in frames_of(home, visit, RATE_HZ)]
    detector = recorded_detector(str(recorded))
    assert [view.stamp_ns for view in views] == [frame.stamp_ns for frame in frames]
    for view, frame in zip(views, frames, strict=True):
        assert np.allclose(view.depth.metres, frame.depth, atol=0.0006)
        assert np.allclose(view.pose[0], camera_pose(frame.base)[0], atol=1e-6)
        found = detector.detect(view.image, view.stamp_ns)
        for one in found:
            number = np.unique(frame.instances[one.mask])
            assert len(number) == 1
            assert one.label == home.items[number[0] - 1].label
    detector.close()


def test_poses_are_as_wrong_as_is_asked_for(home, tmp_path):
    record_home(tmp_path, home, RATE_HZ, pose_m=0.1, pose_deg=2.0)
    told = np.array([view.pose[0] for view in views_of(tmp_path)])
    true = np.array([camera_pose(pose)[0] for visit in home.visits for _, pose in drive(visit, RATE_HZ)])
    off = told - true
    assert np.allclose(off[:, 2], 0.0)
    assert 0.07 < off[:, :2].std() < 0.14


def test_the_truth_says_what_each_visit_showed(home, recorded):
    truth = json.loads((recorded / 'truth.json').read_text())
    assert truth['frame_id'] == 'map'
    assert [(item['number'], item['label']) for item in truth['home']['items']] == [
        (item.number, item.label) for item in home.items
    ]
    for told, visit, shown in zip(truth['home']['visits'], home.visits, truth['shown'], strict=True):
        assert {int(n): tuple(at['origin']) for n, at in told['placements'].items()} == {
            n: at.origin for n, at in visit.placements.items()
        }
        frames = list(frames_of(home, visit, RATE_HZ))
        for item in home.items:
            assert shown[item.number] == sum((f.instances == item.number).sum() >= 20 for f in frames)
