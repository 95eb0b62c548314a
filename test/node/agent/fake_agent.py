"""What stands in for memory node and planner in tests of the agent node, and an asker."""

import threading
from dataclasses import replace

from rclpy.node import Node

from remembr_msgs.action import Ask as AskAction
from remembr_msgs.srv import FindObjects, Recall
from remembr_ros.agent.model.answer import Answer, Kind, Usage
from remembr_ros.agent.planner import Progress
from remembr_ros.errors import Cancelled, ChatUnavailable
from remembr_ros.forms.faces import from_message
from remembr_ros.forms.objects import ObjectsForm
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.objects.known import known_objects
from remembr_ros.memory.objects.query import choose_objects
from remembr_ros.nodes.base.memory_conversion import hit_to_msg
from remembr_ros.nodes.objects.conversion import fill_found
from remembr_ros.timestamps import NS
from test.node.action_client import ActionClient

T0 = 1_700_000_000 * NS
LIFT = Memory(
    'lift-1',
    'robot',
    T0,
    T0 + 3 * NS,
    'A sign that says "LIFT".',
    Pose(4.0, 2.0, 0.0, 1.0),
    scene_text=('LIFT',),
)


class FakeMemoryNode(Node):
    """Answers every recall with what it was given, of the robots asked for, and keeps the requests."""

    def __init__(self, memories: list[Memory], error: str = '') -> None:
        super().__init__('fake_memory', namespace='/remembr')
        self.memories = memories
        self.error = error
        self.requests: list[Recall.Request] = []
        self.create_service(Recall, 'recall', self._recall)
        self.create_service(FindObjects, 'find_objects', self._find_objects)

    def _find_objects(
        self, request: FindObjects.Request, response: FindObjects.Response
    ) -> FindObjects.Response:
        query = from_message(ObjectsForm, request).query()
        fill_found(choose_objects(query, known_objects(self.memories)), response)
        return response

    def _recall(self, request: Recall.Request, response: Recall.Response) -> Recall.Response:
        self.requests.append(request)
        if self.error:
            response.error_code, response.error_msg = Recall.Response.STORE_UNAVAILABLE, self.error
            return response
        known = [memory for memory in self.memories if not request.robot or memory.robot in request.robot]
        wanted = [memory for memory in known if not request.id or memory.id in request.id]
        response.memories = [hit_to_msg(Hit(memory, 0.9)) for memory in wanted]
        response.total = len(known)
        return response


class FakeAgent:
    """Answers as it is told; a question with 'wait' in it waits until it is cancelled or released."""

    planner = 'fake'

    def __init__(self, **fields) -> None:
        self.answer = Answer(
            Kind.POSITION, 'Over there.', 'fake', pose=LIFT.pose, evidence=(Hit(LIFT, 0.9),), confidence=0.9
        )
        self.answer = replace(self.answer, cost=Usage(seconds=0.5), **fields)
        self.questions = []
        self.release = threading.Event()
        self.waiting = threading.Event()
        self.deaf = False

    def ask(self, question, *, timeout_s=None, on_progress=None, cancel=None) -> Answer:
        self.questions.append((question, timeout_s))
        on_progress(Progress('recalling', 'sign', 2))
        if 'fail' in question.text:
            raise ChatUnavailable('the model is out of reach')
        if 'break' in question.text:
            raise RuntimeError('a bug')
        if 'wait' in question.text:
            self.waiting.set()
            while not self.release.wait(0.01):
                if cancel.is_set() and not self.deaf:
                    raise Cancelled('cancelled')
        return replace(self.answer, text=f'{question.text}: over there.')


class Asker:
    """An action client that keeps the feedback."""

    def __init__(self, robot) -> None:
        self.robot = robot
        self.client = ActionClient(robot.client, AskAction, '/remembr/ask')
        assert self.client.wait_for_server(20.0)
        self.feedback = []

    def send(self, question: str, **fields):
        goal = AskAction.Goal(question=question, **fields)
        sent = self.client.send_goal_async(goal, lambda message: self.feedback.append(message.feedback))
        self.robot.wait(sent.done, 'the goal is taken')
        return sent.result()

    def result(self, handle):
        future = handle.get_result_async()
        self.robot.wait(future.done, 'a result')
        return future.result()


SUCCEEDED, CANCELED, ABORTED = 4, 5, 6
