"""A folder of pictures, or a video, with a file of poses, as a stream of frames and poses."""

import heapq
import logging
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from decimal import DecimalException
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from remembr_ros.bags.frames import Event, FrameStream
from remembr_ros.bags.pose_files import FilePose, number_of, read_poses, time_ns, upright
from remembr_ros.bags.stand_in import stand_in
from remembr_ros.errors import BagUnreadable, InvalidRequest
from remembr_ros.geometry import StampedPose
from remembr_ros.images import Bgr, Frame, decode_compressed
from remembr_ros.timestamps import EARLIEST_NS, NS, format_iso, parse_time

_log = logging.getLogger(__name__)

_IMAGES = ('.jpg', '.jpeg', '.png', '.bmp', '.webp', '.tif', '.tiff')
_VIDEOS = ('.mp4', '.mov', '.avi', '.mkv', '.webm', '.m4v')
_NO_PICTURE = re.compile(r'depth|mask|label|instance|semantic|normal', re.IGNORECASE)
_FOLDERS = ('color', 'rgb', 'image_2', 'image_02', 'image_0', 'image_00', 'cam0', 'images', 'image', 'frames')
_POSES = (
    *('groundtruth.txt', 'poses.txt', 'poses.json', 'poses.jsonl', 'trajectory.txt', 'traj.txt'),
    *('CameraTrajectory.txt', 'transforms.json', 'pose', 'poses'),
)
_TIMES = ('rgb.txt', 'color.txt', 'times.txt', 'timestamps.txt')
RATE_HZ = 30.0  # of phones, and of most depth cameras


def is_pictures(path: Path) -> bool:
    """Tell whether there are pictures, or a video, rather than a recording."""
    try:
        if not path.is_dir():
            return path.suffix.lower() in _VIDEOS and path.exists()
        names = [file.name for file in path.iterdir()]
        return not any(re.search(r'\.(mcap|db3)|^metadata\.yaml$', name) for name in names) and any(
            _images(path)
        )
    except OSError:  # which is reported by whatever opens it
        return False


class PictureStream(FrameStream):
    """Frames in their order, and poses of any time; see :func:`open_pictures`."""

    def __init__(
        self,
        names: tuple[str, str | None],
        stamps: list[int],
        frames: Iterator[Frame],
        poses: list[StampedPose],
    ) -> None:
        super().__init__(*names, (stamps[0], stamps[-1]), len(stamps))
        self._events: tuple[Iterable[Event], Iterable[Event]] = poses, frames

    def _read(self, besides: Collection[str], hear: Callable[[Any], object]) -> Iterator[Event]:
        yield from heapq.merge(*self._events, key=lambda event: event.stamp_ns)


def open_pictures(
    path: Path, poses: Path | None = None, start_ns: int | None = None, rate_hz: float | None = None
) -> PictureStream:
    """Open a folder of pictures, or a video, and find out when and where each was taken.

    Times are those of a file beside them (TUM's rgb.txt, KITTI's times.txt), of their names, or of their
    poses. What has none, or counts from zero, begins at start_ns.

    :param poses: a file or folder, see pose_files; None: what lies beside them under a usual name
    :param start_ns: None: when the first file was written, nanoseconds since the Unix epoch
    :param rate_hz: of pictures that are numbered, or of a video; None: 30, or as the video says
    :raises BagUnreadable: what is beside the pictures cannot be read, or is of others
    """
    is_video = not path.is_dir()
    files = [path] if is_video else _images(path)
    source = poses or _poses_beside(path, files[0], is_video)
    known = read_poses(source) if source else []
    written_ns = int(files[0].stat().st_mtime) * NS
    begin_ns = written_ns if start_ns is None else start_ns
    if is_video:
        timed = [pose.stamp_ns for pose in known if pose.stamp_ns is not None]
        if start_ns is None and timed and min(timed) >= EARLIEST_NS:
            begin_ns = min(timed)
        count, own_hz = _video(path)
        stamps = [begin_ns + round(index / (rate_hz or own_hz) * NS) for index in range(count)]
        numbers, frames = list(range(count)), _of_video(path, stamps, own_times=rate_hz is None)
    else:
        times = _stamps(path, files, known, begin_ns, rate_hz or RATE_HZ)
        stamps, files = map(list, zip(*sorted(zip(times, files, strict=True)), strict=True))
        numbers = [number_of(file.name) for file in files]
        frames = (Frame(at, partial(_decode, file)) for file, at in zip(files, stamps, strict=True))
    named = dict(zip((file.name for file in files), stamps, strict=False))
    try:
        placed = _placed(known, stamps, dict(zip(numbers, stamps, strict=True)), named)
    except ValueError as error:
        raise BagUnreadable(f'{source} {error}') from error
    if start_ns is None and stamps[0] == written_ns:
        when = format_iso(written_ns)
        _log.warning('nothing tells when %s begins: taken is %s, when it was written; or --start', path, when)
    stream = PictureStream((str(path), source.name if source else None), stamps, frames, placed)
    if unknown := sum(not pose.is_known for pose in known):
        stream.left_out['not finite, as where tracking was lost'] = unknown
    return stream


