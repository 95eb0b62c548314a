"""Preset paper with its nodes as processes: a camera's frames become rows of a real Milvus server, and what a
language model cites of them becomes a goal.

Tiny models of random weights lie in the hub's cache under the names of the real ones, and a scripted server
is where OPENAI_BASE_URL says: of the preset's parameters only Milvus's port is another one.
"""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from remembr_ros.agent.chat.client import ToolCall
from remembr_ros.captioning.captioners.by_name import VILA
from remembr_ros.embedding.model_files import NAME as MXBAI
from remembr_ros.memory.server.connection import Connection
from remembr_ros.memory.server.open_server import open_server
from remembr_ros.nodes.bringup import NodePlan, plan_nodes
from remembr_ros.timestamps import NS
from test.milvus_process import START_S, MilvusProcess, obstacle, when_ready
from test.patience import patiently
from test.scripted.server import ScriptedReply, ScriptedServer
from test.unit.captioning.captioners.tiny_vlm import WORDS, nvila
from test.unit.embedding.model_folder import MXBAI_TINY, make_mxbai, put_in_cache

pytest.importorskip('rclpy', reason='needs ROS 2: make setup')
pytest.importorskip('sentence_transformers', reason='needs the extra embedding: make setup')
pytest.importorskip('PIL', reason='needs the extra vlm: make setup')

from geometry_msgs.msg import PoseArray, PoseStamped, PoseWithCovarianceStamped
from pymilvus import MilvusClient
from sensor_msgs.msg import Image

from remembr_msgs.action import Ask
from remembr_msgs.msg import Answer
from remembr_msgs.srv import Confirm
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.conversions import time_to_msg
from remembr_ros.nodes.base.lifecycle import bring_up
from test.node.action_client import ActionClient
from test.node.conftest import Processes, Robot

CONFIG = Path(__file__).resolve().parents[2] / 'config'
X, Y = 4.0, -2.5  # where the robot stands

