"""Which topics of a graph or recording tell of deeds and conditions, and how they are read."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Any

from remembr_ros.events.goals import Goals, goal_id, kind_of
from remembr_ros.events.plain import clipped, plain
from remembr_ros.memory.deeds.deed import Deed, deed
from remembr_ros.timestamps import NS

LEFT_OUT = (
    '*/remembr/*',
    'compute_path_to_pose',
    'compute_path_through_poses',
    'compute_route',
    'compute_and_track_route',
    'follow_path',
    'smooth_path',
)
"""The memory's own, which tell of themselves, and the servers that Nav2 drives with."""
LOW, LOW_NO_MORE = 0.20, 0.25  # of a battery's charge
EMPTY, EMPTY_NO_MORE = 0.10, 0.15
_LOW, _EMPTY = 'battery low', 'battery nearly empty'
STATUS = '/_action/status'
_FEEDBACK = '/_action/feedback'
_SERVICE_EVENT = '/_service_event'
_NO_DEEDS = ('rcl_interfaces/', 'lifecycle_msgs/', 'type_description_interfaces/', 'remembr_msgs/')
"""Services that look after nodes; what the memory itself does is told by itself."""
_COLLISION = {1: 'stop', 2: 'slow down', 3: 'approach', 4: 'limit speed'}
_DIAGNOSTIC = {1: ('warning', 'warned'), 2: ('fail', 'failed'), 3: ('fail', 'fell silent')}
_CHARGING = 1
_OF_SERVER = (1, 2)  # service_msgs/ServiceEventInfo: REQUEST_RECEIVED, RESPONSE_SENT
MOST_CALLS = 1000  # of services whose response is waited for


