"""Replay a bag to the nodes of bringup, or let them live on a simulation's /clock.

    ros2 launch remembr_ros replay.launch.py bag:=BAG image_topic:=/camera/image_raw pose_source:=tf
    ros2 launch remembr_ros replay.launch.py image_topic:=... pose_source:=...      # a running simulation

Every argument of bringup.launch.py is one here, too. With a bag, no image is lost, and it begins when
all nodes are active; a node that dies is not started again.
"""

import sys
from collections.abc import Callable
from pathlib import Path

from launch.action import Action
from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    ExecuteProcess,
    IncludeLaunchDescription,
    LogInfo,
    OpaqueFunction,
    RegisterEventHandler,
)
from launch.event import Event
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown
from launch.launch_context import LaunchContext
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.event_handlers import OnStateTransition
from launch_ros.events.lifecycle import StateTransition
from launch_ros.parameter_descriptions import ParameterValue

from launch import LaunchDescription
from remembr_ros.bags.layout import storage_files
from remembr_ros.nodes.bringup import NodePlan, plan_nodes
from remembr_ros.nodes.launch_arguments import ARGUMENTS as OF_BRINGUP
from remembr_ros.nodes.launch_arguments import check_names, replay_number, true_or_false

ARGUMENTS = (
    ('bag', '', 'rosbag2 folder or file, or ROS 1 bag; empty: something else publishes /clock', None),
    ('rate', '1.0', 'times real speed', None),
    ('loop', 'false', 'true: start again at the end', None),
    ('player', 'bag_player', "bag_player: this package's; ros2: ros2 bag play", ['bag_player', 'ros2']),
    (
        'exit_at_end',
        'false',
        'true: end all when the bag is at its end and remembered, as before an evaluation',
        None,
    ),
    ('end_patience', '300.0', 'exit_at_end: end all the same when for so long no caption came [s]', None),
)


def generate_launch_description() -> LaunchDescription:
    """Return bringup on simulated time, and the player that follows it."""
    arguments = [
        DeclareLaunchArgument(name, default_value=default, description=text, choices=choices)
        for name, default, text, choices in ARGUMENTS
    ]
    bringup = Path(__file__).with_name('bringup.launch.py')
    return LaunchDescription(
        [
            *arguments,
            # Before the nodes, which it waits for.
            OpaqueFunction(function=_play),
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(str(bringup)),
                launch_arguments={
                    'use_sim_time': 'true',
                    'reliable_images': _reliable(),
                    # A node that brings itself up may be active before anybody here listens.
                    'respawn': 'false',
                }.items(),
            ),
        ]
    )


def _reliable() -> LaunchConfiguration:
    return LaunchConfiguration('reliable_images', default='true')


def _play(context: LaunchContext) -> list[Action]:
    given = {name: LaunchConfiguration(name).perform(context) for name, *_ in ARGUMENTS}
    check_names(sys.argv, Path(__file__), [*given, *(argument.name for argument in OF_BRINGUP)])
    if not given['bag']:
        # A simulated camera is like a real one: what is published at best effort has to be heard.
        context.launch_configurations.setdefault('reliable_images', 'false')
        return []
    # Else all would come up, for a player that ends at once. What ros2 bag can read is its own affair.
    if given['player'] == 'bag_player':
        storage_files(Path(given['bag']).expanduser())
    replay_number('rate', given['rate'])
    patience_s = replay_number('end_patience', given['end_patience'])
    for name in ('loop', 'exit_at_end'):
        given[name] = true_or_false(name, given[name])
    player = _player(given)
    on_end = [LogInfo(msg='the bag is at its end; questions are answered on')]
    handlers = []
    if given['exit_at_end'] == 'true':
        # Shutdown is a SIGINT, after which a captioner does not wait for its model.
        remembered = _remembered(context, patience_s)
        over = EmitEvent(event=Shutdown(reason='the bag is at its end'))
        on_end = [LogInfo(msg='the bag is at its end; what waits is captioned and stored'), remembered]
        handlers = [RegisterEventHandler(OnProcessExit(target_action=remembered, on_exit=[over]))]
    begin = OnStateTransition(matcher=_all_active(context), entities=[player], handle_once=True)
    return [
        *handlers,
        RegisterEventHandler(begin),
        RegisterEventHandler(OnProcessExit(target_action=player, on_exit=on_end)),
    ]


def _remembered(context: LaunchContext, patience_s: float) -> ExecuteProcess:
    """Return what ends when the captioners' last captions are stored, or none comes any more."""
    captioners = [plan.full_name for plan in _plans(context) if plan.name == 'captioner']
    command = [sys.executable, '-m', 'remembr_ros.nodes.replay.bag_end', *captioners]
    command += ['--patience', str(patience_s)]
    return ExecuteProcess(cmd=command, name='bag_end', output='screen')


def _all_active(context: LaunchContext) -> Callable[[Event], bool]:
    """Return what tells, of each transition, whether it made the last node active; speech may fail.

    Captions that came before the memory node listens would be lost.
    """
    waiting = {plan.full_name for plan in _plans(context) if plan.name != 'speech'}

    def matches(event: Event) -> bool:
        if isinstance(event, StateTransition) and event.goal_state == 'active':
            waiting.discard(event.action.node_name)
            return not waiting
        return False

    return matches


def _plans(context: LaunchContext) -> list[NodePlan]:
    given = context.launch_configurations
    return plan_nodes(given, pushed=given.get('ros_namespace', ''))


def _player(given: dict[str, str]) -> ExecuteProcess:
    if given['player'] == 'ros2':
        loop = ['--loop'] if given['loop'] == 'true' else []
        command = ['ros2', 'bag', 'play', given['bag'], '--clock', '50', '--rate', given['rate'], *loop]
        return ExecuteProcess(cmd=command, output='screen')
    return Node(
        package='remembr_ros',
        executable='bag_player_node',
        name='bag_player',
        namespace='remembr',
        parameters=[
            {
                # A folder may be named like a number.
                'bag': ParameterValue(str(Path(given['bag']).expanduser().resolve()), value_type=str),
                'rate': float(given['rate']),
                'loop': given['loop'] == 'true',
                'wait_for_subscribers': 30.0,
            }
        ],
        output='screen',
    )
