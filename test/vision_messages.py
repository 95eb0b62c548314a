"""Detections as vision_msgs tells them, and simulated homes whose recordings have them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from remembr_ros.bags.recording import Recording
from remembr_ros.geometry import Transform, compose, inverse
from remembr_ros.objects.detectors.detection import Detection, PixelBox
from remembr_ros.objects.lifting import CameraView, lift
from remembr_ros.objects.recorded_views import RecordedViews
from remembr_ros.timestamps import NS
from test.unit.bags.conftest import BagBuilder

DEFINITIONS = Path(__file__).parent / 'interfaces' / 'vision_msgs' / 'msg'
FOUND, LABELS = '/detector/detections', '/detector/label_info'
DEPTHS = '/camera/depth/image_raw'
FRAME = 'camera_optical_frame'
UPRIGHT = (0.0, 0.0, 0.0, 1.0)

Scores = Mapping[str, float] | Sequence[tuple[str, float]]


def add_vision_types(store: Any) -> None:
    """Let a store of rosbags know the messages, by their own definitions."""
    for path in sorted(DEFINITIONS.glob('*.msg')):
        store.register(get_types_from_msg(path.read_text(), f'vision_msgs/msg/{path.stem}'))


class VisionMessages:
    """Makes messages, those of rosbags unless others are asked for.

    :param types: the classes, by names such as 'vision_msgs/msg/Detection2D'
    """

    def __init__(self, types: Mapping[str, Any] | None = None) -> None:
        if types is None:
            store = get_typestore(Stores.ROS2_JAZZY)
            add_vision_types(store)
            types = store.types
        self._types = types

    def make(self, name: str, **fields: Any) -> Any:
        return self._types[name](**fields)

    def header(self, stamp_ns: int, frame_id: str) -> Any:
        stamp = self.make('builtin_interfaces/msg/Time', sec=stamp_ns // NS, nanosec=stamp_ns % NS)
        return self.make('std_msgs/msg/Header', stamp=stamp, frame_id=frame_id)

    def pose(self, place: Transform = ((0.0, 0.0, 0.0), UPRIGHT)) -> Any:
        (x, y, z), q = place
        return self.make(
            'geometry_msgs/msg/Pose',
            position=self.make('geometry_msgs/msg/Point', x=x, y=y, z=z),
            orientation=self.make('geometry_msgs/msg/Quaternion', x=q[0], y=q[1], z=q[2], w=q[3]),
        )

    def results(self, scores: Scores, variance: float = 0.0) -> list[Any]:
        pairs = scores.items() if isinstance(scores, Mapping) else scores
        return [
            self.make(
                'vision_msgs/msg/ObjectHypothesisWithPose',
                hypothesis=self.make('vision_msgs/msg/ObjectHypothesis', class_id=name, score=score),
                pose=self.make(
                    'geometry_msgs/msg/PoseWithCovariance', pose=self.pose(), covariance=_diagonal(variance)
                ),
            )
            for name, score in pairs
        ]

    def flat(
        self, box: PixelBox, scores: Scores, theta: float = 0.0, *, frame_id: str = '', name: str = ''
    ) -> Any:
        """Return a Detection2D."""
        left, top, right, bottom = box
        x, y = (left + right) / 2.0, (top + bottom) / 2.0
        center = self.make(
            'vision_msgs/msg/Pose2D', position=self.make('vision_msgs/msg/Point2D', x=x, y=y), theta=theta
        )
        bounds = self.make(
            'vision_msgs/msg/BoundingBox2D', center=center, size_x=right - left, size_y=bottom - top
        )
        header, results = self.header(0, frame_id), self.results(scores)
        return self.make('vision_msgs/msg/Detection2D', header=header, results=results, bbox=bounds, id=name)

    def solid(self, place: Transform, size: Sequence[float], scores: Scores, variance: float = 0.0) -> Any:
        """Return a Detection3D."""
        x, y, z = size
        bounds = self.make(
            'vision_msgs/msg/BoundingBox3D',
            center=self.pose(place),
            size=self.make('geometry_msgs/msg/Vector3', x=x, y=y, z=z),
        )
        header, results = self.header(0, ''), self.results(scores, variance)
        return self.make('vision_msgs/msg/Detection3D', header=header, results=results, bbox=bounds, id='7')

    def array(self, stamp_ns: int, frame_id: str, detections: Sequence[Any], kind: str = '2D') -> Any:
        return self.make(
            f'vision_msgs/msg/Detection{kind}Array',
            header=self.header(stamp_ns, frame_id),
            detections=list(detections),
        )

    def labels(self, names: Mapping[int, str]) -> Any:
        classes = [
            self.make('vision_msgs/msg/VisionClass', class_id=number, class_name=name)
            for number, name in names.items()
        ]
        header = self.header(0, '')
        return self.make('vision_msgs/msg/LabelInfo', header=header, class_map=classes, threshold=0.5)


def _diagonal(variance: float) -> Any:
    import numpy as np

    return np.diag([variance] * 3 + [0.0] * 3).reshape(-1)


class ToldHome:
    """The recording of a simulated home with what its detector finds, for others to read.

    :param home: its folder, as record_home makes it
    :param errors: of the detector
    """

    def __init__(self, home: Path, errors: str = '') -> None:
        from remembr_bench.simulation.detector import recorded_detector

        self._home = home
        views, detector = RecordedViews(home / 'bag', None, DEPTHS), recorded_detector(f'{home}{errors}')
        self.seen = [(view, detector.detect(view.image, view.stamp_ns)) for view in views]
        views.close()
        detector.close()
        names = sorted({one.label for _, found in self.seen for one in found})
        self.numbers = {name: str(number) for number, name in enumerate(names, start=40)}

    def write(self, folder: Path, kind: str, storage: str) -> Path:
        """Return the path of the recording with detections of a kind, '2D' or '3D', and their names last."""
        recording = Recording(self._home / 'bag')
        with BagBuilder(folder, storage) as bag:
            add_vision_types(bag.store)
            vision = VisionMessages(bag.store.types)
            for message in recording.messages(recording.topics):
                bag.raw(message.topic, message.msgtype, message.data, message.log_ns)
            for view, found in self.seen:
                bag.add(FOUND, self.told(vision, view, found, kind), view.stamp_ns)
            bag.add(LABELS, self.labels(vision), self.seen[-1][0].stamp_ns)
        recording.close()
        return bag.path

    def told(self, vision: VisionMessages, view: CameraView, found: Sequence[Detection], kind: str) -> Any:
        """Return an array of a kind, '2D', '3D' or '3D' in the 'map', that tells what was found in a view."""
        told = [self._told(vision, one, view, kind) for one in found]
        of = [one for one in told if one is not None]
        frame_id, kind = ('map', '3D') if kind == 'map' else (FRAME, kind)
        return vision.array(view.stamp_ns, frame_id, of, kind)

    def labels(self, vision: VisionMessages) -> Any:
        """Return the LabelInfo of the numbers that classes have."""
        return vision.labels({int(number): name for name, number in self.numbers.items()})

    def _told(self, vision: VisionMessages, one: Detection, view: Any, kind: str) -> Any:
        scores = {self.numbers[one.label]: one.score}
        if kind == '2D':
            return vision.flat(one.box, scores)
        for placed in lift([one], view, Counter()):
            if kind == 'map' and placed.cut:
                continue
            x, y, z = ((placed.low + placed.high) / 2.0).tolist()
            place: Transform = ((x, y, z), UPRIGHT)
            if kind != 'map':
                place = compose(inverse(view.pose), place)
            size = (placed.high - placed.low).tolist()
            return vision.solid(place, size, scores, (placed.std_m - 0.1 * placed.cut) ** 2)
        return None
