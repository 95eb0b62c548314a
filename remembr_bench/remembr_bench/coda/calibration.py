"""CODa's calibration files: where base and cameras are on the robot, and the cameras' intrinsics.

The matrix of calib_os1_to_X.yaml takes points from the lidar os1 to X: p_X = M p_os1. The pose of X in os1,
which TF wants, is its inverse.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from remembr_bench.bag_writer import Intrinsics
from remembr_ros.errors import BagUnreadable
from remembr_ros.geometry import Quaternion, Transform, compose, inverse

_TOLERANCE = 0.01
"""How far the rows of a rotation may be from length 1 and right angles: the files have few digits."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """What is known of a sequence's robot and camera.

    :param base: pose of base_link in os1; None: not known
    :param camera: pose of the camera's optical frame (x right, y down, z into the picture) in os1; None: not
        known
    :param intrinsics: of the pictures; None: not known
    :param absent: names of the files that are not there
    """

    base: Transform | None
    camera: Transform | None
    intrinsics: Intrinsics | None
    absent: tuple[str, ...]


def read_calibration(folder: Path, camera: str, *, rectified: bool) -> Calibration:
    """Read the calibration of a sequence; each of its files may be absent.

    :param folder: calibrations/SEQUENCE
    :param camera: 'cam0' or 'cam1'
    :param rectified: the pictures are; the optical frame is the rectified camera's, where the intrinsics say
        how it is turned
    :raises BagUnreadable: a file is damaged or not in CODa's format
    """
    names = ('calib_os1_to_base.yaml', f'calib_os1_to_{camera}.yaml', f'calib_{camera}_intrinsics.yaml')
    paths = [folder / name for name in names]
    base, optical, intrinsics = _extrinsic(paths[0]), _extrinsic(paths[1]), _intrinsics(paths[2])
    if rectified and intrinsics is not None:
        if optical is not None:
            turned = _quaternion(paths[2], np.array(intrinsics.r).reshape(3, 3).T)
            optical = compose(optical, ((0.0, 0.0, 0.0), turned))
        intrinsics = _rectified(intrinsics)
    return Calibration(base, optical, intrinsics, tuple(path.name for path in paths if not path.exists()))


def _load(path: Path) -> dict[str, Any] | None:
    try:
        content = yaml.safe_load(path.read_text(encoding='utf-8'))
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BagUnreadable(f'{path} cannot be read as YAML: {error}; download it again') from error
    if not isinstance(content, dict):
        raise BagUnreadable(f"{path} is not in CODa's format: it is no dictionary; download it again")
    return content


def _extrinsic(path: Path) -> Transform | None:
    """Return the pose in os1 of the frame that a file's matrix leads to."""
    if (content := _load(path)) is None:
        return None
    matrix = content.get('extrinsic_matrix')
    if isinstance(matrix, dict) and 'R' in matrix:
        rotation, translation = _matrix(path, matrix, 'R', 3, 3), _numbers(path, matrix.get('T'), 'T', 3)
    else:
        whole = _matrix(path, content, 'extrinsic_matrix', 4, 4)
        rotation, translation = whole[:3, :3], whole[:3, 3]
    x, y, z = (float(value) for value in translation)
    return inverse(((x, y, z), _quaternion(path, rotation)))


def _intrinsics(path: Path) -> Intrinsics | None:
    if (content := _load(path)) is None:
        return None
    model = content.get('distortion_model', 'plumb_bob')
    if model != 'plumb_bob':
        raise BagUnreadable(f"{path}: the distortion model is {model!r}, not CODa's plumb_bob")
    width, height = _numbers(path, [content.get('image_width'), content.get('image_height')], 'size', 2)
    return Intrinsics(
        (int(width), int(height)),
        k=_row_by_row(_matrix(path, content, 'camera_matrix', 3, 3)),
        p=_row_by_row(_matrix(path, content, 'projection_matrix', 3, 4)),
        d=_row_by_row(_matrix(path, content, 'distortion_coefficients', 1, 5)),
        r=_row_by_row(_matrix(path, content, 'rectification_matrix', 3, 3)),
    )


def _rectified(intrinsics: Intrinsics) -> Intrinsics:
    """Return those of the rectified picture, as of a camera of its own: no distortion, no baseline."""
    p = np.array(intrinsics.p).reshape(3, 4)
    p[:, 3] = 0.0
    return Intrinsics(intrinsics.size, _row_by_row(p[:, :3]), _row_by_row(p))


def _matrix(path: Path, content: dict[str, Any], name: str, rows: int, columns: int) -> NDArray[np.float64]:
    entry = content.get(name)
    data = entry.get('data') if isinstance(entry, dict) else None
    return _numbers(path, data, name, rows * columns).reshape(rows, columns)


def _numbers(path: Path, values: Any, name: str, count: int) -> NDArray[np.float64]:
    try:
        array = np.array([float(value) for value in values], np.float64)  # YAML takes 1e-05 for a text
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.size != count or not np.isfinite(array).all():
        raise BagUnreadable(
            f"{path} is not in CODa's format: {name} is not {count} finite numbers; download it again"
        )
    return array


def _quaternion(path: Path, rotation: NDArray[np.float64]) -> Quaternion:
    from scipy.spatial.transform import Rotation

    skew = float(np.abs(rotation @ rotation.T - np.eye(3)).max())
    if skew > _TOLERANCE or np.linalg.det(rotation) < 0.0:
        raise BagUnreadable(f'{path}: the matrix is no rotation; download it again')
    x, y, z, w = (float(value) for value in Rotation.from_matrix(rotation).as_quat())
    return x, y, z, w


def _row_by_row(matrix: NDArray[np.float64]) -> tuple[float, ...]:
    return tuple(float(value) for value in matrix.reshape(-1))
