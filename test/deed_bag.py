"""A recording of a robot that drives along x at half a metre a second, and of what is told of that."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from test.unit.bags.conftest import NS, T0, BagBuilder

ACCEPTED, EXECUTING, SUCCEEDED, ABORTED = 1, 2, 4, 6
GO, FOLLOW = '/navigate_to_pose', '/follow_path'
FEEDBACK = 'nav2_msgs/action/NavigateToPose_FeedbackMessage'
STATUSES, PATH = 'action_msgs/msg/GoalStatusArray', 'nav_msgs/msg/Path'
TREE, EVENT = 'nav2_msgs/msg/BehaviorTreeLog', 'remembr_msgs/msg/Event'
RULE = '=' * 80
DEFINITIONS = {
    FEEDBACK: f"""unique_identifier_msgs/UUID goal_id
nav2_msgs/action/NavigateToPose_Feedback feedback
{RULE}
MSG: nav2_msgs/action/NavigateToPose_Feedback
int16 number_of_recoveries
float32 distance_remaining
""",
    TREE: f"""builtin_interfaces/Time timestamp
BehaviorTreeStatusChange[] event_log
{RULE}
MSG: nav2_msgs/BehaviorTreeStatusChange
builtin_interfaces/Time timestamp
string node_name
uint16 uid
string previous_status
string current_status
""",
    EVENT: """string SUCCEEDED = succeeded
string kind  # what was done
string text
string object
string receptacle
string place
builtin_interfaces/Time begin
builtin_interfaces/Time end
string outcome
string reason
bool use_pose
geometry_msgs/PoseStamped pose
string robot
string map_id
string details
""",
}


class DeedBag(BagBuilder):
    """Writes what tells of deeds; seconds are those since T0.

    :param undefined: types that have no definition in the file
    """

    def __init__(self, folder: Path, kind: str = 'mcap', *, undefined: Sequence[str] = ()) -> None:
        super().__init__(folder, kind)
        self._undefined = undefined
        for msgtype, text in DEFINITIONS.items():
            self.add_custom_type(msgtype, text)

    def topic(self, topic: str, msgtype: str) -> Any:
        key = (topic, msgtype)
        if key not in self._connections and msgtype in DEFINITIONS:
            text = '' if msgtype in self._undefined else DEFINITIONS[msgtype]
            self._connections[key] = self._writer.add_connection(
                topic, msgtype, msgdef=text, rihs01='RIHS01_' + '0' * 64
            )
        return super().topic(topic, msgtype)

    def time(self, second: float) -> Any:
        ns = T0 + round(second * NS)
        return self.make('builtin_interfaces/msg/Time', ns // NS, ns % NS)

    def uuid(self, number: int) -> Any:
        digits = np.frombuffer(number.to_bytes(16, 'big'), np.uint8)
        return self.make('unique_identifier_msgs/msg/UUID', digits)

    def status(self, second: float, *goals: tuple[int, float, int], action: str = GO) -> None:
        """Write the status of goals given as number, when it was accepted and how it is."""
        listed = []
        for number, since, how in goals:
            info = self.make('action_msgs/msg/GoalInfo', self.uuid(number), self.time(since))
            listed.append(self.make('action_msgs/msg/GoalStatus', info, how))
        self.add(f'{action}/_action/status', self.make(STATUSES, listed), T0 + round(second * NS))

    def feedback(self, second: float, number: int, recoveries: int, metres: float) -> None:
        fed = self.make('nav2_msgs/action/NavigateToPose_Feedback', recoveries, metres)
        message = self.make(FEEDBACK, self.uuid(number), fed)
        self.add_raw(f'{GO}/_action/feedback', FEEDBACK, message, second)

    def plan(self, second: float, x: float, frame: str = 'map') -> None:
        ns = T0 + round(second * NS)
        end = self.make('geometry_msgs/msg/PoseStamped', self.header(ns, frame), self.pose((x, 0, 0)))
        self.add('/plan', self.make(PATH, self.header(ns, frame), [end]), ns)

    def tree(self, second: float, *failed: str) -> None:
        kind = 'nav2_msgs/msg/BehaviorTreeStatusChange'
        at = self.time(second)
        changes = [self.make(kind, at, name, 1, 'RUNNING', 'FAILURE') for name in failed]
        self.add_raw('/behavior_tree_log', TREE, self.make(TREE, at, changes), second)

    def event(self, second: float, **about: Any) -> None:
        never = self.make('builtin_interfaces/msg/Time', 0, 0)
        nowhere = self.make('geometry_msgs/msg/PoseStamped', self.header(T0), self.pose((0, 0, 0)))
        names = ('kind', 'text', 'object', 'receptacle', 'place', 'outcome', 'reason')
        fields = {**dict.fromkeys((*names, 'robot', 'map_id', 'details'), ''), 'use_pose': False}
        fields |= {'begin': never, 'end': never, 'pose': nowhere, **about}
        self.add_raw('/remembr/event', EVENT, self.make(EVENT, **fields), second)

    def add_raw(self, topic: str, msgtype: str, message: Any, second: float) -> None:
        data = bytes(self.store.serialize_cdr(message, msgtype))
        self.raw(topic, msgtype, data, T0 + round(second * NS))

    def drive(self, seconds: int = 20, *, poses: bool = True, frame: str = 'map') -> None:
        """Write where the robot is, and what it sees."""
        for tick in range(seconds * 10 + 1):
            ns = T0 + tick * NS // 10
            if poses:
                self.pose_stamped('/pose', ns, (tick / 20, 0, 0), frame=frame)
            if tick % 5 == 0:
                self.compressed('/camera/compressed', ns)


def write_deeds(folder: Path, kind: str = 'mcap', *, undefined: Sequence[str] = (), **drive: Any) -> Path:
    """Return a recording of a drive that succeeds, one that fails, a cup, and a drive that goes on."""
    with DeedBag(folder, kind, undefined=undefined) as bag:
        bag.drive(**drive)
        bag.status(0.1, (9, -60.0, SUCCEEDED))
        bag.status(2.1, (9, -60.0, SUCCEEDED), (1, 2.0, EXECUTING))
        bag.status(2.1, (7, 2.1, EXECUTING), action=FOLLOW)
        bag.plan(2.2, 6.0)
        bag.feedback(5.0, 1, 1, 1.5)
        bag.status(8.0, (1, 2.0, SUCCEEDED))
        bag.status(8.0, (7, 2.1, SUCCEEDED), action=FOLLOW)
        bag.status(10.0, (1, 2.0, SUCCEEDED), (2, 10.0, EXECUTING))
        bag.event(10.5, kind='pick', object='cup', outcome='succeeded')
        bag.tree(11.0, 'ComputePathToPose')
        bag.status(12.0, (1, 2.0, SUCCEEDED), (2, 10.0, ABORTED))
        bag.status(15.0, (2, 10.0, ABORTED), (3, 15.0, EXECUTING))
    return bag.path
