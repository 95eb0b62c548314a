import sys

import pytest

from remembr_ros.errors import RemembrError
from remembr_ros.simulation.recording import record_building


@pytest.mark.parametrize('package', ['pyvista', 'matplotlib'])
def test_without_the_extra_it_says_what_to_install(package, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, package, None)
    for _ in range(2):  # the second time beside what the first has left
        with pytest.raises(RemembrError, match=r'pip install "remembr_ros\[simulation\]"'):
            record_building(tmp_path, 0)
