"""Outcomes of action goals, from the status that every action server publishes."""

import re
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from remembr_ros.events.plain import clipped, plain
from remembr_ros.geometry import Point
from remembr_ros.memory.deeds.deed import Deed, Outcome, deed
from remembr_ros.timestamps import NS

HOLD_NS = NS  # so long after its end, what else is told of a goal is waited for: its result comes last
SLACK_NS = NS // 5  # messages of one moment come in any order
KEPT = 1000  # of goals that are over, so that each is told once, and of what is told beside them
MOST_FAILED = 10  # nodes of a behaviour tree that are named

_OPEN = (1, 2, 3)  # action_msgs/GoalStatus: accepted, executing, canceling
_ENDS: dict[int, Outcome] = {4: 'succeeded', 5: 'cancelled', 6: 'failed'}
_GOES = ('navigate', 'go to', 'follow waypoints', 'follow gps')
_DONE_TO = ('pick', 'place', 'open', 'close')
_KINDS = (*_DONE_TO, 'ask', 'answer', 'dock', 'charge')
_FED_BACK = (
    *('distance_remaining', 'distance_traveled', 'angular_distance_traveled'),
    *('number_of_recoveries', 'num_retries', 'current_waypoint'),
)
_NAMED = {'object': 'object', 'receptacle': 'receptacle|container|surface', 'place': 'location|room|dock_id'}
"""By part of a deed, which texts of a goal name it."""
_WHY = 'error_msg|error_string|message'  # texts of a result
_NO_FAILURE = ('Recovery', 'Sequence', 'Fallback', 'Selector', 'RoundRobin', 'RateController', 'Updated')
"""Parts of the names of nodes that pass on the failure of another one, or fail as they should."""


