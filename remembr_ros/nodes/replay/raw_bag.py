"""A bag's messages as raw CDR, republished without decoding."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from remembr_ros.bags.recording import RawMessage, Recording
from remembr_ros.errors import BagUnreadable

TF_MESSAGE = 'tf2_msgs/msg/TFMessage'
OLD_TF_MESSAGE = 'tf/msg/tfMessage'  # the same message under the name that it had in ROS 1 at first


class RawBag:
    """An open bag; close it or use it as a context manager.

    :param path: a rosbag2 directory, a .mcap or .db3 file, or a ROS 1 .bag
    :raises BagUnreadable: it is missing, no recording, damaged or empty
    """

    def __init__(self, path: Path) -> None:
        self._recording = Recording(path)
        self._converter = Ros1Converter() if path.suffix == '.bag' else None
        self.topics = {
            topic.name: _name(topic.msgtype)
            for topic in self._recording.topics.values()
            if self._converter is None or self._converter.knows(topic.msgtype)
        }
        """Topics that can be played, with their types, such as 'sensor_msgs/msg/Image'."""

    def __enter__(self) -> 'RawBag':
        return self

    def __exit__(self, *_: object) -> None:
        self._recording.close()

    def messages(self, topics: Collection[str]) -> Iterator[tuple[str, int, bytes]]:
        """Yield topic, time of recording [ns] and the message as CDR, in the order of recording.

        :raises BagUnreadable: the bag is damaged here
        """
        for message in self._recording.messages(topics):
            data = message.data if self._converter is None else self._converter.cdr(message)
            yield message.topic, message.log_ns, bytes(data)


class Ros1Converter:
    """Turns ROS 1 messages into CDR.

    Uses rosbags' converter, which remembr_ros.bags has no need of: it never writes messages.
    """

    def __init__(self) -> None:
        from rosbags.typesys import Stores, get_types_from_msg, get_typestore

        self._source = get_typestore(Stores.ROS1_NOETIC)
        # rosbags' ROS 1 lacks tf2_msgs.
        self._source.register(get_types_from_msg('geometry_msgs/TransformStamped[] transforms', TF_MESSAGE))
        self._target = get_typestore(Stores.ROS2_JAZZY)
        self._defaults: dict[str, Any] = {}

    def knows(self, kind: str) -> bool:
        """Tell whether ROS 1 and ROS 2 have this type."""
        return _name(kind) in self._source.fielddefs and _name(kind) in self._target.fielddefs

    def cdr(self, message: RawMessage) -> bytes:
        """Return the message as CDR.

        :raises BagUnreadable: its bytes are no such message
        """
        from rosbags.convert.converter import migrate_bytes
        from rosbags.serde import SerdeError

        kind = _name(message.msgtype)
        try:
            return bytes(
                migrate_bytes(
                    self._source,
                    self._target,
                    kind,
                    kind,
                    self._defaults,
                    message.data,
                    src_is2=False,
                    dst_is2=True,
                )
            )
        except (SerdeError, ValueError) as error:
            raise BagUnreadable(f'a message of {message.topic} is no {kind}: {error}') from error


def _name(kind: str) -> str:
    return TF_MESSAGE if kind == OLD_TF_MESSAGE else kind
