"""The messages of a recording, whatever wrote it: rosbag2 (mcap, sqlite3) or ROS 1.

Message types are taken from the ROS distributions, not from the definitions in the file: the types that are
read here are the same everywhere, and a custom type with a broken definition does not matter.
"""

import importlib
import sqlite3
import struct
from collections.abc import Collection, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from remembr_ros.errors import BagUnreadable

_STORAGE_SUFFIXES = ('.mcap', '.db3')
_RESCUE = {
    '.mcap': "'mcap recover FILE -o NEW_FILE' saves what is there",
    '.db3': '\'sqlite3 FILE ".recover"\' saves what is there',
    '.bag': "'rosbag reindex FILE' (or 'rosbag fix') saves what is there",
}
# tf/tfMessage of early ROS 1 has the fields of its successor
_TF = 'tf2_msgs/msg/TFMessage'
_SAME_AS = {'tf/msg/tfMessage': _TF}


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
    """An open recording; close it or use it as a context manager.

    :param path: a rosbag2 directory, a .mcap or .db3 file, or a ROS 1 .bag
    :raises BagUnreadable: it is missing, no recording, damaged or empty
    """

    def __init__(self, path: Path | str) -> None:
        path = Path(path)
        self.path = path.parent if path.name == 'metadata.yaml' else path
        self._stack = ExitStack()
        self._readers: list[Any] = []
        storages = _storages(self.path)
        self._is_ros1 = storages[0].suffix == '.bag'
        try:
            for storage in storages:
                self._readers.append(self._stack.enter_context(_reader(storage)))
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

    def __enter__(self) -> 'Recording':
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

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
        except _damage() as error:
            raise BagUnreadable(self._damaged(error)) from error

    def deserialize(self, message: RawMessage) -> Any:
        """Return the message with its fields.

        :raises ValueError: the bytes are no such message
        """
        msgtype = _SAME_AS.get(message.msgtype, message.msgtype)
        convert = self._typestore.deserialize_ros1 if self._is_ros1 else self._typestore.deserialize_cdr
        try:
            return convert(message.data, msgtype)
        except _damage() as error:
            raise ValueError(f'a message on {message.topic} is no {msgtype}: {_text(error)}') from error

    def _list_topics(self) -> dict[str, Topic]:
        counts: dict[tuple[str, str], int] = {}
        for reader in self._readers:
            for connection in reader.connections:
                key = (connection.topic, connection.msgtype)
                counts[key] = counts.get(key, 0) + connection.msgcount
        topics: dict[str, Topic] = {}
        for (name, msgtype), count in sorted(counts.items()):
            # a name with two types is two publishers in conflict: the busier one is meant
            if name not in topics or topics[name].count < count:
                topics[name] = Topic(name, msgtype, count)
        return topics

    def _damaged(self, error: BaseException) -> str:
        suffix = next((s for s in _RESCUE if self.path.suffix == s or any(self.path.glob(f'*{s}*'))), '')
        topics = getattr(self, 'topics', None)
        listed = self.describe_topics() if topics else _topics_in_metadata(self.path)
        hint = f'; {_RESCUE[suffix]}' if suffix else ''
        return (
            f'{self.path} is damaged, or cut off before its recording was finished: {_text(error)}'
            f'{hint}; {listed or "its topics cannot be told"}'
        )


def _storages(path: Path) -> list[Path]:
    """Return what to open: the path itself, or the files of a directory that has lost its metadata.yaml."""
    try:
        if not path.exists():
            raise BagUnreadable(
                f'{path} does not exist; give a rosbag2 directory or a .mcap, .db3 or .bag file'
            )
        if path.is_dir():
            metadata = path / 'metadata.yaml'
            if metadata.exists() and metadata.stat().st_size:
                return [path]
            files = sorted(
                (file for file in path.iterdir() if file.suffix in _STORAGE_SUFFIXES and file.is_file()),
                # rosbag2 numbers the parts of a recording: name_0.mcap ... name_10.mcap
                key=lambda file: (len(file.name), file.name),
            )
            if files:
                return files
            found = ', '.join(sorted(file.name for file in path.iterdir())[:10])
            raise BagUnreadable(
                f'{path} is no rosbag2 directory: it has no metadata.yaml and no .mcap or .db3 file '
                f'(it contains: {found or "nothing"})'
            )
        if path.suffix not in (*_STORAGE_SUFFIXES, '.bag'):
            raise BagUnreadable(
                f'{path} is not a bag: need a rosbag2 directory, a .mcap or .db3 file, or a ROS 1 .bag'
            )
        if path.stat().st_size == 0:
            raise BagUnreadable(f'{path} is empty: it has 0 bytes and no topics')
    except OSError as error:
        raise BagUnreadable(f'{path} cannot be read: {error.strerror}') from error
    return [path]


def _reader(path: Path) -> Any:
    from rosbags import rosbag1, rosbag2

    return rosbag1.Reader(path) if path.suffix == '.bag' else rosbag2.Reader(path)


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
        try:
            kinds.append(getattr(importlib.import_module(module), name))
        except ImportError:
            continue
    return tuple(kinds)


def _text(error: BaseException) -> str:
    return str(error).strip().rstrip('.') or type(error).__name__


def _topics_in_metadata(path: Path) -> str:
    """Return the topics that metadata.yaml names, as describe_topics does; empty if it cannot be read."""
    try:
        information = yaml.safe_load((path / 'metadata.yaml').read_text())['rosbag2_bagfile_information']
        topics = [entry['topic_metadata'] for entry in information['topics_with_message_count']]
        listed = [f'{topic["name"]} ({topic["type"]})' for topic in topics]
        return f'its topics: {", ".join(listed) or "none"}'
    except (OSError, ValueError, LookupError, TypeError, yaml.YAMLError):
        return ''
