"""Tasks carried out in a real home by what knows all, by chance, by rules, by a scripted language model."""

import json
import math
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from remembr_bench.evaluation.embodied.players import Player, Playthrough, by_chance, model, offline, oracle
from remembr_bench.evaluation.embodied.run import Row, carry_out, play_home, results
from remembr_bench.evaluation.embodied.tasks import Demand, EmbodiedTask, candidates, holds
from remembr_bench.evaluation.findingdory.episode import HomeEpisode
from remembr_bench.evaluation.tasks.robot import HomeRobot
from remembr_bench.simulation.homes.world import world_of
from remembr_ros.agent.chat.client import ToolCall
from remembr_ros.agent.chat.openai_client import OpenAIChat
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.errors import StoreUnavailable
from remembr_ros.memory.model.record import Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.store import MemoryStore
from test.lived_homes import lived
from test.scripted.server import ScriptedReply, ScriptedServer

Remembered = tuple[HomeEpisode, MemoryStore, list[EmbodiedTask]]


@pytest.fixture(scope='module')
def remembered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remembered]:
    episode = lived(4)
    with open_store(str(tmp_path_factory.mktemp('embodied') / 'memory.db'), HashingEmbedder()) as store:
        store.add([Observation(memory) for memory in episode.memories])
        yield episode, store, list(candidates(4, episode))


@pytest.fixture
def robot(remembered: Remembered) -> Iterator[HomeRobot]:
    episode, store, _ = remembered
    world = world_of(4, episode.placements, episode.now_ns, episode.truth.here)
    robot = HomeRobot(world, store, OfflinePlanner())
    yield robot
    robot.close()


def called(remembered: Remembered, pattern: str) -> EmbodiedTask:
    return next(task for task in remembered[2] if task.pattern.startswith(pattern))


def played(task: EmbodiedTask, robot: HomeRobot, player: Player, steps: int = 24) -> Row:
    return carry_out(Playthrough(task, robot, steps, time.monotonic() + 60.0), player)


@pytest.mark.parametrize('pattern', ['Put {} back', 'Go to {} by way of', 'How many', 'I am in the {}. Put'])
def test_the_oracle_does_what_is_demanded(pattern: str, robot: HomeRobot, remembered: Remembered) -> None:
    task = called(remembered, pattern)
    row = played(task, robot, oracle)
    assert row['success'] == row['gcs'] == 1.0, row
    assert not row['held_before']


@pytest.mark.parametrize(
    'pattern', ['Put {} back', 'Go to the piece of furniture from which', 'Where did you put']
)
def test_rules_do_it_by_what_the_memory_says(pattern: str, robot: HomeRobot, remembered: Remembered) -> None:
    task = called(remembered, pattern)
    row = played(task, robot, offline)
    assert row['success'] == 1.0, row
    assert any(step['option'].startswith('ask') for step in row['steps'])


def test_chance_is_the_same_each_time_and_stops_after_its_steps(
    robot: HomeRobot, remembered: Remembered
) -> None:
    task = called(remembered, 'Put {} back')
    row = played(task, robot, by_chance, steps=4)
    assert row['n_steps'] <= 4
    assert row['success'] == 0.0


def test_each_predicate_holds_when_it_should(robot: HomeRobot, remembered: Remembered) -> None:
    task = called(remembered, 'Fetch')
    thing = task.demands[0].of
    grab, once = Demand('grab', thing), Demand('grab_once', thing)
    assert not holds(grab, robot, '')
    assert played(task, robot, oracle)['success'] == 1.0
    assert holds(grab, robot, '')
    assert not holds(Demand('agent_at', thing), robot, '')  # what it holds stands nowhere
    piece = next(one for one in robot.options() if one.kind == 'place').of
    assert not holds(Demand('at', thing, piece), robot, '')
    robot.do(next(one for one in robot.options() if one.kind == 'place' and one.of == piece))
    assert holds(Demand('at', thing, piece), robot, '')
    assert (holds(grab, robot, ''), holds(once, robot, '')) == (False, True)
    here, room = robot.world.room, next(r for r in robot.simulator.rooms if r != robot.world.room)
    robot.do(next(one for one in robot.options() if one.of == room))
    assert holds(Demand('agent_pass', here), robot, '')
    assert not holds(Demand('agent_at', here), robot, '')
    assert holds(Demand('agent_at', room), robot, '')
    assert not holds(Demand('special_action_success', thing, 'slice'), robot, '')
    assert holds(Demand('choose', 'red'), robot, 'red')
    assert not holds(Demand('choose', 'red'), robot, '')


