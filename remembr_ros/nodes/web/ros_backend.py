"""The page's backend beside a running robot, through its nodes."""

import math
import threading
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from builtin_interfaces.msg import Time
from rcl_interfaces.srv import GetParameters
from rclpy.parameter import parameter_value_to_python
from std_srvs.srv import Trigger

from remembr_msgs.action import Ask, GoTo
from remembr_msgs.srv import Confirm
from remembr_ros.agent.model.answer import Answer
from remembr_ros.agent.planner import OnProgress, Progress
from remembr_ros.errors import InvalidRequest, StoreUnavailable
from remembr_ros.forms.faces import fill_message
from remembr_ros.forms.form import read
from remembr_ros.forms.scope import ScopeForm, scope_asked
from remembr_ros.geometry import StampedPose
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.model.record import Memory
from remembr_ros.navigation.grid import Grid
from remembr_ros.navigation.terrain import KeepOut
from remembr_ros.nodes.agent.ask_request import answer_from_msg, ask_error
from remembr_ros.nodes.agent.parameters import AgentParameters
from remembr_ros.nodes.base.conversions import stamped_pose_from_msg, stamped_pose_to_msg, time_to_msg
from remembr_ros.nodes.base.managed_node import ManagedNode
from remembr_ros.nodes.base.worker_pool import Chore
from remembr_ros.nodes.web.action_call import ActionCall
from remembr_ros.nodes.web.memory_client import MemoryClient
from remembr_ros.nodes.web.parameters import WebParameters
from remembr_ros.nodes.web.robot_watch import RobotWatch
from remembr_ros.web.backend import Ability, DriveProgress, Listeners, PartState, Situation

AGENT_S = 5.0  # [s] so often the agent node's parameters are read, which may change at any time
MARGIN_S = 5.0  # [s] beyond the agent node's own deadlines; then it is taken to be dead
_WANTED = ('navigation', 'keep_out', 'timeout', 'confirm_timeout', 'drive_timeout')


class RosBackend(MemoryClient):
    """Implements remembr_ros.web.backend.Backend over the memory node and the agent node.

    It is there while a node is active: what it subscribes and calls ends with that.

    :param node: an active one, which spins while a call waits
    """

    def __init__(self, node: ManagedNode, parameters: WebParameters) -> None:
        super().__init__(node, parameters.call_timeout, parameters.map_frame)
        self._web_node = node
        self.name = parameters.robot
        self.abilities = frozenset(Ability) - {Ability.CORRECT}
        node.while_active.callback(self.destroy)
        self._confirm = self._service(Confirm, 'agent/confirm')
        self._stop = self._service(Trigger, 'agent/stop')
        self._get_parameters = self._service(GetParameters, 'agent/get_parameters')
        self._ask = ActionCall(node, Ask, 'ask')
        self._go_to = ActionCall(node, GoTo, 'go_to')
        self._watch = RobotWatch(node, parameters)
        self._agent = AgentParameters()
        self._keep_out: tuple[KeepOut, ...] = ()
        self._chore = Chore('agent', self._read_agent, node.get_logger(), period_s=AGENT_S)

    @property
    def planner(self) -> str:
        return self._watch.value('agent', 'planner')

    def now_ns(self) -> int:
        return self._web_node.now_ns()

    def listen(self, listeners: Listeners) -> None:
        self._watch.listeners = listeners

    def on_change(self) -> None:
        self._watch.listeners.on_memories()

    def ask(
        self, question: str, *, asker: str, scope: Scope, on_progress: OnProgress, cancel: threading.Event
    ) -> Answer:
        def tell(feedback: Ask.Feedback) -> None:
            on_progress(Progress(feedback.stage, feedback.detail, feedback.memories_found))

        goal = Ask.Goal(question=question, asker=asker)
        fill_message(read(ScopeForm, scope_asked(scope)), goal)
        result = self._ask.result(goal, tell, cancel=cancel, limit_s=self._agent.timeout + MARGIN_S)
        if result.error_code != Ask.Result.NONE:
            raise ask_error(result.error_code, result.error_msg)
        return answer_from_msg(result.answer)

    def situation(self) -> Situation:
        watch = self._watch
        robots = (watch.robot,) if watch.robot is not None else ()
        return Situation(robots, watch.proposal, watch.goals, self._keep_out)

    def map(self) -> Grid | None:
        return self._watch.map

    def state(self) -> tuple[PartState, ...]:
        return self._watch.parts()

    def go(
        self,
        target: Memory | StampedPose,
        *,
        map_id: str,
        asker: str,
        on_progress: Callable[[DriveProgress], None],
        cancel: threading.Event,
    ) -> bool:
        goal = GoTo.Goal(asker=asker, map=map_id)
        if isinstance(target, Memory):
            goal.memory_id = target.id
        else:
            # The page knows one frame, that of the map.
            goal.pose = stamped_pose_to_msg(replace(target, frame_id=self._map_frame))

        def tell(feedback: GoTo.Feedback) -> None:
            checked = stamped_pose_from_msg(feedback.goal, 0)
            left_m = feedback.distance_remaining
            distance_m = left_m if math.isfinite(left_m) else None
            if feedback.stage == 'navigating':
                self._watch.goals = (checked,)  # which Nav2 is told by an action, not by goal_pose
            on_progress(DriveProgress(feedback.stage, feedback.detail, checked, distance_m))

        agent = self._agent
        limit_s = agent.timeout + agent.confirm_timeout + agent.drive_timeout + MARGIN_S
        result = self._go_to.result(goal, tell, cancel=cancel, limit_s=limit_s)
        if result.error_code != Ask.Result.NONE:
            raise ask_error(result.error_code, result.error_msg)
        return self._agent.navigation != 'goal_pose'  # else nobody tells

    def confirm(self, yes: bool, proposal: str) -> str:
        goals = time_to_msg(int(proposal)) if proposal.isdecimal() else Time()
        response = self._confirm(Confirm.Request(yes=yes, goals=goals))
        if not response.success:
            raise InvalidRequest(response.message)
        return str(response.message)

    def stop(self) -> str:
        return str(self._stop(Trigger.Request()).message)

    def close(self) -> None:
        """Wait for nothing any more; what this takes of the node ends with its service."""
        for wait in (self.recall, self._ask, self._go_to):
            wait.give_up()
        self._chore.close(0.0)

    def _service(self, kind: type[Any], name: str) -> Callable[[Any], Any]:
        """Return what calls a service of the agent node."""
        client = self.recall.client(kind, name)
        return lambda request: self.recall.call(client, request, 'agent')

    def _read_agent(self) -> None:
        """Read those of the agent node's parameters that count here; while it is away the last ones do."""
        try:
            values = self._get_parameters(GetParameters.Request(names=list(_WANTED))).values
        except StoreUnavailable:
            return
        read = dict(zip(_WANTED, map(parameter_value_to_python, values), strict=False))
        known = {field.name: read[field.name] for field in fields(AgentParameters) if read.get(field.name)}
        self._agent = replace(AgentParameters(), **known)
        self._keep_out = tuple(map(KeepOut.parse, self._agent.keep_out))
