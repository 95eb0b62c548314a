"""The captioner node: images and poses become captions of segments, placed where the frames were taken."""

import sys
import time
from collections.abc import Callable
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.qos_overriding_options import QoSOverridingOptions
from sensor_msgs.msg import CompressedImage, Image
from std_srvs.srv import Trigger

from remembr_msgs.msg import Memory as MemoryMsg
from remembr_ros.captioning.captioners import get_captioner
from remembr_ros.captioning.observation import describe, keep_uncaptioned
from remembr_ros.captioning.placer import WAIT_FOR_POSES_NS, PlacedSegment, Placer
from remembr_ros.captioning.pose_buffer import PoseBuffer
from remembr_ros.captioning.segmenter import Segmenter, SegmenterConfig
from remembr_ros.errors import CaptionerFailed
from remembr_ros.geometry import StampedPose
from remembr_ros.nodes import qos
from remembr_ros.nodes.caption_worker import CaptionWorker
from remembr_ros.nodes.conversions import frame_from_image, observation_to_msg
from remembr_ros.nodes.lifecycle import run
from remembr_ros.nodes.managed_node import ManagedNode
from remembr_ros.nodes.parameters import CaptionerParameters
from remembr_ros.nodes.pose_source import PoseSource, check_pose_parameters
from remembr_ros.nodes.worker_pool import WorkerPool

FLUSH_TIMEOUT_S = 300.0
"""Longest that service flush waits for the captioner [s]."""


