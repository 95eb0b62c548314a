"""The goals of actions: what became of each, as the status that every action server publishes tells."""

import re
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from typing import Any

from remembr_ros.events.plain import clipped, plain
from remembr_ros.geometry import Point
from remembr_ros.memory.deeds.deed import Deed, Outcome, deed
from remembr_ros.timestamps import NS

HOLD_NS = NS  # so long after its end, what else is told of a goal is waited for: its result comes last
KEPT = 1000  # of goals that are over, so that each is told once, and of what is told beside them
SLACK_NS = NS // 5  # messages of one moment come in any order
MOST_FAILED = 10  # nodes of a behaviour tree that are named

_OPEN = (1, 2, 3)  # action_msgs/GoalStatus: accepted, executing, canceling
_ENDS: dict[int, Outcome] = {4: 'succeeded', 5: 'cancelled', 6: 'failed'}
_GOES = ('navigate', 'goto', 'follow waypoints', 'follow gps', 'go to')
_DONE_TO = ('pick', 'place', 'open', 'close')
_KINDS = (*_DONE_TO, 'ask', 'answer', 'dock', 'charge')
_NO_NAME = ('robot', 'object', 'action', 'goal')
_FED_BACK = ('distance_remaining', 'number_of_recoveries', 'num_retries', 'current_waypoint')
_FIELDS = {
    'object': re.compile('object'),
    'receptacle': re.compile('receptacle|surface|container|shelf|table'),
    'place': re.compile('location|room|station|place|dock_id|dock_type'),
}
"""Which of a goal's texts name what: the first that fits."""
_NO_FAILURE = ('Recovery', 'Sequence', 'Fallback', 'Selector', 'RoundRobin', 'RateController', 'Updated')
"""Parts of the names of nodes that pass on the failure of another one, or fail as they should."""


@dataclass(slots=True)
class _Goal:
    action: str
    begin_ns: int
    end_ns: int | None = None
    outcome: Outcome = 'unknown'
    reason: str = ''


@dataclass(slots=True)
class _Told:
    """What else is told of a goal, maybe before its server says that it accepted it."""

    asked: Any = None
    result: Any = None
    fed_back: dict[str, Any] = field(default_factory=dict)


class Goals:
    """Follows the goals of all actions.

    :param since_ns: goals that were over before this are somebody else's to tell
    :param map_frame: goals in other frames have no place
    """

    def __init__(self, since_ns: int, map_frame: str = 'map') -> None:
        self._since_ns = since_ns
        self._map_frame = map_frame
        self._open: dict[str, _Goal] = {}
        self._over: dict[str, None] = {}
        self._told: dict[str, _Told] = {}
        self._types: dict[str, str] = {}
        self._plans: deque[tuple[int, Point]] = deque(maxlen=KEPT)
        self._failures: deque[tuple[int, str]] = deque(maxlen=KEPT)

    def __len__(self) -> int:
        """Return how many goals are under way."""
        return len(self._open)

    def is_of(self, action: str, msgtype: str) -> None:
        """Take down the type of an action, such as nav2_msgs/action/NavigateToPose."""
        self._types[action] = msgtype

    def status(self, action: str, message: Any, now_ns: int) -> None:
        """Take an action_msgs/GoalStatusArray."""
        listed = set()
        for status in message.status_list:
            name = goal_id(status.goal_info.goal_id)
            listed.add(name)
            stamp = status.goal_info.stamp
            begin_ns = stamp.sec * NS + stamp.nanosec
            if name in self._over or status.status not in (*_OPEN, *_ENDS):
                continue
            known = self._open.get(name)
            if known is None:
                if status.status in _ENDS and not self._since_ns <= begin_ns <= now_ns:
                    self._forget(name)
                    continue
                begin_ns = begin_ns if 0 < begin_ns <= now_ns else now_ns
                known = self._open[name] = _Goal(action, begin_ns)
            if status.status in _ENDS and known.end_ns is None:
                known.end_ns, known.outcome = max(now_ns, known.begin_ns), _ENDS[status.status]
        for name, goal in self._open.items():
            if goal.action == action and name not in listed and goal.end_ns is None:
                _lost(goal, now_ns, 'its action server does not know of it any more')

    def gone(self, action: str, now_ns: int) -> None:
        """Take note that nobody serves an action any more."""
        for goal in self._open.values():
            if goal.action == action and goal.end_ns is None:
                _lost(goal, now_ns, 'its action server went away')

    def feedback(self, message: Any) -> None:
        """Take the feedback message of an action."""
        told = {name: getattr(message.feedback, name, None) for name in _FED_BACK}
        of_goal = self._told_of(goal_id(message.goal_id)).fed_back
        of_goal |= {name: plain(value) for name, value in told.items() if value is not None}

    def asked(self, name: str, goal: Any) -> None:
        """Take the goal itself, which introspection tells."""
        self._told_of(name).asked = goal

    def ended(self, name: str, result: Any) -> None:
        """Take the result, which introspection tells."""
        self._told_of(name).result = result

    def plan(self, message: Any, now_ns: int) -> None:
        """Take a nav_msgs/Path: its end is where who drives now is going."""
        frame = message.header.frame_id.lstrip('/')
        if message.poses and frame in ('', self._map_frame):
            at = message.poses[-1].pose.position
            self._plans.append((now_ns, (at.x, at.y, at.z)))

    def tree(self, message: Any, now_ns: int) -> None:
        """Take a nav2_msgs/BehaviorTreeLog: what failed belongs to who drove at its stamp.

        The stamps of its events are the wall clock's, whatever time the robot has.
        """
        at_ns = message.timestamp.sec * NS + message.timestamp.nanosec or now_ns
        for event in message.event_log:
            # A condition fails at once, and as it should; what was tried fails after it ran.
            tried = event.previous_status == 'RUNNING' and event.current_status == 'FAILURE'
            if tried and not any(part in event.node_name for part in _NO_FAILURE):
                self._failures.append((at_ns, str(event.node_name)))

    def take(self, now_ns: int) -> list[Deed]:
        """Return what is over, and of which nothing more is waited for."""
        due = {
            name: goal
            for name, goal in self._open.items()
            if goal.end_ns is not None and not goal.end_ns <= now_ns < goal.end_ns + HOLD_NS
        }
        for name in due:
            del self._open[name]
        return [self._deed(name, goal) for name, goal in due.items()]

    def end(self, now_ns: int) -> list[Deed]:
        """Return all that is not told yet: nobody watches any more."""
        for goal in self._open.values():
            if goal.end_ns is None:
                _lost(goal, now_ns, 'nobody saw how it ended')
        found = [self._deed(name, goal) for name, goal in self._open.items()]
        self._open.clear()
        return found

    def _told_of(self, name: str) -> _Told:
        _cut(self._told)
        return self._told.setdefault(name, _Told())

    def _forget(self, name: str) -> _Told:
        self._over[name] = None
        _cut(self._over)
        return self._told.pop(name, _Told())

    def _deed(self, name: str, goal: _Goal) -> Deed:
        # Of one whose server went away more may be heard, which replaces what is told now.
        told = self._forget(name) if goal.outcome != 'unknown' else self._told.pop(name, _Told())
        kind, thing = kind_of(self._types.get(goal.action, ''), goal.action)
        end_ns = goal.begin_ns if goal.end_ns is None else goal.end_ns
        failed: list[str] = []
        place = None
        if kind == 'go':
            first_ns, last_ns = goal.begin_ns - SLACK_NS, end_ns + SLACK_NS
            failed = [node for ns, node in self._failures if first_ns <= ns <= last_ns]
            failed = list(dict.fromkeys(failed))[:MOST_FAILED]
            places = [at for ns, at in self._plans if first_ns <= ns <= last_ns]
            place = places[-1] if places else None
        asked, result = plain(told.asked) or {}, plain(told.result) or {}
        said = {part: _text_of(asked, pattern) for part, pattern in _FIELDS.items()}
        said['object'] = said['object'] or thing
        why = ''
        if goal.outcome != 'succeeded':
            why = goal.reason or _text_of(result, re.compile('error_msg|message|error_string'))
            why = why or (f'{", ".join(failed)} failed' if failed else '')
            code = result.get('error_code')
            why = why or (f'error code {code}' if isinstance(code, int) and code else '')
        details = {
            'action': goal.action,
            'goal': asked,
            'result': result,
            'failed_nodes': failed,
            **told.fed_back,
        }
        made = deed(
            goal.begin_ns,
            end_ns,
            kind=kind,
            outcome=goal.outcome,
            reason=why[:5000],
            details=clipped({key: value for key, value in details.items() if value not in ({}, [])}),
            key=name,
            **said,
        )
        return replace(made, frame_id=self._map_frame, goal=_place_of(told.asked, self._map_frame) or place)


