"""Converts a sequence of CODa, the UT Campus Object Dataset, to a rosbag2.

Topics, for camera cam0 (raw pictures: image_raw in place of image_rect):
    /cam0/image_rect/compressed   sensor_msgs/CompressedImage: the files byte for byte
    /cam0/camera_info             sensor_msgs/CameraInfo of these pictures, with each of them
    /tf                           map -> os1: CODa's poses, which are the lidar's
    /tf_static                    os1 -> base_link, os1 -> cam0_optical_frame

A reader takes map -> base_link by default: CODa's position but for the base's offset from the lidar, and the
way that the robot faces. map -> os1 (--tf map os1) is CODa's position itself, which NaVQA's answers have.
"""

import heapq
import logging
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path

import numpy as np

from remembr_bench.bag_writer import BagWriter, Message
from remembr_bench.coda.calibration import Calibration, read_calibration
from remembr_bench.coda.folder import CAMERAS, CodaSequence, read_sequence
from remembr_ros.bags.transforms import IDENTITY
from remembr_ros.errors import BagUnreadable, InvalidRequest

_log = logging.getLogger(__name__)

MAP, LIDAR, BASE = 'map', 'os1', 'base_link'

_FORMATS = {b'\xff\xd8\xff': 'jpeg', b'\x89PNG\r\n\x1a\n': 'png'}  # how files of each format begin

GARBAGE = 'images that are neither JPEG nor PNG'

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class ConvertedSequence:
    """What was written.

    :param path: the rosbag2's folder
    :param images: the folder that the images are from, '2d_rect/cam0/0'
    :param frames: number of images
    :param poses: number of poses
    :param start_ns: stamp of the first image or pose, nanoseconds since the Unix epoch
    :param end_ns: stamp of the last one
    :param unplaced: images that are older than the first pose or newer than the last
    :param left_out: what could not be used, counted by reason
    :param absent: names of the calibration files that are not there
    """

    sequence: int
    path: Path
    images: str
    frames: int
    poses: int
    start_ns: int
    end_ns: int
    unplaced: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    absent: tuple[str, ...] = ()


def convert_coda(
    root: Path,
    sequence: int,
    out: Path,
    *,
    camera: str = CAMERAS[0],
    poses: str = 'dense',
    replace: bool = False,
    progress: Progress = lambda done, total: None,
) -> ConvertedSequence:
    """Write one sequence as a rosbag2; the same files give the same bag.

    The bag is written beside its place, in OUT.partial-..., and moved there when it is complete.

    :param root: holds timestamps/, poses/ and 2d_rect/ or 2d_raw/ (the devkit's CODA_ROOT_DIR)
    :param sequence: its number, 0 to 22
    :param out: the bag's folder; made
    :param camera: 'cam0' or 'cam1'
    :param poses: 'dense' (NaVQA's), 'dense_global' or 'sparse', see coda_folder.POSES
    :param replace: put the bag in the place of one that is there
    :param progress: called with the number of images done and of all images, after each
    :raises BagUnreadable: something is missing, damaged or not in CODa's format; nothing was written
    :raises InvalidRequest: out is there, or cannot be written; no such camera or poses
    """
    _check_place(out, replace)
    found = read_sequence(root, sequence, camera, poses)
    calibration = read_calibration(root / 'calibrations' / str(sequence), camera, rectified=found.rectified)
    left_out = found.left_out
    try:
        with _moved_when_complete(out) as path, BagWriter(path) as bag:
            moving = _motion(bag, found, calibration, camera)
            pictures = _pictures(bag, found, calibration, camera, progress)
            for message in heapq.merge(moving, pictures, key=itemgetter(0)):
                bag.write(*message)
            frames = len(found.frames) - left_out[GARBAGE]
            if not frames:
                raise BagUnreadable(
                    f'none of the {len(found.frames)} images in {root / found.images} is a JPEG or PNG; '
                    'unpack the download again'
                )
    except OSError as error:
        raise InvalidRequest(f'{out} cannot be written: {error.strerror or error}') from error
    if left_out:
        listed = ', '.join(f'{count} {reason}' for reason, count in left_out.items())
        _log.warning('sequence %d: left out %s', sequence, listed)
    first_ns, last_ns = found.poses[0][0], found.poses[-1][0]
    return ConvertedSequence(
        sequence,
        out,
        found.images,
        frames,
        len(found.poses),
        min(first_ns, found.frames[0][0]),
        max(last_ns, found.frames[-1][0]),
        unplaced=sum(not first_ns <= stamp_ns <= last_ns for stamp_ns, _ in found.frames),
        left_out=left_out,
        absent=calibration.absent,
    )


def _check_place(out: Path, replace: bool) -> None:
    if not out.exists():
        return
    if not replace:
        raise InvalidRequest(f'{out} is there already; --force replaces it')
    inside = sorted(path.name for path in out.iterdir()) if out.is_dir() else ['it is a file']
    strange = [name for name in inside if name != 'metadata.yaml' and not name.endswith('.mcap')]
    if strange:
        raise InvalidRequest(f'{out} is no converted sequence ({strange[0]}), and will not be replaced')


@contextmanager
def _moved_when_complete(out: Path) -> Iterator[Path]:
    """Yield where to write a folder; move it to its place when the block ends without an error."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f'{out.name}.partial-', dir=out.parent) as scratch:
        written, old = Path(scratch) / out.name, Path(scratch) / 'replaced'
        yield written
        if out.exists():
            out.rename(old)
        try:
            written.rename(out)
        except OSError:
            if old.exists():
                old.rename(out)
            raise


def _motion(bag: BagWriter, found: CodaSequence, calibration: Calibration, camera: str) -> Iterator[Message]:
    """Yield the static transforms, then the poses."""
    start_ns = min(found.frames[0][0], found.poses[0][0])
    static = [bag.transform(start_ns, LIDAR, BASE, calibration.base or IDENTITY)]
    if calibration.camera is not None:
        static.append(bag.transform(start_ns, LIDAR, _optical(camera), calibration.camera))
    yield start_ns, '/tf_static', bag.tf(*static)
    for stamp_ns, pose in found.poses:
        yield stamp_ns, '/tf', bag.tf(bag.transform(stamp_ns, MAP, LIDAR, pose))


def _pictures(
    bag: BagWriter, found: CodaSequence, calibration: Calibration, camera: str, progress: Progress
) -> Iterator[Message]:
    """Yield each image, and its camera's intrinsics where they are known; count those that are none."""
    topic = f'/{camera}/image_{"rect" if found.rectified else "raw"}/compressed'
    for done, (stamp_ns, path) in enumerate(found.frames, start=1):
        data = _read(path)
        form = next((name for start, name in _FORMATS.items() if data.startswith(start)), None)
        if form is None:
            found.left_out[GARBAGE] += 1
        else:
            header = bag.header(stamp_ns, _optical(camera))
            yield stamp_ns, topic, bag.compressed_image(header, form, np.frombuffer(data, np.uint8))
            if calibration.intrinsics is not None:
                yield stamp_ns, f'/{camera}/camera_info', bag.camera_info(header, calibration.intrinsics)
        progress(done, len(found.frames))


def _optical(camera: str) -> str:
    return f'{camera}_optical_frame'


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BagUnreadable(f'{path} cannot be read: {error.strerror}') from error
