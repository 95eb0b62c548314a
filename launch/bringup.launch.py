"""Bring up memory, captioners, agent, perhaps speech and page: configured and activated on their events."""

import math
import signal
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from launch.action import Action
from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    LogInfo,
    OpaqueFunction,
    RegisterEventHandler,
    TimerAction,
)
from launch.events import Shutdown, matches_action
from launch.launch_context import LaunchContext
from launch.substitution import Substitution
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import LifecycleNode
from launch_ros.event_handlers import OnStateTransition
from launch_ros.events.lifecycle import ChangeState
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.ros_adapters import get_ros_node
from launch_ros.substitutions import FindPackageShare
from lifecycle_msgs.msg import Transition
from std_msgs.msg import String

from launch import LaunchDescription
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.bringup import NodePlan, argument_values, next_step, plan_nodes
from remembr_ros.nodes.launch_arguments import ARGUMENTS, check_names
from remembr_ros.nodes.params_file import check_params_file
from remembr_ros.stop import sigterm_file

RESPAWN_DELAY_S = 2.0
"""Before a node that died is started again [s]."""

RETRY_S = 5.0
"""After this a node that has not begun to be configured is asked again: DDS may lose a first request [s]."""

LOOK_S = 0.5
"""Between two looks at the states of the nodes, until all are active [s]."""