def _images(folder: Path) -> list[Path]:
    """Return the pictures in a folder, or in the one in it that has them, by their numbers."""
    inside = [folder / name for name in _FOLDERS] + [folder / name / 'data' for name in _FOLDERS]
    for place in (*inside, folder):
        if place.is_dir():
            files = [
                f for f in place.iterdir() if f.suffix.lower() in _IMAGES and not _NO_PICTURE.search(f.name)
            ]
            if files:
                return sorted(files, key=lambda f: ([int(n) for n in re.findall(r'\d+', f.name)], f.name))
    return []


def _poses_beside(path: Path, first: Path, is_video: bool) -> Path | None:
    own = [path.with_suffix(end) for end in ('.txt', '.tum', '.json', '.jsonl')] if is_video else []
    folder = path.parent if is_video else path
    beside = next((file for file in (*own, *(folder / name for name in _POSES)) if file.exists()), None)
    # As 7-Scenes and OpenEQA have it: a matrix beside each picture.
    number = number_of(first.name)
    each = not is_video and any(number_of(f.name) == number >= 0 for f in first.parent.glob('*.txt'))
    return beside or (first.parent if each else None)


def _stamps(folder: Path, files: list[Path], known: list[FilePose], begin_ns: int, hz: float) -> list[int]:
    """Return when each picture was taken."""
    around = (folder, files[0].parent, files[0].parent.parent)  # KITTI's raw data have it beside `data`
    table = next((place / name for place in around for name in _TIMES if (place / name).exists()), None)
    timed = [pose for pose in known if pose.stamp_ns is not None]
    own = {Path(pose.picture).name: pose.stamp_ns or 0 for pose in timed}
    if table:
        found = _in_table(table, files)
    elif all(re.fullmatch(r'[1-9]\d{8,}(\.\d+)?', file.stem) for file in files):
        found = [time_ns(file.stem) for file in files]
    elif all(file.name in own for file in files):
        found = [own[file.name] for file in files]
    elif len(timed) == len(files):
        found = [pose.stamp_ns or 0 for pose in timed]
    else:
        numbers = [number_of(file.name) for file in files]
        numbers = numbers if len(set(numbers)) == len(files) else list(range(len(files)))
        found = [round((number - numbers[0]) / hz * NS) for number in numbers]
    return found if min(found) >= EARLIEST_NS else [stamp_ns + begin_ns for stamp_ns in found]


