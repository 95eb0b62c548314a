"""How a node's process is set up in Fast DDS. Real processes over UDP."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from remembr_ros.nodes.base.lifecycle import fast_dds_profiles

PROFILES = 'FASTRTPS_DEFAULT_PROFILES_FILE'

CLIENT = """
import time
import rclpy
from lifecycle_msgs.srv import GetState
from remembr_ros.nodes.base.lifecycle import call, spinning

rclpy.init()
node = rclpy.create_node('new_client')
with spinning(node):
    for _ in range(3):
        deadline = time.monotonic() + 60.0
        state = call(node, GetState, '/remembr/captioner/get_state', GetState.Request(), deadline)
        print(state.current_state.label, flush=True)
rclpy.shutdown()
"""


@pytest.fixture(scope='module')
def dropping(tmp_path_factory) -> Path:
    """A library that drops the first announcement of each reader."""
    compiler = shutil.which('cc')
    if compiler is None:
        pytest.skip('needs the C compiler that remembr_msgs is built with')
    library = tmp_path_factory.mktemp('dropping') / 'dropping.so'
    source = Path(__file__).with_name('dropped_announcements.c')
    subprocess.run([compiler, '-shared', '-fPIC', '-O1', '-o', library, source, '-ldl'], check=True)
    return library


@pytest.mark.timeout(300)
@pytest.mark.skipif(sys.platform != 'linux', reason='preloads a library, as Linux does')
def test_a_response_waits_for_a_reader_whose_announcement_was_lost(robot, processes, dropping):
    processes.start('captioner', captioner='none', pose_source='none')
    names = robot.client.get_node_names_and_namespaces
    robot.wait(lambda: ('captioner', '/remembr') in names(), 'the node', 60.0)
    losing = {'LD_PRELOAD': str(dropping), 'FASTDDS_BUILTIN_TRANSPORTS': 'UDPv4'}
    client = subprocess.run(
        [sys.executable, '-c', CLIENT],
        env=os.environ | losing,
        capture_output=True,
        text=True,
        timeout=200.0,
        check=False,
    )
    assert (client.returncode, client.stdout.split()) == (0, ['unconfigured'] * 3), (
        client.stderr + processes.log('captioner')
    )
    assert 'failed to send response' not in processes.log('captioner')


@pytest.fixture
def without_profiles(monkeypatch):
    for name in (PROFILES, 'FASTDDS_DEFAULT_PROFILES_FILE'):
        monkeypatch.delenv(name, raising=False)


def test_each_process_has_a_port_of_its_own(without_profiles):
    offsets = set()
    for _ in range(20):
        with fast_dds_profiles():
            file = Path(os.environ[PROFILES])
            offsets |= set(re.findall('<offsetd3>(.*)</offsetd3>', file.read_text()))
        assert not file.parent.exists()
    assert len(offsets) > 5
    assert PROFILES not in os.environ


def test_a_full_disk_costs_only_the_port(without_profiles, monkeypatch):
    def write_text(*_: object) -> None:
        raise OSError(28, 'No space left on device')

    monkeypatch.setattr(Path, 'write_text', write_text)
    with fast_dds_profiles():
        assert '<offsetd3>11</offsetd3>' in Path(os.environ[PROFILES]).read_text()


def test_who_has_profiles_of_their_own_keeps_them(monkeypatch):
    monkeypatch.setenv(PROFILES, 'own.xml')
    with fast_dds_profiles():
        assert os.environ[PROFILES] == 'own.xml'
    assert os.environ[PROFILES] == 'own.xml'
