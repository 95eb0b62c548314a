"""Poses of cameras out of files: TUM, KITTI, ScanNet, and JSON.

Whatever axes world and camera have there, they become those of REP-103: z up, and yaw as what is looked at.
"""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, DecimalException
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from remembr_ros.errors import BagUnreadable
from remembr_ros.geometry import Pose, quaternion_from_yaw
from remembr_ros.timestamps import NS

Matrix = NDArray[np.float64]

FORMS = (
    'poses are lines of 8 numbers (TUM: time x y z qx qy qz qw), of 12 or 16 (KITTI: a matrix by rows; 13 or '
    '17: with a number in front), a folder of 4 x 4 matrices (ScanNet), or JSON records with time, position '
    'and rotation or theta'
)
_MATRIX = {12: 0, 13: 1, 16: 0, 17: 1}  # numbers in a line, and how many of them come before the matrix
_ALONG = 0.7  # so much of a mean axis tells where it points


@dataclass(frozen=True, slots=True)
class FilePose:
    """A camera's or a robot's pose in its file.

    :param matrix: of it in its world, shape (4, 4); with numbers that are not finite: none was known
    :param stamp_ns: None: it belongs to a picture
    :param picture: whose; a number or a name; empty: they are in one order
    """

    matrix: Matrix
    stamp_ns: int | None = None
    picture: str = ''

    @property
    def is_known(self) -> bool:
        """Whether it is a pose."""
        return bool(np.isfinite(self.matrix).all())


def read_poses(path: Path) -> list[FilePose]:
    """Return the poses of a file, or of a folder with a file for each picture.

    :raises BagUnreadable: these are none; the message says which forms are read
    """
    try:
        if path.is_dir():
            files = sorted(path.glob('*.txt'), key=lambda file: number_of(file.name))
            return [FilePose(_matrix(np.loadtxt(file).ravel()), picture=file.name) for file in files]
        if path.suffix in {'.json', '.jsonl'}:
            return list(_of_records(path))
        return list(_of_lines(path))
    except (OSError, ValueError, LookupError, TypeError, DecimalException) as error:
        raise BagUnreadable(f'{path} has no poses that can be read: {error}; {FORMS}') from error


def number_of(name: str) -> int:
    """Return the last number in a file's name; -1: there is none."""
    numbers = re.findall(r'\d+', name.rpartition('.')[0] or name)
    return int(numbers[-1]) if numbers else -1


def time_ns(text: str | float) -> int:
    """Return a time in seconds, or in milliseconds to nanoseconds since 1970, as nanoseconds."""
    value = Decimal(str(text))
    unit = next(
        (scale for least, scale in ((10**17, 1), (10**14, 10**3), (10**11, 10**6)) if value >= least), NS
    )
    return round(value * unit)


def _of_lines(path: Path) -> Iterator[FilePose]:
    for line in path.read_text('utf-8-sig').splitlines():
        texts = line.replace(',', ' ').split()
        if not texts or line.lstrip().startswith('#') or re.match(r'[a-zA-Z]+_?[a-zA-Z]*$', texts[0]):
            continue
        numbers = np.array([float(text) for text in texts])
        if len(numbers) == 8:
            yield FilePose(_of_quaternion(numbers[1:4], numbers[4:]), time_ns(texts[0]))
        elif (first := _MATRIX.get(len(numbers))) is not None:
            yield FilePose(_matrix(numbers[first:]), picture=texts[0] if first else '')
        else:
            raise ValueError(f'a line of {len(numbers)} numbers')


def _of_records(path: Path) -> Iterator[FilePose]:
    text = path.read_text('utf-8-sig')
    records = (
        [json.loads(line) for line in text.splitlines() if line.strip()]
        if path.suffix == '.jsonl'
        else json.loads(text)
    )
    for record in records.get('frames', ()) if isinstance(records, dict) else records:
        stamp, picture = (
            _first(record, names) for names in (('time', 'timestamp'), ('file', 'image', 'file_path', 'cam0'))
        )
        if (matrix := _first(record, ('transform_matrix', 'matrix'))) is not None:
            pose = _matrix(np.array(matrix, float).ravel())
        else:
            turn = _first(record, ('rotation', 'orientation', 'quaternion'))
            yaw = float(_first(record, ('theta', 'yaw')) or 0.0)
            pose = _of_quaternion(np.array(record['position'], float), turn or quaternion_from_yaw(yaw))
        yield FilePose(pose, None if stamp is None else time_ns(stamp), str(picture or ''))


def _first(record: Any, names: tuple[str, ...]) -> Any:
    return next((record[name] for name in names if record.get(name) is not None), None)


def _matrix(numbers: Matrix) -> Matrix:
    if numbers.size not in {12, 16}:
        raise ValueError(f'a matrix of {numbers.size} numbers')
    turn = numbers[:12].reshape(3, 4)[:, :3]
    if np.isfinite(numbers).all() and not (
        np.allclose(turn @ turn.T, np.eye(3), atol=0.1)
        and np.allclose(numbers[12:], [0, 0, 0, 1][: numbers.size - 12])
    ):
        raise ValueError('a matrix that is no pose')
    return np.vstack([numbers[:12].reshape(3, 4), [0.0, 0.0, 0.0, 1.0]])


def _of_quaternion(position: Matrix, xyzw: Any) -> Matrix:
    from scipy.spatial.transform import Rotation

    matrix = np.full((4, 4), math.nan)
    quaternion = np.array(xyzw, float)
    if np.isfinite(quaternion).all() and np.linalg.norm(quaternion) > 0.0:
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = Rotation.from_quat(quaternion).as_matrix(), position
    return matrix


def upright(matrices: Matrix) -> list[Pose]:
    """Return poses in a world whose z axis points up, facing what is looked at.

    What the axes are is told by where the y axis of the camera points on the whole: down for a camera of
    computer vision, up for one of computer graphics (-z ahead). A robot's body has its z axis up, x ahead.

    :param matrices: shape (n, 4, 4), of one track
    """
    rotations, places = matrices[:, :3, :3], matrices[:, :3, 3]
    across = np.ptp(places, axis=0)
    y, z = rotations[:, :, 1].mean(axis=0), rotations[:, :, 2].mean(axis=0)
    world, ahead = np.eye(3), np.array([0.0, 0.0, 1.0])
    y_down = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
    y_up = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    if z[2] > _ALONG and across[2] <= max(across[:2]) / 2.0:
        ahead = np.array([1.0, 0.0, 0.0])
    elif y[2] > _ALONG:
        ahead = -ahead
    elif y[1] > _ALONG and np.allclose(matrices[0], np.eye(4), atol=1e-3):
        world = y_down  # of the first camera, as SLAM and KITTI have it
    elif abs(y[1]) > _ALONG:
        world, ahead = y_up, -ahead if y[1] > 0.0 else ahead
    found = []
    for place, rotation in zip(places @ world.T, rotations, strict=True):
        looks = world @ rotation @ ahead
        x, y_, z_ = map(float, place)
        found.append(Pose(x, y_, z_, math.atan2(looks[1], looks[0])))
    return found
