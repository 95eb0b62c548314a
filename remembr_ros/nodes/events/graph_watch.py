"""Subscribes to the topics of a graph that tell of deeds, as they come and go."""

import importlib
from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy

from remembr_ros.events.watch import STATUS, EventWatch
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.topic_watch import TopicWatch, WatchedSubscription

STATUS_DEPTH = 100  # of servers that accept many goals at once


class GraphWatch:
    """Subscribes what a watch wants to hear, as soon as somebody publishes it. Used by the executor's thread.

    :param topics: of the node, while it is active
    """

    def __init__(self, node: Node, watch: EventWatch, topics: TopicWatch, now_ns: Callable[[], int]) -> None:
        self._node = node
        self._watch = watch
        self._topics = topics
        self._now_ns = now_ns
        self._heard: dict[str, WatchedSubscription] = {}
        self._unknown: dict[str, str] = {}

    @property
    def topics(self) -> int:
        """How many topics are heard."""
        return len(self._heard)

    @property
    def problem(self) -> str:
        """What is published and cannot be understood here, and what to do; empty: nothing."""
        packages = sorted({msgtype.partition('/')[0] for msgtype in self._unknown.values()})
        names = ', '.join(f'ros-$ROS_DISTRO-{name.replace("_", "-")}' for name in packages)
        return f'{", ".join(sorted(self._unknown))} cannot be read: apt install {names}' if packages else ''

    def look(self) -> None:
        """Look for topics that are new, and for action servers that are gone."""
        there = {name: types[0] for name, types in self._node.get_topic_names_and_types()}
        for topic, msgtype in self._watch.wanted(there).items():
            known = topic in self._heard or topic in self._unknown
            if not known and self._node.count_publishers(topic):
                self._hear(topic, msgtype)
        self._unknown = {topic: kind for topic, kind in self._unknown.items() if topic in there}
        for topic in list(self._heard):
            if not self._node.count_publishers(topic):
                if topic.endswith(STATUS):
                    self._watch.goals.gone(topic.removesuffix(STATUS), self._now_ns())
                self._topics.close(self._heard.pop(topic))

    def _hear(self, topic: str, msgtype: str) -> None:
        try:
            kind = message_type(msgtype)
        except (ImportError, AttributeError):
            self._unknown[topic] = msgtype
            self._node.get_logger().warning(f'what {topic} tells is not remembered: {self.problem}')
            return

        def take(message: Any) -> None:
            self._watch.hear(topic, msgtype, message, self._now_ns())

        self._heard[topic] = self._topics.subscribe(kind, topic, take, self._profile(topic), yields=True)

    def _profile(self, topic: str) -> Any:
        """Return a quality of service that hears all who publish, and what they published before we came."""
        offered = [info.qos_profile for info in self._node.get_publishers_info_by_topic(topic)]
        return qos.keep_last(
            STATUS_DEPTH,
            reliable=all(profile.reliability == ReliabilityPolicy.RELIABLE for profile in offered),
            latched=all(profile.durability == DurabilityPolicy.TRANSIENT_LOCAL for profile in offered),
        )


def message_type(name: str) -> type[Any]:
    """Return the class of a message, such as nav2_msgs/action/NavigateToPose_FeedbackMessage.

    :raises ImportError: its package is not installed
    :raises AttributeError: its package does not have it
    """
    package, folder, base = name.split('/')
    module = importlib.import_module(f'{package}.{folder}')
    first, *parts = base.split('_')
    found: Any = getattr(module, first)
    if folder == 'action':
        found = found.Impl
    for part in parts:  # of an action FeedbackMessage or SendGoal_Event, of a service Event
        found = getattr(found, part, None) or getattr(found, f'{part}Service')
    kind: type[Any] = found
    return kind
