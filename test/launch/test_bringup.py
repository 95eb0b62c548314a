"""bringup.launch.py, for real: processes that come up, fail politely, and end on SIGINT."""

import os
import signal
from pathlib import Path

import pytest

pytest.importorskip('launch_ros', reason='needs launch_ros: a full ROS 2 install')

from lifecycle_msgs.msg import State, Transition

from remembr_msgs.msg import Memory as MemoryMsg
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.nodes.base.memory_conversion import observation_to_msg
from remembr_ros.nodes.bringup import plan_nodes
from remembr_ros.timestamps import NS
from test.patience import patiently

pytestmark = pytest.mark.timeout(240)

NAMES = [plan.full_name for plan in plan_nodes({})]
EXECUTABLES = [f'{plan.name}_node' for plan in plan_nodes({})]
QUICK = {'captioner': 'none', 'pose_source': 'tf'}


@pytest.fixture
def parameters(tmp_path: Path) -> str:
    """A parameters file that makes the nodes quick to start, and says what the arguments leave alone."""
    file = tmp_path / 'parameters.yaml'
    file.write_text(
        '/**/memory:\n'
        '  ros__parameters:\n'
        "    embedder: 'hashing'\n"
        f"    uri: '{tmp_path / 'from_file.db'}'\n"
        "    robot: 'from_file'\n"
        '/**/captioner:\n'
        '  ros__parameters:\n'
        "    robot: 'from_file'\n"
        "    pose_source: 'odometry'\n"
    )
    return str(file)


@pytest.mark.parametrize(
    ('arguments', 'said'),
    [
        ({'pose_source': 'gps'}, 'navsat'),
        ({'navigation': 'moveit'}, 'goal_pose'),
        ({'captioner': 'clip'}, 'scene_text'),
        ({'speech': 'maybe'}, 'false'),
        ({'cameras': 'front'}, 'name=topic'),
        ({'memry_uri': 'm.db'}, 'did you mean memory_uri?'),
        ({'params_file': 'none.yaml'}, 'params_file:=none.yaml cannot be read'),
        ({'params_file': 'keepout.yaml'}, 'did you mean keep_out?'),
        ({'params_file': 'elsewhere.yaml'}, 'write /**/agent'),
    ],
    ids=lambda value: '_'.join(value.values()) if isinstance(value, dict) else '',
)
def test_what_makes_no_sense_ends_the_launch_before_anything_starts(start, tmp_path, arguments, said):
    for name, node, parameter in (('keepout', '/**/agent', 'keepout'), ('elsewhere', 'agent', 'keep_out')):
        text = f"{node}:\n  ros__parameters:\n    {parameter}: ['0 0, 4 0, 4 2']\n"
        (tmp_path / f'{name}.yaml').write_text(text)
    launched = start('bringup', **arguments)
    assert launched.process.wait(patiently(20.0)) == 1
    assert said in launched.text
    assert 'process started' not in launched.text


def test_nodes_come_up_active_and_end_on_sigint(start, parameters):
    launched = start(
        'bringup', params_file=parameters, use_sim_time='true', web='true', web_port='0', **QUICK
    )
    launched.wait_active(*NAMES, '/remembr/web')
    # What is not given is left to the file; what is given comes before it.
    assert launched.parameters('/remembr/captioner', 'robot', 'pose_source', 'use_sim_time') == [
        'from_file',
        'tf',
        True,
    ]
    launched.wait(
        lambda: f'all active: {", ".join([*NAMES, "/remembr/web"])}; ask: ' in launched.text, 'word'
    )
    took_s = launched.interrupt()
    assert took_s < patiently(10.0)  # 1 s where nothing else runs
    assert sorted(launched.started) == sorted([*EXECUTABLES, 'web_node'])
    assert sorted(launched.finished) == sorted(launched.started), launched.text
    assert 'Traceback' not in launched.text


