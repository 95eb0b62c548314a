"""A robot with a memory in a home: what it can do is what it is offered, and what it cannot is told."""

import json
from collections.abc import Iterator

import pytest

from remembr_bench.evaluation.findingdory.episode import HomeEpisode
from remembr_bench.evaluation.tasks.robot import FAILED, HomeRobot, Option
from remembr_bench.simulation.homes.home import name_of
from remembr_bench.simulation.homes.world import world_of
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.memory.model.record import Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.store import MemoryStore
from test.lived_homes import lived


@pytest.fixture(scope='module')
def remembered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[HomeEpisode, MemoryStore]]:
    episode = lived(5)
    with open_store(str(tmp_path_factory.mktemp('robot') / 'memory.db'), HashingEmbedder()) as store:
        store.add([Observation(memory) for memory in episode.memories])
        yield episode, store


@pytest.fixture
def robot(remembered: tuple[HomeEpisode, MemoryStore]) -> Iterator[HomeRobot]:
    episode, store = remembered
    world = world_of(5, episode.placements, episode.now_ns, episode.truth.here)
    robot = HomeRobot(world, store, OfflinePlanner())
    yield robot
    robot.close()


def option(robot: HomeRobot, kind: str, text: str = '') -> Option:
    return next(one for one in robot.options() if one.kind == kind and text in one.text)


def do(robot: HomeRobot, kind: str, text: str = '', words: str = '') -> str:
    return robot.do(option(robot, kind, text), words)


def test_what_was_put_somewhere_yesterday_is_found_and_carried(
    robot: HomeRobot, remembered: tuple[HomeEpisode, MemoryStore]
) -> None:
    last = remembered[0].truth.handled[-1]
    thing = int(last.thing)
    told = do(robot, 'ask', words='What did you put down last?')
    assert name_of(robot.world.item(thing)) in told
    assert FAILED not in do(robot, 'go_to_memory', words='m1')
    assert thing in robot.in_view()
    do(robot, 'pick', f'pick up the {robot.world.called(thing)}')
    assert robot.world.held == thing
    assert name_of(robot.world.item(thing)) in robot.observe().rpartition('You hold')[2]
    assert str(thing) not in robot.simulator.things
    do(robot, 'turn')
    do(robot, 'place')
    assert robot.world.held == 0
    assert robot.held_once == {thing}
    assert [one.kind for one in robot.world.done] == ['pick', 'place']
    assert robot.driven_m > 0.5
    assert robot.world.room_of(robot.poses[-1].x, robot.poses[-1].y) == robot.world.room


def test_all_that_is_offered_on_the_way_can_be_done(robot: HomeRobot) -> None:
    do(robot, 'turn')
    ways = [one for one in robot.options() if one.kind == 'go']
    offered = 0
    for way in ways:
        assert FAILED not in robot.do(way), way
        for one in robot.options():
            if one.kind not in ('go', 'turn', 'place') and not one.takes:
                assert robot.world.is_near(int(one.of)), one
                offered += 1
    assert offered


def test_it_goes_to_a_person(robot: HomeRobot) -> None:
    person = next(number for number, one in robot.simulator.things.items() if one.label == 'person')
    do(robot, 'go', robot.simulator.things[person].room)
    do(robot, 'turn')
    assert FAILED not in do(robot, 'go', 'person')
    assert robot.world.is_near(int(person))


def test_the_tools_of_the_agent_are_among_the_options(robot: HomeRobot) -> None:
    tools = {one.kind for one in robot.options() if one.takes.startswith('JSON')}
    assert {'recall_text', 'recall_position', 'recall_time', 'happened', 'find_objects'} <= tools
    assert 'answer' not in tools
    assert 'm1' in do(robot, 'happened', words=json.dumps({'kind': 'place'}))


@pytest.mark.parametrize(
    ('kind', 'words'),
    [('go_to_memory', 'm99'), ('recall_text', 'no json'), ('recall_text', '{"queri": 1}'), ('ask', '')],
)
def test_nonsense_is_told_and_changes_nothing(robot: HomeRobot, kind: str, words: str) -> None:
    before = robot.world.pose, robot.options()
    assert FAILED in do(robot, kind, words=words)
    assert (robot.world.pose, robot.options()) == before


def test_no_two_options_read_alike(robot: HomeRobot) -> None:
    for room in ('kitchen', 'bedroom', 'study', 'living room'):
        robot.do(Option('go', '', room))
        robot.do(Option('turn', ''))
    texts = [one.text for one in robot.options()]
    assert len(set(texts)) == len(texts)
