"""The events node: stores the robot's deeds, from the topics of its graph and from what it is told."""

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy

from remembr_msgs.msg import Event
from remembr_msgs.srv import RememberEvent
from remembr_ros.captioning.placer import WAIT_FOR_POSES_NS
from remembr_ros.captioning.pose_buffer import PoseBuffer
from remembr_ros.errors import InvalidRequest
from remembr_ros.events.event_message import deed_of
from remembr_ros.events.placer import HISTORY_S, DeedPlacer
from remembr_ros.events.watch import STATUS, EventWatch
from remembr_ros.memory.deeds.deed import Deed
from remembr_ros.memory.model.storable import storable
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.lifecycle import run
from remembr_ros.nodes.base.managed_node import Level, ManagedNode
from remembr_ros.nodes.base.memory_conversion import memory_to_msg
from remembr_ros.nodes.base.message_types import message_type
from remembr_ros.nodes.base.outbox import MAX_CAPTIONS, Outbox
from remembr_ros.nodes.base.pose_source import PoseSubscription, check_pose_parameters
from remembr_ros.nodes.base.services import until
from remembr_ros.nodes.base.topic_watch import TopicWatch, WatchedSubscription
from remembr_ros.nodes.events.parameters import EventsParameters

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
        types_of = {name: types[0] for name, types in self._node.get_topic_names_and_types()}
        for topic, msgtype in self._watch.wanted(types_of).items():
            known = topic in self._heard or topic in self._unknown
            if not known and self._node.count_publishers(topic):
                self._hear(topic, msgtype)
        self._unknown = {topic: kind for topic, kind in self._unknown.items() if topic in types_of}
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


TAKE_S = 0.5  # [s] between two looks at which deeds are over
MOST_WAITING = 20_000  # deeds that wait for the outbox; then the oldest is given up
STORED_S = 10.0  # [s] longest that service remember_event waits for the memory node


class EventsNode(ManagedNode):
    """Watches actions, the arm, diagnostics and the battery, and hears events; publishes deeds."""

    parameters: EventsParameters

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('events', EventsParameters, **kwargs)
        self._watch: EventWatch | None = None
        self._graph: GraphWatch | None = None
        self._poses: PoseSubscription | None = None
        self._ready: deque[Deed] = deque(maxlen=MOST_WAITING)

    def check(self, parameters: EventsParameters) -> None:
        check_pose_parameters(parameters)

    def load(self) -> None:
        self._outbox = Outbox(self)
        self._remembered = self._refused = self._lost = 0
        self._why = ''
        self.every(TAKE_S, self._take)

    def start(self) -> None:
        p = self.parameters
        poses = PoseBuffer(HISTORY_S, max_age_s=p.pose_max_age, hold_s=p.pose_hold)
        self._placer = DeedPlacer(poses, p.map_id, 0 if p.pose_source == 'none' else WAIT_FOR_POSES_NS)
        self._watch = EventWatch(self.now_ns(), p.left_out, p.map_frame)
        self._graph = GraphWatch(self, self._watch, self.topics, self.now_ns)
        self._poses = PoseSubscription(self, p, self._placer.add)
        self.topics.subscribe(Event, 'event', self._on_event, qos.EVENTS, eager=True)
        self.every(p.look_period, self._graph.look)
        self.offer(RememberEvent, 'remember_event', self._on_request)

    def adapt(self) -> None:
        if self._poses is not None:
            self._poses.max_position_std_m = self.parameters.max_position_std

    def stop(self) -> None:
        if self._watch is not None:
            self._placer.put(*self._watch.end(self.now_ns()))
            self._send(self._placer.flush())
        self._watch = self._graph = self._poses = None

    def release(self) -> None:
        if waiting := len(self._ready):
            self.get_logger().error(f'no memory node was there for {waiting} deeds; they are lost')
        self._ready.clear()

    def diagnose(self) -> tuple[Level, str, Mapping[str, object]]:
        watch, graph, poses = self._watch, self._graph, self._poses
        if watch is None or graph is None or poses is None:
            return Level.OK, '', {}
        values = {
            'topics heard': graph.topics,
            'goals under way': len(watch.goals),
            'remembered': self._remembered,
            'made no sense': self._refused,
            'given up': self._lost,
            'not stored yet': len(self._outbox) + len(self._ready),
            'refused': self._outbox.refused,
        }
        message = '; '.join(filter(None, (self._outbox.problem, graph.problem, poses.problem, self._why)))
        return (Level.WARN, message, values) if message else (Level.OK, 'watching', values)

    def _on_event(self, msg: Event) -> None:
        try:
            self._placer.put(self._told(msg))
            self._why = ''
        except InvalidRequest as error:
            self._refused += 1
            self._why = f'an event made no sense: {error}'
            self.get_logger().warning(self._why, throttle_duration_sec=1.0)

    async def _on_request(
        self, request: RememberEvent.Request, response: RememberEvent.Response
    ) -> RememberEvent.Response:
        try:
            deed = self._placer.placed(self._told(request.event))
        except InvalidRequest as error:
            response.error_code, response.error_msg = RememberEvent.Response.INVALID_REQUEST, str(error)
            return response
        response.id = self._publish(deed)
        if not await until(self, STORED_S, lambda: not self._outbox.keeps(response.id)):
            response.error_code = RememberEvent.Response.STORE_UNAVAILABLE
            response.error_msg = 'no memory node has stored it yet; it waits here until one does'
        return response

    def _told(self, msg: Event) -> Deed:
        deed = deed_of(msg, self.now_ns())
        storable(deed.memory(self.parameters.robot))  # checks it
        return deed

    def _take(self) -> None:
        now_ns, deeds = self.now_ns(), list[Deed]()
        if self._watch is not None:
            self._placer.put(*self._watch.take(now_ns))
            deeds = self._placer.take(now_ns)
        self._send(deeds)

    def _send(self, deeds: list[Deed]) -> None:
        """Send deeds, as far as the outbox has room: of a flood it would give up the oldest."""
        if (extra := len(self._ready) + len(deeds) - MOST_WAITING) > 0:
            self._lost += extra
            self._why = f'no memory node stores the deeds: {self._lost} given up'
            self.get_logger().error(self._why, throttle_duration_sec=10.0)
        self._ready += deeds
        while self._ready and len(self._outbox) < MAX_CAPTIONS // 2:
            self._publish(self._ready.popleft())

    def _publish(self, deed: Deed) -> str:
        memory = deed.memory(self.parameters.robot)
        self._outbox.publish(memory_to_msg(memory))
        self._remembered += 1
        return memory.id


def main(args: list[str] | None = None) -> None:
    """Run the events node until it is told to end."""
    run(EventsNode, args)


if __name__ == '__main__':
    main()
