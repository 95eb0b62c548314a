import numpy as np
import pytest

from remembr_bench.simulation.building import Solid
from remembr_bench.simulation.surfaces import coloured_surface

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
