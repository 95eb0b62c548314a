"""The page's backend over real memory and agent nodes."""

import re
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import OccupancyGrid

pytest.importorskip('fastapi', reason='the page needs the extra web')

from std_msgs.msg import String

from remembr_ros.errors import Cancelled, GoalRejected, InvalidRequest, NotConfirmed, StoreUnavailable
from remembr_ros.geometry import Pose, StampedPose
from remembr_ros.memory.model.recall import ANYTHING, Scope
from remembr_ros.nodes.agent.node import AgentNode
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.events.node import EventsNode
from remembr_ros.nodes.memory.node import MemoryNode
from remembr_ros.nodes.web.node import WebNode
from remembr_ros.timestamps import NS
from remembr_ros.web.backend import Listeners, PartState
from test.node.agent.fake_agent import FakeAgent
from test.node.agent.test_navigator import OPEN, grid
from test.unit.memory.recall_contract import DRIVE
from test.unit.web.backend_contract import OBSERVATIONS, BackendContract


@pytest.fixture
def robot_of_drive(robot, tmp_path: Path, monkeypatch):
    for name in ('REMEMBR_LLM', 'REMEMBR_LLM_URL', 'OPENAI_API_KEY'):
        monkeypatch.delenv(name, raising=False)
    memory = robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing', consolidate=False)
    memory._store.add(OBSERVATIONS)
    robot.agent = robot.start(
        AgentNode, pose_source='none', max_goal_distance=0.0, keep_out=['50 50, 51 50, 51 51']
    )
    robot.memory = memory
    robot.start(EventsNode, pose_source='none', watch=False, robot='a')
    robot.web = robot.start(WebNode, port=0, pose_source='pose', call_timeout=10.0)
    return robot


@pytest.fixture
def backend(robot_of_drive):
    backend = robot_of_drive.web._site.backend
    robot_of_drive.wait(lambda: backend.planner, "the agent's diagnostics")
    return backend


class TestRosBackend(BackendContract):
    pass


class Going:
    """A drive under way in a thread of its own."""

    def __init__(self, robot, backend, target, map_id='') -> None:
        self.robot = robot
        self.progress, self.error = [], None
        self.cancel = threading.Event()
        self._thread = threading.Thread(target=self._go, args=[backend, target, map_id])
        self._thread.start()

    def _go(self, backend, target, map_id) -> None:
        try:
            backend.go(
                target,
                map_id=map_id,
                asker='me',
                on_progress=self.progress.append,
                cancel=self.cancel,
            )
        except Exception as error:  # noqa: BLE001  the top of a thread
            self.error = error

    def stages(self) -> list[str]:
        return [one.stage for one in self.progress]

    def wait_for_proposal(self, backend) -> None:
        self.robot.wait(lambda: backend.situation().proposal, 'a proposal')
        self.robot.wait(lambda: self.progress, 'progress')

    def end(self) -> Exception | None:
        self.robot.wait(lambda: not self._thread.is_alive(), 'the end of the drive')
        return self.error


def test_a_drive_waits_for_a_yes_and_is_sent(robot_of_drive, backend):
    goals = robot_of_drive.listen(PoseStamped, 'goal_pose')
    going = Going(robot_of_drive, backend, DRIVE[1])
    going.wait_for_proposal(backend)
    assert backend.situation().proposal[0].pose.x == DRIVE[1].pose.x
    assert (going.stages(), going.progress[0].distance_m, goals) == (['confirming'], None, [])
    with pytest.raises(InvalidRequest, match='other goals'):
        backend.confirm(True, '1')
    assert backend.confirm(True, backend.situation().proposal_id).startswith('confirmed; ')
    assert going.end() is None
    assert going.stages() == ['confirming', 'navigating']
    robot_of_drive.wait(lambda: goals, 'a goal')
    robot_of_drive.wait(lambda: not backend.situation().proposal, 'the proposal is over')
    assert backend.situation().goals[0].pose.position == DRIVE[1].pose.position


def test_a_no_a_cancel_and_a_stop_end_a_drive(robot_of_drive, backend):
    place = StampedPose(0, Pose(3.0, 4.0))
    going = Going(robot_of_drive, backend, place)
    going.wait_for_proposal(backend)
    backend.confirm(False, '')
    assert isinstance(going.end(), NotConfirmed)
    going = Going(robot_of_drive, backend, place)
    going.wait_for_proposal(backend)
    going.cancel.set()
    assert isinstance(going.end(), Cancelled)
    robot_of_drive.wait(lambda: not backend.situation().proposal, 'the proposal is over')
    going = Going(robot_of_drive, backend, place)
    going.wait_for_proposal(backend)
    assert backend.stop() == 'one drive stopped'
    assert isinstance(going.end(), Cancelled)


def test_a_place_on_another_map_is_no_goal(robot_of_drive, backend):
    error = Going(robot_of_drive, backend, StampedPose(0, Pose(3.0, 4.0)), map_id='attic').end()
    assert isinstance(error, GoalRejected)
    assert "on the map 'attic'" in str(error)


def test_what_the_robot_tells_is_known(robot_of_drive, backend):
    robot = robot_of_drive
    # Kept for those who come later, so that one may publish before the subscription is there.
    latched = qos.keep_last(1, latched=True)
    assert (backend.map(), backend.situation().robots) == (None, ())
    publisher = robot.client.create_publisher(OccupancyGrid, 'map', latched)
    publisher.publish(grid(OPEN, 'odom'))
    publisher.publish(grid(OPEN))
    robot.wait(backend.map, 'the map')
    here = PoseStamped()
    here.header.frame_id, here.pose.position.x = 'map', 7.0
    robot.client.create_publisher(PoseStamped, 'pose', latched).publish(here)
    robot.wait(lambda: backend.situation().robots, 'the robot')
    (place,) = backend.situation().robots
    assert (place.name, place.pose.pose.x, place.map_id) == ('robot', 7.0, '')
    robot.wait(lambda: backend.situation().keep_out, 'the keep-out areas')
    assert backend.situation().keep_out[0].corners[0] == (50.0, 50.0)
    robot.wait(lambda: {part.name for part in backend.state()} >= {'agent', 'memory', 'web'}, 'all parts')


