import json

import numpy as np
import pytest

from remembr_ros.objects.recorded import RecordedViews
from remembr_ros.objects.simulated import recorded_detector
from remembr_ros.simulation.homes.layout import generate_home
from remembr_ros.simulation.homes.recording import record_home
from remembr_ros.simulation.homes.renderer import camera_pose, frames_of
from remembr_ros.simulation.homes.rounds import drive

pytest.importorskip('pyvista', reason='the extra simulation is not installed')
RATE_HZ = 0.25


@pytest.fixture(scope='module')
def home():
    return generate_home(5, 2)


@pytest.fixture(scope='module')
def recorded(home, tmp_path_factory):
    folder = tmp_path_factory.mktemp('home')
    return folder, record_home(folder, home, rate_hz=RATE_HZ)


def views_of(folder):
    views = RecordedViews(folder / 'bag', None, '/camera/depth/image_raw')
    try:
        return list(views)
    finally:
        views.close()


def test_a_recording_gives_back_what_was_rendered(home, recorded):
    views = views_of(recorded[0])
    frames = [frame for visit in home.visits for frame in frames_of(home, visit, RATE_HZ)]
    detector = recorded_detector(str(recorded[0]))
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
    record_home(tmp_path, home, rate_hz=RATE_HZ, pose_m=0.1, pose_deg=2.0)
    told = np.array([view.pose[0] for view in views_of(tmp_path)])
    true = np.array([camera_pose(pose)[0] for visit in home.visits for _, pose in drive(visit, RATE_HZ)])
    off = told - true
    assert np.allclose(off[:, 2], 0.0)
    assert 0.07 < off[:, :2].std() < 0.14


def test_the_truth_says_what_each_visit_showed(home, recorded):
    folder, truth = recorded
    told = json.loads((folder / 'truth.json').read_text())
    assert len(told['items']) == len(home.items) == len(truth.items)
    assert [len(item['stays']) for item in told['items']] == [2] * len(home.items)
    for item, true in zip(told['items'], home.items, strict=True):
        assert (item['number'], item['label']) == (true.number, true.label)
        for visit, stay in zip(home.visits, item['stays'], strict=True):
            assert (stay is not None) == (true.number in visit.placements)
    frames = list(frames_of(home, home.visits[1], RATE_HZ))
    for item in truth.items:
        shown = sum((frame.instances == item.number).sum() >= 20 for frame in frames)
        assert (item.stays[1].frames if item.stays[1] else 0) == shown
    assert truth.visits[1] == (frames[0].stamp_ns, frames[-1].stamp_ns)