def number_of(body: dict[str, Any], text: str) -> int:
    lines = body['messages'][-1]['content'].splitlines()
    return next(int(line.split('.')[0]) for line in lines if text in line and line[0].isdigit())


def test_a_language_model_chooses_and_nonsense_costs_a_step(robot: HomeRobot, remembered: Remembered) -> None:
    task = called(remembered, 'In which room is')
    wrong = ['no call', '{"option": 999}', '{{{', '{"option": true}']
    turn = 0

    def reply(body: dict[str, Any]) -> ScriptedReply:
        nonlocal turn
        turn += 1
        if turn == 1:
            return ScriptedReply(wrong[0])
        if turn <= len(wrong):
            return ScriptedReply(tool_calls=(ToolCall('call', 'choose', wrong[turn - 1]),))
        arguments = {'option': number_of(body, 'ask your memory'), 'words': task.instruction}
        if any(message['content'].startswith('ask your memory') for message in body['messages']):
            arguments = {'option': number_of(body, f'answer: {task.demands[0].of}')}
        return ScriptedReply(tool_calls=(ToolCall('call', 'choose', json.dumps(arguments)),))

    with ScriptedServer(reply) as server:
        row = played(task, robot, partial(model, chat=OpenAIChat('scripted', server.url)))
    assert row['success'] == 1.0, row
    assert [step['option'] for step in row['steps']][:4] == ['', '', '', '']
    assert row['n_steps'] == 6
    assert 'no option was chosen' in row['steps'][0]['outcome']
    assert row['calls'] == 6


def test_a_memory_that_does_not_work_ends_the_run(robot: HomeRobot, remembered: Remembered) -> None:
    def lost(attempt: Playthrough) -> None:
        raise StoreUnavailable('the database is gone')

    with pytest.raises(StoreUnavailable):
        played(called(remembered, 'Go to {}'), robot, lost)


def test_a_server_that_hangs_fails_the_task_in_time(robot: HomeRobot, remembered: Remembered) -> None:
    task = called(remembered, 'In which room is')
    with ScriptedServer([ScriptedReply(hang_s=30.0)]) as server:
        began = time.monotonic()
        player = partial(model, chat=OpenAIChat('scripted', server.url))
        row = carry_out(Playthrough(task, robot, 24, began + 0.5), player)
    assert time.monotonic() - began < 10.0
    assert row['failure']
    assert row['success'] == row['gcs'] == 0.0


def test_a_home_is_run_and_only_what_the_oracle_can_do_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr('remembr_bench.evaluation.findingdory.episode.live', lived)
    rows = list(play_home(4, offline, 'hashing', tasks=3, steps=24, timeout_s=60.0))
    assert [row['home'] for row in rows] == [4, 4, 4]
    assert all(math.isfinite(row['spl']) and 0.0 <= row['spl'] <= row['success'] for row in rows)
    told = results(rows)
    assert told['overall']['n'] == 3
    assert sum(of['n'] for of in told['by_category'].values()) == 3
    assert told['cost']['calls'] == 0
    assert json.dumps(rows)


def test_figures_are_means_and_intervals_go_by_homes() -> None:
    row = {'spl': 0.5, 'gcs': 0.5, 'thrown_away': 1, 'failure': '', 'n_steps': 4, 'calls': 0}
    row |= {'prompt_tokens': 0, 'completion_tokens': 0}
    some = [
        {**row, 'home': home, 'category': category, 'success': float(home == 1)}
        for home in (1, 2)
        for category in ('social', 'spatial')
    ]
    told = results(some)
    assert told['overall'] == {
        'n': 4, 'success': 0.5, 'gcs': 0.5, 'spl': 0.5, 'success_interval': (0.0, 1.0)
    }  # fmt: skip
    assert told['by_category']['social']['n'] == 2
    assert told['thrown_away'] == 4
    assert results([])['overall']['success'] is None