def test_a_node_that_cannot_be_configured_says_why_and_comes_up_when_asked_again(start, parameters, tmp_path):
    uri = tmp_path / 'missing' / 'm.db'
    uri.parent.touch()  # where its folder should be, there is a file
    launched = start(
        'bringup', params_file=parameters, memory_uri=str(uri), speech='true', speech_source='wav', **QUICK
    )
    launched.wait(
        lambda: '/remembr/memory could not be configured: its log says why' in launched.text, 'the reason'
    )
    assert 'cannot configure: ' in launched.text
    assert 'ros2 lifecycle set /remembr/memory configure' in launched.text
    launched.wait_active('/remembr/captioner', '/remembr/agent')
    assert launched.state('/remembr/memory') == State.PRIMARY_STATE_UNCONFIGURED
    launched.wait(lambda: '/remembr/speech could not be configured' in launched.text, 'no wav file')
    uri.parent.unlink()
    uri.parent.mkdir()
    assert launched.configure('/remembr/memory')
    launched.wait_active('/remembr/memory')
    launched.interrupt()
    assert 'Traceback' not in launched.text


def test_what_was_active_once_stays_as_it_is_set(start, parameters, tmp_path):
    launched = start('bringup', params_file=parameters, memory_uri=str(tmp_path / 'm.db'), **QUICK)
    names = NAMES
    launched.wait_active(*names)
    for name in names:
        for step in ('DEACTIVATE', 'CLEANUP', 'CONFIGURE'):
            assert launched.change(name, getattr(Transition, f'TRANSITION_{step}'))
    # What the launch file does of a transition it does before it tells of a later one.
    assert launched.change('/remembr/memory', Transition.TRANSITION_CLEANUP)
    (tmp_path / 'm.db').rename(tmp_path / 'away.db')
    (tmp_path / 'm.db').mkdir()
    assert not launched.configure('/remembr/memory')
    launched.wait(lambda: '/remembr/memory could not be configured' in launched.text, 'word of it')
    states = [launched.state(name) for _ in range(3) for name in names[1:]]
    assert set(states) == {State.PRIMARY_STATE_INACTIVE}
    assert launched.change('/remembr/agent', Transition.TRANSITION_ACTIVATE)
    assert launched.state('/remembr/agent') == State.PRIMARY_STATE_ACTIVE
    launched.interrupt()


def test_a_lifecycle_manager_finds_the_nodes_unconfigured(start, parameters):
    launched = start(
        'bringup', interactive=False, params_file=parameters, autostart='false', secure='true', **QUICK
    )
    for name in NAMES:
        launched.wait(lambda name=name: launched.state(name) == State.PRIMARY_STATE_UNCONFIGURED, name)
    assert launched.configure('/remembr/agent')
    assert launched.state('/remembr/agent') == State.PRIMARY_STATE_INACTIVE
    assert launched.interrupt_alone() < 10.0  # in a container, or under systemd
    assert sorted(launched.finished) == sorted(launched.started), launched.text


def test_two_cameras_of_a_robot_in_a_namespace(start, parameters):
    launched = start(
        'bringup',
        params_file=parameters,
        namespace='robot1',
        cameras='front=front/image_raw, rear=/rear/image_raw',
        **QUICK,
    )
    captioners = ('/robot1/remembr/front/captioner', '/robot1/remembr/rear/captioner')
    launched.wait_active('/robot1/remembr/memory', '/robot1/remembr/agent', *captioners)
    assert launched.parameters(captioners[1], 'camera', 'robot') == ['rear', 'robot1']
    node = launched.node
    for topic in ('/robot1/front/image_raw', '/rear/image_raw/compressed', '/robot1/tf', '/robot1/map'):
        launched.wait(lambda topic=topic: node.count_subscribers(topic), topic, 10.0)
    publishers = node.get_publishers_info_by_topic('/robot1/remembr/captions')
    who = {f'{one.node_namespace}/{one.node_name}' for one in publishers}
    # What the robot does and is asked is remembered, too.
    assert who == {*captioners, '/robot1/remembr/agent', '/robot1/remembr/events'}
    assert node.count_publishers('/robot1/goal_pose') == 1
    launched.interrupt()


