"""Subscriptions that report who publishes what they cannot hear, and where nobody publishes."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import (
    DurabilityPolicy,
    QoSCompatibility,
    QoSPolicyKind,
    QoSProfile,
    ReliabilityPolicy,
    qos_check_compatible,
)
from rclpy.qos_overriding_options import QoSOverridingOptions
from rclpy.subscription import Subscription
from rclpy.topic_endpoint_info import TopicEndpointInfo

from remembr_ros.bags.header_clock import HeaderClock

OVERRIDABLE = (
    QoSPolicyKind.HISTORY,
    QoSPolicyKind.DEPTH,
    QoSPolicyKind.RELIABILITY,
    QoSPolicyKind.DURABILITY,
)

ARGUMENTS = {
    'image': 'image_topic',
    'depth': 'depth_topic',
    'camera_info': 'camera_info_topic',
    'depth_camera_info': 'depth_info_topic',
    'detections': 'detections_topic',
    'detections_3d': 'detections_topic',
    'pose_with_covariance': 'pose_topic',
    'pose': 'pose_topic',
    'odom': 'odom_topic',
    'fix': 'fix_topic',
    '/tf': 'tf_topic',
    'map': 'map_topic',
    'audio': 'audio_topic',
    'pose_graph': 'graph_topic',
}
"""By the name of a topic in the code, the argument of the launch files that says where it is."""

OPTIONAL = ('map',)
"""Of these, those without which a robot may do."""

TRANSPORTS = ('theora', 'ffmpeg', 'zstd', 'h264', 'h265', 'foxglove', 'compressedDepth')
"""Of image_transport, behind a topic: those that may be all there is."""

STAMPED = frozenset(ARGUMENTS) - {'map', 'audio', 'pose_graph'}
"""Of these, what sensors and localisation publish with the time that it is of."""

PATIENCE_S = 15.0
"""[s] for what is started at the same time; until then nothing is amiss."""

AT_ONCE = 100  # messages that one turn of the executor takes of a subscription that may be flooded


class WatchedSubscription:
    """A subscription whose profile can be overridden by parameters qos_overrides.<topic>.subscription.

    :param spare: another subscription of the same topic hears what this one does not: no word of it
    :param yields: where a publisher is only best effort, so is the subscription
    :param eager: a turn of the executor takes many messages rather than one: while threads compute, turns are
        rare, and DDS drops without a word what does not fit into its queue; the callback is no coroutine
    """

    def __init__(
        self,
        node: Node,
        kind: type[Any],
        topic: str,
        callback: Callable[[Any], None],
        profile: QoSProfile,
        *,
        spare: bool = False,
        yields: bool = False,
        eager: bool = False,
    ) -> None:
        self._node = node
        self._kind = kind
        self._topic = topic
        self._take = callback
        self._callback = self._take_many if eager else callback
        self.name = topic.removesuffix('/compressed').removesuffix('/compressedDepth')
        """As in the code, without the transport."""
        self.kind = f'{kind.__module__.partition(".")[0]}/msg/{kind.__name__}'
        """What is heard, as the graph has it."""
        self._spare = spare
        self._yields = yields
        self._mismatch = False
        self._subscription: Subscription | None = None
        # A copy: rclpy writes into it what the parameters say.
        self._subscribe(
            _like(profile, profile.reliability), QoSOverridingOptions(() if spare else OVERRIDABLE)
        )

    @property
    def topic(self) -> str:
        """The topic's full name, after remapping."""
        return self._node.resolve_topic_name(self._topic)

    def close(self) -> None:
        """End the subscription."""
        if self._subscription is not None:
            self._node.destroy_subscription(self._subscription)
            self._subscription = None

    def problem(self) -> str:
        """Return which publishers are not heard, why, and what to do; empty: all are, as far as is known."""
        if not self._mismatch or self._subscription is None:
            return ''
        wanted = self._subscription.qos_profile
        for info in self._node.get_publishers_info_by_topic(self.topic):
            compatible, reason = qos_check_compatible(info.qos_profile, wanted)
            if compatible == QoSCompatibility.ERROR:
                remedy = self._remedy(wanted, info.qos_profile, reason)
                return f'{self.topic} is not heard from {_who(info)}: {remedy}'
        self._mismatch = False  # whoever it was is gone
        return ''

    def _take_many(self, message: Any) -> None:
        self._take(message)
        for _ in range(AT_ONCE - 1):
            if (subscription := self._subscription) is None:
                return
            with subscription.handle:
                taken = subscription.handle.take_message(self._kind, False)
            if taken is None:
                return
            self._take(taken[0])

    def _remedy(self, wanted: QoSProfile, offered: QoSProfile, reason: str) -> str:
        parameter = f'qos_overrides.{self.topic}.subscription'
        if (wanted.reliability, offered.reliability) == (
            ReliabilityPolicy.RELIABLE,
            ReliabilityPolicy.BEST_EFFORT,
        ):
            return (
                f'it is published at best effort, and heard reliably; publish it reliably, or set {parameter}'
                '.reliability: best_effort'
            )
        if (wanted.durability, offered.durability) == (
            DurabilityPolicy.TRANSIENT_LOCAL,
            DurabilityPolicy.VOLATILE,
        ):
            return (
                'it is published without being kept (volatile) for those who come later; publish it as '
                f'transient local, or set {parameter}.durability: volatile'
            )
        return f'their quality of service does not match ({reason.strip().rstrip(";")})'

    def _subscribe(self, profile: QoSProfile, overriding: QoSOverridingOptions) -> None:
        on_mismatch = (lambda _: None) if self._spare else self._on_mismatch
        self._subscription = self._node.create_subscription(
            self._kind,
            self._topic,
            self._callback,
            profile,
            event_callbacks=SubscriptionEventCallbacks(incompatible_qos=on_mismatch),
            qos_overriding_options=overriding,
        )

    def _on_mismatch(self, _: object) -> None:
        self._mismatch = True
        if self._subscription is None:
            return
        wanted = self._subscription.qos_profile
        executor = self._node.executor
        if self._yields and executor is not None and wanted.reliability == ReliabilityPolicy.RELIABLE:
            executor.create_task(self._yield)  # not from within its own event
        elif problem := self.problem():
            self._node.get_logger().error(problem)

    def _yield(self) -> None:
        """Subscribe at best effort, which hears reliable publishers, too."""
        if self._subscription is None:
            return
        was = self._subscription.qos_profile
        self._node.get_logger().info(f'{self.topic} is published at best effort, and heard so')
        self._node.destroy_subscription(self._subscription)
        self._mismatch = False
        self._subscribe(_like(was, ReliabilityPolicy.BEST_EFFORT), QoSOverridingOptions(()))


