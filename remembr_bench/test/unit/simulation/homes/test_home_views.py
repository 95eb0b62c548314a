import numpy as np
import pytest

from remembr_bench.simulation.homes.home import centre_of
from remembr_bench.simulation.homes.home_views import CAMERA, camera_pose, frames_of
from remembr_bench.simulation.homes.layout import generate_home
from remembr_ros.objects.camera import rotation_matrix

pytest.importorskip('pyvista', reason='pyvista is not installed')


@pytest.fixture(scope='module')
def home():
    return generate_home(3)


@pytest.fixture(scope='module')
def frames(home):
    return list(frames_of(home, home.visits[0], 0.25))


def test_masks_and_depth_lie_where_the_things_are(home, frames):
    checked = 0
    for frame in frames:
        turn, eye = rotation_matrix(camera_pose(frame.base)), np.array(camera_pose(frame.base)[0])
        v, u = np.mgrid[: CAMERA.height, : CAMERA.width]
        rays = np.stack([(u - CAMERA.cx) / CAMERA.fx, (v - CAMERA.cy) / CAMERA.fy, np.ones(u.shape)], axis=2)
        points = (rays * frame.depth[..., None]) @ turn.T + eye
        for number in np.unique(frame.instances)[1:]:
            placement = home.visits[0].placements[int(number)]
            item = home.items[number - 1]
            off = np.abs(points[frame.instances == number] - centre_of(item, placement))
            assert (off <= np.array(item.size) / 2 + 0.012).all(), item
            checked += 1
    assert checked > 50


def test_of_the_same_home_the_same_is_seen(home, frames):
    again = next(frames_of(home, home.visits[0], 0.25))
    for name in ('bgr', 'depth', 'instances'):
        assert np.array_equal(getattr(again, name), getattr(frames[0], name))


def test_the_picture_shows_the_colours_of_the_things(home, frames):
    shown = set()
    for frame in frames:
        for item in home.items:
            pixels = frame.bgr[frame.instances == item.number]
            if len(pixels) > 300 and item.kind == 'small' and len(item.solids) == 1:
                paint = np.array(item.solids[0].colour[::-1]) / np.linalg.norm(item.solids[0].colour)
                mean = pixels.mean(axis=0)
                assert paint @ mean / np.linalg.norm(mean) > 0.97, item
                shown.add(item.number)
    assert len(shown) > 5