class _Otherwise(Substitution):
    """A default that sets nothing, and is shown by --show-args as what holds then."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def describe(self) -> str:
        return f"'{self._text}'"

    def perform(self, context: LaunchContext) -> str:
        return ''


def generate_launch_description() -> LaunchDescription:
    """Return the arguments, and what starts the nodes that follow from them."""
    arguments = [
        DeclareLaunchArgument(
            argument.name,
            default_value=argument.default or [_Otherwise(argument.otherwise)],
            description=argument.text,
            choices=list(argument.choices) or None,
        )
        for argument in ARGUMENTS
    ]
    return LaunchDescription([*arguments, OpaqueFunction(function=_start)])


def _start(context: LaunchContext) -> list[Action]:
    names = [argument.name for argument in ARGUMENTS]
    check_names(sys.argv, Path(__file__), names)
    given = argument_values({name: LaunchConfiguration(name).perform(context) for name in names})
    config = PathJoinSubstitution([FindPackageShare('remembr_ros'), 'config'])
    files = [PathJoinSubstitution([config, 'remembr.yaml'])]
    if given['preset']:
        files.append(PathJoinSubstitution([config, 'presets', f'{given["preset"]}.yaml']))
    plans = plan_nodes(given, pushed=context.launch_configurations.get('ros_namespace', ''))
    if given['params_file']:
        own = str(Path(given['params_file']).expanduser())
        check_params_file(own, [plan.full_name for plan in plans])
        files.append(own)
    _end_on_sigterm(context)
    nodes = [_node(plan, files, given['respawn'] == 'true') for plan in plans]
    by_events = given['autostart'] == 'true' and not any('autostart' in plan.parameters for plan in plans)
    reports = [report for node, plan in zip(nodes, plans, strict=True) for report in _reports(node, plan)]
    # Handlers first: a transition that nobody listens for yet would be missed.
    return [*reports, *_BringUp(nodes, plans, by_events).actions(), *nodes]


def _end_on_sigterm(context: LaunchContext) -> None:
    """Have SIGTERM end all as Ctrl-C does: launch itself would die of it and leave its processes behind."""
    if signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        return  # somebody else sees to it
    file, loop = sigterm_file(), context.asyncio_loop

    def end() -> None:
        loop.remove_reader(file)
        context.emit_event_sync(Shutdown(reason='SIGTERM'))

    loop.add_reader(file, end)


def _node(plan: NodePlan, files: list, respawn: bool) -> LifecycleNode:
    own = {name: ParameterValue(value, value_type=type(value)) for name, value in plan.parameters.items()}
    return LifecycleNode(
        package='remembr_ros',
        executable=f'{plan.name}_node',
        name=plan.name,
        namespace=plan.namespace,
        # Until the program takes them: Python itself, while it starts, ends by SIGINT with a traceback.
        prefix='env --block-signal=INT,TERM',
        exec_name=f'{plan.name}_node',
        parameters=[*files, *([own] if own else [])],
        remappings=list(plan.remappings.items()),
        arguments=['--ros-args', *plan.arguments],
        output='screen',
        respawn=respawn,
        respawn_delay=RESPAWN_DELAY_S,
        # Time for the last segment: see parameter drain_timeout.
        sigterm_timeout='15',
    )


class _BringUp:
    """Has nodes configured when they are there, then activated, and says when all are active.

    Each tells its process and state on topic ~/instance: a leftover of its name is not taken for it.

    :param by_events: false: others, or the nodes themselves, do all but the last
    """

    def __init__(self, nodes: Sequence[LifecycleNode], plans: Sequence[NodePlan], by_events: bool) -> None:
        self._plans = plans
        self._nodes = {plan.full_name: node for node, plan in zip(nodes, plans, strict=True)}
        self._by_events = by_events
        self._states: dict[str, str] = {}
        self._asked_at: dict[str, float] = {}

    def actions(self) -> list[Action]:
        """Return what has to be done before the nodes are started."""
        activations = [
            # Once: what somebody configures later stays inactive until they activate it.
            _on(node, 'configuring', 'inactive', _change(node, Transition.TRANSITION_ACTIVATE), once=True)
            for node in (self._nodes.values() if self._by_events else ())
        ]
        return [*activations, OpaqueFunction(function=self._listen)]

    def _listen(self, context: LaunchContext) -> list[Action]:
        for name in self._nodes:
            note = partial(self._note, name)
            get_ros_node(context).create_subscription(String, f'{name}/instance', note, qos.TF_STATIC)
        return [self._later()]

    def _note(self, name: str, msg: String) -> None:
        state, _, who = msg.data.partition(': ')
        if who.startswith(f'process {(self._nodes[name].process_details or {}).get("pid")} on '):
            self._states[name] = state

    def _later(self) -> TimerAction:
        return TimerAction(period=LOOK_S, actions=[OpaqueFunction(function=self._look)])

    def _look(self, context: LaunchContext) -> list[Action]:
        if all(node.return_code is not None for node in self._nodes.values()):
            return []  # else the launch would go on without them
        if [*self._states.values()].count('active') == len(self._nodes):
            return [LogInfo(msg=next_step(self._plans))]
        return [*filter(None, map(self._configure, self._nodes)), self._later()]

    def _configure(self, name: str) -> EmitEvent | None:
        """Return what has a node configured that waits for it, again where DDS may have lost the request."""
        long_ago = time.monotonic() - self._asked_at.get(name, -math.inf) > RETRY_S
        if not (self._by_events and long_ago and self._states.get(name) == 'new'):
            return None
        self._asked_at[name] = time.monotonic()
        return _change(self._nodes[name], Transition.TRANSITION_CONFIGURE)


def _change(node: LifecycleNode, transition: int) -> EmitEvent:
    return EmitEvent(event=ChangeState(lifecycle_node_matcher=matches_action(node), transition_id=transition))


def _reports(node: LifecycleNode, plan: NodePlan) -> list[Action]:
    """Return what says that a transition has failed, and how it is tried again."""
    again = f'its log says why; when the cause is gone: ros2 lifecycle set {plan.full_name}'
    failures = (
        ('configuring', 'unconfigured', 'configured', 'configure'),
        ('activating', 'inactive', 'activated', 'activate'),
    )
    return [
        _on(node, start, goal, LogInfo(msg=f'{plan.full_name} could not be {done}: {again} {verb}'))
        for start, goal, done, verb in failures
    ]


def _on(
    node: LifecycleNode, start: str, goal: str, action: Action, *, once: bool = False
) -> RegisterEventHandler:
    return RegisterEventHandler(
        OnStateTransition(
            target_lifecycle_node=node,
            start_state=start,
            goal_state=goal,
            entities=[action],
            handle_once=once,
        )
    )
