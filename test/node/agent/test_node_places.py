"""A room gets its name by being told so where the robot stands, and is found, asked about and driven to."""

import pytest
from geometry_msgs.msg import Point, PoseStamped
from nav_msgs.msg import OccupancyGrid

from remembr_msgs.action import Ask as AskAction
from remembr_msgs.msg import Answer
from remembr_msgs.srv import Ask, FindObjects, Forget, Recall, RememberPlace
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.nodes.agent.node import AgentNode
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.memory.node import MemoryNode
from remembr_ros.timestamps import NS
from test.node.agent.fake_agent import SUCCEEDED, Asker
from test.node.agent.test_navigator import grid

T0 = 1_700_000_000 * NS
ROOMS = [
    '#' * 85,
    *['#' + '.' * 41 + '#' + '.' * 41 + '#'] * 20,
    *['#' + '.' * 83 + '#'] * 9,
    *['#' + '.' * 41 + '#' + '.' * 41 + '#'] * 20,
    '#' * 85,
]
"""Two rooms of 4.1 m by 4.9 m with a door between, in cells of 10 cm."""


@pytest.fixture
def memory(robot, tmp_path, monkeypatch):
    for name in ('OPENAI_API_KEY', 'REMEMBR_LLM', 'REMEMBR_LLM_URL'):
        monkeypatch.delenv(name, raising=False)
    node = robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing')
    for i, (text, x) in enumerate((('A red cup.', 1.0), ('A red cup.', 6.0), ('A white wall.', 6.5))):
        at_ns = T0 + 100 * i * NS
        node._store.add([Observation(Memory(f'm{i}', 'r', at_ns, at_ns + 9 * NS, text, Pose(x, 2.0)))])
    return node


@pytest.fixture
def agent(robot, memory):
    node = robot.start(AgentNode, pose_source='pose', remember_own=False)
    robot.client.create_publisher(OccupancyGrid, 'map', qos.MAPS).publish(grid(ROOMS, resolution=0.1))
    poses, here = robot.talk(PoseStamped, 'pose'), PoseStamped()
    here.header.frame_id, here.pose.position.x, here.pose.position.y = 'map', 2.0, 2.0
    here.pose.orientation.w = 1.0
    poses.publish(here)
    robot.wait(lambda: agent_is_ready(node), 'the map and the pose')
    return node


def agent_is_ready(node) -> bool:
    return node._here is not None and node._navigator.map is not None


def ask(robot, question: str) -> Answer:
    response = robot.call(Ask, 'ask', Ask.Request(question=question))
    assert response.error_code == Ask.Response.NONE, response.error_msg
    return response.answer


def recalled(robot, **about) -> list[str]:
    return [found.id for found in robot.call(Recall, 'recall', Recall.Request(limit=50, **about)).memories]


def test_the_room_around_the_robot_gets_a_name(robot, agent, goals):
    assert ask(robot, 'This is the kitchen.').text == 'This is the kitchen now: the room around me.'
    (place,) = robot.call(Recall, 'recall', Recall.Request(source='place')).memories
    assert place.source == place.SOURCE_PLACE
    assert 1.0 < place.pose.pose.position.x < 3.0
    found = robot.call(Recall, 'recall', Recall.Request(limit=9)).memories
    assert {one.id: one.place for one in found} == {'m0': 'kitchen', 'm1': '', 'm2': ''}
    assert recalled(robot, place='the Kitchen') == ['m0']
    assert ask(robot, 'Which room are you in?').text == 'I am in the kitchen.'
    assert ask(robot, 'In which room is the cup?').text.startswith('In ')
    assert ask(robot, 'Is there a cup in the kitchen?').binary
    assert ask(robot, 'This is the kitchen.').text.startswith('This is the kitchen now')  # the same again
    asker = Asker(robot)
    ended = asker.result(asker.send('Go to the kitchen.', navigate=True))
    assert (ended.status, ended.result.error_code) == (SUCCEEDED, AskAction.Result.NONE), (
        ended.result.error_msg
    )
    robot.wait(lambda: goals, 'a goal')
    assert 0.1 < goals[-1].pose.position.x < 4.1
    asker.client.destroy()


def named(robot, name: str, *corners: tuple[float, float], **about) -> RememberPlace.Response:
    outline = [Point(x=x, y=y) for x, y in corners]
    return robot.call(
        RememberPlace, 'remember_place', RememberPlace.Request(name=name, outline=outline, **about)
    )


LAB = ((4.3, 0.0), (8.5, 0.0), (8.5, 5.0), (4.3, 5.0))


def test_names_by_service(robot, memory):
    first = named(robot, 'lab', *LAB, other_names=['room 315'], map='')
    assert first.error_code == first.NONE, first.error_msg
    assert named(robot, 'lab', *LAB, other_names=['room 315']).id == first.id
    assert sorted(recalled(robot, place='Room 315')) == ['m1', 'm2']
    assert robot.call(FindObjects, 'find_objects', FindObjects.Request(place='lab')).total == 0
    assert robot.call(Forget, 'forget', Forget.Request(place='lab', dry_run=True)).count == 2
    dock = named(robot, 'dock', center=Point(x=1.0, y=2.0), radius=0.5, map='')
    assert recalled(robot, place='dock') == ['m0']
    assert robot.call(Forget, 'forget', Forget.Request(id=[dock.id])).count == 1
    gone = robot.call(Recall, 'recall', Recall.Request(place='dock'))
    assert (gone.error_code, gone.error_msg) == (
        Recall.Response.INVALID_REQUEST,
        "there is no place called 'dock'; there are: lab",
    )
    assert sorted(recalled(robot)) == ['m0', 'm1', 'm2']


@pytest.mark.parametrize(
    ('name', 'corners', 'why'),
    [
        ('Lab', LAB[:3], "there is a place called 'lab' already"),
        ('x', (LAB[0], LAB[2], LAB[1], LAB[3]), 'crosses or touches itself'),
        ('x', LAB[:2], 'has 2 corners'),
        ('x' * 10_000, LAB, 'at most 200'),
        ('', LAB, 'name'),
        ('x', (), 'radius'),
    ],
)
def test_what_is_no_place_is_refused_and_the_node_goes_on(robot, memory, name, corners, why):
    assert named(robot, 'lab', *LAB).error_code == RememberPlace.Response.NONE
    refused = named(robot, name, *corners)
    assert refused.error_code == RememberPlace.Response.INVALID_REQUEST
    assert why in refused.error_msg
    assert len(recalled(robot, source='place')) == 1


def test_a_map_that_nobody_remembers_is_refused_with_those_there_are(robot, agent):
    for on_map, use_map, code in (('attic', False, 'INVALID_QUESTION'), ('', True, 'NONE')):
        request = Ask.Request(question='Where is the cup?', map=on_map, use_map=use_map)
        response = robot.call(Ask, 'ask', request)
        assert response.error_code == getattr(Ask.Response, code)
        wanted = "there is no memory of a map 'attic'; there are: ''" if on_map else ''
        assert response.error_msg == wanted
