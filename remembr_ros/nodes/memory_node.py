"""The memory node: sole owner of the store. It keeps what the captioner saw, and finds it again."""

import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from sensor_msgs.msg import CompressedImage
from visualization_msgs.msg import MarkerArray

from remembr_msgs.msg import Memory as MemoryMsg
from remembr_msgs.srv import Forget, GetKeyframe, Recall, Remember
from remembr_ros.errors import InvalidRequest, RemembrError
from remembr_ros.memory.record import Memory, Observation, memory_id
from remembr_ros.memory.store import MemoryStore, open_store
from remembr_ros.nodes import qos
from remembr_ros.nodes.conversions import (
    frame_name,
    hit_to_msg,
    is_finite,
    memory_to_msg,
    observation_from_msg,
    pose_from_msg,
    recall_error_code,
    time_from_msg,
)
from remembr_ros.nodes.lifecycle import run
from remembr_ros.nodes.managed_node import ManagedNode
from remembr_ros.nodes.memory_markers import MemoryMarkers
from remembr_ros.nodes.parameters import MemoryParameters
from remembr_ros.nodes.recall_service import forget_scope, search
from remembr_ros.nodes.store_writer import StoreWriter
from remembr_ros.nodes.worker_pool import WorkerPool

RECALL_THREADS = 4
LINGER_S = 3.0
"""When all nodes are stopped at once, the captioner's last captions come within this time [s]."""


