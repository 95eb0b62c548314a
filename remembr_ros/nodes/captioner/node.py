"""The captioner node: images and poses become captions of segments, placed where the frames were taken."""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sensor_msgs.msg import CompressedImage, Image
from std_srvs.srv import Trigger

from remembr_ros.captioning.backlog import Backlog
from remembr_ros.captioning.captioners.captioner import Captioner
from remembr_ros.captioning.observation import Describer, Remembering
from remembr_ros.captioning.placer import WAIT_FOR_POSES_NS, PlacedSegment, Placer
from remembr_ros.captioning.pose_buffer import PAUSE, PoseBuffer
from remembr_ros.captioning.segmenter import Segmenter, SegmenterConfig
from remembr_ros.captioning.still_scene import StillScene
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.conversions import frame_from_image
from remembr_ros.nodes.base.lifecycle import run
from remembr_ros.nodes.base.managed_node import Level, ManagedNode
from remembr_ros.nodes.base.memory_conversion import observation_to_msg
from remembr_ros.nodes.base.outbox import Outbox
from remembr_ros.nodes.base.pose_source import PoseSubscription, check_pose_parameters
from remembr_ros.nodes.base.services import until
from remembr_ros.nodes.base.topic_watch import WatchedSubscription
from remembr_ros.nodes.base.worker_pool import ended_in_time
from remembr_ros.nodes.captioner.parameters import CaptionerParameters, make_captioner
from remembr_ros.nodes.captioner.worker import CaptionWorker
from remembr_ros.timestamps import NS

FLUSH_TIMEOUT_S = 300.0  # [s] longest that service flush waits for the captioner
CLOSE_S = 1.0  # [s] for a captioner to give back its model


