"""Bring up memory, captioners, agent, perhaps speech and page: configured and activated on their events."""

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
from launch.event import Event
from launch.event_handler import EventHandler
from launch.event_handlers import OnProcessStart
from launch.events import matches_action
from launch.launch_context import LaunchContext
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import LifecycleNode
from launch_ros.event_handlers import OnStateTransition
from launch_ros.events.lifecycle import ChangeState, StateTransition
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.ros_adapters import get_ros_node
from launch_ros.substitutions import FindPackageShare
from lifecycle_msgs.msg import Transition

from launch import LaunchDescription
from remembr_ros.nodes.bringup import NodePlan, plan_nodes
from remembr_ros.nodes.launch_arguments import ARGUMENTS
from remembr_ros.nodes.params_file import check_params_file

RESPAWN_DELAY_S = 2.0
"""Before a node that died is started again [s]."""

RETRY_S = 5.0
"""Between two looks whether a node that is there was asked in vain: DDS may lose a first request [s]."""


def generate_launch_description() -> LaunchDescription:
    """Return the arguments, and what starts the nodes that follow from them."""
    arguments = [
        DeclareLaunchArgument(
            argument.name,
            default_value=argument.default,
            description=argument.text,
            choices=list(argument.choices) or None,
        )
        for argument in ARGUMENTS
    ]
    return LaunchDescription([*arguments, OpaqueFunction(function=_start)])


def _start(context: LaunchContext) -> list[Action]:
    given = {argument.name: LaunchConfiguration(argument.name).perform(context) for argument in ARGUMENTS}
    config = PathJoinSubstitution([FindPackageShare('remembr_ros'), 'config'])
    files = [PathJoinSubstitution([config, 'remembr.yaml'])]
    if given['preset']:
        files.append(PathJoinSubstitution([config, 'presets', f'{given["preset"]}.yaml']))
    plans = plan_nodes(given)
    if given['params_file']:
        own = str(Path(given['params_file']).expanduser())
        check_params_file(own, [plan.full_name for plan in plans])
        files.append(own)
    nodes = [_node(plan, files, given['respawn'] == 'true') for plan in plans]
    by_events = given['autostart'] == 'true' and not any('autostart' in plan.parameters for plan in plans)
    handlers = [
        handler
        for node, plan in zip(nodes, plans, strict=True)
        for handler in (*_reports(node, plan), *(_transitions(node) if by_events else ()))
    ]
    # Handlers first: a transition that nobody listens for yet would be missed.
    return [*handlers, *nodes]


def _node(plan: NodePlan, files: list, respawn: bool) -> LifecycleNode:
    own = {name: ParameterValue(value, value_type=type(value)) for name, value in plan.parameters.items()}
    return LifecycleNode(
        package='remembr_ros',
        executable=f'{plan.name}_node',
        name=plan.name,
        namespace=plan.namespace,
        parameters=[*files, *([own] if own else [])],
        remappings=list(plan.remappings.items()),
        arguments=['--ros-args', *plan.arguments],
        output='screen',
        respawn=respawn,
        respawn_delay=RESPAWN_DELAY_S,
        # Time for the last segment: see parameter drain_timeout.
        sigterm_timeout='15',
    )


def _transitions(node: LifecycleNode) -> list[Action]:
    """Return what configures the node when its process has started, and activates it when that is done."""

    heard: list[str] = []
    there: list[bool] = []

    def change(transition: int) -> EmitEvent:
        return EmitEvent(
            event=ChangeState(lifecycle_node_matcher=matches_action(node), transition_id=transition)
        )

    def note(event: Event) -> bool:
        if isinstance(event, StateTransition) and event.action is node:
            heard.append(event.goal_state)
        return False  # nothing else is done about it

    def later() -> TimerAction:
        return TimerAction(period=RETRY_S, actions=[OpaqueFunction(function=ask_again)])

    def ask_again(context: LaunchContext) -> list[Action]:
        if heard:
            return []
        there.append(get_ros_node(context).count_publishers(f'{node.node_name}/transition_event') > 0)
        # A process that is still starting gets the first request as soon as it listens.
        return configure() if there[-2:] == [True, True] else [later()]

    def configure() -> list[Action]:
        there.clear()
        return [change(Transition.TRANSITION_CONFIGURE), later()]

    return [
        RegisterEventHandler(EventHandler(matcher=note)),
        RegisterEventHandler(OnProcessStart(target_action=node, on_start=configure())),
        # Once: what somebody configures later stays inactive until they activate it.
        _on(node, 'configuring', 'inactive', change(Transition.TRANSITION_ACTIVATE), once=True),
    ]


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
