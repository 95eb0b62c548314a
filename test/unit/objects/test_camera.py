import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Transform, compose, inverse, quaternion_from_yaw
from remembr_ros.objects.camera import Pinhole, rotation_matrix, to_parent
from test.object_scene import AHEAD, CAMERA


def info(width: int, height: int, k: list[float], name: str = 'k') -> SimpleNamespace:
    return SimpleNamespace(width=width, height=height, header=SimpleNamespace(frame_id='camera'), **{name: k})


@pytest.mark.parametrize('name', ['k', 'K'])
def test_a_camera_info_of_either_ros_is_read(name: str) -> None:
    k = [500.0, 0.0, 319.5, 0.0, 510.0, 239.5, 0.0, 0.0, 1.0]
    assert Pinhole.of(info(640, 480, k, name)) == Pinhole(640, 480, 500.0, 510.0, 319.5, 239.5)


@pytest.mark.parametrize(
    ('width', 'fx'), [(640, 0.0), (640, math.nan), (640, math.inf), (0, 500.0), (640, -500.0)]
)
def test_a_camera_that_is_not_calibrated_is_told(width: int, fx: float) -> None:
    with pytest.raises(InvalidRequest, match='calibrate'):
        Pinhole.of(info(width, 480, [fx, 0.0, 319.5, 0.0, 500.0, 239.5, 0.0, 0.0, 1.0]))


def test_at_another_resolution_the_middle_stays_the_middle() -> None:
    half = CAMERA.at(80, 60, 'image')
    assert half == Pinhole(80, 60, 65.0, 65.0, 39.5, 29.5)
    assert CAMERA.at(160, 120, 'image') is CAMERA


def test_an_image_of_another_shape_is_told_with_both_sizes() -> None:
    with pytest.raises(InvalidRequest, match=r'120 x 160 .* 160 x 120, turned by 90 degrees: '):
        CAMERA.at(120, 160, 'depth image')
    with pytest.raises(InvalidRequest, match=r'160 x 160 .* 160 x 120: '):
        CAMERA.at(160, 160, 'depth image')


@given(st.floats(-3.0, 3.0), st.floats(0.3, 9.0), st.floats(0.0, 159.0), st.floats(0.0, 119.0))
def test_points_come_back_where_they_were(yaw: float, z: float, u: float, v: float) -> None:
    pose: Transform = compose(((4.0, -2.0, 0.3), quaternion_from_yaw(yaw)), AHEAD)
    points = CAMERA.unproject(np.array([u]), np.array([v]), np.array([z]))
    moved = to_parent(points, pose)
    assert np.allclose(moved - pose[0], points @ rotation_matrix(pose).T)
    back = to_parent(moved, inverse(pose))
    assert np.allclose(back, points)
    assert np.allclose(CAMERA.matrix @ back[0], [u * z, v * z, z])
