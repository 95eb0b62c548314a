"""A memory and a robot through the nodes that have them: what the page asks of a running robot."""

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any

from rcl_interfaces.srv import GetParameters
from rclpy.parameter import parameter_value_to_python
from std_srvs.srv import SetBool, Trigger

from remembr_msgs.action import Ask, GoTo
from remembr_msgs.srv import Forget, Remember
from remembr_ros.agent.model.answer import Answer
from remembr_ros.agent.planner import OnProgress, Progress
from remembr_ros.errors import Cancelled, EmbedderLoading, InvalidRequest, StoreUnavailable
from remembr_ros.geometry import Pose, StampedPose
from remembr_ros.memory.model.outline import Outline
from remembr_ros.memory.model.recall import Recall
from remembr_ros.memory.model.record import Memory
from remembr_ros.navigation.grid import Grid
from remembr_ros.navigation.keep_out import KeepOut
from remembr_ros.nodes.agent.answer_conversion import answer_from_msg
from remembr_ros.nodes.agent.ask_errors import ask_error
from remembr_ros.nodes.agent.parameters import AgentParameters
from remembr_ros.nodes.agent.recall_client import RecallClient
from remembr_ros.nodes.base.conversions import stamped_pose_from_msg, stamped_pose_to_msg
from remembr_ros.nodes.base.managed_node import ManagedNode
from remembr_ros.nodes.base.periodic_thread import Chore
from remembr_ros.nodes.web.calls import ActionCall, Calls
from remembr_ros.nodes.web.parameters import WebParameters
from remembr_ros.nodes.web.robot_watch import RobotWatch
from remembr_ros.web.backend import Ability, DriveProgress, Listeners, PartState, Situation

AGENT_S = 5.0  # [s] so often the agent node's parameters are read, which may change at any time
MARGIN_S = 5.0  # [s] beyond the agent node's own deadlines; then it is taken to be dead
_WANTED = ('keep_out', 'timeout', 'confirm_timeout', 'drive_timeout')


class RosBackend:
    """Implements remembr_ros.web.backend.Backend over the memory node and the agent node.

    It is there while a node is active: what it subscribes and calls ends with that.

    :param node: an active one, which spins while a call waits
    """

    def __init__(self, node: ManagedNode, parameters: WebParameters) -> None:
        p = parameters
        self._node = node
        self.name = p.robot
        self.abilities = frozenset(Ability)
        self._listeners: Listeners | None = None
        self._calls = calls = Calls(node, p.call_timeout)
        self._recall = RecallClient(node, p.call_timeout)
        node.while_active.callback(self._recall.close)
        self._forget = calls.service(Forget, 'forget', 'memory')
        self._remember = calls.service(Remember, 'remember', 'memory')
        self._confirm = calls.service(SetBool, 'agent/confirm', 'agent')
        self._stop = calls.service(Trigger, 'agent/stop', 'agent')
        self._get_parameters = calls.service(GetParameters, 'agent/get_parameters', 'agent')
        self._ask = ActionCall(calls, Ask, 'ask')
        self._go_to = ActionCall(calls, GoTo, 'go_to')
        self._watch = RobotWatch(node, p, on_memories=self._on_memories, on_answer=self._on_answer)
        self._agent = AgentParameters()
        self._keep_out: tuple[KeepOut, ...] = ()
        self._chore = Chore('agent', self._read_agent, node.get_logger(), period_s=AGENT_S)

    @property
    def recall(self) -> Recall:
        return self._recall

    @property
    def planner(self) -> str:
        return self._watch.value('agent', 'planner')

    def now_ns(self) -> int:
        return self._node.now_ns()

    def listen(self, listeners: Listeners) -> None:
        self._listeners = listeners

    def outline(self) -> Outline:
        return self._recall.outline()

    def get(self, ids: Sequence[str]) -> list[Memory]:
        return self._recall.get(ids)

    def picture(self, name: str) -> bytes:
        return self._recall.picture(name)

    def ask(self, question: str, *, asker: str, on_progress: OnProgress, cancel: threading.Event) -> Answer:
        def tell(feedback: Ask.Feedback) -> None:
            on_progress(Progress(feedback.stage, feedback.detail, feedback.memories_found))

        result = self._ask.result(
            Ask.Goal(question=question, asker=asker),
            tell,
            cancel=cancel,
            timeout_s=lambda: self._agent.timeout + MARGIN_S,
        )
        _check(result)
        return answer_from_msg(result.answer)

    def forget(self, ids: Sequence[str]) -> int:
        response = _checked(self._forget(Forget.Request(ids=list(ids))))
        self._on_memories()
        return int(response.count)

    def note(self, text: str, pose: Pose | None, *, frame_id: str, map_id: str) -> str:
        request = Remember.Request(text=text, use_pose=pose is not None, map_id=map_id)
        if pose is not None:
            request.pose = stamped_pose_to_msg(StampedPose(0, pose, frame_id))
        identity: str = _checked(self._remember(request)).id
        self._on_memories()
        return identity

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
    ) -> None:
        goal = GoTo.Goal(asker=asker, map_id=map_id)
        if isinstance(target, Memory):
            goal.memory_id = target.id
        else:
            goal.pose = stamped_pose_to_msg(target)

        def tell(feedback: GoTo.Feedback) -> None:
            checked = stamped_pose_from_msg(feedback.goal, 0)
            left_m = feedback.distance_remaining
            distance_m = None if math.isnan(left_m) else left_m
            if feedback.stage == 'navigating':
                self._watch.goals = (checked,)  # which Nav2 is told by an action, not by goal_pose
            on_progress(DriveProgress(feedback.stage, feedback.detail, checked, distance_m))

        agent = self._agent
        limit_s = agent.timeout + agent.confirm_timeout + agent.drive_timeout + MARGIN_S
        _check(self._go_to.result(goal, tell, cancel=cancel, timeout_s=lambda: limit_s))

    def confirm(self, yes: bool) -> str:
        response = self._confirm(SetBool.Request(data=yes))
        if not response.success:
            raise InvalidRequest(response.message)
        message: str = response.message
        return message

    def stop(self) -> str:
        message: str = self._stop(Trigger.Request()).message
        return message

    def close(self) -> None:
        """Wait for nothing any more; what this takes of the node ends with its service."""
        self._calls.ended.set()
        self._chore.close(0.0)

    def _on_memories(self) -> None:
        if self._listeners is not None:
            self._listeners.on_memories()

    def _on_answer(self, question: str, asker: str, answer: Answer) -> None:
        if self._listeners is not None:
            self._listeners.on_answer(question, asker, answer)

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


def _checked(response: Any) -> Any:
    """Return the response of service Forget or Remember; raise the error that it is refused with."""
    codes = type(response)
    if response.error_code == codes.INVALID_REQUEST:
        raise InvalidRequest(response.error_msg)
    if response.error_code == getattr(codes, 'LOADING', None):
        raise EmbedderLoading(response.error_msg)
    if response.error_code != codes.NONE:
        raise StoreUnavailable(response.error_msg)
    return response


def _check(result: Any) -> None:
    """Raise the error that an action of the agent node ended with, if it did."""
    if result is None:
        raise Cancelled('it was cancelled')
    if result.error_code != Ask.Result.NONE:
        raise ask_error(result.error_code, result.error_msg)
