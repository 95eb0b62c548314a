"""Talks by scripted models: what is said and done is kept, each sees what it should, replays end alike."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from remembr_bench.evaluation.findingdory.episode import HomeEpisode
from remembr_bench.evaluation.talk.conversation import USED_UP, Talking, hold
from remembr_bench.evaluation.talk.episode import TalkEpisode, read_episode, replay
from remembr_ros.agent.chat.openai_client import OpenAIChat
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.model.record import Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.store import MemoryStore
from test.lived_homes import lived
from test.scripted.server import ScriptedReply, ScriptedServer
from test.unit.evaluation.talk.scripts import Script, choose, options_of, person, robot

WISH = 'Bring me what you put down last yesterday.'
CARRIES = (
    ('ask your memory', 'What did you put down last?'),
    ('drive to where', 'm1'),
    ('^pick up the .* in the ', ''),
    ('^go to the (kitchen|bedroom|study|living room)$', ''),
    ('^look round', ''),
    ('^go to the (table|shelf|drawer|counter|sofa)', ''),
    ('^put the', ''),
)


@pytest.fixture(scope='module')
def remembered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[HomeEpisode, MemoryStore]]:
    episode = lived(5)
    with open_store(str(tmp_path_factory.mktemp('talk') / 'memory.db'), HashingEmbedder()) as store:
        store.add([Observation(memory) for memory in episode.memories])
        yield episode, store


def talk(
    remembered: tuple[HomeEpisode, MemoryStore], user: Script, acting: Script, **limits: float
) -> tuple[TalkEpisode, list[str], list[str]]:
    """Return a talk, and all that each of the two was shown."""
    with ScriptedServer(user) as one, ScriptedServer(acting) as other:
        chats = (OpenAIChat('user', one.url, max_retries=0), OpenAIChat('robot', other.url, max_retries=0))
        talking = replace(Talking(*chats, OfflinePlanner()), **limits)
        held = hold(talking, 5, 0, *remembered)
        return held, *([json.dumps(r.body['messages']) for r in s.requests] for s in (one, other))


def test_a_wish_is_fulfilled_and_the_episode_replayed(
    remembered: tuple[HomeEpisode, MemoryStore],
) -> None:
    thing = remembered[0].truth.name(remembered[0].truth.handled[-1].thing)
    said = f'I have picked up the {thing} and put it down.'
    held, *_ = talk(remembered, person(WISH), robot(*CARRIES, ('^say', said)))
    (turn,) = held.turns
    assert (turn.user, turn.robot, turn.unfounded) == (WISH, said, ())
    assert [step.kind for step in turn.steps] == [
        *('ask', 'go_to_memory', 'pick', 'go', 'turn', 'go', 'place'),
    ]  # fmt: skip
    assert held.ended == 'content'
    assert [name for name, *_ in held.ending.moved.values()] == [thing]
    assert held.llm_calls == 10
    again = read_episode(held.model_dump_json())
    assert again == held
    assert replay(again) == ''


def test_a_claim_of_what_was_not_done_is_marked(remembered: tuple[HomeEpisode, MemoryStore]) -> None:
    lie = 'I have put the blue bowl on the sofa.'
    held, *_ = talk(remembered, person(WISH), robot(('^say', lie)))
    assert held.unfounded == [lie.rstrip('.')]
    assert held.ending.moved == {}


def test_each_sees_what_it_should(remembered: tuple[HomeEpisode, MemoryStore]) -> None:
    held, user, acting = talk(remembered, person(WISH, 'Thank you.'), robot(*CARRIES, ('^say', 'Here.')))
    outcomes = [step.outcome for turn in held.turns for step in turn.steps]
    assert outcomes[0].endswith('[m1]')
    assert all(outcome in shown.replace('\\n', '\n') for outcome in outcomes[:1] for shown in acting[1:2])
    assert not any(outcome[:40] in shown for outcome in outcomes for shown in user)
    assert not any('Things of yours' in shown or 'You play a person' in shown for shown in acting)
    assert not any('Options' in shown and 'ask your memory' in shown for shown in user)
    assert any('The robot is not here' in shown or 'The robot is here' in shown for shown in user)


def test_a_tampered_episode_is_found(remembered: tuple[HomeEpisode, MemoryStore]) -> None:
    held, *_ = talk(remembered, person(WISH), robot(*CARRIES, ('^say', 'Here.')))
    told = json.loads(held.model_dump_json())
    steps = told['turns'][0]['steps']
    far = json.loads(json.dumps(told))
    del far['turns'][0]['steps'][1]  # it never drove to the thing
    assert replay(read_episode(json.dumps(far))).startswith('impossible: pick')
    idle = json.loads(json.dumps(told))
    idle['turns'][0]['steps'] = steps[:2]
    assert replay(read_episode(json.dumps(idle))).startswith('it ends otherwise')
    air = json.loads(json.dumps(told))
    air['turns'][0]['steps'][-1]['deeds'][0]['at'] = [0.0, 0.0, 9.0]
    assert replay(read_episode(json.dumps(air))).startswith('impossible: place')
    magic = json.loads(json.dumps(told))
    magic['turns'][0]['steps'][0]['deeds'] = [{'do': 'fly', 'thing': 1}]
    assert replay(read_episode(json.dumps(magic))).startswith('impossible: fly')
    for at in ([], [99.0, 5.0], [1e308, 0.0], [float('nan'), 0.0], [float('inf'), 0.0]):
        astray = json.loads(json.dumps(told))
        astray['turns'][0]['steps'][0]['deeds'] = [{'do': 'go', 'at': at}]
        assert replay(read_episode(json.dumps(astray))).startswith('impossible: go')


@pytest.mark.parametrize('line', ['', 'no json', '{}', '[]', '{"home": 5}'])
def test_what_is_no_episode_is_refused(line: str) -> None:
    with pytest.raises(InvalidRequest, match='that is no talk'):
        read_episode(line)


def test_what_cannot_be_done_is_told_and_the_talk_goes_on(
    remembered: tuple[HomeEpisode, MemoryStore],
) -> None:
    held, *_ = talk(
        remembered,
        person(WISH),
        robot(('drive to where', 'm7'), ('recall_text', 'no json'), ('^say', 'I have not found it.')),
    )
    assert all('cannot be done' in step.outcome for step in held.turns[0].steps)
    assert held.turns[0].robot == 'I have not found it.'
    assert replay(held) == ''


def test_garbage_costs_a_step_and_never_ends_a_talk(remembered: tuple[HomeEpisode, MemoryStore]) -> None:
    replies = iter([ScriptedReply('hm'), choose(999), choose(0), ScriptedReply('{"option": "x"}')])

    def garbage(body: object) -> ScriptedReply:
        return next(replies, choose(1, 'Sorry.'))

    held, *_ = talk(remembered, person(WISH), garbage)
    assert [step.kind for step in held.turns[0].steps] == [''] * 4
    assert all('no option was chosen' in step.outcome for step in held.turns[0].steps)
    assert (held.turns[0].robot, held.failure) == ('Sorry.', '')


def test_steps_and_turns_are_used_up(remembered: tuple[HomeEpisode, MemoryStore]) -> None:
    held, *_ = talk(remembered, person(*['Turn.'] * 9), robot(('^look round', '')), turns=2, steps=3)
    assert (len(held.turns), held.ended) == (2, USED_UP)
    assert [len(turn.steps) for turn in held.turns] == [3, 3]
    assert held.turns[0].robot == ''


def test_a_model_that_is_out_of_reach_ends_the_talk(remembered: tuple[HomeEpisode, MemoryStore]) -> None:
    def down(body: object) -> ScriptedReply:
        return ScriptedReply('down', status=500)

    held, *_ = talk(remembered, person(WISH), down)
    assert (held.ended, held.turns[0].user) == ('failed', WISH)
    assert held.failure
    assert replay(held) == ''


def test_what_was_done_before_a_model_went_away_is_kept(
    remembered: tuple[HomeEpisode, MemoryStore],
) -> None:
    acts = robot(*CARRIES)

    def leaves(body: dict[str, Any]) -> ScriptedReply:
        done = sum(message['role'] == 'assistant' for message in body['messages'])
        return acts(body) if done < 3 else ScriptedReply('down', status=500)

    held, *_ = talk(remembered, person(WISH), leaves)
    assert [step.kind for step in held.turns[0].steps] == ['ask', 'go_to_memory', 'pick']
    assert held.failure
    assert held.ending.holds
    assert replay(held) == ''


def test_saying_nothing_for_ever_uses_up_the_steps(remembered: tuple[HomeEpisode, MemoryStore]) -> None:
    held, *_ = talk(remembered, person(WISH), lambda body: choose(1, '  '), steps=4)
    assert [step.outcome for step in held.turns[0].steps] == ['Error: nothing was said; give the words.'] * 4
    assert held.turns[0].robot == ''


def test_a_persons_things_are_in_the_home(remembered: tuple[HomeEpisode, MemoryStore]) -> None:
    _, user, _ = talk(remembered, person(), robot(('^say', 'Hm.')))
    things = user[0].partition('Things of yours: ')[2].partition('.')[0].split(', ')
    names = {thing.name for thing in remembered[0].simulator.things.values()}
    assert things
    assert set(things) <= names
    assert options_of({'messages': json.loads(user[0])})['leave, content'] == 2