class CaptionerNode(ManagedNode):
    """Subscribes image or image/compressed and a pose; publishes captions."""

    parameters: CaptionerParameters

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('captioner', CaptionerParameters, **kwargs)
        self._worker: CaptionWorker[PlacedSegment] | None = None
        self._pool: WorkerPool | None = None
        self._pose_source: PoseSource | None = None
        self._images: dict[type, Any] = {}
        self._captions: Any = None
        self._endpoints: list[Callable[[], Any]] = []
        self._frames = self._unplaced = 0
        self._lost = False
        self._problem = ''

    def load(self) -> None:
        p = self.parameters
        check_pose_parameters(p)
        self._captioner = get_captioner(
            p.captioner, model=p.captioner_model or None, base_url=p.captioner_url or None
        )
        self._captions = self.create_publisher(MemoryMsg, 'captions', qos.CAPTIONS)
        self.get_logger().info(f'captioner: {self._captioner.name}, pose from {p.pose_source}')

    def start(self) -> None:
        p = self.parameters
        self._segmenter = Segmenter(
            SegmenterConfig(
                length_s=p.segment_length, rate_hz=p.sample_rate, keyframes=p.keyframes, max_gap_s=p.max_gap
            )
        )
        poses = PoseBuffer(max_age_s=p.pose_max_age, hold_s=max(p.pose_hold, p.pose_max_age))
        self._placer = Placer(self._segmenter, poses, 0 if p.pose_source == 'none' else WAIT_FOR_POSES_NS)
        self._worker = CaptionWorker(self._caption, self.get_logger(), p.queue_size)
        self._pool = WorkerPool(self, 2, 'flush')
        self._pose_source = PoseSource(self, p, self._on_pose)
        self._frames = self._unplaced = 0
        self._lost = False
        self._last_image = time.monotonic()
        for transport, kind, topic in (
            ('raw', Image, 'image'),
            ('compressed', CompressedImage, 'image/compressed'),
        ):
            if p.image_transport in ('auto', transport):
                self._images[kind] = self.create_subscription(
                    kind,
                    topic,
                    self._on_image,
                    qos.IMAGES,
                    # Best effort suits a live camera; a recording that is replayed shall lose nothing.
                    qos_overriding_options=QoSOverridingOptions.with_default_policies(),
                )
        timer = self.create_timer(min(1.0, p.flush_after / 4.0), self._flush_when_silent, clock=self._steady)
        flush = self.create_service(
            Trigger, '~/flush', self._on_flush, callback_group=ReentrantCallbackGroup()
        )
        self._endpoints = [lambda: self.destroy_timer(timer), lambda: self.destroy_service(flush)]

    def stop(self) -> None:
        for subscription in self._images.values():
            self.destroy_subscription(subscription)
        self._images = {}
        for destroy in self._endpoints:
            destroy()
        self._endpoints = []
        if self._pose_source is not None:
            self._pose_source.close()
            self._pose_source = None
        if self._worker is not None:
            self._end_segment()
            self._worker.drain(self.parameters.drain_timeout)
            lost = self._worker.close()
            if lost:
                self.get_logger().error(f'{lost} segments were not captioned in time and are lost')
            self._worker = None
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def release(self) -> None:
        if self._captions is not None:
            self.destroy_publisher(self._captions)
            self._captions = None

    def diagnose(self) -> tuple[bool, str, dict[str, Any]]:
        worker = self._worker
        if worker is None:
            return True, '', {}
        silent_s = time.monotonic() - self._last_image
        values = {
            'images': self._frames,
            'images not decoded': self._segmenter.dropped,
            'captioned': worker.done,
            'without a place': self._unplaced,
            'waiting': worker.waiting,
            'dropped': worker.dropped,
            'failed': worker.failed,
            'latency [s]': f'{worker.latency_s:.3f}',
        }
        if problem := worker.problem or self._problem:
            return False, problem, values
        if silent_s > max(5.0, self.parameters.flush_after):
            return False, f'no image for {silent_s:.0f} s', values
        if self._lost:
            return False, f'no pose near the images, from {self.parameters.pose_source}', values
        return True, 'captioning', values

    # In the executor's thread: next to nothing, except for the few frames that are sampled

    def _on_image(self, msg: Image | CompressedImage) -> None:
        if type(msg) not in self._images:
            return  # the last one of a transport that was given up
        if len(self._images) > 1:
            self._choose_transport(type(msg))
        self._frames += 1
        self._last_image = time.monotonic()
        frame = frame_from_image(msg, self.now_ns())
        if self._pose_source is not None:
            self._pose_source.fill(frame.stamp_ns)
        self._put(self._placer.add(frame))

    def _on_pose(self, pose: StampedPose) -> None:
        self._put(self._placer.add(pose))

    def _choose_transport(self, kind: type) -> None:
        """Keep to the first kind of image that arrives: both are the same camera."""
        for other in [other for other in self._images if other is not kind]:
            self.destroy_subscription(self._images.pop(other))
        self.get_logger().info(f'images come as {kind.__name__}')

    def _flush_when_silent(self) -> None:
        if time.monotonic() - self._last_image > self.parameters.flush_after:
            self._end_segment()

    def _end_segment(self) -> None:
        self._put(self._placer.flush())

    def _put(self, placed_segments: list[PlacedSegment]) -> None:
        for placed in placed_segments:
            if self._worker is not None:
                self._worker.put(placed)
            self._lost = placed.pose is None and self.parameters.pose_source != 'none'
            if self._lost:
                self._unplaced += 1
                self.get_logger().warning(
                    f'{self._unplaced} segments have no place: no pose near their images, pose_source is '
                    f'{self.parameters.pose_source}; check its topic and stamps, and pose_max_age',
                    throttle_duration_sec=10.0,
                )

    async def _on_flush(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """End the open segment and respond when everything is captioned and published."""
        self._end_segment()
        assert self._worker is not None
        assert self._pool is not None
        response.success = await self._pool.call(self._worker.drain, FLUSH_TIMEOUT_S)
        done, dropped = self._worker.done, self._worker.dropped
        response.message = f'{done} segments captioned, {dropped} dropped since activation'
        return response

    # In the captioner's thread

    def _caption(self, placed: PlacedSegment) -> None:
        p = self.parameters
        try:
            observation = describe(placed, self._captioner, p.robot, p.map_id, keyframes=p.keyframes)
            self._problem = ''
        except CaptionerFailed as error:
            # Place, time and keyframes are kept all the same.
            self._problem = str(error)
            self.get_logger().error(f'a segment is kept without a caption: {error}')
            observation = keep_uncaptioned(placed, p.robot, p.map_id, keyframes=p.keyframes)
        self._captions.publish(observation_to_msg(observation))


def main(args: list[str] | None = None) -> None:
    """Run the captioner node until it is told to end."""
    sys.exit(run(CaptionerNode, args))


if __name__ == '__main__':
    main()
