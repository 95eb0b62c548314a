"""The memory node: sole owner of the store. It keeps what the captioner saw, and finds it again."""

import time
from collections.abc import Mapping
from typing import Any

from geometry_msgs.msg import PointStamped
from visualization_msgs.msg import MarkerArray

from remembr_msgs.msg import Memory as MemoryMsg
from remembr_ros.embedding.behind import EmbedderBehind
from remembr_ros.errors import RemembrError, StoreUnavailable
from remembr_ros.memory.model.recall import Query
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.model.uri import is_server, shown
from remembr_ros.memory.search import MAX_LIMIT
from remembr_ros.memory.store import MemoryStore
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.conversions import frame_name
from remembr_ros.nodes.base.lifecycle import run
from remembr_ros.nodes.base.managed_node import Level, ManagedNode
from remembr_ros.nodes.base.memory_conversion import memory_to_msg
from remembr_ros.nodes.base.worker_pool import ended_in_time
from remembr_ros.nodes.memory.caption_intake import CaptionIntake
from remembr_ros.nodes.memory.configured_store import open_memory, policy_of, tell_when_loaded
from remembr_ros.nodes.memory.housekeeping import ClockWatch, Housekeeping
from remembr_ros.nodes.memory.markers import MemoryMarkers
from remembr_ros.nodes.memory.parameters import MemoryParameters
from remembr_ros.nodes.memory.services import READ_ONLY, MemoryServices
from remembr_ros.nodes.memory.store_gauge import StoreGauge

LINGER_S = 2.0  # [s] when all are stopped at once, for the captioner's last captions: it takes 0.7 s and more
END_S = 1.0  # [s] for the batch that is being stored when the time to drain is over
PART_END_S = 0.5  # [s] for each other thread that is at work then
CLOSE_S = 30.0  # [s] for an embedded database to be written and closed
HUNG_CLOSE_S = 2.0  # [s] the same where the store hangs anyway
UNKNOWN = 'unknown'