class MemoryNode(ManagedNode):
    """Subscribes captions; offers recall, remember, forget and get_keyframe; publishes what is stored."""

    parameters: MemoryParameters

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('memory', MemoryParameters, **kwargs)
        self._store: MemoryStore | None = None
        self._writer: StoreWriter | None = None
        self._pool: WorkerPool | None = None
        self._markers = MemoryMarkers(0)
        self._noting = threading.Lock()
        self._last_caption = 0.0
        self._invalid = 0
        self._endpoints: list[Callable[[], Any]] = []

    def load(self) -> None:
        p = self.parameters
        self._store = open_store(p.uri, p.embedder or None, collection=p.collection)
        embedder = self._store.embedder  # now rather than at the first question
        info = self._store.info()
        self.get_logger().info(f'{p.uri}: {info.memories} memories, embedder {embedder.name}')
        self._memories = self.create_publisher(MemoryMsg, 'memories', qos.CAPTIONS)
        self._marker_publisher = self.create_publisher(MarkerArray, 'memory_markers', qos.MARKERS)

    def start(self) -> None:
        p = self.parameters
        assert self._store is not None
        self._markers = MemoryMarkers(p.marker_count)
        if p.marker_count:
            newest = self._store.newest(limit=min(p.marker_count, 1000))
            self._markers.add(hit.memory for hit in reversed(newest))
        self._pool = WorkerPool(self, RECALL_THREADS, 'recall')
        self._writer = StoreWriter(
            self._store,
            self._publish_stored,
            self.get_logger(),
            queue_size=p.queue_size,
            batch_size=p.batch_size,
            retry_period_s=p.retry_period,
        )
        captions = self.create_subscription(MemoryMsg, 'captions', self._on_caption, qos.CAPTIONS)
        self._endpoints = [lambda: self.destroy_subscription(captions)]
        # Reentrant: a recall that awaits its thread does not keep the next one waiting.
        group = ReentrantCallbackGroup()
        for kind, name, work in (
            (Recall, 'recall', self._recall),
            (Remember, 'remember', self._remember),
            (Forget, 'forget', self._forget),
            (GetKeyframe, 'get_keyframe', self._get_keyframe),
        ):
            callback = self._off_the_executor(work)
            service = self.create_service(
                kind, name, callback, qos_profile=qos.SERVICES, callback_group=group
            )
            self._endpoints.append(lambda service=service: self.destroy_service(service))
        timer = self.create_timer(1.0, self._publish_markers, clock=self._steady)
        self._endpoints.append(lambda: self.destroy_timer(timer))

    def stop(self) -> None:
        for destroy in self._endpoints:
            destroy()
        self._endpoints = []
        if self._writer is not None:
            self._writer.drain(self.parameters.drain_timeout)
            lost = self._writer.close()
            if lost:
                self.get_logger().error(f'{lost} captions could not be stored and are lost')
            self._publish_markers()
            self._writer = None
        if self._pool is not None:
            self._pool.close(2.0)
            self._pool = None

    def release(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None
            for publisher in (getattr(self, '_memories', None), getattr(self, '_marker_publisher', None)):
                if publisher is not None:
                    self.destroy_publisher(publisher)
            self._memories = self._marker_publisher = None

    def linger(self) -> None:
        end = time.monotonic() + self.parameters.drain_timeout
        self._last_caption = time.monotonic()
        while self._writer is not None and time.monotonic() < min(end, self._last_caption + LINGER_S):
            if self.count_publishers('captions') == 0:
                return
            time.sleep(0.05)

    def diagnose(self) -> tuple[bool, str, dict[str, Any]]:
        writer = self._writer
        if writer is None:
            return True, '', {}
        values = {
            'stored': writer.stored,
            'waiting': writer.waiting,
            'dropped': writer.dropped,
            'rejected': writer.rejected + self._invalid,
            'latency [s]': f'{writer.latency_s:.3f}',
        }
        return not writer.problem, writer.problem or 'storing', values

    # Captions

    def _on_caption(self, msg: MemoryMsg) -> None:
        self._last_caption = time.monotonic()
        try:
            observation = observation_from_msg(msg)
        except InvalidRequest as error:
            self._invalid += 1
            self.get_logger().warning(f'caption rejected: {error}', throttle_duration_sec=1.0)
            return
        if self._writer is not None:
            self._writer.put(observation)

    def _publish_stored(self, memories: list[Memory]) -> None:
        for memory in memories:
            try:
                self._memories.publish(memory_to_msg(memory))
            except Exception as error:  # noqa: BLE001  a callback: what is stored stays stored
                self.get_logger().warning(f'memory {memory.id} is stored but not published: {error}')
        self._markers.add(memories)

    def _publish_markers(self) -> None:
        markers = self._markers.take()
        if markers is not None and self._marker_publisher is not None:
            self._marker_publisher.publish(markers)

    # Services, each on a thread of the pool

    def _off_the_executor(self, work: Callable[[Any, Any], None]) -> Callable[[Any, Any], Any]:
        """Return a callback that awaits work(request, response), with errors as the response's error_code."""

        def guarded(request: Any, response: Any) -> Any:
            try:
                work(request, response)
            except RemembrError as error:
                response.error_code = recall_error_code(error)
                response.error_msg = str(error)
            except Exception as error:  # noqa: BLE001  the top of a service's callback
                self.get_logger().error(f'{type(request).__name__} failed: {type(error).__name__}: {error}')
                response.error_code = Recall.Response.STORE_UNAVAILABLE
                response.error_msg = f'unexpected error: {type(error).__name__}: {error}'
            return response

        async def callback(request: Any, response: Any) -> Any:
            assert self._pool is not None
            return await self._pool.call(guarded, request, response)

        return callback

    def _recall(self, request: Recall.Request, response: Recall.Response) -> None:
        hits, response.total = search(self._store, request)
        response.memories = [hit_to_msg(hit) for hit in hits]

    def _remember(self, request: Remember.Request, response: Remember.Response) -> None:
        text = request.text.strip()
        if not text:
            raise InvalidRequest('a note needs a text')
        pose = pose_from_msg(request.pose.pose) if request.use_pose else None
        if pose is not None and not is_finite(pose):
            raise InvalidRequest('the pose of the note is not finite; set use_pose to false without a place')
        robot = request.robot or self.parameters.robot
        stamp_ns = time_from_msg(request.pose.header.stamp) or self.now_ns()
        frame_id = self.parameters.map_frame
        if request.use_pose and request.pose.header.frame_id:
            frame_id = frame_name(request.pose.header.frame_id)
        # Two notes of the same instant are two notes, also when both are on their way.
        with self._noting:
            note_id = memory_id(robot, 'person', stamp_ns)
            while (known := self._store.get([note_id])) and known[0].caption != text:
                stamp_ns += 1
                note_id = memory_id(robot, 'person', stamp_ns)
            memory = Memory(
                id=note_id,
                robot=robot,
                start_ns=stamp_ns,
                end_ns=stamp_ns,
                caption=text,
                pose=pose,
                frame_id=frame_id,
                map_id=request.map_id,
                source='person',
            )
            stored = self._store.add([Observation(memory)])
        self._publish_stored(stored)
        response.id = stored[0].id

    def _forget(self, request: Forget.Request, response: Forget.Response) -> None:
        response.count = self._store.forget(list(request.ids) or None, forget_scope(request))
        self._markers.clear()
        if self.parameters.marker_count:
            newest = self._store.newest(limit=min(self.parameters.marker_count, 1000))
            self._markers.add(hit.memory for hit in reversed(newest))

    def _get_keyframe(self, request: GetKeyframe.Request, response: GetKeyframe.Response) -> None:
        try:
            data = self._store.keyframe(request.id, int(request.index))
        except InvalidRequest as error:
            response.error_code = GetKeyframe.Response.NOT_FOUND
            response.error_msg = str(error)
            return
        response.image = CompressedImage(format='jpeg', data=data)
        memory = self._store.get([request.id])
        if memory:
            response.image.header.stamp = memory_to_msg(memory[0]).start


def main(args: list[str] | None = None) -> None:
    """Run the memory node until it is told to end."""
    sys.exit(run(MemoryNode, args))


if __name__ == '__main__':
    main()