pytestmark = [
    pytest.mark.skipif(bool(obstacle()), reason=obstacle()),
    # There is room for one Milvus server, and that of another file may run for minutes.
    pytest.mark.timeout(300, func_only=True),
]


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both models in a cache of the hub, as on a robot without a network."""
    monkeypatch.setenv('HF_HUB_OFFLINE', '1')
    monkeypatch.setenv('HF_HUB_CACHE', str(tmp_path / 'hub'))
    monkeypatch.setenv('HF_MODULES_CACHE', str(tmp_path / 'modules'))  # where VILA's code is copied to
    (tmp_path / 'vila').mkdir()
    put_in_cache(nvila(tmp_path / 'vila'), tmp_path / 'hub', VILA)
    put_in_cache(make_mxbai(tmp_path / 'mxbai', MXBAI_TINY), tmp_path / 'hub', MXBAI)


@pytest.fixture
def openai(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    for name in ('HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy', 'REMEMBR_LLM', 'REMEMBR_LLM_URL'):
        monkeypatch.delenv(name, raising=False)
    with ScriptedServer(model='gpt-4o') as server:
        monkeypatch.setenv('OPENAI_BASE_URL', server.url)
        monkeypatch.setenv('OPENAI_API_KEY', 'of-the-test')
        yield server


@pytest.fixture
def robot() -> Iterator[Robot]:
    made = Robot()
    yield made
    made.close()


@pytest.fixture
def processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Processes]:
    monkeypatch.setenv('XDG_DATA_HOME', str(tmp_path / 'data'))
    made = Processes(tmp_path)
    yield made
    made.close()


@pytest.fixture
def launched(
    robot: Robot, processes: Processes, milvus: MilvusProcess, models: None, openai: ScriptedServer
) -> None:
    """Have the nodes of preset:=paper active."""
    plans = plan_nodes({'preset': 'paper', 'memory_uri': milvus.uri})
    for plan in plans:
        processes.start(plan.name, *arguments_of(plan), **plan.parameters)
    bring_up(robot.client, [plan.full_name for plan in plans], patiently(START_S))
    # Where the server was still starting, the memory node makes its collections later.
    when_ready(lambda: open_server(Connection(milvus.uri), 'memories').close())


def arguments_of(plan: NodePlan) -> list[str]:
    """Return what launch gives a node behind --ros-args, but for its parameters of its own."""
    files = (CONFIG / 'remembr.yaml', CONFIG / 'presets' / 'paper.yaml')
    moved = {'__node': plan.name, '__ns': plan.namespace, **plan.remappings}
    return [
        *(part for file in files for part in ('--params-file', str(file))),
        *(part for name, to in moved.items() for part in ('-r', f'{name}:={to}')),
        *plan.arguments,
    ]


def run_camera(robot: Robot) -> Any:
    """Have frames and poses published from now on; return the timer."""
    pixels = np.kron(np.array([[[255, 0, 0], [0, 255, 0]]], np.uint8), np.ones((48, 32, 1), np.uint8))
    image = Image(height=48, width=64, encoding='bgr8', step=64 * 3, data=pixels.tobytes())
    pose = PoseWithCovarianceStamped()
    pose.pose.pose.position.x, pose.pose.pose.position.y = X, Y
    image.header.frame_id, pose.header.frame_id = 'camera', 'map'
    images = robot.client.create_publisher(Image, '/camera/image_raw', 10)
    poses = robot.client.create_publisher(PoseWithCovarianceStamped, '/amcl_pose', qos.LATCHED_POSE)

    def publish() -> None:
        pose.header.stamp = image.header.stamp = time_to_msg(time.time_ns())
        poses.publish(pose)
        images.publish(image)

    return robot.client.create_timer(0.1, publish)


def called(name: str, **arguments: object) -> ScriptedReply:
    return ScriptedReply(tool_calls=(ToolCall(f'call_{name}', name, json.dumps(arguments)),))


@pytest.mark.usefixtures('launched')
def test_what_vila_sees_is_a_row_in_milvus_and_a_question_sends_the_robot_there(
    robot: Robot, milvus: MilvusProcess, openai: ScriptedServer
) -> None:
    camera = run_camera(robot)
    database = MilvusClient(milvus.uri)

    def rows(collection: str) -> Any:
        seen = "source == 'captioner'"
        return database.query(collection, seen, ['*'], consistency_level='Strong')

    # The robot stands and sees the same: the paper has a row for each 3 s all the same.
    row = robot.wait(lambda: rows('memories')[1:], 'two rows', patiently(START_S))[0]
    camera.cancel()
    assert set(row['caption'].split()) <= set(WORDS)
    assert (row['captioner'], row['placed'], row['x'], row['y']) == ('vila', True, X, Y)
    assert 0 < row['end_ns'] - row['start_ns'] <= 3 * NS
    assert MXBAI in database.describe_collection('memories')['description']
    assert len(rows('memories_passages')[0]['vector']) == MXBAI_TINY['hidden_size']
    database.close()

    openai.reply = [
        called('recall_text', query=row['caption']),
        called('answer', kind='position', text='It is there.', ids=['m1']),
    ]
    goals = robot.listen(PoseStamped, '/goal_pose')
    proposed = robot.listen(PoseArray, '/remembr/proposed_goals', qos.MARKERS)
    client = ActionClient(robot.client, Ask, '/remembr/ask')
    assert client.wait_for_server(patiently(START_S))
    sent = client.send_goal_async(Ask.Goal(question='Take me somewhere to sit', navigate=True))
    robot.wait(sent.done, 'the question is taken', patiently(START_S))
    result = sent.result().get_result_async()
    # mxbai's scores are not calibrated, and no word of the question is in the caption: a person has to agree.
    waiting = robot.wait(lambda: [one for one in proposed if one.poses], 'a place', patiently(START_S))[0]
    yes = Confirm.Request(yes=True, goals=waiting.header.stamp)
    assert robot.call(Confirm, 'agent/confirm', yes, START_S).success
    robot.wait(result.done, 'the end', patiently(START_S))
    client.destroy()
    outcome = result.result().result
    assert (outcome.error_code, outcome.error_msg) == (Ask.Result.NONE, '')
    assert (outcome.answer.kind, outcome.answer.planner) == (Answer.POSITION, 'gpt-4o')
    assert outcome.answer.evidence[0].caption == row['caption']
    (goal,) = robot.wait(lambda: goals, 'a goal')
    assert (goal.header.frame_id, goal.pose.position.x, goal.pose.position.y) == ('map', X, Y)
    asked, told = openai.requests
    assert asked.body['model'] == 'gpt-4o'
    assert asked.headers['authorization'] == 'Bearer of-the-test'
    assert row['caption'] in json.dumps(told.body['messages'])
