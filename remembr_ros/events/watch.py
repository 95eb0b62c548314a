"""All that tells of deeds on a robot's graph or in a recording: which topics, and what they mean."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from remembr_ros.events.conditions import WELL, Condition, Conditions
from remembr_ros.events.goals import Goals, goal_id, is_left_out, kind_of
from remembr_ros.events.plain import clipped, plain
from remembr_ros.memory.deeds.deed import Deed, deed

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
STATUS = '/_action/status'
_FEEDBACK = '/_action/feedback'
_SERVICE_EVENT = '/_service_event'
_NO_DEEDS = ('rcl_interfaces/', 'lifecycle_msgs/', 'type_description_interfaces/', 'remembr_msgs/')
"""Services that look after nodes; what the memory itself does is told by itself."""
_COLLISION = {1: 'stop', 2: 'slow down', 3: 'approach', 4: 'limit speed'}
_DIAGNOSTIC = {1: Condition('warning'), 2: Condition('fail'), 3: Condition('fail')}
_CHARGING = 1
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
        self._map_frame = map_frame
        self._held: dict[str, str] = {}
        self._calls: dict[str, tuple[int, Any]] = {}
        self._low = self._empty = False
        self._deeds: list[Deed] = []
        self._hears: dict[str, Callable[[str, Any, int], None]] = {
            'nav_msgs/msg/Path': lambda _, message, now_ns: self.goals.plan(message, now_ns),
            'nav2_msgs/msg/BehaviorTreeLog': lambda _, message, now_ns: self.goals.tree(message, now_ns),
            'nav2_msgs/msg/CollisionMonitorState': self._collision,
            'moveit_msgs/msg/AttachedCollisionObject': lambda _, message, now_ns: self._attached(
                message, now_ns
            ),
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
        return is_left_out(name, self._left_out)

    # Introspection, of Kilted and later

    def _service(self, service: str, message: Any, now_ns: int) -> None:
        call = f'{bytes(message.info.client_gid).hex()} {message.info.sequence_number}'
        _, _, part = service.partition('/_action/')
        for request in message.request:
            if part == 'send_goal':
                self.goals.asked(goal_id(request.goal_id), request.goal)
                return
            self._calls[call] = (now_ns, request)
            if len(self._calls) > MOST_CALLS:
                del self._calls[next(iter(self._calls))]
        for response in message.response:
            begin_ns, request = self._calls.pop(call, (now_ns, None))
            if part == 'get_result' and request is not None:
                self.goals.ended(goal_id(request.goal_id), response.result)
            elif not part:
                self._called(f'{service} {call}', (begin_ns, now_ns), request, response)

    def _called(self, call: str, time: tuple[int, int], request: Any, response: Any) -> None:
        service = call.partition(' ')[0]
        done = getattr(response, 'success', True)
        kind, thing = kind_of('', service)
        details = {'service': service, 'request': plain(request) or {}, 'response': plain(response) or {}}
        why = '' if done else str(getattr(response, 'message', ''))
        self._deeds.append(
            deed(
                *(min(time), max(time)),
                kind=kind,
                object=thing,
                outcome='succeeded' if done else 'failed',
                reason=why[:5000],
                details=clipped(details),
                key=call,
            )
        )

    # The arm

    def _attached(self, message: Any, now_ns: int) -> None:
        thing = message.object
        operation = thing.operation
        operation = operation[0] if isinstance(operation, bytes) else int(operation)
        if operation in (0, 2):  # CollisionObject.ADD, APPEND
            self._hold(thing.id, message.link_name, now_ns)
        elif operation == 1:  # REMOVE; without a name all of the link
            of_link = [name for name, link in self._held.items() if message.link_name in ('', link)]
            for name in [thing.id] if thing.id else of_link:
                self._let_go(name, now_ns)

    def _scene(self, _: str, message: Any, now_ns: int) -> None:
        attached = message.robot_state.attached_collision_objects
        for one in attached:
            self._attached(one, now_ns)
        if not message.is_diff and not message.robot_state.is_diff:
            for name in self._held.keys() - {one.object.id for one in attached}:
                self._let_go(name, now_ns)

    def _hold(self, name: str, link: str, now_ns: int) -> None:
        if name not in self._held:
            self._held[name] = link
            self._arm('pick', name, link, now_ns)

    def _let_go(self, name: str, now_ns: int) -> None:
        if name in self._held:
            self._arm('place', name, self._held.pop(name), now_ns)

    def _arm(self, kind: str, name: str, link: str, now_ns: int) -> None:
        said = name.replace('_', ' ')
        self._deeds.append(
            deed(now_ns, kind=kind, object=said, outcome='succeeded', details={'link': link, 'id': name})
        )

    # What lasts while it is not as it should be

    def _collision(self, topic: str, message: Any, now_ns: int) -> None:
        doing = _COLLISION.get(int(message.action_type), '')
        by = f' ({message.polygon_name})' if message.polygon_name else ''
        level = Condition(doing, f'the collision monitor made the robot {doing}{by}') if doing else WELL
        self._conditions.tell(topic, level, now_ns)

    def _diagnostics(self, _: str, message: Any, now_ns: int) -> None:
        for status in message.status:
            if self._is_left_out(status.name):
                continue
            level = status.level[0] if isinstance(status.level, bytes) else int(status.level)
            found = _DIAGNOSTIC.get(level, WELL)
            how = {1: 'warned', 2: 'failed', 3: 'fell silent'}.get(level, '')
            said = f'{status.name} {how}: {status.message}'.rstrip(': ')
            self._conditions.tell(
                f'diagnostics {status.name}', replace(found, text=said) if level else WELL, now_ns
            )

    def _battery(self, topic: str, message: Any, now_ns: int) -> None:
        charge = float(message.percentage)
        known = 0.0 <= charge <= 1.0
        percent = f' at {charge:.0%}' if known else ''
        charging = int(message.power_supply_status) == _CHARGING
        level = Condition('charge', f'charged, beginning{percent}') if charging else WELL
        self._conditions.tell(f'{topic} charging', level, now_ns, {'charge': charge} if known else None)
        if known:
            self._low = charge <= (LOW_NO_MORE if self._low else LOW)
            self._empty = charge <= (EMPTY_NO_MORE if self._empty else EMPTY)
            kind = 'battery nearly empty' if self._empty else 'battery low' if self._low else ''
            low = Condition(kind, f'the {kind}{percent}' if kind else '')
            self._conditions.tell(f'{topic} low', low, now_ns, {'charge': charge})
