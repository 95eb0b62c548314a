"""The messages of a recording, whatever wrote it: rosbag2 (mcap, sqlite3) or ROS 1.

Message types are taken from the ROS distributions, not from the definitions in the file: they are the same
everywhere, and a broken definition does not matter. Only other types are learned there: Recording.readable.
"""

import importlib
import logging
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

from remembr_ros.bags.layout import storage_files, topics_in_metadata
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
}
# tf/tfMessage of early ROS 1 has the fields of its successor
_TF = 'tf2_msgs/msg/TFMessage'
_SAME_AS = {'tf/msg/tfMessage': _TF}
_ALLOWED = """CREATE TEMP VIEW message_definitions AS SELECT id, topic_type, encoded_message_definition,
replace(encoding, 'unknown', 'ros2msg') AS encoding, type_description_hash FROM main.message_definitions"""

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
        self._is_ros1 = storages[0].suffix == '.bag'
        self._late_damage: BaseException | None = None
        self._complained: set[str] = set()
        self._names = dict(_SAME_AS)
        try:
            for storage in storages:
                try:
                    self._readers.append(self._stack.enter_context(_reader(storage)))
                except _damage() as error:
                    if not self._readers:
                        raise
                    self._late_damage = error  # the parts before it are good: deliver them first
                    break
            self.topics = self._list_topics()
            filled = [reader for reader in self._readers if reader.message_count]
            self.start_ns: int = min((int(reader.start_time) for reader in filled), default=0)
            self.end_ns: int = max((int(reader.end_time) - 1 for reader in filled), default=0)
            self._typestore: Any = _typestore(ros1=self._is_ros1)
        except _damage() as error:
            self._stack.close()
            raise BagUnreadable(self._damaged(error)) from error
        if not any(topic.count for topic in self.topics.values()):
            self._stack.close()
            raise BagUnreadable(f'{self.path} is empty: it has no messages; {self.describe_topics()}')

    def close(self) -> None:
        """Close the files."""
        self._stack.close()

    def of_type(self, *msgtypes: str) -> list[Topic]:
        """Return the topics of these types that have messages, by name."""
        return [topic for topic in self.topics.values() if topic.msgtype in msgtypes and topic.count]

    def describe_topics(self) -> str:
        """Return 'its topics: NAME (TYPE, n messages), ...' for an error message."""
        listed = [f'{topic.name} ({topic.msgtype}, {topic.count} messages)' for topic in self.topics.values()]
        return f'its topics: {", ".join(listed) or "none"}'

    def messages(self, topics: Collection[str], stop_ns: int | None = None) -> Iterator[RawMessage]:
        """Yield the messages of some topics in the order of their recording, one at a time.

        Only one iterator may be in use at a time: they share the file.

        :param stop_ns: end before messages recorded at this time or later
        :raises BagUnreadable: the file is damaged here; what came before is good
        """
        try:
            for reader in self._readers:
                connections = [
                    connection
                    for connection in reader.connections
                    if connection.topic in topics
                    and connection.msgtype == self.topics[connection.topic].msgtype
                ]
                if not connections:
                    continue
                with closing(reader.messages(connections=connections, stop=stop_ns)) as messages:
                    for connection, log_ns, data in messages:
                        yield RawMessage(connection.topic, connection.msgtype, int(log_ns), data)
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

        texts = [c.msgdef.data for file in self._readers for c in file.connections if c.msgtype == msgtype]
        if not (text := next(filter(None, texts), vision_definition(msgtype))):
            raise ValueError('the recording has no definition of it')
        types = get_types_from_msg(text, msgtype)
        if self._typestore is _typestore(ros1=self._is_ros1):  # which other recordings use, too
            self._typestore = _typestore.__wrapped__(ros1=self._is_ros1)
        self._typestore.register(types)
        self._names[msgtype] = next(iter(types))  # of a service's event another one
        self._typestore.get_msgdef(self._names[msgtype])

    def deserialize(self, message: RawMessage) -> Any:
        """Return the message with its fields.

        :raises ValueError: the bytes are no such message
        """
        msgtype = self._names.get(message.msgtype, message.msgtype)
        convert = self._typestore.deserialize_ros1 if self._is_ros1 else self._typestore.deserialize_cdr
        try:
            return convert(message.data, msgtype)
        except _damage() as error:
            raise ValueError(f'a message on {message.topic} is no {msgtype}: {_text(error)}') from error

    def deserialize_or_skip(self, message: RawMessage) -> Any:
        """Return the message with its fields; None if it is garbage. The first on a topic is logged."""
        try:
            return self.deserialize(message)
        except ValueError as error:
            if message.topic not in self._complained:
                self._complained.add(message.topic)
                _log.warning('left out: %s', error)
            return None

    def _list_topics(self) -> dict[str, Topic]:
        counts: Counter[tuple[str, str]] = Counter()
        for reader in self._readers:
            for connection in reader.connections:
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
        if 'Profile is not ros2' in str(error):
            return f"{self.path} is no recording of ROS 2: the profile in its header is not 'ros2'"
        return (
            f'{self.path} is damaged, or cut off before its recording was finished: {_text(error)}'
            f'{hint}; {listed or "its topics cannot be told"}'
        )


def _reader(path: Path) -> Any:
    from rosbags import rosbag1, rosbag2

    if path.is_file():
        path.open('rb').close()  # a PermissionError, which the readers report as damage
    _allow_unknown()
    return rosbag1.Reader(path) if path.suffix == '.bag' else rosbag2.Reader(path)


@cache
def _allow_unknown() -> None:
    """Let rosbags read files with an 'unknown' type: rosbag2 found no definition of it, as of feedback."""
    from rosbags.rosbag2 import storage_mcap

    known: Any = storage_mcap.get_msgdef
    vars(storage_mcap)['get_msgdef'] = lambda schema: known(
        None if schema and schema.encoding == 'unknown' else schema
    )
    with suppress(ImportError):  # older ones read SQLite otherwise
        importlib.import_module('apsw').connection_hooks.append(lambda file: file.execute(_ALLOWED))


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
