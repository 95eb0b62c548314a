"""The messages of a recording, whatever wrote it: rosbag2 (mcap, sqlite3) or ROS 1.

Message types are taken from the ROS distributions, not from the definitions in the file: they are the same
everywhere, and a broken definition does not matter. Only other types are learned there: Recording.readable.
"""

import importlib
import logging
import re
import sqlite3
import struct
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from remembr_ros.bags.header_clock import HeaderClock
from remembr_ros.bags.layout import count_in_metadata, storage_files, topics_in_metadata
from remembr_ros.bags.storage import reader_of
from remembr_ros.bags.unpacking import ready
from remembr_ros.decompression import ZSTD_MAGIC, zstd
from remembr_ros.errors import BagUnreadable

_log = logging.getLogger(__name__)

_RESCUE = {
    '.mcap': "'mcap recover FILE -o NEW_FILE' saves what is there",
    '.db3': '\'sqlite3 FILE ".recover"\' saves what is there',
    '.bag': "'rosbag reindex FILE' (or 'rosbag fix') saves what is there",
}
_MEANING = {
    'File end magic is invalid': 'the index at its end is missing',
    'Bag is not indexed': 'its index is missing',
    'Bag index looks damaged': 'its index is missing or damaged',
    'File magic is invalid': 'it does not start like a recording',
    'are not in timestamp order': "it has no index and no order, which 'mcap sort FILE -o NEW_FILE' gives it",
}
# tf/tfMessage of early ROS 1 has the fields of its successor
_TF = 'tf2_msgs/msg/TFMessage'
_SAME_AS = {'tf/msg/tfMessage': _TF}
_CLOCK = 'rosgraph_msgs/msg/Clock'
_ENCODINGS = ('cdr', 'ros1')  # of channels; others are left out
# Definitions of vision_msgs (4.0 and newer), for recordings (sqlite3) that bring none
_VISION = 'vision_msgs/msg/'
DETECTIONS_2D, DETECTIONS_3D = f'{_VISION}Detection2DArray', f'{_VISION}Detection3DArray'
LABEL_INFO = f'{_VISION}LabelInfo'
_VISION_DETECTION = 'std_msgs/Header header\nObjectHypothesisWithPose[] results\n{} bbox\nstring id'
_VISION_FIELDS = {
    'Detection2DArray': 'std_msgs/Header header\nDetection2D[] detections',
    'Detection3DArray': 'std_msgs/Header header\nDetection3D[] detections',
    'Detection2D': _VISION_DETECTION.format('BoundingBox2D'),
    'Detection3D': _VISION_DETECTION.format('BoundingBox3D'),
    'ObjectHypothesisWithPose': 'ObjectHypothesis hypothesis\ngeometry_msgs/PoseWithCovariance pose',
    'ObjectHypothesis': 'string class_id\nfloat64 score',
    'BoundingBox2D': 'Pose2D center\nfloat64 size_x\nfloat64 size_y',
    'BoundingBox3D': 'geometry_msgs/Pose center\ngeometry_msgs/Vector3 size',
    'Pose2D': 'Point2D position\nfloat64 theta',
    'Point2D': 'float64 x\nfloat64 y',
    'LabelInfo': 'std_msgs/Header header\nVisionClass[] class_map\nfloat32 threshold',
    'VisionClass': 'uint16 class_id\nstring class_name',
}


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic of a recording.

    :param msgtype: such as 'sensor_msgs/msg/Image', also for ROS 1
    :param count: number of messages
    """

    name: str
    msgtype: str
    count: int


@dataclass(frozen=True, slots=True)
class RawMessage:
    """A message as it was recorded.

    :param log_ns: when it was recorded, nanoseconds since the Unix epoch
    :param data: CDR, or ROS 1 serialisation
    """

    topic: str
    msgtype: str
    log_ns: int
    data: bytes


class Recording:
    """An open recording; close it.

    :param path: a rosbag2 directory, a .mcap or .db3 file, or a ROS 1 .bag
    :raises BagUnreadable: it is missing, no recording, damaged or empty
    """

    def __init__(self, path: Path | str) -> None:
        path = Path(path)
        self.path = path.parent if path.name == 'metadata.yaml' else path
        self._stack = ExitStack()
        self._readers: list[Any] = []
        storages = storage_files(self.path)
        self._late_damage: BaseException | None = None
        self._complained: set[str] = set()
        self._names = dict(_SAME_AS)
        try:
            for storage in storages:
                try:
                    self._readers.append(self._stack.enter_context(reader_of(ready(storage, self._stack))))
                except _damage() as error:
                    if not self._readers:
                        raise
                    self._late_damage = error  # the parts before it are good: deliver them first
                    break
            self._connections, self._others = self._find_connections()
            self.topics = self._list_topics()
            filled = [reader for reader in self._readers if reader.message_count]
            self.start_ns: int = min((int(reader.start_time) for reader in filled), default=0)
            self.end_ns: int = max((int(reader.end_time) - 1 for reader in filled), default=0)
            self._typestore: Any = _typestore(ros1=self.is_ros1)
        except BagUnreadable:
            self._stack.close()
            raise
        except _damage() as error:
            self._stack.close()
            raise BagUnreadable(self._damaged(error)) from error
        if not any(topic.count for topic in self.topics.values()):
            self._stack.close()
            raise BagUnreadable(f'{self.path} is empty: it has no messages; {self.describe_topics()}')
        counted, there = count_in_metadata(self.path), sum(reader.message_count for reader in self._readers)
        if counted > there and not self._late_damage:
            _log.warning('%s holds %d of the %d messages that its metadata.yaml counts', path, there, counted)
        self._clock = HeaderClock(
            simulated=bool(self.of_type(_CLOCK)),
            warn=_log.warning,
            remedy='record /clock, too, where time is simulated',
        )

    def close(self) -> None:
        """Close the files."""
        self._stack.close()

    def of_type(self, *msgtypes: str) -> list[Topic]:
        """Return the topics of these types that have messages, by name."""
        return [topic for topic in self.topics.values() if topic.msgtype in msgtypes and topic.count]

    def describe_topics(self) -> str:
        """Return 'its topics: NAME (TYPE, n messages), ...' for an error message."""
        listed = [f'{topic.name} ({topic.msgtype}, {topic.count} messages)' for topic in self.topics.values()]
        others = ', '.join(f'{name} ({encoding})' for name, encoding in self._others.items())
        return f'its topics: {", ".join(listed) or "none"}' + (f'; of no use: {others}' if others else '')

    def messages(self, topics: Collection[str], stop_ns: int | None = None) -> Iterator[RawMessage]:
        """Yield the messages of some topics in the order of their recording, one at a time.

        Only one iterator may be in use at a time: they share the file.

        :param stop_ns: end before messages recorded at this time or later
        :raises BagUnreadable: the file is damaged here; what came before is good
        """
        try:
            for reader, found in zip(self._readers, self._connections, strict=True):
                connections = [
                    connection
                    for connection in found
                    if connection.topic in topics
                    and connection.msgtype == self.topics[connection.topic].msgtype
                ]
                if not connections:
                    continue
                with closing(reader.messages(connections=connections, stop=stop_ns)) as messages:
                    for connection, log_ns, data in messages:
                        # rosbag2 may have compressed each message; no CDR begins like that.
                        plain = zstd().decompress(data) if data[:4] == ZSTD_MAGIC else data
                        yield RawMessage(connection.topic, connection.msgtype, int(log_ns), plain)
            if self._late_damage:
                raise self._late_damage
        except _damage() as error:
            raise BagUnreadable(self._damaged(error)) from error

    def readable(self, topics: Iterable[str]) -> list[str]:
        """Return those of the topics that can be read, some by definitions in the file; log the others."""
        found = []
        for topic in topics:
            try:
                self._learn(self.topics[topic].msgtype)
                found.append(topic)
            except _damage() as error:
                _log.warning('left out: %s, of %s: %s', topic, self.topics[topic].msgtype, _text(error))
        return found

    def _learn(self, msgtype: str) -> None:
        if self._names.get(msgtype, msgtype) in self._typestore.types:
            return
        from rosbags.typesys import get_types_from_msg

        texts = [c.msgdef.data for found in self._connections for c in found if c.msgtype == msgtype]
        if not (text := next(filter(None, texts), vision_definition(msgtype))):
            raise ValueError('the recording has no definition of it')
        types = get_types_from_msg(text, msgtype)
        if self._typestore is _typestore(ros1=self.is_ros1):  # which other recordings use, too
            self._typestore = _typestore.__wrapped__(ros1=self.is_ros1)
        self._typestore.register(types)
        self._names[msgtype] = next(iter(types))  # of a service's event another one
        self._typestore.get_msgdef(self._names[msgtype])

    def deserialize(self, message: RawMessage) -> Any:
        """Return the message with its fields; stamps of a clock that was never set are set right.

        :raises ValueError: the bytes are no such message
        """
        msgtype = self._names.get(message.msgtype, message.msgtype)
        convert = self._typestore.deserialize_ros1 if self.is_ros1 else self._typestore.deserialize_cdr
        try:
            received = convert(message.data, msgtype)
        except _damage() as error:
            raise ValueError(f'a message on {message.topic} is no {msgtype}: {_text(error)}') from error
        self._clock.set_right(message.topic, received, message.log_ns)
        return received

    def deserialize_or_skip(self, message: RawMessage) -> Any:
        """Return the message with its fields; None if it is garbage. The first on a topic is logged."""
        try:
            return self.deserialize(message)
        except ValueError as error:
            if message.topic not in self._complained:
                self._complained.add(message.topic)
                _log.warning('left out: %s', error)
            return None

    @property
    def is_ros1(self) -> bool:
        """Whether messages are serialised as ROS 1 does it."""
        return self._encoding == 'ros1'

    def _find_connections(self) -> tuple[list[list[Any]], dict[str, str]]:
        """Return what can be read of each file, and the encodings of the other topics: an mcap file may hold
        anything."""
        encodings = [[_encoding(c) for c in reader.connections] for reader in self._readers]
        known = {encoding for found in encodings for encoding in found}
        self._encoding = next((encoding for encoding in _ENCODINGS if encoding in known), 'cdr')
        connections: list[list[Any]] = []
        others: dict[str, str] = {}
        for reader, found in zip(self._readers, encodings, strict=True):
            pairs = list(zip(reader.connections, found, strict=True))
            others |= {c.topic: encoding for c, encoding in pairs if encoding != self._encoding}
            own = [c for c, encoding in pairs if encoding == self._encoding]
            # In an mcap file of ROS 1 types have their names of ROS 1.
            connections.append(
                [c._replace(msgtype=re.sub(r'^(\w+)/(\w+)$', r'\1/msg/\2', c.msgtype)) for c in own]
            )
        return connections, others

    def _list_topics(self) -> dict[str, Topic]:
        counts: Counter[tuple[str, str]] = Counter()
        for found in self._connections:
            for connection in found:
                counts[connection.topic, connection.msgtype] += connection.msgcount
        topics: dict[str, Topic] = {}
        for (name, msgtype), count in sorted(counts.items()):
            # a name with two types is two publishers in conflict: the busier one is meant
            if name not in topics or topics[name].count < count:
                topics[name] = Topic(name, msgtype, count)
        return topics

    def _damaged(self, error: BaseException) -> str:
        suffix = next((s for s in _RESCUE if self.path.suffix == s or any(self.path.glob(f'*{s}*'))), '')
        topics = getattr(self, 'topics', None)
        listed = self.describe_topics() if topics else topics_in_metadata(self.path)
        hint = f'; {_RESCUE[suffix]}' if suffix else ''
        if isinstance(error, PermissionError):
            return f'{self.path} cannot be read: {error.strerror}'
        return (
            f'{self.path} is damaged, or cut off before its recording was finished: {_text(error)}'
            f'{hint}; {listed or "its topics cannot be told"}'
        )


def _encoding(connection: Any) -> str:
    """Return how messages of a connection are serialised."""
    return str(getattr(connection.ext, 'serialization_format', 'ros1'))


@cache
def _typestore(*, ros1: bool) -> Any:
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    store = get_typestore(Stores.ROS1_NOETIC if ros1 else Stores.ROS2_HUMBLE)
    if _TF not in store.types:  # rosbags counts it among ROS 2's types only
        store.register(get_types_from_msg('geometry_msgs/TransformStamped[] transforms', _TF))
    return store


@cache
def _damage() -> tuple[type[BaseException], ...]:
    """Return what the parsers raise on bytes that are not what they should be."""
    from rosbags import rosbag1, rosbag2
    from rosbags.serde import SerdeError
    from rosbags.typesys import TypesysError

    kinds: list[type[BaseException]] = [
        rosbag1.ReaderError,
        rosbag2.ReaderError,
        SerdeError,
        ArithmeticError,
        AssertionError,
        AttributeError,
        EOFError,
        LookupError,
        MemoryError,
        OSError,
        RuntimeError,  # lz4
        TypeError,
        TypesysError,
        ValueError,
        sqlite3.Error,
        struct.error,
        yaml.YAMLError,
    ]
    # The libraries below rosbags, by version of it and of Python
    for module, name in (
        ('apsw', 'Error'),
        ('backports.zstd', 'ZstdError'),
        ('compression.zstd', 'ZstdError'),
        ('zstandard', 'ZstdError'),
    ):
        with suppress(ImportError):
            kinds.append(getattr(importlib.import_module(module), name))
    return tuple(kinds)


def _text(error: BaseException) -> str:
    text = str(error).strip().rstrip('.') or type(error).__name__
    return next((meaning for part, meaning in _MEANING.items() if part in text), text)


def vision_definition(msgtype: str) -> str:
    """Return the definition of a message and of what it consists of; empty: it is of another package."""
    root = msgtype.removeprefix(_VISION)
    parts = [f'MSG: vision_msgs/{name}\n{fields}' for name, fields in _VISION_FIELDS.items() if name != root]
    return f'\n{"=" * 80}\n'.join([_VISION_FIELDS[root], *parts]) if root in _VISION_FIELDS else ''
