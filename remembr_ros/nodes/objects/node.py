"""The objects node: what is detected in images, by itself or by others, becomes objects that persist."""

import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from sensor_msgs.msg import CameraInfo, CompressedImage, Image

from remembr_msgs.msg import Memory as MemoryMsg
from remembr_ros.agent.chat.openai_client import OpenAIChat
from remembr_ros.bags.poses import stamp_of
from remembr_ros.bags.tf import add_transforms
from remembr_ros.bags.transforms import TransformTree
from remembr_ros.errors import InvalidRequest, StalePose
from remembr_ros.memory.model.record import AGENT, Memory
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.conversions import frame_from_image, frame_name
from remembr_ros.nodes.base.lifecycle import run
from remembr_ros.nodes.base.managed_node import Level, ManagedNode
from remembr_ros.nodes.base.memory_conversion import memory_from_msg
from remembr_ros.nodes.base.outbox import Outbox
from remembr_ros.nodes.base.pose_source import PoseSubscription, check_pose_parameters, tf_message
from remembr_ros.nodes.objects.deeds import ObjectDeeds
from remembr_ros.nodes.objects.kept import KeptObjects
from remembr_ros.nodes.objects.parameters import TOLD, ObjectsParameters
from remembr_ros.nodes.objects.shown import ShownObjects, detection_array
from remembr_ros.nodes.objects.worker import HUNG_S, ObjectWorker
from remembr_ros.objects.camera import depth_of
from remembr_ros.objects.detectors.by_name import get_detector
from remembr_ros.objects.detectors.detection import Detector, classes_of
from remembr_ros.objects.detectors.open_vocabulary import MOST_PROMPTS, OpenVocabularyDetector
from remembr_ros.objects.keeper import ObjectKeeper
from remembr_ros.objects.pairing import Pairing
from remembr_ros.objects.recorded_views import EVERY_NS
from remembr_ros.timestamps import NS

LINGER_S = 2.0  # [s] for what is known to be stored before the process ends; a detector may hang
SILENT_S = 5.0  # [s] without an image, or what is detected in them


