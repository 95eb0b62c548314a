import sys

import numpy as np
import pytest

from remembr_bench.simulation.building import SignPanel
from remembr_bench.simulation.renderer import draw_sign_face
from remembr_bench.simulation.tour_bag import record_building
from remembr_ros.errors import RemembrError


@pytest.mark.parametrize('package', ['pyvista', 'matplotlib'])
def test_without_the_extra_it_says_what_to_install(package, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, package, None)
    for _ in range(2):  # the second time beside what the first has left
        with pytest.raises(RemembrError, match='pip install pyvista matplotlib'):
            record_building(tmp_path, 0)


@pytest.mark.parametrize('text', ['EXIT', 'ROOM 404', 'CAFETERIA'])
def test_sign_face_has_the_sign_s_proportions_and_colours(text):
    sign = SignPanel(text, 'hall', (0.0, 0.0, 1.0), 0.0, 0.16, (0, 100, 0), (255, 255, 255))
    face = draw_sign_face(sign)
    assert face.shape[1] / face.shape[0] == pytest.approx(sign.width_m / sign.height_m, rel=0.02)
    rows = np.nonzero((face[20:-20, 20:-20] == 255).all(axis=2))[0]
    assert np.ptp(rows) + 1 == pytest.approx(96, abs=3)
    assert (face == draw_sign_face(sign)).all()
