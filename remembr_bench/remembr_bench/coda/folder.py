"""What the folders of CODa, the UT Campus Object Dataset, hold of one sequence: images, timestamps, poses.

The layout is that of the data report in CODa's devkit (github.com/ut-amrl/coda-devkit, docs/DATA_REPORT.md).
"""

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

from remembr_ros.errors import BagUnreadable, InvalidRequest
from remembr_ros.geometry import Transform
from remembr_ros.timestamps import format_iso, parse_time

CAMERAS = ('cam0', 'cam1')
"""Left and right camera. Their images are triggered by the lidar and numbered like its frames."""

POSES = {'dense': 'poses/dense', 'dense_global': 'poses/dense_global', 'sparse': 'poses'}
"""Folder of each kind of poses: LeGO-LOAM's, interpolated to one per frame; one per frame, consistent over
all sequences; LeGO-LOAM's as they came, seconds apart."""

IMAGES = ('2d_rect', '2d_raw')
"""Folders of images, the better first: rectified JPEG, or PNG where the devkit rectified; raw PNG."""


@dataclass(frozen=True, slots=True)
class CodaSequence:
    """A sequence as its files describe it.

    :param images: folder of the images, '2d_rect/cam0'
    :param frames: stamp [ns since the Unix epoch] and file of each image, in order of time
    :param poses: stamp and pose of the lidar os1 in the map, in order of time; no stamp comes twice
    :param left_out: what cannot be used, counted by reason
    """

    number: int
    images: str
    frames: list[tuple[int, Path]]
    poses: list[tuple[int, Transform]]
    left_out: Counter[str]

    @property
    def rectified(self) -> bool:
        return self.images.startswith(IMAGES[0])


def read_sequence(root: Path, number: int, camera: str = CAMERAS[0], poses: str = 'dense') -> CodaSequence:
    """Read the timestamps and poses of a sequence and list its images; opens no image.

    Blank lines do not count, as for the devkit. A frame without a timestamp or an image, an image without a
    frame and a pose that is not finite are left out.

    :param root: the folder that holds timestamps/, poses/ and 2d_rect/ (the devkit's CODA_ROOT_DIR)
    :param poses: one of POSES
    :raises BagUnreadable: a file or folder is missing, damaged or not in CODa's format
    :raises InvalidRequest: there is no such camera or kind of poses
    """
    if camera not in CAMERAS:
        raise InvalidRequest(
            f'camera {camera!r} cannot be converted; choose {" or ".join(CAMERAS)}: only their images are '
            "numbered like CODa's timestamps"
        )
    if poses not in POSES:
        raise InvalidRequest(f'{poses!r} are no poses of CODa; choose from {", ".join(POSES)}')
    _check_root(root)
    left_out: Counter[str] = Counter()
    stamps = _read_stamps(root / 'timestamps' / f'{number}.txt')
    images, files = _find_images(root, number, camera)
    frames = []
    for frame, stamp_ns in enumerate(stamps):
        if stamp_ns is None:
            left_out['frames without a timestamp'] += 1
        elif frame not in files:
            left_out['frames without an image'] += 1
        else:
            frames.append((stamp_ns, files[frame]))
    if unnumbered := sum(frame >= len(stamps) for frame in files):
        left_out['images beyond the last timestamp'] += unnumbered
    if not frames:
        raise BagUnreadable(
            f'none of the {len(files)} images in {root / images} belongs to a line of '
            f'timestamps/{number}.txt ({len(stamps)} lines); {_remedy(number)}'
        )
    frames.sort(key=itemgetter(0))
    placed = _read_poses(root, number, poses, left_out)
    if placed[-1][0] < frames[0][0] or placed[0][0] > frames[-1][0]:
        raise BagUnreadable(
            f'{root / POSES[poses]}/{number}.txt knows poses from {format_iso(placed[0][0])} to '
            f'{format_iso(placed[-1][0])}, but the frames are from {format_iso(frames[0][0])} to '
            f'{format_iso(frames[-1][0])}: one of the two is of another sequence; {_remedy(number)}'
        )
    return CodaSequence(number, images, frames, placed, left_out)


def _check_root(root: Path) -> None:
    known = ('timestamps', 'poses', *IMAGES)
    if any((root / name).is_dir() for name in known):
        return
    if not root.is_dir():
        raise BagUnreadable(f'{root} is no folder; give the one that CODa was downloaded to')
    below = next((path.parent for path in sorted(root.glob('*/timestamps'))), None)
    hint = f'give {below} instead' if below else 'give the one that CODa was downloaded to'
    raise BagUnreadable(f'{root} is not the folder of CODa: it has no {", ".join(known)}; {hint}')