PARENT = """
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, GroupAction, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import PushRosNamespace
from launch_ros.substitutions import FindPackageShare


def generate_launch_description():
    ours = PathJoinSubstitution([FindPackageShare('remembr_ros'), 'launch', 'bringup.launch.py'])
    arguments = {'captioner': 'none', 'pose_source': 'tf', 'params_file': LaunchConfiguration('file')}
    pushed = [
        PushRosNamespace(LaunchConfiguration('namespace')),
        IncludeLaunchDescription(PythonLaunchDescriptionSource(ours), launch_arguments=arguments.items()),
    ]
    declared = [DeclareLaunchArgument(name) for name in ('namespace', 'use_sim_time', 'file', 'cameraz')]
    return LaunchDescription([*declared, GroupAction(pushed)])
"""


@pytest.mark.parametrize('respawn', ['False', 'True'])
def test_a_launch_file_that_includes_this_one_pushes_its_namespace(start, parameters, tmp_path, respawn):
    parent = tmp_path / 'robot.launch.py'
    parent.write_text(PARENT)
    given = {'namespace': 'tb1', 'use_sim_time': 'True', 'cameraz': 'its own', 'respawn': respawn}
    launched = start(str(parent), file=parameters, **given)
    names = [f'/tb1{name}' for name in NAMES]
    # By the events of nodes that are there under their full names, or by the nodes themselves.
    launched.wait(lambda: f'all active: {", ".join(names)}; ask: ' in launched.text, 'word of all')
    launched.wait_active(*names)
    assert launched.parameters('/tb1/remembr/agent', 'use_sim_time', 'robot') == [True, 'tb1']
    assert launched.parameters('/tb1/remembr/captioner', 'pose_source') == ['tf']
    for topic in ('/tb1/camera/image_raw', '/tb1/tf', '/tb1/map', '/tb1/remembr/captions'):
        launched.wait(lambda topic=topic: launched.node.count_subscribers(topic), topic, 10.0)
    launched.interrupt()
    assert 'Traceback' not in launched.text


def test_a_node_that_was_killed_comes_back_active(start, parameters):
    launched = start('bringup', params_file=parameters, respawn='true', **QUICK)
    launched.wait_active('/remembr/memory')
    before = launched.pid_of('memory_node')
    os.kill(before, signal.SIGKILL)
    launched.wait(lambda: launched.pid_of('memory_node') != before, 'a new process')
    launched.wait_active('/remembr/memory')
    launched.interrupt()


def test_sigterm_to_the_launch_alone_ends_all_with_what_waits_stored(start, parameters, tmp_path):
    uri = tmp_path / 'm.db'
    launched = start('bringup', params_file=parameters, memory_uri=str(uri), respawn='true', **QUICK)
    launched.wait_active(*NAMES)
    os.kill(before := launched.pid_of('memory_node'), signal.SIGKILL)
    launched.wait(lambda: launched.pid_of('memory_node') != before, 'a new process')
    launched.wait_active('/remembr/memory')
    captions = launched.node.create_publisher(MemoryMsg, '/remembr/captions', 1000)
    launched.wait(captions.get_subscription_count, 'the memory node')
    for i in range(50):
        memory = Memory('', 'robot', 10 * i * NS, (10 * i + 1) * NS, f'thing number {i}', Pose(10.0 * i, 0.0))
        captions.publish(observation_to_msg(Observation(memory)))
    assert captions.wait_for_all_acked()
    launched.process.terminate()
    assert launched.process.wait(patiently(20.0)) == 0, launched.text
    assert sorted(launched.finished) == sorted(EXECUTABLES), launched.text
    with open_store(str(uri), 'hashing') as store:
        assert store.count() == 50, launched.text
