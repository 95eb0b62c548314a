"""What the robot finds where it was sent to: real nodes, a scripted Nav2, a camera that sees what we say."""

import time

import pytest
from geometry_msgs.msg import PoseArray

from remembr_msgs.action import Ask as AskAction
from remembr_msgs.action import GoTo
from remembr_msgs.msg import Answer as AnswerMsg
from remembr_msgs.msg import Memory as MemoryMsg
from remembr_msgs.srv import Ask, Confirm, Recall
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory
from remembr_ros.nodes.agent.node import AgentNode
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.memory_conversion import memory_to_msg
from remembr_ros.nodes.memory.node import MemoryNode
from remembr_ros.nodes.objects import node as objects_module
from remembr_ros.nodes.objects.node import ObjectsNode
from remembr_ros.timestamps import NS
from test.node.action_client import ActionClient
from test.node.agent.fake_agent import ABORTED, CANCELED, SUCCEEDED, Asker
from test.node.nav2.fake_nav2 import FakeNav2
from test.node.objects.eyes import Eyes, mug_scene
from test.object_bag import RedThings
from test.object_scene import AHEAD, Scene

CODES = AskAction.Result
CUP, TABLE, SHELF = (Pose(x, 0.0) for x in (2.0, 4.0, 6.0))
HOUR_S = 3600.0


@pytest.fixture(autouse=True)
def without_a_language_model(monkeypatch):
    for name in ('OPENAI_API_KEY', 'REMEMBR_LLM', 'REMEMBR_LLM_URL'):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(objects_module, 'get_detector', lambda name, labels: RedThings())


class Home:
    """A memory, an agent, a Nav2 that arrives at once, and what a captioner says of what it sees."""

    def __init__(self, robot, tmp_path, *, consolidate=False, **parameters) -> None:
        self.robot = robot
        options = {'uri': str(tmp_path / 'm.db'), 'embedder': 'hashing', 'consolidate': consolidate}
        robot.start(MemoryNode, **options)
        self.nav2 = robot.add(FakeNav2('arrive'))
        options = {
            'navigation': 'nav2',
            'pose_source': 'none',
            'look_timeout': 8.0,
            'min_confidence_to_drive': 0.0,
        }
        options |= parameters
        robot.start(AgentNode, **options)
        self.stored = robot.listen(MemoryMsg, 'memories')
        self.captions = robot.talk(MemoryMsg, 'captions')
        self.asker = Asker(robot)

    def see(self, text: str, at: Pose, ago_s: float = 0.0) -> None:
        """Have a captioner say what it sees, and wait until that is stored."""
        end_ns = time.time_ns() - round(ago_s * NS)
        start_ns = end_ns - (NS if ago_s else 0)
        msg = memory_to_msg(Memory('', 'robot', start_ns, end_ns, text, at, captioner='vlm'))
        before = len(self.stored)
        self.captions.publish(msg)
        self.robot.wait(lambda: len(self.stored) > before, 'the caption')

    def send(self, text: str = 'Where is the red cup?', **options):
        return self.asker.send(text, navigate=True, **{'look_on_arrival': True, **options})

    def wait_for(self, stage: str, times: int = 1) -> None:
        seen = self.asker.feedback
        self.robot.wait(lambda: [f.stage for f in seen].count(stage) >= times, f'{stage}, {times} times')

    def stages(self) -> list[str]:
        told = [feedback.stage for feedback in self.asker.feedback]
        return [stage for i, stage in enumerate(told) if i == 0 or told[i - 1] != stage]

    def ask(self, text: str) -> AnswerMsg:
        return self.robot.call(Ask, 'ask', Ask.Request(question=text)).answer

    def looks(self) -> list[str]:
        request = Recall.Request(source='agent', limit=20)
        self.robot.wait(lambda: self.robot.call(Recall, 'recall', request).memories, 'a deed')
        told = [memory.caption for memory in self.robot.call(Recall, 'recall', request).memories]
        return [caption for caption in told if caption.startswith('Looked')]


@pytest.fixture
def home(robot, tmp_path):
    made = []

    def make(**parameters):
        made.append(Home(robot, tmp_path, **parameters))
        return made[0]

    yield make
    for one in made:
        one.asker.client.destroy()


def test_what_is_seen_on_arrival_is_there(home):
    one = home()
    one.see('There is a red cup on a table.', CUP, HOUR_S)
    sent = one.send()
    one.wait_for('looking')
    one.see('I see a red cup.', CUP)
    result = one.asker.result(sent)
    assert (result.status, result.result.error_code) == (SUCCEEDED, CODES.NONE)
    assert result.result.answer.text.endswith('It is there.')
    assert one.stages()[-2:] == ['navigating', 'looking']
    assert one.looks() == ['Looked for the red cup, and saw it']