def _read_stamps(path: Path) -> list[int | None]:
    """Return the stamp of each frame [ns], by its number; None where the file has no finite one."""
    stamps = [stamp_ns for stamp_ns, _ in _rows(path, 'one timestamp', 1)]
    if not stamps:
        raise BagUnreadable(f'{path} has no timestamps; {_remedy(path.stem)}')
    return stamps


def _read_poses(root: Path, number: int, kind: str, left_out: Counter[str]) -> list[tuple[int, Transform]]:
    path = root / POSES[kind] / f'{number}.txt'
    if not path.exists():
        others = [name for name in POSES if (root / POSES[name] / f'{number}.txt').exists()]
        hint = f'there are others: --poses {" or ".join(others)}' if others else _remedy(number)
        raise BagUnreadable(f'{path} does not exist; {hint}')
    poses: dict[int, Transform] = {}
    for stamp_ns, (x, y, z, qw, qx, qy, qz) in _rows(path, '8 (ts x y z qw qx qy qz)', 8):
        norm = math.sqrt(qw * qw + qx * qx + qy * qy + qz * qz)
        if stamp_ns is None or not all(map(math.isfinite, (x, y, z, norm))) or norm < 1e-6:
            left_out['poses that are no finite numbers'] += 1
            continue
        if stamp_ns in poses:
            left_out['poses at the time of another'] += 1
        poses[stamp_ns] = ((x, y, z), (qx / norm, qy / norm, qz / norm, qw / norm))
    if not poses:
        raise BagUnreadable(f'{path} has no poses; {_remedy(number)}')
    return sorted(poses.items())


def _find_images(root: Path, number: int, camera: str) -> tuple[str, dict[int, Path]]:
    """Return the folder of the images below the root, and the image of each frame."""
    for kind in IMAGES:
        folder = root / kind / camera / str(number)
        pattern = re.compile(rf'{kind}_{camera}_{number}_(\d+)\.(?:jpe?g|png)')
        try:
            names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
        except OSError as error:
            raise BagUnreadable(f'{folder} cannot be read: {error.strerror}') from error
        # Of a JPEG and a PNG of one frame the JPEG is taken, which comes first.
        files: dict[int, Path] = {}
        for name in names:
            if match := pattern.fullmatch(name):
                files.setdefault(int(match[1]), folder / name)
        if files:
            return f'{kind}/{camera}/{number}', files
    wanted = ' or '.join(f'{kind}/{camera}/{number}/{kind}_{camera}_{number}_FRAME' for kind in IMAGES)
    others = {path.name for kind in IMAGES for path in root.glob(f'{kind}/{camera}/[0-9]*')}
    listed = ', '.join(sorted(others - {str(number)}, key=lambda name: (len(name), name)))
    hint = f' (there are images of {listed})' if listed else ''
    raise BagUnreadable(f'{root} has no images {wanted} (.jpg or .png){hint}; {_remedy(number)}')


def _rows(path: Path, expected: str, columns: int) -> Iterator[tuple[int | None, list[float]]]:
    """Yield the stamp [ns] and the other numbers of each line that is neither blank nor a comment.

    The stamp is None where it is not finite, or zero.

    :param expected: what stands in the columns, for the message
    """
    remedy = _remedy(path.stem)
    try:
        with path.open(encoding='utf-8-sig') as file:
            for line, text in enumerate(file, start=1):
                place, words = f'{path}, line {line}', text.partition('#')[0].split()
                if not words:
                    continue
                if len(words) != columns:
                    raise BagUnreadable(f'{place}: {len(words)} columns instead of {expected}; {remedy}')
                seconds, *numbers = (_number(word, place, remedy) for word in words)
                yield (parse_time(words[0]) or None) if math.isfinite(seconds) else None, numbers
    except FileNotFoundError as error:
        raise BagUnreadable(f'{path} does not exist; {remedy}') from error
    except (OSError, UnicodeDecodeError) as error:
        raise BagUnreadable(f'{path} cannot be read: {error}') from error
    except InvalidRequest as error:
        raise BagUnreadable(f'{place}: {error}') from error


def _number(word: str, place: str, remedy: str) -> float:
    try:
        return float(word)
    except ValueError as error:
        raise BagUnreadable(f'{place}: {word!r} is not a number; {remedy}') from error


def _remedy(number: int | str) -> str:
    return (
        f"download sequence {number} (again): 'python scripts/download_split.py -d DIR -t sequence "
        f"-se {number}' in the coda-devkit"
    )
