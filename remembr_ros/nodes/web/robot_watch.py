"""The robot's topics as the page shows them."""

import time

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PoseArray, PoseStamped
from nav_msgs.msg import OccupancyGrid

from remembr_msgs.msg import Answer as AnswerMsg
from remembr_msgs.msg import Memory as MemoryMsg
from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Lost, StampedPose, is_place
from remembr_ros.navigation.grid import Grid
from remembr_ros.nodes.agent.ask_request import answer_from_msg
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.conversions import (
    frame_name,
    grid_from_msg,
    pose_from_msg,
    stamped_pose_from_msg,
    time_from_msg,
)
from remembr_ros.nodes.base.managed_node import ManagedNode
from remembr_ros.nodes.base.pose_source import PoseSubscription
from remembr_ros.nodes.web.parameters import WebParameters
from remembr_ros.printable import printable
from remembr_ros.web.backend import Listeners, PartState, RobotPlace

STALE_S = 5.0  # [s] a part that has said nothing for so long is stale
MOST_PARTS = 100  # whose diagnostics are kept
LEVELS = ('ok', 'warn', 'error', 'stale')  # as in diagnostic_msgs/DiagnosticStatus
BEHIND = ': status'  # what the nodes' diagnostics have behind their names


class RobotWatch:
    """Listens while the node is active; what it knows may be read from any thread."""

    def __init__(self, node: ManagedNode, parameters: WebParameters) -> None:
        self._node = node
        self._parameters = parameters
        self.listeners = Listeners(on_memories=lambda: None, on_answer=lambda *_: None)
        """Told when something was stored, and of each answer to a question by topic."""
        self._parts: dict[str, tuple[float, DiagnosticStatus]] = {}
        self.map: Grid | None = None
        self.robot: RobotPlace | None = None
        self.proposal: tuple[StampedPose, ...] = ()
        self.goals: tuple[StampedPose, ...] = ()
        """Where the robot was sent last."""
        subscribe = node.topics.subscribe
        subscribe(MemoryMsg, 'memories', lambda _: self.listeners.on_memories(), qos.CAPTIONS)
        subscribe(AnswerMsg, 'answer', self._on_answer, qos.ANSWERS)
        subscribe(OccupancyGrid, 'map', self._on_map, qos.MAPS)
        subscribe(PoseArray, 'proposed_goals', self._on_proposal, qos.MARKERS)
        subscribe(PoseStamped, 'goal_pose', self._on_goal, qos.ANSWERS, yields=True)
        subscribe(DiagnosticArray, '/diagnostics', self._on_diagnostics, qos.DIAGNOSTICS, yields=True)
        PoseSubscription(node, parameters, self._on_pose)

    def parts(self) -> tuple[PartState, ...]:
        """Return how the nodes of the memory are, by name."""
        now = time.monotonic()
        parts = []
        for name, (heard_at, status) in sorted(self._parts.items()):
            stale = now - heard_at > STALE_S
            message = f'nothing was heard for more than {STALE_S:g} s' if stale else printable(status.message)
            values = {printable(value.key): printable(value.value) for value in status.values}
            parts.append(
                PartState(name, 'stale' if stale else LEVELS[min(status.level[0], 3)], message, values)
            )
        return tuple(parts)

    def value(self, part: str, key: str) -> str:
        """Return a figure of a part's diagnostics; empty: it has not told it."""
        return next((figures.values.get(key, '') for figures in self.parts() if figures.name == part), '')

    # In the executor's thread

    def _on_answer(self, msg: AnswerMsg) -> None:
        try:
            self.listeners.on_answer(msg.question, msg.asker, answer_from_msg(msg))
        except InvalidRequest as error:
            self._node.get_logger().warning(f'an answer is not shown: {error}', throttle_duration_sec=10.0)

    def _on_map(self, msg: OccupancyGrid) -> None:
        try:
            self.map = grid_from_msg(msg, frame_id=self._parameters.map_frame)
        except InvalidRequest as error:
            self._node.get_logger().error(f'the map is not shown: {error}', throttle_duration_sec=10.0)

    def _on_proposal(self, msg: PoseArray) -> None:
        stamp_ns, frame_id = time_from_msg(msg.header.stamp), frame_name(msg.header.frame_id)
        poses = filter(is_place, map(pose_from_msg, msg.poses))
        self.proposal = tuple(StampedPose(stamp_ns, pose, frame_id) for pose in poses)

    def _on_goal(self, msg: PoseStamped) -> None:
        goal = stamped_pose_from_msg(msg, self._node.now_ns())
        if is_place(goal.pose):
            self.goals = (goal,)

    def _on_diagnostics(self, msg: DiagnosticArray) -> None:
        own = f'{self._node.get_namespace().rstrip("/")}/'
        parts = dict(self._parts)  # another thread may be reading
        for status in msg.status:
            name = printable(status.name.removesuffix(BEHIND).removeprefix(own))
            # A robot has many others, whose monitor is elsewhere.
            if status.name.startswith(own) and (name in parts or len(parts) < MOST_PARTS):
                parts[name] = (time.monotonic(), status)
        self._parts = parts

    def _on_pose(self, pose: StampedPose | Lost) -> None:
        if isinstance(pose, Lost):
            self.robot = None
        elif is_place(pose.pose):
            self.robot = RobotPlace(self._parameters.robot, pose, self._parameters.map_id)
