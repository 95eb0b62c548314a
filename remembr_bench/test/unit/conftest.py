"""A small folder in the format of CODa, the UT Campus Object Dataset."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import cv2
import numpy as np
import pytest

CODA_START = 1_673_884_185_589_118_000
"""CODa's first timestamp, 1673884185.589118, in nanoseconds."""

COUNT = 12
STEP_NS = 100_000_000

OS1_TO_CAM0 = """extrinsic_matrix:
  rows: 4
  cols: 4
  data: [ 0, -1,  0,  0.1,
          0,  0, -1, -0.2,
          1,  0,  0, -0.5,
          0,  0,  0,  1 ]
"""
"""A camera at (0.5, 0.1, -0.2) in os1 that looks ahead: x is -y of os1, y is -z, z is x; t = -R c."""

OS1_TO_BASE = """extrinsic_matrix:
  R:
    rows: 3
    cols: 3
    data: [ 0, 1, 0,
           -1, 0, 0,
            0, 0, 1 ]
  T: [ -0.2, -0.3, 0.8 ]
"""
"""A base at (-0.3, 0.2, -0.8) in os1 that faces its left: x of the base is y of os1, y is -x."""

CAM0_INTRINSICS = """image_width: 32
image_height: 24
camera_name: narrow_stereo/left
camera_matrix:
  rows: 3
  cols: 3
  data: [30.5, 0, 16.5, 0, 31., 12.5, 0, 0, 1]
distortion_model: plumb_bob
distortion_coefficients:
  rows: 1
  cols: 5
  data: [-0.05, 0.12, 1e-05, -0.003, -0.06]
rectification_matrix:
  rows: 3
  cols: 3
  data: [0, -1, 0,
         1,  0, 0,
         0,  0, 1]
projection_matrix:
  rows: 3
  cols: 4
  data: [33., 0., 15., -6.6,
         0., 33., 11., 0.,
         0., 0., 1., 0.]
"""
"""The rectified camera is the camera turned by a quarter, so that nobody can overlook it: its x is -y."""


class CodaFolder:
    """Sequence 7 at 10 Hz, 12 frames; the lidar drives 1 m/s along y and faces that way."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.stamps = [CODA_START + i * STEP_NS for i in range(COUNT)]
        self.files = [jpeg(20 * i) for i in range(COUNT)]
        self.write('timestamps/7.txt', [seconds(stamp) for stamp in self.stamps])
        self.write('poses/dense/7.txt', [pose(stamp, (5.0, 0.1 * i, 0.5)) for i, stamp in self.numbered()])
        for i, data in enumerate(self.files):
            self.image(i, data)
        self.write('calibrations/7/calib_os1_to_cam0.yaml', [OS1_TO_CAM0])
        self.write('calibrations/7/calib_os1_to_base.yaml', [OS1_TO_BASE])
        self.write('calibrations/7/calib_cam0_intrinsics.yaml', [CAM0_INTRINSICS])

    def numbered(self) -> Iterable[tuple[int, int]]:
        return enumerate(self.stamps)

    def write(self, name: str, lines: Sequence[str]) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('\n'.join([*lines, '']))

    def image_path(self, frame: int, kind: str = '2d_rect', suffix: str = 'jpg') -> Path:
        return self.root / kind / 'cam0' / '7' / f'{kind}_cam0_7_{frame}.{suffix}'

    def image(self, frame: int, data: bytes, kind: str = '2d_rect', suffix: str = 'jpg') -> None:
        path = self.image_path(frame, kind, suffix)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def seconds(stamp_ns: int) -> str:
    return f'{stamp_ns // 10**9}.{stamp_ns % 10**9 // 1000:06}'


def pose(stamp_ns: int, position: tuple[float, float, float]) -> str:
    """A line of a file of poses, facing y: a turn by a quarter about z."""
    x, y, z = position
    return f'{seconds(stamp_ns)} {x:.8f} {y:.8f} {z:.8f} 0.70710678 0.00000000 0.00000000 0.70710678'


def jpeg(grey: int) -> bytes:
    return cv2.imencode('.jpg', np.full((24, 32, 3), grey, np.uint8))[1].tobytes()


@pytest.fixture
def coda(tmp_path: Path) -> CodaFolder:
    return CodaFolder(tmp_path / 'CODa')
