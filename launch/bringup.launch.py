"""Bring up captioner, memory and agent: configured and activated, one after the other."""

from launch.actions import DeclareLaunchArgument, EmitEvent, LogInfo, RegisterEventHandler
from launch.events import matches_action
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution, TextSubstitution
from launch_ros.actions import LifecycleNode
from launch_ros.event_handlers import OnStateTransition
from launch_ros.events.lifecycle import ChangeState
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare
from lifecycle_msgs.msg import Transition

from launch import LaunchDescription

ARGUMENTS = (
    ('namespace', 'remembr', 'namespace of the nodes'),
    ('use_sim_time', 'false', 'true: time comes from /clock (simulation, or a bag that is played)'),
    ('memory_uri', 'remembr.db', 'the store: a file (Milvus Lite), or http(s):// of a Milvus server'),
    ('captioner', 'scene_text', 'captioner: scene_text, openai or none'),
    ('pose_source', 'pose_with_covariance', 'tf, odometry, pose_with_covariance, pose, navsat or none'),
    ('image_topic', '/camera/image_raw', 'sensor_msgs/Image; with /compressed behind it: CompressedImage'),
    ('odom_topic', '/odom', 'nav_msgs/Odometry, for pose_source odometry'),
    ('pose_topic', '/amcl_pose', 'for pose_source pose_with_covariance or pose'),
    ('fix_topic', '/fix', 'sensor_msgs/NavSatFix, for pose_source navsat'),
    ('goal_topic', '/goal_pose', 'where goals are published (geometry_msgs/PoseStamped)'),
    ('question_topic', 'question', 'where questions are heard (std_msgs/String), such as /speech'),
    ('log_level', 'info', 'debug, info, warn, error or fatal'),
)


def generate_launch_description() -> LaunchDescription:
    """Return the three nodes and what brings them up."""
    text = {name: LaunchConfiguration(name) for name, _, _ in ARGUMENTS}
    arguments = [
        DeclareLaunchArgument(name, default_value=default, description=description)
        for name, default, description in ARGUMENTS
    ]
    default_file = PathJoinSubstitution([FindPackageShare('remembr_ros'), 'config', 'remembr.yaml'])
    arguments.append(
        DeclareLaunchArgument(
            'params_file',
            default_value=default_file,
            description='YAML file with the parameters of the nodes',
        )
    )
    poses = [
        ('odom', text['odom_topic']),
        ('pose_with_covariance', text['pose_topic']),
        ('pose', text['pose_topic']),
        ('fix', text['fix_topic']),
    ]
    compressed = [text['image_topic'], TextSubstitution(text='/compressed')]
    memory = _node('memory', {'uri': text['memory_uri']}, [])
    captioner = _node(
        'captioner',
        {'captioner': text['captioner'], 'pose_source': text['pose_source']},
        [('image', text['image_topic']), ('image/compressed', compressed), *poses],
    )
    agent = _node(
        'agent',
        {'pose_source': text['pose_source']},
        [('goal_pose', text['goal_topic']), ('question', text['question_topic']), *poses],
    )
    nodes = [memory, captioner, agent]
    # Handlers first: a transition that nobody listens for yet would be missed.
    return LaunchDescription(
        [
            *arguments,
            *(handler for node in nodes for handler in _activation(node)),
            *nodes,
            *map(_configure, nodes),
        ]
    )


def _node(name: str, parameters: dict, remappings: list) -> LifecycleNode:
    own = {key: ParameterValue(value, value_type=str) for key, value in parameters.items()}
    sim_time = ParameterValue(LaunchConfiguration('use_sim_time'), value_type=bool)
    return LifecycleNode(
        package='remembr_ros',
        executable=f'{name}_node',
        name=name,
        namespace=LaunchConfiguration('namespace'),
        parameters=[LaunchConfiguration('params_file'), {'use_sim_time': sim_time, **own}],
        remappings=remappings,
        arguments=['--ros-args', '--log-level', LaunchConfiguration('log_level')],
        output='screen',
        # Time for the last segment: see parameter drain_timeout.
        sigterm_timeout='15',
    )


def _configure(node: LifecycleNode) -> EmitEvent:
    return EmitEvent(
        event=ChangeState(
            lifecycle_node_matcher=matches_action(node), transition_id=Transition.TRANSITION_CONFIGURE
        )
    )


def _activation(node: LifecycleNode) -> list[RegisterEventHandler]:
    """Return what activates the node once it is configured, and says so when that failed."""
    activate = EmitEvent(
        event=ChangeState(
            lifecycle_node_matcher=matches_action(node), transition_id=Transition.TRANSITION_ACTIVATE
        )
    )
    name = node.node_executable
    return [
        RegisterEventHandler(
            OnStateTransition(
                target_lifecycle_node=node,
                start_state='configuring',
                goal_state='inactive',
                entities=[activate],
            )
        ),
        RegisterEventHandler(
            OnStateTransition(
                target_lifecycle_node=node,
                start_state='configuring',
                goal_state='unconfigured',
                entities=[LogInfo(msg=f'{name} could not be configured; its log says why')],
            )
        ),
    ]