def _in_table(table: Path, files: list[Path]) -> list[int]:
    """Return the times of a file whose lines are a time, or a time and a file."""
    try:
        lines = [line.split() for line in table.read_text('utf-8-sig').splitlines()]
        rows = [row for row in lines if row and not row[0].startswith('#')]
        named = {Path(row[-1]).name: row[0] for row in rows}
        if all(file.name in named for file in files):
            return [time_ns(named[file.name]) for file in files]
        if len(rows) != len(files):
            raise ValueError(f'has {len(rows)} times, but there are {len(files)} pictures')
        return [parse_time(' '.join(row)) if '-' in row[0] else time_ns(row[0]) for row in rows]
    except (OSError, ValueError, DecimalException, InvalidRequest) as error:
        raise BagUnreadable(f'{table} does not tell when the pictures were taken: {error}') from error


def _placed(
    known: list[FilePose], stamps: list[int], numbered: dict[int, int], named: dict[str, int]
) -> list[StampedPose]:
    """Return the poses that are known, in the order of time.

    :param numbered: stamps by the numbers of the pictures
    :param named: stamps by their names
    :raises ValueError: nobody knows which pose is of which picture
    """
    times = [pose.stamp_ns for pose in known if pose.stamp_ns is not None]
    later_ns = 0 if not times or min(times) >= EARLIEST_NS else stamps[0]
    in_order = len(known) == len(stamps)
    if (
        not in_order
        and any(p.stamp_ns is None and not p.picture for p in known)
        and max(numbered) >= len(known)
    ):
        raise ValueError(f'has {len(known)} poses, but there are {len(stamps)} pictures')
    found = []
    for index, pose in enumerate(known):
        if pose.stamp_ns is not None:
            stamp_ns: int | None = pose.stamp_ns + later_ns
        elif pose.picture:
            stamp_ns = named.get(Path(pose.picture).name, numbered.get(number_of(pose.picture)))
        else:
            stamp_ns = stamps[index] if in_order else numbered.get(index)
        if pose.is_known and stamp_ns is not None:
            found.append((stamp_ns, pose.matrix))
    if not found:
        return []
    poses = upright(np.array([matrix for _, matrix in found]))
    placed = [StampedPose(stamp_ns, pose) for (stamp_ns, _), pose in zip(found, poses, strict=True)]
    return sorted(placed, key=lambda pose: pose.stamp_ns)


def _decode(file: Path) -> Bgr:
    try:
        if what := stand_in(file):
            raise ValueError(f'the picture is {what}')
        return decode_compressed(file.suffix[1:], file.read_bytes())
    except OSError as error:
        raise ValueError(f'the picture cannot be read: {error.strerror}') from error


def _video(path: Path) -> tuple[int, float]:
    """Return how many frames a video has, and how many in a second."""
    import cv2

    video = cv2.VideoCapture(str(path))
    try:
        count, hz = int(video.get(cv2.CAP_PROP_FRAME_COUNT)), float(video.get(cv2.CAP_PROP_FPS))
    finally:
        video.release()
    if count <= 0:
        raise BagUnreadable(
            f'{path} is no video that OpenCV can read; make one of it: ffmpeg -i FILE new.mp4'
        )
    return count, hz or RATE_HZ


def _of_video(path: Path, stamps: list[int], *, own_times: bool) -> Iterator[Frame]:
    """Yield the frames; those of phones are not all as long, which their own times tell."""
    import cv2

    video = cv2.VideoCapture(str(path))
    at = -1

    def decode(index: int) -> Bgr:
        found, pixels = video.retrieve() if index == at else (False, None)
        if not found or pixels is None:
            raise ValueError('the frame of the video is damaged')
        return np.asarray(pixels, np.uint8)

    try:
        for stamp_ns in stamps:
            if not video.grab():
                if at + 1 < 0.95 * len(stamps):  # the length that it announces is an estimate
                    _log.warning(
                        '%s ends after %d of its %d frames: it is cut off', path, at + 1, len(stamps)
                    )
                return
            at += 1
            later_ms = video.get(cv2.CAP_PROP_POS_MSEC)
            own_ns = (
                stamps[0] + round(later_ms * 1e6) if own_times and (later_ms > 0.0 or not at) else stamp_ns
            )
            yield Frame(own_ns, partial(decode, at))
    finally:
        video.release()
