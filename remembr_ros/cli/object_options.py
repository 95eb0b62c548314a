"""The options of a detector, and the objects of a recording that it finds."""

import argparse
import logging
from functools import partial
from typing import Any

import numpy as np
from tqdm import tqdm

from remembr_ros.captioning.unplaced import counted
from remembr_ros.errors import BagUnreadable, InvalidRequest
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.store import MemoryStore
from remembr_ros.objects.detectors.by_name import get_detector
from remembr_ros.objects.detectors.detection import classes_of
from remembr_ros.objects.keeper import ObjectKeeper
from remembr_ros.objects.recorded_views import RecordedViews

_log = logging.getLogger(__name__)


def add_detector(parser: argparse.ArgumentParser) -> None:
    """Add --detector, --labels, --detections and --depth-topic."""
    group = parser.add_argument_group('objects', 'What a detector finds is kept with an id and a place.')
    kinds = 'onnx:MODEL.onnx (YOLOX) or transformers:MODEL (OWLv2, OWL-ViT, Grounding DINO: name or folder)'
    group.add_argument('--detector', metavar='NAME', help=kinds)
    group.add_argument('--labels', metavar='FILE', help='its classes or prompts, one on each line')
    group.add_argument('--detections', metavar='T', help='Detection2DArray or 3DArray: what others found')
    group.add_argument(
        '--depth-topic', metavar='T', help='depth images (16UC1, 32FC1); without, there are bearings only'
    )


class RecordedObjects:
    """What a detector finds in a recording, or another one found; see add_detector. Close it.

    :raises BagUnreadable: the recording has no such topics, or does not tell where its camera is
    :raises DetectorFailed: the detector cannot be loaded
    :raises InvalidRequest: the options do not go together
    """

    def __init__(self, args: argparse.Namespace) -> None:
        self._args, self._views = args, None
        if args.detections and (args.detector or args.labels):
            raise InvalidRequest('--detections are of another detector: without --detector and --labels')
        if not (args.detector or args.detections):
            if args.labels or args.depth_topic:
                raise InvalidRequest('--labels and --depth-topic go with --detector, which finds objects')
            return
        if args.detector:
            self._detector = get_detector(args.detector, args.labels)
            self._detector.detect(np.zeros((32, 32, 3), np.uint8), 0)  # what is wrong with it is known now
        map_frame = args.tf[0].strip().lstrip('/') if args.tf else None
        topics = args.image_topic, args.depth_topic
        self._views = RecordedViews(args.bag, *topics, map_frame, detections=args.detections)
        if args.detections:
            self._detector = self._views.told

    def close(self) -> None:
        """Let go of the recording and the model."""
        if self._views:
            self._views.close()
            self._detector.close()

    def check(self, memory: Memory) -> None:
        """Raise BagUnreadable if memories of the recording, such as this one, are placed in another frame."""
        if self._views and memory.pose and memory.frame_id != self._views.map_frame:
            raise BagUnreadable(
                f'{self._args.bag} has poses in {memory.frame_id!r}, and TF that places the camera in '
                f'{self._views.map_frame!r}: objects would lie elsewhere than memories. Record all of TF, or '
                'take the poses from TF, too: --tf PARENT CHILD'
            )

    def keep(self, store: MemoryStore) -> dict[str, Any]:
        """Keep the objects in a store, also those from before an error; return what there is to report.

        :raises BagUnreadable: the recording is damaged from here on
        """
        if not self._views:
            return {}
        about = self._args.robot, self._args.map, self._views.map_frame
        classes = partial(classes_of, self._detector)
        keeper = ObjectKeeper(store, *about, live=False, classes=classes)
        views = tqdm(self._views, 'objects', self._views.frame_count, unit='frame', disable=None)
        try:
            for view in views:
                if keeper.has_read(view.stamp_ns, self._args.camera):
                    keeper.dropped['images that were read before'] += 1
                    continue
                keeper.see(view, self._detector.detect(view.image, view.stamp_ns, self._args.camera))
        finally:
            keeper.keep()
        if causes := self._views.pairing.causes:
            _log.warning('left out of what was looked at, or detected: %s', counted(causes))
        left_out = keeper.dropped + self._views.pairing.dropped + self._views.told.dropped
        return {
            'objects': len(keeper),
            'objects_images': keeper.images,
            'detections': keeper.detections,
            'objects_left_out': {reason: count for reason, count in left_out.items() if count},
        }