class CaptionerNode(ManagedNode):
    """Subscribes image or image/compressed and a pose; publishes captions."""

    parameters: CaptionerParameters

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('captioner', CaptionerParameters, **kwargs)
        self._captioner: Captioner | None = None
        self._describer: Describer | None = None
        self._worker: CaptionWorker | None = None
        self._pose_source: PoseSubscription | None = None
        self._images: dict[type, WatchedSubscription] = {}
        self._size = ''

    def check(self, parameters: CaptionerParameters) -> None:
        check_pose_parameters(parameters)

    def load(self) -> None:
        p = self.parameters
        self._captioner = make_captioner(p)
        # Not waited for: a captioner that hangs holds its lock.
        self.while_configured.callback(ended_in_time, self._captioner.close, CLOSE_S, 'captioner-close')
        self._captions = Outbox(self)
        self.get_logger().info(f'captioner: {self._captioner.name}, pose from {p.pose_source}')

    def start(self) -> None:
        p, outbox, captioner = self.parameters, self._captions, self._captioner
        assert captioner is not None
        self._segmenter = Segmenter(segmenter_config(p))
        poses = PoseBuffer(max_age_s=p.pose_max_age, hold_s=max(p.pose_hold, p.pose_max_age))
        self._placer = Placer(self._segmenter, poses, 0 if p.pose_source == 'none' else WAIT_FOR_POSES_NS)
        describer = self._describer = Describer(
            captioner,
            Remembering(p.robot, p.map_id, p.camera, p.keyframes),
            StillScene() if p.skip_unchanged else None,
        )
        self._backlog = Backlog(p.queue_size, p.when_slow, round(1e6 * p.queue_bytes_mb))
        self._worker = CaptionWorker(
            describer.observe_all,
            describer.keep,
            lambda observation: outbox.publish(observation_to_msg(observation)),
            log=self.get_logger(),
            backlog=self._backlog,
            batch=p.batch_size,
        )
        self._pose_source = PoseSubscription(self, p, lambda pose: self._put(self._placer.add(pose)))
        self._frames = self._unplaced = 0
        self._lost = ''  # why the last segment has no place
        self._last_image = time.monotonic()
        # Each image starts it anew.
        self._silence = self.every(p.flush_after, self._end_segment)
        for transport, kind, topic in (
            ('raw', Image, 'image'),
            ('compressed', CompressedImage, 'image/compressed'),
        ):
            if p.image_transport in ('auto', transport):
                self._images[kind] = self.topics.subscribe(
                    kind, topic, self._on_image, qos.IMAGES, yields=True
                )
        self._camera = ' or '.join(one.topic for one in self._images.values())
        self.offer(Trigger, '~/flush', self._on_flush)

    def adapt(self) -> None:
        p = self.parameters
        describer = self._describer
        if self.active and describer is not None:
            self._silence.timer_period_ns = round(NS * p.flush_after)
            self._silence.reset()
            self._segmenter.adjust(segmenter_config(p))
            describer.remembering = replace(describer.remembering, keyframes=p.keyframes)
            if self._pose_source is not None:
                self._pose_source.max_position_std_m = p.max_position_std

    def stop(self) -> None:
        self._images = {}
        if self._worker is not None:
            self._end_segment()
            self._worker.drain(self.within_s(self.parameters.drain_timeout))
            if given_up := self._worker.close():
                self.get_logger().warning(
                    f'{given_up} segments were not captioned in time and are kept without a caption; '
                    'describe them later with: remembr recaption'
                )
            self._worker = None
        self._pose_source = None  # until now it tells why the last segment has no place

    def release(self) -> None:
        self._captioner = self._describer = None  # a model may take all there is of a GPU

    def diagnose(self) -> tuple[Level, str, Mapping[str, object]]:
        describer, outbox, worker, poses = self._describer, self._captions, self._worker, self._pose_source
        if worker is None or describer is None or poses is None:
            return Level.OK, '', {}
        silent_s = time.monotonic() - self._last_image
        values = {
            'images': self._frames,
            'images not decoded': self._segmenter.dropped,
            'image size [px]': self._size,
            'captioned': describer.captioned,
            'unchanged': describer.repeated,
            'without a caption': describer.uncaptioned,
            'merged': self._backlog.merged,
            'dropped': self._backlog.dropped,
            'without a place': self._unplaced,
            'poses too uncertain': poses.uncertain,
            'not placed yet': len(self._placer),
            'waiting': worker.waiting,
            'not stored yet': len(outbox),
            'refused': outbox.refused,
            'latency [s]': f'{worker.latency_s:.3f}',
        }
        damaged = self._segmenter.problem
        silent = silent_s > max(5.0, self.parameters.flush_after)
        problems = (
            worker.problem or describer.problem,
            outbox.problem,
            f'images cannot be decoded: {damaged}' if damaged else '',
            f'no image for {silent_s:.0f} s on {self._camera}' if silent else '',
            self._lost,
        )
        message = '; '.join(filter(None, problems))
        return (Level.WARN, message, values) if message else (Level.OK, 'captioning', values)

    # In the executor's thread: next to nothing, except for the few frames that are sampled

    def _on_image(self, msg: Image | CompressedImage) -> None:
        if type(msg) not in self._images:
            return  # the last one of a transport that was given up
        if len(self._images) > 1:
            # The first kind of image that arrives is kept to: both are the same camera.
            for other in [other for other in self._images if other is not type(msg)]:
                self.topics.close(self._images.pop(other))
            self.get_logger().info(f'images come as {type(msg).__name__}')
        self._frames += 1
        self._last_image = time.monotonic()
        self._silence.reset()
        frame = frame_from_image(msg, self.now_ns())
        if self._pose_source is not None:
            self._pose_source.fill(frame.stamp_ns)
        self._put(self._placer.add(frame))

    def _end_segment(self) -> None:
        self._put(self._placer.flush())

    def _put(self, placed_segments: list[PlacedSegment]) -> None:
        for placed in placed_segments:
            self._note_size(placed)
            if self._worker is not None:
                self._worker.put(placed)
            self._lost = self._why_unplaced(placed)
            if self._lost:
                self._unplaced += 1
                said, log = f'{self._unplaced} segments have no place: {self._lost}', self.get_logger()
                if self.starting:  # what tells the pose may be on its way
                    log.info(said, throttle_duration_sec=10.0)
                else:
                    log.warning(said, throttle_duration_sec=10.0)

    def _why_unplaced(self, placed: PlacedSegment) -> str:
        source, segment = self._pose_source, placed.segment
        if placed.pose is not None or source is None or self.parameters.pose_source == 'none':
            return ''
        silent = placed.why == PAUSE
        return source.why_none(segment.start_ns, segment.end_ns) or (
            f'no pose near the images, from {self.parameters.pose_source}; check its topic and stamps, and '
            + ('pose_hold: AMCL is silent while the robot stands' if silent else 'pose_max_age')
        )

    def _note_size(self, placed: PlacedSegment) -> None:
        height, width = placed.segment.frames[-1].image.shape[:2]
        size = f'{width} x {height}'
        if size != self._size:
            before = f', before: {self._size}' if self._size else ''
            self.get_logger().info(f'images of {size} pixels{before}')
            self._size = size

    async def _on_flush(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """End the open segment and respond when everything is captioned and published."""
        self._end_segment()
        # Of now: the node may be cleaned up meanwhile.
        worker, d, b = self._worker, self._describer, self._backlog
        assert worker is not None
        assert d is not None
        response.success = await until(self, FLUSH_TIMEOUT_S, lambda: worker.waiting == 0)
        response.message = (
            f'since activation {d.captioned} segments captioned, {d.repeated} unchanged, '
            f'{d.uncaptioned} without a caption, {b.merged} merged, {b.dropped} dropped'
        )
        return response


def segmenter_config(p: CaptionerParameters) -> SegmenterConfig:
    """Return how frames become segments."""
    return SegmenterConfig(length_s=p.segment_length, rate_hz=p.sample_rate, max_gap_s=p.max_gap)


def main(args: list[str] | None = None) -> None:
    """Run the captioner node until it is told to end."""
    run(CaptionerNode, args)


if __name__ == '__main__':
    main()