@pytest.mark.parametrize('consolidate', [False, True])
def test_what_is_gone_is_told_and_remembered(home, consolidate):
    one = home(consolidate=consolidate)
    one.see('There is a red cup on a table.', CUP, HOUR_S)
    assert one.ask('Where is the red cup?').kind == AnswerMsg.POSITION
    sent = one.send()
    one.wait_for('looking')
    for _ in range(2):
        one.see('I see an empty table.', CUP)
    result = one.asker.result(sent)
    assert (result.status, result.result.error_code) == (ABORTED, CODES.NOT_THERE)
    assert 'is not there any more; it was at ' in result.result.error_msg
    assert len(one.nav2.runs) == 1
    one.robot.wait(one.looks, 'the look is remembered')
    answer = one.ask('Where is the red cup?')
    assert 'not there any more: I looked for the red cup' in answer.text
    assert answer.kind == AnswerMsg.TEXT  # and no goal


def test_a_silent_camera_is_no_evidence(home):
    one = home(look_timeout=0.5)
    one.see('There is a red cup on a table.', CUP, HOUR_S)
    result = one.asker.result(one.send())
    assert (result.status, result.result.error_code) == (ABORTED, CODES.NOT_LOOKED)
    assert 'no camera told me anything' in result.result.error_msg
    assert one.ask('Where is the red cup?').confidence > 0.5


def test_one_caption_may_leave_it_out(home):
    one = home(look_timeout=1.0)
    one.see('There is a red cup on a table.', CUP, HOUR_S)
    sent = one.send()
    one.wait_for('looking')
    one.see('I see an empty table.', CUP)
    assert one.asker.result(sent).result.error_code == CODES.NOT_LOOKED


def gone(one: Home, **options):
    """Have the robot sent to a cup that is gone, after another place where it was before; it searches."""
    one.see('There is a red cup on a shelf.', SHELF, 9 * HOUR_S)
    one.see('There is a red cup on a table.', CUP, HOUR_S)
    sent = one.send(search_on_arrival=True, **options)
    one.wait_for('looking')
    for _ in range(2):
        one.see('I see an empty table.', CUP)
    return sent


def at(one: Home) -> list[float]:
    """Return where Nav2 was sent, each place once."""
    xs = [run.request.pose.pose.position.x for run in one.nav2.runs]
    return [x for i, x in enumerate(xs) if i == 0 or xs[i - 1] != x]


def test_what_was_moved_is_searched_where_it_may_be(home):
    one = home()
    sent = gone(one)
    one.robot.wait(lambda: at(one) == [2.0, 6.0], 'the drive to where it was before')
    one.see('I see a red cup on a shelf.', SHELF)
    result = one.asker.result(sent).result
    assert result.error_code == CODES.NONE, result.error_msg
    assert result.answer.text.endswith('I found it at (6.0, 0.0).')
    assert (result.answer.kind, result.answer.pose.pose.position.x) == (AnswerMsg.POSITION, 6.0)
    assert one.stages()[-3:] == ['navigating', 'looking', 'searching']
    assert one.ask('Where is the red cup?').pose.pose.position.x == 6.0


def test_a_search_begins_with_a_look_round(home):
    one = home()
    sent = gone(one)
    one.robot.wait(lambda: len(one.nav2.runs) == 4, 'three turns')
    one.see('I see a red cup on the floor.', CUP)
    assert one.asker.result(sent).result.error_code == CODES.NONE
    assert at(one) == [2.0]


def test_what_is_seen_on_the_way_is_driven_to(home):
    one = home()
    sent = gone(one)
    one.robot.wait(lambda: len(one.nav2.runs) == 4, 'three turns')
    one.nav2.behaviour = 'drive'  # does not arrive
    one.nav2.finish(one.nav2.runs[3], 'arrive')
    one.robot.wait(lambda: at(one) == [2.0, 6.0], 'the drive to where it was before')
    one.see('I see a red cup on the floor.', TABLE)
    one.robot.wait(lambda: at(one) == [2.0, 6.0, 4.0], 'the drive to where it is')
    one.nav2.behaviour = 'arrive'
    result = one.asker.result(sent).result
    assert result.error_code == CODES.NONE, result.error_msg
    assert result.answer.pose.pose.position.x == 4.0


def test_a_search_ends_where_nothing_is_left(home):
    one = home(look_timeout=0.5)
    one.nav2.behaviour = 'arrive'
    sent = gone(one)
    result = one.asker.result(sent).result
    assert result.error_code == CODES.NOT_THERE
    assert 'I looked at 1 more places' in result.error_msg
    assert at(one) == [2.0, 6.0]