def kind_of(msgtype: str, action: str) -> tuple[str, str]:
    """Return the kind of an action's deeds, and what they are done to where the name says that.

    :param msgtype: such as opennav_docking_msgs/action/DockRobot; empty: not known
    """
    name = msgtype.rpartition('/')[2] or action.rpartition('/')[2]
    words = re.sub(r'(?<=[a-z0-9])(?=[A-Z])', ' ', name).replace('_', ' ').casefold()
    if words.startswith(_GOES):
        return 'go', ''
    first, _, rest = words.partition(' ')
    if first not in _KINDS:
        return words, ''
    return first, '' if rest in _NO_NAME or first not in _DONE_TO else rest


def is_left_out(action: str, patterns: Iterable[str]) -> bool:
    """Tell whether one of the patterns fits an action, as a whole or the last part of its name."""
    names = (action, action.rpartition('/')[2])
    return any(fnmatch(name, pattern) for name in names for pattern in patterns)


def goal_id(message: Any) -> str:
    """Return a unique_identifier_msgs/UUID as hexadecimal digits."""
    return bytes(message.uuid).hex()


def _lost(goal: _Goal, now_ns: int, why: str) -> None:
    goal.end_ns, goal.outcome, goal.reason = max(now_ns, goal.begin_ns), 'unknown', why


def _text_of(fields: Mapping[str, Any], pattern: re.Pattern[str]) -> str:
    texts = (str(text) for name, text in fields.items() if isinstance(text, str) and pattern.search(name))
    return next((text[:500] for text in texts if text), '')


def _place_of(goal: Any, map_frame: str) -> Point | None:
    """Return where a goal leads: its pose, or the last of its poses."""
    for name in ('pose', 'target_pose', 'dock_pose', 'goal_pose', 'goal', 'poses', 'goals'):
        value = getattr(goal, name, None)
        value = getattr(
            value, 'goals', value
        )  # nav_msgs/Goals, which NavigateThroughPoses has from Kilted on
        stamped: Any = value[-1] if isinstance(value, (list, tuple)) and value else value
        frame = getattr(getattr(stamped, 'header', None), 'frame_id', None)
        if frame is not None and hasattr(stamped, 'pose') and frame.lstrip('/') in ('', map_frame):
            at = stamped.pose.position
            return (at.x, at.y, at.z)
    return None


def _cut(kept: dict[str, Any]) -> None:
    while len(kept) > KEPT:
        del kept[next(iter(kept))]
