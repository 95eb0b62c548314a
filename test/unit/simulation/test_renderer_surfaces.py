import numpy as np
import pytest

from remembr_ros.simulation.building import SignPanel, Solid
from remembr_ros.simulation.renderer import coloured_surface, draw_sign_face

SHAPES = ('box', 'cylinder', 'ball')


@pytest.mark.parametrize('shape', SHAPES)
def test_surface_fills_the_box_around_the_solid(shape):
    points, _, _ = coloured_surface([Solid((1.0, 2.0, 0.0), (1.5, 2.5, 2.0), (100, 50, 0), shape)])
    assert points.min(axis=0) == pytest.approx((1.0, 2.0, 0.0))
    assert points.max(axis=0) == pytest.approx((1.5, 2.5, 2.0))


def test_polygons_refer_to_their_own_solid():
    solids = [
        Solid((float(i), 0.0, 0.0), (i + 0.5, 1.0, 1.0), (9, 9, 9), shape) for i, shape in enumerate(SHAPES)
    ]
    points, polygons, colours = coloured_surface(solids)
    assert len(points) == len(colours)
    used, at = set(), 0
    while at < len(polygons):
        corners = polygons[at + 1 : at + 1 + polygons[at]]
        assert np.ptp(np.floor(points[corners, 0] - 1e-9 * (points[corners, 0] % 1 > 0))) == 0
        used.update(corners.tolist())
        at += 1 + polygons[at]
    assert used == set(range(len(points)))


def test_colours_keep_their_hue_and_walls_of_different_direction_differ():
    _, _, colours = coloured_surface([Solid((0.0, 0.0, 0.0), (1.0, 1.0, 1.0), (120, 60, 0))])
    assert (colours[:, 2] == 0).all()
    assert colours[:, 0] / 2 == pytest.approx(colours[:, 1], abs=1)
    assert len({tuple(colour) for colour in colours.tolist()}) >= 5


@pytest.mark.parametrize('text', ['EXIT', 'ROOM 404', 'CAFETERIA'])
def test_sign_face_has_the_sign_s_proportions_and_colours(text):
    sign = SignPanel(text, 'hall', (0.0, 0.0, 1.0), 0.0, 0.16, (0, 100, 0), (255, 255, 255))
    face = draw_sign_face(sign)
    assert face.shape[1] / face.shape[0] == pytest.approx(sign.width_m / sign.height_m, rel=0.02)
    rows = np.nonzero((face[20:-20, 20:-20] == 255).all(axis=2))[0]
    assert np.ptp(rows) + 1 == pytest.approx(96, abs=3)
    assert (face == draw_sign_face(sign)).all()