def test_a_part_that_is_silent_is_stale(robot_of_drive, backend, monkeypatch):
    monkeypatch.setattr('remembr_ros.nodes.web.robot_watch.STALE_S', 0.0)
    parts = {part.name: part for part in backend.state()}
    assert parts['agent'] == PartState(
        'agent', 'stale', 'nothing was heard for more than 0 s', parts['agent'].values
    )


def test_questions_by_topic_are_heard_with_what_was_asked(robot_of_drive, backend):
    heard = []
    backend.listen(Listeners(lambda: None, lambda *about: heard.append(about)))
    robot_of_drive.talk(String, 'question').publish(String(data='Where is the red mug?'))
    robot_of_drive.wait(lambda: heard, 'the answer')
    question, asker, answer = heard[0]
    assert (question, asker) == ('Where is the red mug?', 'topic question')
    assert 'mug' in answer.evidence[0].memory.caption


def test_what_is_stored_by_others_is_told(robot_of_drive, backend):
    told = threading.Event()
    backend.listen(Listeners(told.set, lambda *_: None))
    robot_of_drive.memory._publish_stored([replace(DRIVE[0], id='new')])
    assert told.wait(20.0)


def ask_of(backend, question: str, scope: Scope = ANYTHING):
    return backend.ask(question, asker='', scope=scope, on_progress=lambda _: None, cancel=threading.Event())


def test_the_agent_is_told_what_is_chosen(robot_of_drive, backend):
    fake = robot_of_drive.agent._agent = FakeAgent()
    chosen = Scope(NS, 2 * NS, robots=('a', 'b'), map_id='')
    ask_of(backend, 'Where?', chosen)
    ask_of(backend, 'Where?')
    assert [question.scope for question, _ in fake.questions] == [chosen, ANYTHING]
    with pytest.raises(InvalidRequest, match='robot has'):
        ask_of(backend, 'Where?', Scope(robots=('x' * 201,)))


def test_a_question_is_cancelled_at_the_agent(robot_of_drive, backend):
    fake = robot_of_drive.agent._agent = FakeAgent()
    cancel, ended, told = threading.Event(), threading.Event(), []

    def ask() -> None:
        with pytest.raises(Cancelled):
            backend.ask('wait for it', asker='me', scope=ANYTHING, on_progress=told.append, cancel=cancel)
        ended.set()

    threading.Thread(target=ask).start()
    robot_of_drive.wait(fake.waiting.is_set, 'the question')
    robot_of_drive.wait(lambda: told, 'progress')
    cancel.set()
    robot_of_drive.wait(ended.is_set, 'the end')
    robot_of_drive.wait(lambda: not len(robot_of_drive.agent._inquiries), 'the end at the agent')


def test_nodes_that_are_away_are_named_and_come_back(robot_of_drive, backend):
    robot = robot_of_drive
    backend.recall.timeout_s = backend._ask._find_s = 0.3

    def ask():
        return ask_of(backend, 'Where is a mug?')

    robot.agent.trigger_deactivate()
    with pytest.raises(StoreUnavailable, match='takes no goals: is the agent node active'):
        ask()
    robot.agent.trigger_cleanup()
    for call in (ask, lambda: backend.confirm(True, '1')):
        robot.wait(lambda call=call: away(call, r'lifecycle get /remembr/agent\)'), 'the agent is away')
    robot.memory.trigger_deactivate()
    robot.wait(lambda: away(backend.recall.count, r'lifecycle get /remembr/memory\)'), 'the memory is away')
    robot.memory.trigger_activate()
    robot.agent.trigger_configure()
    robot.agent.trigger_activate()
    backend.recall.timeout_s = backend._ask._find_s = 20.0
    assert backend.recall.count() == len(DRIVE)
    assert 'mug' in ask().evidence[0].memory.caption


def away(call, reason: str) -> bool:
    """Tell whether a call fails for this reason."""
    with pytest.raises(StoreUnavailable) as caught:
        call()
    return re.search(reason, str(caught.value)) is not None


def test_whoever_waits_gets_an_error_when_the_node_goes_out_of_service(robot_of_drive, backend):
    fake = robot_of_drive.agent._agent = FakeAgent()
    errors = []

    def attempt(call) -> None:
        try:
            call()
        except Exception as error:  # noqa: BLE001  the top of a thread
            errors.append(error)

    for call in (
        lambda: ask_of(backend, 'wait'),
        lambda: backend.go(
            DRIVE[1], map_id='', asker='', on_progress=lambda _: None, cancel=threading.Event()
        ),
    ):
        threading.Thread(target=attempt, args=[call]).start()
    robot_of_drive.wait(fake.waiting.is_set, 'the question')
    robot_of_drive.wait(lambda: backend.situation().proposal, 'the proposal')
    # In the executor's thread, as a transition comes: nothing else has a turn there meanwhile.
    robot_of_drive.executor.create_task(robot_of_drive.web.trigger_deactivate)
    robot_of_drive.wait(lambda: len(errors) == 2, 'both errors')
    assert all('goes out of service' in str(error) for error in errors)
    # Nobody is left who could stop it.
    robot_of_drive.wait(lambda: not len(robot_of_drive.agent._inquiries), 'the end at the agent')
    with pytest.raises(StoreUnavailable, match='goes out of service'):
        backend.recall.count()