@pytest.mark.parametrize('stage', ['looking', 'searching'])
def test_a_look_and_a_search_can_be_cancelled(home, stage):
    one = home(look_timeout=30.0)
    if stage == 'searching':
        sent = gone(one)
        one.nav2.behaviour = 'drive'
        one.robot.wait(lambda: any(not run.ended.done() for run in one.nav2.runs), 'a drive')
    else:
        one.see('There is a red cup on a table.', CUP, HOUR_S)
        sent = one.send(search_on_arrival=True)
    one.wait_for(stage)
    sent.cancel_goal_async()
    result = one.asker.result(sent)
    assert (result.status, result.result.error_code) == (CANCELED, CODES.CANCELLED)
    one.robot.wait(lambda: all(run.ended.done() for run in one.nav2.runs), 'Nav2 stands')


@pytest.mark.parametrize('stage', ['looking', 'searching'])
def test_a_newer_question_ends_a_look_and_a_search(home, stage):
    one = home(look_timeout=30.0)
    one.see('There is a lift.', TABLE, HOUR_S)
    if stage == 'searching':
        sent = gone(one)
        one.robot.wait(lambda: len(one.nav2.runs) > 2, 'turns')
    else:
        one.see('There is a red cup on a table.', CUP, HOUR_S)
        sent = one.send()
    one.wait_for(stage)
    one.nav2.behaviour = 'drive'
    newer = one.asker.send('Where is the lift?', navigate=True)
    result = one.asker.result(sent)
    assert (result.status, result.result.error_code) == (ABORTED, CODES.PREEMPTED)
    one.robot.wait(lambda: at(one)[-1] == 4.0, 'the newer drive goes on')
    assert not one.nav2.runs[-1].ended.done()
    newer.cancel_goal_async()
    assert one.asker.result(newer).status == CANCELED


def test_only_nav2_tells_of_arrivals(home):
    one = home(navigation='goal_pose')
    one.see('There is a red cup on a table.', CUP, HOUR_S)
    result = one.asker.result(one.send()).result
    assert result.error_code == CODES.GOAL_REJECTED
    assert 'set navigation to nav2' in result.error_msg


class Watched(Home):
    """A home where a detector follows a red thing ahead of a camera."""

    def __init__(self, robot, tmp_path, **parameters) -> None:
        super().__init__(robot, tmp_path, **parameters)
        options = {'detector': 'onnx:red', 'pose_source': 'none', 'publish_period': 0.1}
        node = robot.start(ObjectsNode, **options)
        self.eyes = Eyes(robot, node)
        self.eyes.now_ns = time.time_ns() - 600 * NS
        self.eyes.show(mug_scene(), 20)
        robot.wait(lambda: [m for m in self.stored if m.source == 'object'], 'the object')
        self.id = next(m.id for m in self.stored if m.source == 'object')
        self.proposals = robot.listen(PoseArray, 'proposed_goals', qos.MARKERS)
        self.client = ActionClient(robot.client, GoTo, '/remembr/go_to')
        assert self.client.wait_for_server(20.0)

    def go(self):
        goal = GoTo.Goal(memory_id=self.id, look_on_arrival=True)
        feedback = self.asker.feedback
        sent = self.client.send_goal_async(goal, lambda message: feedback.append(message.feedback))
        self.robot.wait(sent.done, 'the goal is taken')
        self.wait_for('confirming')
        confirm = Confirm.Request(yes=True, goals=self.proposals[-1].header.stamp)
        assert self.robot.call(Confirm, 'agent/confirm', confirm).success
        return sent.result()

    def show(self, scene: Scene, sent):
        """Show a scene from the robot's arrival on until the drive is over; return its result."""
        self.wait_for('looking')
        self.eyes.now_ns = time.time_ns()
        future = sent.get_result_async()
        for _ in range(200):
            if future.done():
                break
            self.eyes.show(scene, 1, AHEAD)
        self.robot.wait(future.done, 'the result')
        return future.result().result


@pytest.mark.parametrize(
    ('scene', 'code', 'said'),
    [
        (mug_scene(), CODES.NONE, ''),
        (Scene(), CODES.NOT_THERE, 'is not there any more'),
        (Scene(0.7), CODES.NOT_LOOKED, 'cannot tell whether red mug is'),  # a wall before it
    ],
)
def test_the_objects_node_looks(robot, tmp_path, scene, code, said):
    one = Watched(robot, tmp_path)
    one.see('I see a wall.', CUP, HOUR_S)
    result = one.show(scene, one.go())
    one.client.destroy()
    one.asker.client.destroy()
    assert result.error_code == code, result.error_msg
    assert said in result.error_msg
