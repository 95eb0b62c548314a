"""Detections made by others, as vision_msgs (4.0 and newer), from ROS or a recording."""

import heapq
import math
import re
from collections import Counter
from dataclasses import replace
from typing import Any, NamedTuple

from remembr_ros.bags.poses import stamp_of
from remembr_ros.images import Bgr
from remembr_ros.memory.objects.known import MAX_NAMED
from remembr_ros.objects.detectors.detection import LABELS, MOST, STD_M, Detection, Extent, PixelBox

STAMPS = 200  # of which detections are kept: more than images wait anywhere
USUAL_STD_M = 0.03  # of the middle of a box in space, where its covariance does not tell
_NUMBER = re.compile(r'[0-9]{1,9}')


class Told(NamedTuple):
    """That things were detected: when, from which frame, and whether where they are was told, too."""

    stamp_ns: int
    frame_id: str
    in_space: bool = False


class ToldDetections:
    """Finds what it was told of an image, by its stamp. Used by one thread at a time.

    :param base_frame: from where things were seen whose places are told in the map
    :ivar dropped: what is of no use, by the reason
    """

    name = 'told'

    def __init__(self, base_frame: str = 'base_link') -> None:
        self.dropped: Counter[str] = Counter()
        self._base_frame, self._names = base_frame, dict[int, str]()
        self._told: dict[int, list[Detection]] = {}

    @property
    def classes(self) -> tuple[str, ...]:
        return tuple(self._names.values())

    def take_labels(self, message: Any) -> None:
        """Take a vision_msgs/LabelInfo: from now on its names, and no earlier ones, stand for numbers."""
        named = ((int(entry.class_id), entry.class_name.strip()) for entry in message.class_map)
        self._names = {number: name for number, name in named if name}

    def take(self, message: Any, map_frame: str, received_ns: int) -> Told | None:
        """Take a vision_msgs/Detection2DArray or Detection3DArray.

        :param map_frame: what objects are placed in
        :param received_ns: stands in for a stamp of zero
        :return: what Pairing.take_told takes; None: nothing new was told
        """
        stamp_ns, in_space = stamp_of(message.header, received_ns), 'Detection3D' in type(message).__name__
        if stamp_ns in self._told:
            self.dropped['arrays of a time that was told of before'] += 1
            return None
        headers = [message.header, *(detection.header for detection in message.detections[:1])]
        frame_id = next(filter(None, (header.frame_id.strip().lstrip('/') for header in headers)), '')
        in_map = in_space and frame_id == map_frame
        try:
            best = heapq.nlargest(MOST, message.detections, key=_score)
            found = [self._detection(received, stamp_ns, in_map if in_space else None) for received in best]
        except AttributeError:
            self.dropped['arrays of vision_msgs from before 4.0'] += 1
            return None
        self.dropped['detections beyond the number that fits a frame'] += len(message.detections) - len(best)
        self.dropped['detections without a label, or a sound box'] += found.count(None)
        self._told[stamp_ns] = [detection for detection in found if detection]
        if len(self._told) > STAMPS:
            del self._told[next(iter(self._told))]
        return Told(stamp_ns, self._base_frame if in_map else frame_id, in_space)

    def detect(self, image: Bgr | None, stamp_ns: int, camera: str = '') -> list[Detection]:
        """Return what was told of that time, best first; of what was told in space, boxes are none yet."""
        return [replace(detection, camera=camera) for detection in self._told.get(stamp_ns, ())]

    def close(self) -> None:
        """Forget what was told."""
        self._told.clear()

    def _detection(self, received: Any, stamp_ns: int, in_map: bool | None) -> Detection | None:
        """Return a detection; None: it makes no sense. Its box is in the map or not; None: in the image."""
        scores: dict[str, float] = {}
        for score, name in sorted(
            ((float(hypothese.score), hypothese.class_id) for hypothese in _hypotheses(received)),
            reverse=True,
        ):
            known = name.strip()
            if _NUMBER.fullmatch(known):
                known = self._names.get(int(known), f'class {int(known)}')
            if known and len(scores) < LABELS:
                scores.setdefault(known[:MAX_NAMED].strip(), score)
        try:
            extent = None if in_map is None else _extent(received, in_map)
            box = _hull(received.bbox) if extent is None else (0.0, 0.0, 1.0, 1.0)
        except (ValueError, OverflowError, ZeroDivisionError):  # not finite, or no rotation
            return None
        found = Detection(stamp_ns, '', box, scores, extent=extent)
        return found if found.is_sound() else None


def _hypotheses(received: Any) -> list[Any]:
    return [result.hypothesis for result in received.results if 0.0 < result.hypothesis.score <= 1.0]


def _score(received: Any) -> float:
    return max((float(hypothese.score) for hypothese in _hypotheses(received)), default=0.0)


def _hull(bbox: Any) -> PixelBox:
    """Return the axis-aligned box around one that is turned."""
    at, half = bbox.center.position, (float(bbox.size_x) / 2.0, float(bbox.size_y) / 2.0)
    cosine, sine = abs(math.cos(bbox.center.theta)), abs(math.sin(bbox.center.theta))
    across, down = cosine * half[0] + sine * half[1], sine * half[0] + cosine * half[1]
    if min(half) <= 0.0:
        raise ValueError(half)
    return float(at.x) - across, float(at.y) - down, float(at.x) + across, float(at.y) + down


def _extent(received: Any, in_map: bool) -> Extent:
    at, q, size = received.bbox.center.position, received.bbox.center.orientation, received.bbox.size
    norm = math.hypot(q.x, q.y, q.z, q.w)
    pose = ((at.x, at.y, at.z), (q.x / norm, q.y / norm, q.z / norm, q.w / norm))
    variances = received.results[0].pose.covariance[:15:7] if len(received.results) else ()
    reported_m = math.sqrt(max(sum(map(float, variances)) / 3.0, 0.0))
    std_m = reported_m if STD_M[0] <= reported_m <= STD_M[1] else USUAL_STD_M
    return Extent(pose, (size.x, size.y, size.z), std_m, in_map)