def _who(info: TopicEndpointInfo) -> str:
    # What rmw says of a publisher whose node it has not discovered, or that is of another program on DDS.
    if any(mark in info.node_name for mark in ('_UNKNOWN_', '_BARE_DDS_APP_')):
        return 'a publisher whose node is not known'
    return f'{info.node_namespace.rstrip("/")}/{info.node_name}'


def _like(profile: QoSProfile, reliability: ReliabilityPolicy) -> QoSProfile:
    return QoSProfile(
        history=profile.history, depth=profile.depth, reliability=reliability, durability=profile.durability
    )


class TopicWatch:
    """The subscriptions of a node."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._clock = HeaderClock(
            simulated=False,  # where time is, the node's clock is the same
            warn=node.get_logger().warning,
            remedy='set use_sim_time where time is simulated',
        )
        self._subscriptions: list[WatchedSubscription] = []
        self.hint = ''
        """What is missing, as of the last look, that a robot may do without."""
        self._missing_since: dict[str, float] = {}
        self._known: set[str] = set()  # names on which somebody could be heard, or that were told of
        self.ends = ExitStack()
        """What ends the subscriptions that are made now."""

    def subscribe(
        self, kind: type[Any], topic: str, callback: Callable[[Any], None], profile: QoSProfile, **how: Any
    ) -> WatchedSubscription:
        """Subscribe, see :class:`WatchedSubscription`; stamps of sensors come on the node's clock."""

        name = self._node.resolve_topic_name(topic)

        def stamped(message: Any) -> None:
            self._clock.set_right(name, message, self._node.get_clock().now().nanoseconds)
            callback(message)

        take = stamped if topic.partition('/compressed')[0] in STAMPED else callback
        made = WatchedSubscription(self._node, kind, topic, take, profile, **how)
        self._subscriptions.append(made)
        self.ends.callback(self.close, made)
        return made

    def close(self, subscription: WatchedSubscription) -> None:
        """End a subscription, before its time or at it."""
        if subscription in self._subscriptions:
            subscription.close()
            self._subscriptions.remove(subscription)

    def problem(self) -> str:
        """Return which publishers are not heard, or are missing, and what to do; empty: all are heard."""
        unheard = filter(None, (subscription.problem() for subscription in self._subscriptions))
        missing = list(self._misnamed())
        self.hint = '; '.join(text for text, is_needed in missing if not is_needed)
        return '; '.join([*unheard, *(text for text, is_needed in missing if is_needed)])

    def _misnamed(self) -> Iterator[tuple[str, bool]]:
        """Yield why nothing can be heard on topics, and whether the robot cannot do without."""
        for name in {one.name: None for one in self._subscriptions if one.name in ARGUMENTS}:
            wanted = {one.topic: one.kind for one in self._subscriptions if one.name == name}
            found = {topic: self._published(topic) for topic in wanted}
            if any(kind in found[topic] for topic, kind in wanted.items()):
                self._missing_since.pop(name, None)
                self._known.add(name)
                continue
            late = time.monotonic() - self._missing_since.setdefault(name, time.monotonic()) > PATIENCE_S
            is_wrong = any(found.values())
            if late or is_wrong:
                is_needed = is_wrong or name not in OPTIONAL
                yield self._told(name, self._why(name, wanted, found), is_needed), is_needed

    def _why(self, name: str, wanted: dict[str, str], found: dict[str, set[str]]) -> str:
        give, names = f'give {ARGUMENTS[name]}:=TOPIC', self._node.get_topic_names_and_types()
        topic, kind = next(iter(wanted.items()))
        # What of the graph can be, before asking who publishes it: a robot has hundreds of topics.
        could = [other for other, kinds in names if not {*kinds}.isdisjoint(wanted.values())]
        fit = [other for other in could if not self._published(other).isdisjoint(wanted.values())]
        give += f', as {", ".join(fit[:5])}' if fit else ''
        if others := [f'{other} is published as {kinds.pop()}' for other, kinds in found.items() if kinds]:
            return f'{", ".join(others)}, not {kind}: {give}'
        topic = topic.removesuffix('/compressed')
        heard = [(other, self._published(other)) for other in (f'{topic}/{one}' for one in TRANSPORTS)]
        if video := [f'{other} ({kinds.pop()})' for other, kinds in heard if kinds and other not in wanted]:
            raw = 'have it published raw or compressed (image_transport republish)'
            return (
                f'of {topic} there is only {", ".join(video)}, which is not understood here: {raw}, or {give}'
            )
        nobody = ' or '.join(f'{other} ({kind})' for other, kind in wanted.items())
        return f'nobody publishes {nobody}: start what does, or {give}'

    def _published(self, topic: str) -> set[str]:
        """Return the types that other nodes publish a topic as."""
        infos, own = self._node.get_publishers_info_by_topic(topic), self._node.get_fully_qualified_name()
        return {info.topic_type for info in infos if _who(info) != own}

    def _told(self, name: str, problem: str, is_needed: bool) -> str:
        """Return a problem, told in the log once, unless it is that what was there has ended."""
        if name not in self._known:
            self._known.add(name)
            log = self._node.get_logger()
            log.warning(problem) if is_needed else log.info(problem)
        return problem