class EventWatch:
    """Makes deeds of messages. Used by one thread at a time.

    :param since_ns: what was over before this is told by somebody else
    :param left_out: patterns of the names of actions, services and diagnostics that are not remembered
    :param map_frame: the frame of places
    """

    def __init__(self, since_ns: int, left_out: Iterable[str] = (), map_frame: str = 'map') -> None:
        self.goals = Goals(since_ns, map_frame)
        self._conditions = Conditions()
        self._left_out = tuple(left_out)
        self._held: dict[str, str] = {}
        self._calls: dict[str, tuple[int, Any]] = {}
        self._served: set[str] = set()
        self._low: dict[str, str] = {}
        self._deeds: list[Deed] = []
        self._hears: dict[str, Callable[[str, Any, int], None]] = {
            'nav_msgs/msg/Path': lambda _, message, now_ns: self.goals.plan(message, now_ns),
            'nav2_msgs/msg/BehaviorTreeLog': lambda _, message, now_ns: self.goals.tree(message, now_ns),
            'nav2_msgs/msg/CollisionMonitorState': self._collision,
            'moveit_msgs/msg/AttachedCollisionObject': self._attached,
            'moveit_msgs/msg/PlanningScene': self._scene,
            'diagnostic_msgs/msg/DiagnosticArray': self._diagnostics,
            'sensor_msgs/msg/BatteryState': self._battery,
        }

    def wanted(self, topics: Mapping[str, str]) -> dict[str, str]:
        """Return those of the topics that tell of deeds, with their types.

        :param topics: types by name; a server's status is wanted with its feedback, unless it is left out
        """
        found = {}
        for name, msgtype in topics.items():
            action = name.partition('/_action/')[0]
            if self._is_left_out(action.removesuffix(_SERVICE_EVENT)):
                continue
            is_other = msgtype in self._hears and (msgtype != 'nav_msgs/msg/Path' or name.endswith('/plan'))
            is_call = name.endswith(_SERVICE_EVENT) and not msgtype.startswith(_NO_DEEDS)
            if is_other or is_call or name.endswith((STATUS, _FEEDBACK)):
                found[name] = msgtype
            if name.endswith(_FEEDBACK):
                self.goals.is_of(action, msgtype.removesuffix('_FeedbackMessage'))
        return found

    def hear(self, topic: str, msgtype: str, message: Any, now_ns: int) -> None:
        """Take a message of a wanted topic.

        :param now_ns: when it came, by the robot's clock
        """
        action = topic.partition('/_action/')[0]
        if topic.endswith(STATUS):
            self.goals.status(action, message, now_ns)
        elif topic.endswith(_FEEDBACK):
            self.goals.feedback(message)
        elif topic.endswith(_SERVICE_EVENT):
            self._service(topic.removesuffix(_SERVICE_EVENT), message, now_ns)
        else:
            self._hears[msgtype](topic, message, now_ns)

    def take(self, now_ns: int) -> list[Deed]:
        """Return the deeds that are known by now, each once; one that goes on is told again when it ends."""
        deeds, self._deeds = self._deeds, []
        return [*deeds, *self.goals.take(now_ns), *self._conditions.take(now_ns)]

    def end(self, now_ns: int) -> list[Deed]:
        """Return all that is not told yet: nobody watches any more."""
        return [*self.take(now_ns), *self.goals.end(now_ns)]

    def _is_left_out(self, name: str) -> bool:
        """Tell whether a pattern fits a name, as a whole or its last part."""
        names = (name, name.rpartition('/')[2])
        return any(fnmatch(name, pattern) for name in names for pattern in self._left_out)

    # Introspection, of Kilted and later

    def _service(self, service: str, message: Any, now_ns: int) -> None:
        call = f'{bytes(message.info.client_gid).hex()} {message.info.sequence_number}'
        _, _, part = service.partition('/_action/')
        if message.info.event_type in _OF_SERVER:
            self._served.add(service)
        elif service in self._served:
            return  # the client's side of what its server tells, too
        for request in message.request:
            if part == 'send_goal':
                self.goals.told(goal_id(request.goal_id)).asked = request.goal
                return
            self._calls[call] = (now_ns, request)
            if len(self._calls) > MOST_CALLS:
                del self._calls[next(iter(self._calls))]
        for response in message.response:
            begin_ns, request = self._calls.pop(call, (now_ns, None))
            if request is None:
                continue
            if part == 'get_result':
                self.goals.told(goal_id(request.goal_id)).result = response.result
            elif not part:
                self._called(f'{service} {call}', (begin_ns, now_ns), request, response)

    def _called(self, call: str, time: tuple[int, int], request: Any, response: Any) -> None:
        service = call.partition(' ')[0]
        kind, thing = kind_of('', service)
        done = getattr(response, 'success', True)
        why = '' if done else str(getattr(response, 'message', ''))[:5000]
        about = {'outcome': 'succeeded' if done else 'failed', 'reason': why}
        details = clipped({'service': service, 'request': plain(request), 'response': plain(response)})
        self._deeds.append(
            deed(min(time), max(time), kind=kind, object=thing, details=details, key=call, **about)
        )

    # The arm

    def _attached(self, _: str, message: Any, now_ns: int) -> None:
        name, operation = message.object.id, _number(message.object.operation)
        if operation in (0, 2):  # CollisionObject.ADD, APPEND
            self._hold(name, message.link_name, now_ns)
        elif operation == 1:  # REMOVE; without a name all of the link
            of_link = [held for held, link in self._held.items() if message.link_name in ('', link)]
            for held_name in [name] if name else of_link:
                self._hold(held_name, None, now_ns)

    def _scene(self, topic: str, message: Any, now_ns: int) -> None:
        attached = message.robot_state.attached_collision_objects
        for thing in attached:
            self._attached(topic, thing, now_ns)
        if not message.is_diff and not message.robot_state.is_diff:
            for name in self._held.keys() - {thing.object.id for thing in attached}:
                self._hold(name, None, now_ns)

    def _hold(self, name: str, link: str | None, now_ns: int) -> None:
        """Take down what a link of the arm holds, or that nothing holds it any more."""
        if (link is None) == (name not in self._held):
            return
        if link is None:
            kind, link = 'place', self._held.pop(name)
        else:
            kind, self._held[name] = 'pick', link
        about: dict[str, Any] = {'object': name.replace('_', ' '), 'details': {'link': link, 'id': name}}
        self._deeds.append(deed(now_ns, kind=kind, outcome='succeeded', **about))

    # What is not as it should be for a while

    def _collision(self, topic: str, message: Any, now_ns: int) -> None:
        doing = _COLLISION.get(int(message.action_type), '')
        by = f' ({message.polygon_name})' if message.polygon_name else ''
        self._tell(topic, doing, f'the collision monitor made the robot {doing}{by}', now_ns)

    def _diagnostics(self, _: str, message: Any, now_ns: int) -> None:
        for status in message.status:
            if not self._is_left_out(status.name):
                kind, how = _DIAGNOSTIC.get(_number(status.level), ('', ''))
                text = f'{status.name} {how}: {status.message}'.rstrip(': ')
                self._tell(f'diagnostics {status.name}', kind, text, now_ns)

    def _battery(self, topic: str, message: Any, now_ns: int) -> None:
        charge = float(message.percentage)
        known = 0.0 <= charge <= 1.0
        percent = f' at {charge:.0%}' if known else ''
        charging = 'charge' if int(message.power_supply_status) == _CHARGING else ''
        self._tell(f'{topic} charging', charging, f'charged, beginning{percent}', now_ns)
        if known:
            was = self._low.get(topic, '')
            kind = _LOW if charge <= (LOW_NO_MORE if was else LOW) else ''
            kind = _EMPTY if charge <= (EMPTY_NO_MORE if was == _EMPTY else EMPTY) else kind
            self._low[topic] = kind
            self._tell(f'{topic} low', kind, f'the {kind}{percent}', now_ns)

    def _tell(self, name: str, kind: str, text: str, now_ns: int) -> None:
        self._conditions.tell(name, Condition(kind, text) if kind else WELL, now_ns)


