"""The launch file, for real: three processes that come up active and end on SIGINT."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip('launch_ros', reason='needs launch_ros: a full ROS 2 install')
rclpy = pytest.importorskip('rclpy', reason='needs ROS 2')

from lifecycle_msgs.msg import State  # noqa: E402
from lifecycle_msgs.srv import GetState  # noqa: E402
from rclpy.node import Node  # noqa: E402

from remembr_ros.errors import NodeUnavailable  # noqa: E402
from remembr_ros.nodes.lifecycle import call  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
RUN = """
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
service = LaunchService()
source = PythonLaunchDescriptionSource(sys.argv[1])
arguments = [tuple(argument.split(':=')) for argument in sys.argv[2:]]
service.include_launch_description(
    LaunchDescription([IncludeLaunchDescription(source, launch_arguments=arguments)])
)
sys.exit(service.run())
"""


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    """An install space of the package, as colcon makes it."""
    prefix = tmp_path / 'install'
    index = prefix / 'share' / 'ament_index' / 'resource_index' / 'packages'
    index.mkdir(parents=True)
    (index / 'remembr_ros').touch()
    share = prefix / 'share' / 'remembr_ros'
    share.mkdir()
    for folder in ('config', 'launch'):
        (share / folder).symlink_to(ROOT / folder)
    programs = prefix / 'lib' / 'remembr_ros'
    programs.mkdir(parents=True)
    for name in ('captioner', 'memory', 'agent'):
        program = programs / f'{name}_node'
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m remembr_ros.nodes.{name}_node "$@"\n')
        program.chmod(0o755)
    return prefix


@pytest.mark.timeout(240)
def test_three_nodes_come_up_active_and_end_on_sigint(prefix, tmp_path):
    environment = dict(os.environ)
    environment['ROS_DOMAIN_ID'] = str(1 + os.getpid() % 100)
    environment['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    prefixes = [str(prefix), environment.get('AMENT_PREFIX_PATH', '')]
    environment['AMENT_PREFIX_PATH'] = os.pathsep.join(filter(None, prefixes))
    environment['ROS_LOG_DIR'] = str(tmp_path / 'log')
    parameters = tmp_path / 'parameters.yaml'
    parameters.write_text("/**/memory:\n  ros__parameters:\n    embedder: 'hashing'\n")
    command = [sys.executable, '-c', RUN, str(ROOT / 'launch' / 'bringup.launch.py')]
    arguments = ['namespace:=r2', f'memory_uri:={tmp_path / "m.db"}', f'params_file:={parameters}']
    arguments += ['captioner:=none', 'pose_source:=tf', 'use_sim_time:=true']
    output = tmp_path / 'output.txt'
    with output.open('wb') as log:
        process = subprocess.Popen(
            [*command, *arguments],
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=tmp_path,
            start_new_session=True,
        )
    try:
        names = ['/r2/memory', '/r2/captioner', '/r2/agent']
        wait_until_active(names, int(environment['ROS_DOMAIN_ID']), 120.0, output)
        process.send_signal(signal.SIGINT)
        assert process.wait(60.0) == 0, output.read_text()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(10.0)
    text = output.read_text()
    assert text.count('process has finished cleanly') == 3, text
    assert 'Traceback' not in text


def wait_until_active(names: list[str], domain: int, timeout_s: float, output: Path) -> None:
    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    rclpy.init(domain_id=domain)
    node = Node('launch_test')
    deadline = time.monotonic() + timeout_s
    try:
        for name in names:
            state = None
            while state != State.PRIMARY_STATE_ACTIVE:
                assert time.monotonic() < deadline, output.read_text()
                with contextlib.suppress(NodeUnavailable):
                    soon = time.monotonic() + 5.0
                    response = call(node, GetState, f'{name}/get_state', GetState.Request(), soon)
                    state = response.current_state.id
    finally:
        node.destroy_node()
        rclpy.shutdown()