class MemoryNode(ManagedNode):
    """Subscribes captions, answers them and publishes what is stored; offers recall, remember, forget, ..."""

    parameters: MemoryParameters

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('memory', MemoryParameters, **kwargs)
        self._store: MemoryStore | None = None
        self._intake: CaptionIntake | None = None
        self._offers: MemoryServices | None = None
        self._housekeeping: Housekeeping | None = None
        self._gauge: StoreGauge | None = None
        self._markers = MemoryMarkers(0)
        self._stop_by: float | None = None
        self._behind: EmbedderBehind | None = None

    def load(self) -> None:
        p = self.parameters
        self._away, self._hangs = '', False
        self._store = open_memory(p)
        try:
            embedder = self._store.embedder  # now rather than at the first question
            self.get_logger().info(
                f'{shown(p.uri)}: {self._store.count()} memories, embedder {embedder.name}'
            )
        except StoreUnavailable as error:
            if not is_server(p.uri):
                raise
            self._away = str(error)
            self.get_logger().warning(f'captions wait on this machine: {error}')
        if (behind := self._store.embedder_behind) is not None:
            tell_when_loaded(behind, self.get_logger())
        self._memories = self.advertise(MemoryMsg, 'memories', qos.CAPTIONS)
        self._marker_publisher = self.advertise(MarkerArray, 'memory_markers', qos.MARKERS)

    def start(self) -> None:
        p, log, store = self.parameters, self.get_logger(), self._store
        assert store is not None
        self._markers = MemoryMarkers(p.marker_count)
        self._gauge = StoreGauge(store, is_server(p.uri), self._away, log, self._show_older)
        self._clock_watch = ClockWatch(self)
        self._housekeeping = Housekeeping(
            store,
            policy_of(p),
            self.now_ns,
            self._show_newest,
            log,
            clock=self._clock_watch,
            deletes=not p.read_only,
        )
        self._intake = CaptionIntake(self, store, p, self._publish_stored)
        self._intake.listen()
        self.topics.subscribe(PointStamped, 'clicked_point', self._on_click, qos.CLICKS)
        self._offers = MemoryServices(
            self, p, store, self._gauge, on_stored=self._publish_stored, on_deleted=self._show_newest
        )
        if p.follow_pose_graph and not p.read_only:
            self._housekeeping.follow(self, self._offers.objects)
        self.every(1.0, self._publish_markers)

    def adapt(self) -> None:
        if self._housekeeping is not None:
            self._housekeeping.adjust(policy_of(self.parameters))
        self._markers.resize(self.parameters.marker_count)
        if self._gauge is not None:
            self._gauge.tell_again()  # older memories may have room now

    def stop(self) -> None:
        timeout_s = self.parameters.drain_timeout
        if self._stop_by is not None:  # the process ends: some of it has been spent on lingering
            timeout_s = max(END_S, self._stop_by - time.monotonic())
        if self._intake is not None:
            writer = self._intake.writer
            writer.drain(timeout_s)
            lost = writer.close(END_S)
            self._hangs = writer.hangs
            self._intake.close()
            if lost:
                why = writer.problem or 'the store did not come back'
                self.get_logger().error(
                    f'{lost} captions could not be stored within {timeout_s:.1f} s and are lost: {why}'
                )
            self._publish_markers()
            self._intake = None
        for part in (self._offers, self._housekeeping, self._gauge):
            if part is not None:
                part.close(PART_END_S)
        self._offers = self._housekeeping = self._gauge = None

    def release(self) -> None:
        store, self._store = self._store, None
        if store is None:
            return
        self._behind = store.embedder_behind
        # A store that hangs does not let go: leave it to itself rather than hang, too.
        if not ended_in_time(store.close, HUNG_CLOSE_S if self._hangs else CLOSE_S, 'store-close'):
            self.get_logger().error('the store does not let itself be closed; it ends with this process')

    def linger(self) -> None:
        self._stop_by = end = time.monotonic() + self.parameters.drain_timeout
        began = time.monotonic()
        while self._intake is not None and (
            time.monotonic() < min(end, max(began, self._intake.last_at) + LINGER_S)
        ):
            if self.count_publishers('captions') == 0 and time.monotonic() > self._intake.since + LINGER_S:
                return  # they are gone; one that has just started may not have found them yet
            time.sleep(0.05)

    def is_busy_behind(self) -> bool:
        return self._behind is not None and self._behind.busy

    def diagnose(self) -> tuple[Level, str, Mapping[str, object]]:
        store, intake, gauge, housekeeping = self._store, self._intake, self._gauge, self._housekeeping
        if store is None or intake is None or gauge is None or housekeeping is None:
            return Level.OK, '', {}
        writer, reading, behind = intake.writer, gauge.reading, store.embedder_behind
        loading = behind is not None and behind.loading
        unloaded = behind.problem if behind is not None else ''
        errors = (
            'no more captions are taken until some of those that wait are stored' if writer.is_full else '',
            '' if loading else unloaded,
            f'captions are not stored: {writer.problem}'
            if writer.problem and (loading or not unloaded)
            else '',
            'the disk is full; make room' if reading.disk_full else '',
        )
        warnings = (
            reading.away,
            '' if reading.problem == reading.away else reading.problem,
            housekeeping.problem,
            unloaded if loading else '',
        )
        problem = '; '.join(filter(None, errors + warnings))
        level = Level.ERROR if any(errors) else Level.WARN if problem else Level.OK
        message = problem or ('read-only' if intake.read_only else 'storing')
        if intake.unwanted:
            level = max(level, Level.WARN)
            message = f'{intake.unwanted} captions were not stored: {READ_ONLY}'
        return (
            level,
            message,
            {
                'stored': writer.stored,
                'merged': writer.merged,
                'memories': UNKNOWN if reading.memories is None else reading.memories,
                'waiting': writer.waiting,
                'spooled': reading.spooled,
                'spool [MB]': _megabytes(reading.spool_bytes),
                'rejected': writer.rejected + intake.invalid,
                'latency [s]': f'{writer.latency_s:.3f}',
                'database [MB]': _megabytes(reading.database_bytes),
                'keyframes [MB]': _megabytes(reading.keyframe_bytes),
                'free disk [MB]': _megabytes(reading.free_bytes),
                'last retention': housekeeping.last,
                'problem': problem,
            },
        )

    def _on_click(self, msg: PointStamped) -> None:
        """Describe the memory that somebody clicked at in RViz or Foxglove."""
        self._markers.select(frame_name(msg.header.frame_id), msg.point.x, msg.point.y)

    def _publish_stored(self, memories: list[Memory]) -> None:
        """Publish memories; one that was extended comes again, with the id that it has."""
        for memory in memories:
            try:
                self._memories.publish(memory_to_msg(memory))
            except Exception as error:  # noqa: BLE001  a callback: what is stored stays stored
                self.get_logger().warning(f'memory {memory.id} is stored but not published: {error}')
        self._markers.add(memories)

    # Not in the executor's thread: the store may take its time

    def _show_older(self) -> None:
        """Draw what was stored before the node started, or while it could not be read."""
        self._markers.add_older(self._newest())

    def _show_newest(self) -> None:
        """Draw the markers anew: memories were deleted."""
        self._markers.show(self._newest())

    def _newest(self) -> list[Memory]:
        """Return what is there to be drawn, oldest first."""
        count = min(self.parameters.marker_count, MAX_LIMIT)
        if not count or self._store is None:
            return []
        try:
            return [hit.memory for hit in reversed(self._store.find(Query(limit=count)))]
        except RemembrError as error:
            self.get_logger().warning(f'the markers are not up to date: {error}')
            return []

    def _publish_markers(self) -> None:
        markers = self._markers.take()
        if markers is not None:
            self._marker_publisher.publish(markers)


def _megabytes(size: int | None) -> str:
    return UNKNOWN if size is None else f'{size / 1e6:.1f}'


def main(args: list[str] | None = None) -> None:
    """Run the memory node until it is told to end."""
    run(MemoryNode, args)


if __name__ == '__main__':
    main()
