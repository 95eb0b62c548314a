"""The bag player node: publishes what a bag holds, with /clock, on machines without `ros2 bag`."""

import sys
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from rclpy.duration import Duration
from rclpy.exceptions import InvalidTopicNameException
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock

from remembr_ros.bags.recording import RawMessage, Recording
from remembr_ros.errors import BagUnreadable, InvalidRequest, RemembrError
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.conversions import time_to_msg
from remembr_ros.nodes.base.declaration import declare_parameters
from remembr_ros.nodes.base.lifecycle import python_log, spinning, until_signal
from remembr_ros.nodes.base.managed_node import NAMESPACE
from remembr_ros.nodes.base.message_types import message_type
from remembr_ros.nodes.replay.parameters import BagPlayerParameters
from remembr_ros.printable import printable
from remembr_ros.stop import Stop

TF_MESSAGE = 'tf2_msgs/msg/TFMessage'
OLD_TF_MESSAGE = 'tf/msg/tfMessage'  # the same message under the name that it had in ROS 1 at first


class RawBag:
    """An open bag; close it or use it as a context manager.

    :param path: a rosbag2 directory, a .mcap or .db3 file, or a ROS 1 .bag
    :raises BagUnreadable: it is missing, no recording, damaged or empty
    """

    def __init__(self, path: Path) -> None:
        self._recording = Recording(path)
        self._converter = Ros1Converter() if self._recording.is_ros1 else None
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


CLOCK_PERIOD_S = 0.02  # between two messages of /clock, wall time
IMAGES = ('sensor_msgs/msg/Image', 'sensor_msgs/msg/CompressedImage')
CLOCK_TOPIC = '/clock'
_LATCHED = ('/amcl_pose', '/map', '/robot_description')  # by convention


class BagPlayerNode(Node):
    """Publishes a bag's messages as they are, in their rhythm times rate, and /clock with their time."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('bag_player', namespace=kwargs.pop('namespace', NAMESPACE), **kwargs)
        self.parameters = declare_parameters(self, BagPlayerParameters)
        self._clock_topic = self.create_publisher(Clock, CLOCK_TOPIC, qos.CLOCK)
        self._last_clock = 0.0

    def play(self, stop: Stop) -> int:
        """Play the bag until it ends or stop is set.

        :return: how many messages were published
        :raises BagUnreadable: the bag is missing or damaged
        :raises InvalidRequest: no bag is given, or it lacks the topics that are asked for
        """
        p = self.parameters
        if not p.bag:
            raise InvalidRequest('no bag to play; set parameter bag')
        published = 0
        with RawBag(Path(p.bag).expanduser()) as bag:
            publishers = self._advertise(bag)
            self._wait_for_subscribers(bag, publishers, stop)
            while not stop.is_set():
                played = self._play_once(bag, publishers, stop)
                published += played
                if not p.loop or not played:
                    break
                stop.wait(CLOCK_PERIOD_S)  # a bag of one moment would otherwise keep the processor busy
            for publisher in publishers.values():
                publisher.wait_for_all_acked(Duration(seconds=2.0))
        self.get_logger().info(f'{published} messages of {len(publishers)} topics played from {p.bag}')
        return published

    def _advertise(self, bag: RawBag) -> dict[str, Publisher]:
        wanted = self.parameters.topics
        missing = sorted(set(wanted) - set(bag.topics))
        if missing:
            known = ', '.join(f'{topic} ({kind})' for topic, kind in sorted(bag.topics.items()))
            raise InvalidRequest(f'the bag has no {", ".join(missing)}; it has {known}')
        publishers = {}
        skipped = []
        for topic, kind in sorted(bag.topics.items()):
            if (wanted and topic not in wanted) or topic == CLOCK_TOPIC:
                continue
            try:
                message = message_type(kind)
            except (ImportError, AttributeError):
                skipped.append(f'{topic} ({kind})')
                continue
            # ROS 1 bags may have names without a slash, and some that ROS 2 does not allow.
            name = topic if topic.startswith('/') else f'/{topic}'
            try:
                publishers[topic] = self.create_publisher(message, name, _profile(topic))
            except InvalidTopicNameException as error:
                self.get_logger().warning(printable(f'not played: {str(error).splitlines()[0]} {topic}'))
        if skipped:
            self.get_logger().warning(
                printable(f'not played, the message types are not installed: {", ".join(skipped)}')
            )
        if not publishers:
            raise BagUnreadable(f'{self.parameters.bag} has no topic that can be played')
        return publishers

    def _wait_for_subscribers(self, bag: RawBag, publishers: dict[str, Publisher], stop: Stop) -> None:
        """Wait until an image topic is subscribed (in a bag without images: any topic), a bounded time."""
        images = [topic for topic in publishers if bag.topics[topic] in IMAGES] or list(publishers)
        deadline = time.monotonic() + self.parameters.wait_for_subscribers
        while time.monotonic() < deadline and not stop.is_set():
            if any(publishers[topic].get_subscription_count() for topic in images):
                return
            stop.wait(0.02)
        if self.parameters.wait_for_subscribers and not stop.is_set():
            self.get_logger().warning(f'nobody subscribes {", ".join(images)}; playing all the same')

    def _play_once(self, bag: RawBag, publishers: dict[str, Publisher], stop: Stop) -> int:
        rate = self.parameters.rate
        published = 0
        first_ns = None
        started = time.monotonic()
        for topic, stamp_ns, data in _readable(bag, list(publishers), self):
            if first_ns is None:
                first_ns = stamp_ns
            due = started + (stamp_ns - first_ns) / 1e9 / rate
            while (left := due - time.monotonic()) > 0.0 and not stop.is_set():
                # Never ahead of the next message, whatever keeps this loop.
                self._tick(stamp_ns - round(left * rate * 1e9))
                stop.wait(min(left, CLOCK_PERIOD_S))
            if stop.is_set():
                break
            self._tick(stamp_ns)
            publishers[topic].publish(data)
            published += 1
        return published

    def _tick(self, now_ns: int) -> None:
        if time.monotonic() - self._last_clock >= CLOCK_PERIOD_S / 2.0:
            self._last_clock = time.monotonic()
            self._clock_topic.publish(Clock(clock=time_to_msg(now_ns, clamp=True)))


def _readable(bag: RawBag, topics: list[str], node: Node) -> Iterator[tuple[str, int, bytes]]:
    """Yield messages up to the damage, if there is any."""
    try:
        yield from bag.messages(topics)
    except BagUnreadable as error:
        node.get_logger().error(f'played up to the damage: {error}')


def _profile(topic: str) -> QoSProfile:
    """Reliable, and latched where the robot's publisher is: that also serves subscribers that want less."""
    static = topic.endswith('tf_static')
    return qos.keep_last(1000 if static else 100, latched=static or topic.endswith(_LATCHED))


def play(args: list[str] | None = None) -> int:
    """Play a bag to its end; return the exit code."""
    with until_signal(args) as stop:
        node = BagPlayerNode()
        with python_log(node.get_logger()), spinning(node):
            try:
                node.play(stop)
            except RemembrError as error:
                node.get_logger().error(str(error))
                return 1
    return 0


def main(args: list[str] | None = None) -> None:
    """Play a bag to its end."""
    sys.exit(play(args))


if __name__ == '__main__':
    main()
