"""A recording evaluated twice, from its file and played to the nodes: both remember and answer the same."""

import json
from pathlib import Path
from typing import Any

import pytest
from std_srvs.srv import Trigger

from remembr_bench.evaluation.records.config import RunConfig
from remembr_bench.evaluation.run.recordings import remember_bag
from remembr_msgs.action import Ask
from remembr_msgs.msg import Memory as MemoryMsg
from remembr_ros.cli.main import main
from remembr_ros.memory.model.record import Memory
from remembr_ros.nodes.agent.ask_request import KINDS
from remembr_ros.nodes.base.conversions import time_from_msg
from remembr_ros.nodes.base.lifecycle import bring_up
from remembr_ros.nodes.base.memory_conversion import memory_from_msg
from test.node.action_client import ActionClient

IMAGES = '/camera/image_raw/compressed'
EMBEDDER = 'hashing'
ASKED = 12


@pytest.fixture
def building(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The first 24 s of a tour."""
    for name in ('OPENAI_API_KEY', 'REMEMBR_LLM', 'REMEMBR_LLM_URL'):
        monkeypatch.delenv(name, raising=False)
    pytest.importorskip('pyvista', reason='rendering needs pyvista')
    pytest.importorskip('rapidocr', reason='the captioner scene_text needs rapidocr')
    from remembr_bench.simulation.tour_bag import record_building

    record_building(tmp_path / 'building', seed=3, duration_s=24.0)
    return tmp_path / 'building'


@pytest.fixture
def read(building: Path, tmp_path: Path, capsys: Any) -> tuple[list[Memory], list[dict[str, Any]]]:
    """What is remembered of the file, and what `remembr eval` answers."""
    out, cache = tmp_path / 'run', tmp_path / 'cache'
    options = ['--out', str(out), '--cache', str(cache), '--embedder', EMBEDDER, '--json']
    assert main(['eval', 'building', '--data', str(building), *options]) == 0
    assert json.loads(capsys.readouterr().out)['questions'] == 60
    captions = cache / 'captions'
    made = len(list(captions.iterdir()))
    found = remember_bag(building / 'bag', RunConfig(data='building'), captions, robot='robot', map_id='')
    assert len(list(captions.iterdir())) == made, 'captioned a second time'
    records = [json.loads(line) for line in (out / 'answers.jsonl').read_text().splitlines()]
    return [observation.memory for observation in found], records


@pytest.mark.timeout(300)
def test_a_bag_is_remembered_the_same_from_its_file_and_through_the_nodes(
    robot, processes, building, read, tmp_path
):
    expected, records = read
    assert len(expected) >= 8
    policy = f'qos_overrides.{IMAGES}.subscription'
    lossless = ('-p', f'{policy}.reliability:=reliable', '-p', f'{policy}.depth:=100')
    processes.start('memory', uri=tmp_path / 'm.db', embedder=EMBEDDER, use_sim_time=True, consolidate=False)
    processes.start(
        'captioner', '-r', f'image/compressed:={IMAGES}', *lossless, pose_source='tf', use_sim_time=True
    )
    processes.start('agent', pose_source='tf', use_sim_time=True)
    stored = robot.listen(MemoryMsg, 'memories', 1000)
    bring_up(robot.client, ['/remembr/memory', '/remembr/captioner', '/remembr/agent'], 120.0)
    player = processes.start('replay', bag=building / 'bag', rate=2.0, wait_for_subscribers=30.0)
    assert player.wait(120.0) == 0, processes.log('replay')
    assert robot.call(Trigger, 'captioner/flush', Trigger.Request(), 120.0).success
    robot.wait(lambda: len(stored) == len(expected), f'{len(expected)} memories', 60.0)

    remembered = sorted(map(memory_from_msg, stored), key=lambda memory: memory.start_ns)
    for live, file in zip(remembered, expected, strict=True):
        assert (live.id, live.start_ns, live.end_ns) == (file.id, file.start_ns, file.end_ns)
        assert (live.caption, live.scene_text) == (file.caption, file.scene_text)
        assert (live.pose.x, live.pose.y) == (pytest.approx(file.pose.x), pytest.approx(file.pose.y))
        assert live.pose.yaw == pytest.approx(file.pose.yaw)
        assert live.travelled == pytest.approx(file.travelled)

    client = ActionClient(robot.client, Ask, '/remembr/ask')
    assert client.wait_for_server(20.0)
    for record in records[:ASKED]:
        sent = client.send_goal_async(Ask.Goal(question=record['question']))
        robot.wait(sent.done, 'the question is taken')
        result = sent.result().get_result_async()
        robot.wait(result.done, f'an answer to {record["question"]}', 60.0)
        assert same(result.result().result.answer, record) == {}, record['question']
    client.destroy()


def same(answer: Any, record: dict[str, Any]) -> dict[str, Any]:
    """Return what differs between an answer of the nodes and that of the evaluation."""
    given = record['answer']
    kind = next(kind.value for kind, number in KINDS.items() if number == answer.kind)
    live = {'kind': kind, 'evidence': [memory.id for memory in answer.evidence]}
    expected = {'kind': given['kind'], 'evidence': given['evidence']}
    if kind == 'position':
        point = answer.pose.pose.position
        live['position'] = pytest.approx([point.x, point.y, point.z])
        expected['position'] = given['position']
    if kind == 'time':
        live['time'] = time_from_msg(answer.time)
        ago_ns = round(given['minutes_ago'] * 60e9)
        expected['time'] = pytest.approx(record['now_ns'] - ago_ns, abs=1_000)
    return {name: (live[name], expected[name]) for name in live if live[name] != expected[name]}