class ObjectsNode(ManagedNode):
    """Subscribes images, depth, camera infos, TF and perhaps detections; publishes objects and keeps them."""

    parameters: ObjectsParameters

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('objects', ObjectsParameters, **kwargs)
        self._worker: ObjectWorker | None = None
        self._poses: PoseSubscription | None = None

    def check(self, parameters: ObjectsParameters) -> None:
        check_pose_parameters(parameters)
        tf_message()
        if parameters.detector in TOLD and detection_array() is None:
            raise InvalidRequest(
                'detections need vision_msgs (apt install ros-$ROS_DISTRO-vision-msgs); or name a detector'
            )
        if parameters.prompts and not parameters.detector.startswith('transformers:'):
            raise InvalidRequest('prompts are for a detector of transformers; others know what they find')
        if len(parameters.prompts) > MOST_PROMPTS:
            raise InvalidRequest(f'at most {MOST_PROMPTS} prompts are looked for; leave some out')

    def load(self) -> None:
        self._shown, self._outbox = ShownObjects(self), Outbox(self)

    def start(self) -> None:
        p = self.parameters
        self._tree = TransformTree()
        self._pairing = Pairing(self._tree, p.map_frame, with_depth=p.depth, told=p.detector in TOLD)
        detector = self._detector = self._make_detector()
        self._set_prompts()
        self._poses = None
        if p.pose_source not in ('tf', 'none'):  # TF places cameras; others tell how good that is
            self._poses = PoseSubscription(self, p, lambda pose: None)
        kept = self._kept = KeptObjects(self, p.robot, p.map_id)
        self._last_image = self._last_told = time.monotonic()
        self._last_ns = 0
        self._left_out: Counter[str] = Counter()
        self._frames = 0
        chat = OpenAIChat(p.look_model, p.look_url or None) if p.look_model or p.look_url else None
        self._deeds = ObjectDeeds(self, chat, self._outbox)
        self.while_active.callback(self._deeds.close)
        self._worker = ObjectWorker(
            self._pairing,
            self._detector,
            lambda: ObjectKeeper(kept, p.robot, p.map_id, p.map_frame, classes=partial(classes_of, detector)),
            camera=p.camera,
            why_poor=self._why_poor,
            on_seen=self._deeds.visible.take,
            publish=lambda known, stamp_ns: self._shown.publish(known, stamp_ns, self.parameters.shown),
            publish_period_s=p.publish_period,
            on_end=partial(self._give_back_later, kept),
            before=self._worker,
            log=self.get_logger(),
        )
        self.while_active.callback(self._worker.close)
        self._subscribe()

    def adapt(self) -> None:
        if self._worker is None:
            return
        self._worker.publish_period_s = self.parameters.publish_period
        if self._poses is not None:
            self._poses.max_position_std_m = self.parameters.max_position_std
        self._set_prompts()

    def stop(self) -> None:
        # Not waited for: what it stores needs this thread, which hears that it is stored.
        self._poses = None
        if self.finalized and self._worker is not None:
            self._kept.give_up()
            self._worker.ended(LINGER_S)

    def linger(self) -> None:
        if self._worker is not None:
            self._worker.close()
            self._worker.ended(LINGER_S)

    def diagnose(self) -> tuple[Level, str, Mapping[str, object]]:
        worker, now = self._worker, time.monotonic()
        if worker is None:
            return Level.OK, '', {}
        left_out, before = worker.left_out, self._left_out
        self._left_out = left_out
        lately = [f'{count} {reason}' for reason, count in (left_out - before).items()]
        now_left_out = tuple(left_out - before)
        cause = next((c for c in reversed([*self._pairing.causes]) if c.startswith(now_left_out)), '')
        values = {
            'objects known': worker.objects,
            'images': self._frames,
            'images looked at': worker.images,
            'detector [s per image]': f'{worker.detect_s:.3f}',
            'in all [s per image]': f'{worker.frame_s:.3f}',
            **{f'left out: {reason}': count for reason, count in sorted(left_out.items())},
        }
        silent_s = now - (self._last_told if self.parameters.detector in TOLD else self._last_image)
        source = self.parameters.detector if self.parameters.detector in TOLD else 'images'
        problems = (
            f'the detector has been at one image for {worker.busy_s:.0f} s' if worker.busy_s > HUNG_S else '',
            f'the detector failed: {worker.problem}' if worker.problem else '',
            f'objects are not stored: {worker.storing}' if worker.storing else '',
            f'no {source} for {silent_s:.0f} s' if silent_s > SILENT_S else '',
            f'left out just now: {", ".join(lately)}' + (f' ({cause})' if cause else '') if lately else '',
            self._poses.problem if self._poses is not None else '',
        )
        message = '; '.join(filter(None, problems))
        return (Level.WARN, message, values) if message else (Level.OK, 'following objects', values)

    def _make_detector(self) -> Detector:
        p = self.parameters
        if p.detector in TOLD:
            from remembr_ros.objects.detectors.told import ToldDetections

            return ToldDetections(p.base_frame)
        detector = get_detector(p.detector, p.labels or None)
        self._labels = getattr(detector, 'prompts', ())
        return detector

    def _set_prompts(self) -> None:
        if isinstance(self._detector, OpenVocabularyDetector):
            self._detector.prompts = self.parameters.prompts or self._labels

    def _give_back_later(self, kept: KeptObjects) -> None:
        if (executor := self.executor) is not None:
            with suppress(AttributeError):  # shut down in the meantime: its guard condition is gone
                executor.create_task(kept.close)

    def _why_poor(self, stamp_ns: int) -> str:
        return self._poses.why_none(stamp_ns, stamp_ns) if self._poses is not None else ''

    # In the executor's thread: nothing is decoded here

    def _subscribe(self) -> None:
        p, subscribe = self.parameters, self.topics.subscribe
        kind = tf_message()
        subscribe(kind, '/tf', partial(self._on_tf, static=False), qos.TF, yields=True)
        subscribe(kind, '/tf_static', partial(self._on_tf, static=True), qos.TF_STATIC)
        for transport, image, topic in (
            ('raw', Image, 'image'),
            ('compressed', CompressedImage, 'image/compressed'),
        ):
            if p.image_transport in ('auto', transport):
                subscribe(image, topic, self._on_image, qos.IMAGES, yields=True)
        subscribe(CameraInfo, 'camera_info', partial(self._on_info, 'image'), qos.IMAGES, yields=True)
        if p.depth:
            subscribe(Image, 'depth', self._on_depth, qos.IMAGES, yields=True)
            subscribe(CompressedImage, 'depth/compressedDepth', self._on_depth, qos.IMAGES, yields=True)
            subscribe(
                CameraInfo, 'depth_camera_info', partial(self._on_info, 'depth'), qos.IMAGES, yields=True
            )
        if p.detector in TOLD:
            from vision_msgs.msg import Detection2DArray, Detection3DArray, LabelInfo

            array = Detection2DArray if p.detector == 'detections' else Detection3DArray
            subscribe(array, p.detector, self._on_detections, qos.IMAGES, yields=True)
            subscribe(LabelInfo, 'label_info', self._on_labels, qos.TF_STATIC)
            subscribe(LabelInfo, 'label_info', self._on_labels, qos.TF, spare=True)
        subscribe(MemoryMsg, 'memories', self._on_memory, qos.CAPTIONS, eager=True)

    def _put(self, kind: str, take: Any, stamp_ns: int = 0) -> None:
        if self._worker is not None:
            self._worker.put(kind, take, stamp_ns)

    def _on_image(self, msg: Image | CompressedImage) -> None:
        frame = frame_from_image(msg, self.now_ns())
        self._last_image = time.monotonic()
        self._frames += 1
        # Of a fast camera some: others show nothing else. Which ones another program looks at is not known.
        if self.parameters.detector in TOLD or not 0 <= frame.stamp_ns - self._last_ns < EVERY_NS:
            self._last_ns = frame.stamp_ns
            self._put('image', partial(self._pairing.take_image, frame), frame.stamp_ns)

    def _on_depth(self, msg: Image | CompressedImage) -> None:
        stamp_ns = stamp_of(msg.header, self.now_ns())
        take = partial(
            self._pairing.take_depth, stamp_ns, frame_name(msg.header.frame_id), partial(depth_of, msg)
        )
        self._put('depth', take, stamp_ns)

    def _on_info(self, sensor: str, msg: CameraInfo) -> None:
        self._put('info', partial(self._pairing.take_info, sensor, msg))

    def _on_tf(self, msg: Any, *, static: bool) -> None:
        self._put('tf', partial(add_transforms, self._tree, msg, self.now_ns(), static=static))

    def _on_labels(self, msg: Any) -> None:
        self._put('labels', lambda: self._detector.take_labels(msg))  # type: ignore[attr-defined]

    def _on_detections(self, msg: Any) -> None:
        self._last_told = time.monotonic()
        now_ns = self.now_ns()
        stamp_ns = stamp_of(msg.header, now_ns)

        def take() -> None:
            boxes = self._detector.take(msg, self.parameters.map_frame, now_ns)  # type: ignore[attr-defined]
            if boxes is not None:
                self._pairing.take_told(*boxes)

        self._put('detections', take, stamp_ns)

    def _on_memory(self, msg: MemoryMsg) -> None:
        if msg.source == AGENT and self._worker is not None:
            self._worker.hear(partial(self._hear, memory_from_msg(msg)))

    # In the worker's thread

    def _hear(self, deed: Memory, keeper: ObjectKeeper) -> None:
        keeper.objects.take_states(deed)
        p, hand = self.parameters, None
        if p.gripper_frame:
            with suppress(StalePose):
                hand = self._tree.lookup(p.map_frame, p.gripper_frame, deed.end_ns, NS)[0]
        self._deeds.take(deed, keeper.objects.known, hand)


def main(args: list[str] | None = None) -> None:
    """Run the objects node until it is told to end."""
    run(ObjectsNode, args)


if __name__ == '__main__':
    main()