@dataclass(slots=True)
class _Goal:
    """A goal, and what else is told of it, maybe before its server says that it accepted it."""

    action: str = ''
    begin_ns: int = 0
    end_ns: int | None = None
    outcome: Outcome = 'unknown'
    reason: str = ''
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
        self._goals: dict[str, _Goal] = {}
        self._over: dict[str, None] = {}
        self._types: dict[str, str] = {}
        self._plans: deque[tuple[int, Point]] = deque(maxlen=KEPT)
        self._failures: deque[tuple[int, str]] = deque(maxlen=KEPT)

    def __len__(self) -> int:
        """Return how many goals are under way."""
        return sum(bool(goal.action) for goal in self._goals.values())

    def is_of(self, action: str, msgtype: str) -> None:
        """Take down the type of an action, such as nav2_msgs/action/NavigateToPose."""
        self._types[action] = msgtype

    def status(self, action: str, message: Any, now_ns: int) -> None:
        """Take an action_msgs/GoalStatusArray."""
        listed = set()
        for status in message.status_list:
            listed.add(name := goal_id(status.goal_info.goal_id))
            stamp = status.goal_info.stamp
            begin_ns = stamp.sec * NS + stamp.nanosec
            if name in self._over or status.status not in (*_OPEN, *_ENDS):
                continue
            goal = self.told(name)
            if not goal.action:
                if status.status in _ENDS and not self._since_ns <= begin_ns <= now_ns:
                    self._forget(name)
                    continue
                goal.action, goal.begin_ns = action, begin_ns if 0 < begin_ns <= now_ns else now_ns
            if status.status in _ENDS and goal.end_ns is None:
                goal.end_ns, goal.outcome = max(now_ns, goal.begin_ns), _ENDS[status.status]
        self._lose(action, listed, now_ns, 'its action server does not know of it any more')

    def gone(self, action: str, now_ns: int) -> None:
        """Take note that nobody serves an action any more."""
        self._lose(action, set(), now_ns, 'its action server went away')

    def told(self, name: str) -> _Goal:
        """Return a goal, for what is told of it: asked, result, fed_back."""
        if name not in self._goals:
            early = [other for other, goal in self._goals.items() if not goal.action]
            if len(early) >= KEPT:
                del self._goals[early[0]]
            self._goals[name] = _Goal()
        return self._goals[name]

    def feedback(self, message: Any) -> None:
        """Take the feedback message of an action."""
        name = goal_id(message.goal_id)
        if name not in self._over:
            fed = {part: getattr(message.feedback, part, None) for part in _FED_BACK}
            self.told(name).fed_back |= {part: plain(raw) for part, raw in fed.items() if raw is not None}

    def plan(self, message: Any, now_ns: int) -> None:
        """Take a nav_msgs/Path: its end is where who drives now is going."""
        if message.poses and message.header.frame_id.lstrip('/') in ('', self._map_frame):
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
        due = [
            name
            for name, goal in self._goals.items()
            if goal.end_ns is not None and not goal.end_ns <= now_ns < goal.end_ns + HOLD_NS
        ]
        return [self._deed(name) for name in due]

    def end(self, now_ns: int) -> list[Deed]:
        """Return all that is not told yet: nobody watches any more."""
        for action in {goal.action for goal in self._goals.values()}:
            self._lose(action, set(), now_ns, 'nobody saw how it ended')
        return [self._deed(name) for name, goal in list(self._goals.items()) if goal.action]

    def _lose(self, action: str, listed: set[str], now_ns: int, why: str) -> None:
        for name, goal in self._goals.items():
            if goal.action == action != '' and name not in listed and goal.end_ns is None:
                goal.end_ns, goal.reason = max(now_ns, goal.begin_ns), why

    def _forget(self, name: str) -> None:
        del self._goals[name]
        self._over[name] = None
        if len(self._over) > KEPT:
            del self._over[next(iter(self._over))]

    def _deed(self, name: str) -> Deed:
        goal = self._goals[name]
        if goal.outcome == 'unknown':  # more may be heard, which replaces what is told now
            del self._goals[name]
        else:
            self._forget(name)
        kind, thing = kind_of(self._types.get(goal.action, ''), goal.action)
        end_ns = goal.begin_ns if goal.end_ns is None else goal.end_ns
        first_ns, last_ns = goal.begin_ns - SLACK_NS, end_ns + SLACK_NS
        failed: list[str] = []
        place = _place_of(goal.asked, self._map_frame)
        if kind == 'go':
            failed = list(dict.fromkeys(node for ns, node in self._failures if first_ns <= ns <= last_ns))
            places = [at for ns, at in self._plans if first_ns <= ns <= last_ns]
            place = place or (places[-1] if places else None)
        asked, result = plain(goal.asked) or {}, plain(goal.result) or {}
        texts = {part: _text_of(asked, names) for part, names in _NAMED.items()}
        why = ''
        if goal.outcome != 'succeeded':
            tried = f'{", ".join(failed[:MOST_FAILED])} failed' if failed else ''
            code = f'error code {result["error_code"]}' if result.get('error_code') else ''
            why = goal.reason or _text_of(result, _WHY) or tried or code
        details = {
            'action': goal.action,
            'goal': asked,
            'result': result,
            'failed_nodes': failed[:MOST_FAILED],
        }
        return deed(
            goal.begin_ns,
            end_ns,
            **{**texts, 'object': texts['object'] or thing},
            kind=kind,
            outcome=goal.outcome,
            reason=why[:5000],
            details=clipped(
                {part: value for part, value in (details | goal.fed_back).items() if value not in ({}, [])}
            ),
            goal=place,
            frame_id=self._map_frame,
            key=name,
        )


def kind_of(msgtype: str, action: str) -> tuple[str, str]:
    """Return the kind of an action's deeds, and what they are done to where the name says that.

    :param msgtype: such as opennav_docking_msgs/action/DockRobot; empty: not known
    """
    name = msgtype.rpartition('/')[2] or action.rpartition('/')[2]
    words = re.sub(r'(?<=[a-z0-9])(?=[A-Z])', ' ', name).replace('_', ' ').casefold()
    first, _, rest = words.partition(' ')
    if words.startswith(_GOES):
        return 'go', ''
    if first not in _KINDS:
        return words, ''
    return first, rest if first in _DONE_TO and rest != 'object' else ''


def goal_id(message: Any) -> str:
    """Return a unique_identifier_msgs/UUID as hexadecimal digits."""
    return bytes(message.uuid).hex()


def _text_of(fields: dict[str, Any], names: str) -> str:
    texts = (text for name, text in fields.items() if isinstance(text, str) and re.search(names, name))
    return next((text[:500] for text in texts if text), '')


def _place_of(goal: Any, map_frame: str) -> Point | None:
    """Return where a goal leads: its pose, or the last of its poses."""
    for name in ('pose', 'target_pose', 'dock_pose', 'goal', 'poses', 'goals'):
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
