"""Deeds from the topics of a recording, placed by its poses."""

import logging
from collections.abc import Iterable

from remembr_ros.bags.recording import RawMessage, Recording
from remembr_ros.captioning.pose_buffer import PoseBuffer
from remembr_ros.errors import InvalidRequest
from remembr_ros.events.event_message import deed_of
from remembr_ros.events.placer import HISTORY_S, DeedPlacer
from remembr_ros.events.watch import EventWatch
from remembr_ros.memory.deeds.deed import Deed
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.model.storable import storable

_log = logging.getLogger(__name__)

EVENT = 'remembr_msgs/msg/Event'


class RecordedDeeds:
    """Hears a recording as it is read. Times are those of recording.

    :ivar placer: takes the poses
    :ivar topics: what tells of deeds and can be read
    :param left_out: see EventWatch
    :param map_frame: the frame of places
    """

    def __init__(self, recording: Recording, left_out: Iterable[str], map_id: str, map_frame: str) -> None:
        self._recording = recording
        self._watch = EventWatch(recording.start_ns, left_out, map_frame)
        self.placer = DeedPlacer(PoseBuffer(HISTORY_S, hold_s=600.0), map_id)  # as the node's
        kinds = {topic.name: topic.msgtype for topic in recording.topics.values()}
        topics = self._watch.wanted(kinds).keys() | {topic.name for topic in recording.of_type(EVENT)}
        self.topics = recording.readable(sorted(name for name in topics if recording.topics[name].count))
        self._now_ns = recording.start_ns
        self._deeds: list[Deed] = []

    def hear(self, message: RawMessage) -> None:
        """Take a message, of whatever topic."""
        self._now_ns = message.log_ns
        self.placer.put(*self._watch.take(self._now_ns))
        self._deeds += self.placer.take(self._now_ns)
        if message.topic not in self.topics or (read := self._recording.deserialize_or_skip(message)) is None:
            return
        try:
            if message.msgtype == EVENT:
                self.placer.put(deed_of(read, self._now_ns))
            else:
                self._watch.hear(message.topic, message.msgtype, read, self._now_ns)
        except (InvalidRequest, AttributeError, TypeError, ValueError) as error:
            _log.warning('left out: a message on %s, a %s: %s', message.topic, message.msgtype, error)

    def end(self, robot: str) -> list[Memory]:
        """Return what is remembered of all deeds; of one that was told twice, how it ended."""
        self.placer.put(*self._watch.end(self._now_ns))
        found = {}
        for deed in (*self._deeds, *self.placer.flush()):
            try:
                memory = storable(deed.memory(robot))
                found[memory.id] = memory
            except InvalidRequest as error:
                _log.warning('left out: a deed: %s', error)
        return list(found.values())
