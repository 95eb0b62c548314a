"""What a recording's camera saw, with depth, intrinsics and place."""

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from remembr_ros.bags.poses import stamp_of
from remembr_ros.bags.reader import frame_of
from remembr_ros.bags.recording import DETECTIONS_3D, RawMessage, Recording
from remembr_ros.bags.tf import BASE_FRAMES, TransformSurvey, add_recorded
from remembr_ros.bags.topics import camera_info_topic, choose_image_topic, depth_topic, detections_topics
from remembr_ros.bags.transforms import TransformTree
from remembr_ros.errors import BagUnreadable
from remembr_ros.objects.camera import depth_of
from remembr_ros.objects.detectors.told import ToldDetections
from remembr_ros.objects.lifting import CameraView
from remembr_ros.objects.pairing import Pairing
from remembr_ros.timestamps import NS

EVERY_NS = 150 * NS // 1000  # images nearer to the last one show nothing else


class RecordedViews:
    """Reads what objects are made of. Close it.

    :param image_topic: None: the only one with pictures
    :param depth: topic of the depth images; None: there is no depth
    :param map_frame: what objects are placed in; None: what the recording's TF places the robot in
    :param detections: topic of what others detected; None: nobody did
    :ivar told: finds these
    :raises BagUnreadable: a topic is missing, or is of another type; the message lists what there is
    """

    def __init__(
        self,
        path: Path | str,
        image_topic: str | None = None,
        depth: str | None = None,
        map_frame: str | None = None,
        *,
        detections: str | None = None,
    ) -> None:
        self._recording = Recording(path)
        with ExitStack() as undo:
            undo.callback(self._recording.close)
            image, frame_id = choose_image_topic(self._recording, image_topic)
            self._image = image.name
            self._depth = depth_topic(self._recording, depth).name if depth else None
            topic, self._labels = image, None
            if detections:
                topic, self._labels = detections_topics(self._recording, detections)
            self._looked_at = topic.name
            self._infos = self._find_infos(in_space=topic.msgtype == DETECTIONS_3D)
            self._survey = TransformSurvey(self._recording)
            self.map_frame = map_frame or self._root(frame_id)
            undo.pop_all()
        with_depth, detected = self._depth is not None, detections is not None
        self.pairing = Pairing(TransformTree(), self.map_frame, with_depth=with_depth, told=detected)
        base = next((frame for frame in BASE_FRAMES if frame in self._survey.tree.frames), frame_id)
        self.told = ToldDetections(base)
        self._last_ns = 0
        self.frame_count = topic.count
        """How many images there are, or arrays of detections."""

    def close(self) -> None:
        """Close the files."""
        self._recording.close()

    def __iter__(self) -> Iterator[CameraView]:
        """Yield what was seen, in the order of time; once.

        :raises BagUnreadable: the recording is damaged from here on
        """
        pairing, recording, now_ns = self.pairing, self._recording, 0
        for message in self._survey.statics:
            add_recorded(pairing.tree, recording, message)
        topics = {*self._survey.topics, *self._infos.values(), self._looked_at, self._image}
        topics |= {self._depth or self._image, self._labels or self._image}
        # What classes are called is latched: whenever it was recorded, it holds from the start.
        with suppress(BagUnreadable):  # which is told when all that lies before the damage was delivered
            for message in islice(recording.messages({self._labels or ''}), 1):
                if (received := recording.deserialize_or_skip(message)) is not None:
                    self.told.take_labels(received)
        for message in recording.messages(topics):
            if message.topic in self._survey.topics:
                add_recorded(pairing.tree, recording, message)
            elif (received := recording.deserialize_or_skip(message)) is None:
                pairing.dropped['messages that are garbage'] += 1
            elif message.topic == self._labels:
                self.told.take_labels(received)
            else:
                now_ns = self._take(message, received)
            yield from pairing.ready(now_ns)
        yield from pairing.ready(now_ns, last=True)

    def _take(self, message: RawMessage, received: Any) -> int:
        """Take an image, detections, depth or intrinsics; return its stamp [ns]."""
        stamp_ns = stamp_of(received.header, message.log_ns)
        new = message.topic == self._looked_at and not 0 <= stamp_ns - self._last_ns < EVERY_NS
        self._last_ns = stamp_ns if new else self._last_ns
        if message.topic == self._image:
            if new or self._looked_at != self._image:
                self.pairing.take_image(frame_of(received, stamp_ns))
        elif new and (detections := self.told.take(received, self.map_frame, message.log_ns)):
            self.pairing.take_told(*detections)
        elif message.topic == self._depth:
            frame_id = received.header.frame_id.lstrip('/')
            self.pairing.take_depth(stamp_ns, frame_id, partial(depth_of, received))
        for sensor, topic in self._infos.items():
            if topic == message.topic:
                self.pairing.take_info(sensor, received)
        return stamp_ns

    def _find_infos(self, *, in_space: bool) -> dict[str, str]:
        """Return the topics with the intrinsics of the 'image', unless needless, and of the 'depth'."""
        found: dict[str, str] = {}
        for sensor, topic in (('image', self._image), ('depth', self._depth)):
            info = camera_info_topic(self._recording, topic) if topic else None
            if info:
                found[sensor] = info
            elif topic and not (in_space and sensor == 'image'):
                raise BagUnreadable(
                    f'{self._recording.path} has no sensor_msgs/msg/CameraInfo that belongs to {topic}, '
                    f'without which nobody knows where its pixels lie; {self._recording.describe_topics()}'
                )
        return found

    def _root(self, frame_id: str) -> str:
        chain = self._survey.chain(frame_id)
        if chain is None:
            raise BagUnreadable(
                f'{self._recording.path} has no TF that places the camera {frame_id!r} in a map, which '
                'objects need; name the map with --tf, or record /tf and /tf_static; '
                f'{self._recording.describe_topics()}'
            )
        return chain[0]