def _number(value: Any) -> int:
    """Return a ROS byte, which rclpy has as bytes."""
    return value[0] if isinstance(value, bytes) else int(value)


UP_NS = 2 * NS  # a condition counts once it has lasted so long: one bad reading is none
DOWN_NS = 5 * NS  # and all is well again after so long without it
MOST_NAMES = 1000  # whose conditions are followed


@dataclass(frozen=True, slots=True)
class Condition:
    """How something is.

    :param kind: of the deed while it is so; empty: as it should be
    :param text: what is said of it; of the same kind the first text counts
    """

    kind: str = ''
    text: str = ''


WELL = Condition()


@dataclass(slots=True)
class _Thing:
    """How it is since when, as far as that has lasted, and how it seems to be now."""

    now: Condition
    since_ns: int
    seems: Condition
    seems_ns: int


class Conditions:
    """Follows conditions by the names of what has them."""

    def __init__(self) -> None:
        self._things: dict[str, _Thing] = {}

    def tell(self, name: str, condition: Condition, now_ns: int) -> None:
        """Take how something is now."""
        known = self._things.get(name)
        if known is None and condition.kind and len(self._things) < MOST_NAMES:
            self._things[name] = _Thing(WELL, now_ns, condition, now_ns)
        elif known is not None and condition.kind != known.seems.kind:
            known.seems, known.seems_ns = condition, now_ns

    def take(self, now_ns: int) -> list[Deed]:
        """Return what has begun and what has ended, as far as it has lasted."""
        deeds: list[Deed] = []
        for name, thing in list(self._things.items()):
            thing.seems_ns = min(thing.seems_ns, now_ns)  # the clock may be set back
            lasted_ns = now_ns - thing.seems_ns
            if thing.seems.kind != thing.now.kind and lasted_ns >= (UP_NS if thing.seems.kind else DOWN_NS):
                deeds += _deeds(name, thing, over=True)
                thing.now, thing.since_ns = thing.seems, thing.seems_ns
                deeds += _deeds(name, thing, over=False)
            if not thing.now.kind and not thing.seems.kind:
                del self._things[name]
        return deeds


def _deeds(name: str, thing: _Thing, *, over: bool) -> list[Deed]:
    kind, text = thing.now.kind, thing.now.text[:20_000]
    if not kind:
        return []
    outcome = 'failed' if kind == 'fail' else 'succeeded' if over and kind == 'charge' else 'unknown'
    end_ns = max(thing.seems_ns, thing.since_ns) if over else thing.since_ns
    return [deed(thing.since_ns, end_ns, kind=kind, text=text, outcome=outcome, key=f'condition {name}')]
