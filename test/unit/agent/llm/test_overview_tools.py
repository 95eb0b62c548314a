"""The tools that go over all memories: lists, and how the robot moved; asked by a scripted model."""

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from remembr_ros.agent.chat.client import Message, Reply, ToolCall
from remembr_ros.agent.llm import overview_tools
from remembr_ros.agent.llm.loop import LoopPlanner
from remembr_ros.agent.llm.tools import ALL_TOOLS
from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.planner import Run
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.motion import journey
from remembr_ros.memory.recall_protocol import Recall, every
from remembr_ros.memory.store import MemoryStore
from remembr_ros.timestamps import NS, format_clock
from test.scripted.chat import ScriptedChat
from test.unit.agent.listed_recall import ListedRecall
from test.unit.agent.offline.test_motion_questions import START_NS as TOUR_NS
from test.unit.agent.offline.test_motion_questions import drive, recall
from test.unit.agent.overview.test_listing import SHOWN, START_NS, patrol

Fresh = Callable[..., MemoryStore]


def calls(*made: tuple[str, Mapping[str, object]]) -> Reply:
    return Reply('', tuple(ToolCall(f'c{i}', name, json.dumps(of)) for i, (name, of) in enumerate(made)))


def told(chat: ScriptedChat, number: int = 1) -> str:
    """Return what the last tool before a request told."""
    return str(chat.asked[number][0][-1].content)


def ask(
    store: Recall, text: str, now_ns: int, *replies: Reply | Callable[[list[Message]], Reply]
) -> tuple[Answer, ScriptedChat]:
    chat = ScriptedChat(list(replies))  # type: ignore[arg-type]
    question = Question(text, now_ns)
    return LoopPlanner(chat, first_recall=False).answer(question, store, Run(deadline=float('inf'))), chat


@pytest.fixture
def store(fresh: Fresh) -> MemoryStore:
    return fresh(*patrol(SHOWN))


def test_all_that_match_are_counted_and_the_count_may_be_said(store: MemoryStore) -> None:
    answer, chat = ask(
        store,
        'How many times did you see a red bicycle?',
        START_NS + 20_000 * NS,
        calls(('list_all', {'query': 'red bicycle'})),
        calls(('answer', {'kind': 'text', 'text': 'A red bicycle, 37 times at 2 places.', 'ids': ['m1']})),
    )
    listed = told(chat)
    assert listed.startswith('37 of 200 memories have these words: 37 stays at 2 places; '), listed
    assert 'page 1 of 3' in listed
    assert len(listed) < 2_000  # 500 tokens
    assert (answer.kind, answer.text) == (Kind.TEXT, 'A red bicycle, 37 times at 2 places.')


def test_pages_show_each_stay_once_and_labels_can_be_cited(store: MemoryStore) -> None:
    answer, chat = ask(
        store,
        'Where did you see a red bicycle last?',
        START_NS + 20_000 * NS,
        calls(*(('list_all', {'query': 'red bicycle', 'page': page}) for page in (1, 2, 3))),
        calls(('answer', {'kind': 'time', 'text': 'A red bicycle', 'ids': ['m37'], 'choice': 'latest'})),
    )
    shown = [message.content for message in chat.asked[1][0] if message.role == 'tool']
    labels = re.findall(r'\[(m\d+)\] place', '\n'.join(map(str, shown)))
    assert labels == [f'm{number}' for number in range(1, 38)]
    assert answer.evidence[0].memory.id == f'p{SHOWN[-1]:03}'


def test_a_list_is_narrowed_by_time_and_place(store: MemoryStore) -> None:
    _, chat = ask(
        store,
        'How many red bicycles were there in the first hour?',
        START_NS + 12_000 * NS,
        calls(
            ('list_all', {'query': 'red bicycle', 'near': '60, 0', 'radius': 5}),
            ('list_all', {'query': 'red bicycle', 'when': 'last 30 minutes'}),
            ('list_all', {'query': 'green dragons'}),
        ),
        calls(('answer', {'kind': 'not_seen', 'text': 'No.'})),
    )
    near, late, none = (str(message.content) for message in chat.asked[1][0] if message.role == 'tool')
    assert near.startswith('19 of 20 memories')
    assert late.startswith(f'{sum(i >= 170 for i in SHOWN)} of 30 memories')
    other = 'in other words, at best 0.00 likely to show it:'
    assert none.startswith(f'none of 200 memories has these words\n{other}\n')


def captioned(*captions: str) -> ListedRecall:
    starts = [START_NS + 600 * i * NS for i in range(len(captions))]
    return ListedRecall(
        [
            Memory(f's{i}', 'r', start, start + 3 * NS, caption, Pose(50.0 * i, 0.0))
            for i, (start, caption) in enumerate(zip(starts, captions, strict=True))
        ]
    )


def test_what_shows_it_in_other_words_is_told() -> None:
    memories = captioned('A lawn.', 'An elevated walkway over a road, a bridge for people.', 'A parked car.')
    other = replace(memories.memories[1], caption='An elevated walkway over a road, for people.')
    for has_words, known in ((True, memories), (False, ListedRecall([*memories.memories[:1], other]))):
        answer, chat = ask(
            known,
            'How many bridges are there?',
            START_NS + 9_000 * NS,
            calls(('list_all', {'query': 'bridge people'})),
            calls(('answer', {'kind': 'not_seen', 'text': 'I saw none.'})),
        )
        assert 'elevated walkway' in told(chat) or has_words, told(chat)
        assert 'shows it' not in told(chat)
        assert has_words or answer.confidence < 1.0, 'that there is none is not sure'


def test_what_may_show_it_besides_makes_the_words_no_less_sure() -> None:
    answer, chat = ask(
        captioned('A bridge.', 'A bridge tower.', 'A grey wall.'),
        'Where is the bridge?',
        START_NS + 9_000 * NS,
        calls(('list_all', {'query': 'bridge'})),
        calls(('answer', {'kind': 'position', 'ids': ['m1']})),
    )
    _, bridge, sure, tower = told(chat).splitlines()
    assert bridge.endswith('at (0.0, 0.0): "A bridge."')
    assert re.fullmatch(r'in other words, at best 0\.[234]\d likely to show it:', sure)
    assert tower.endswith('"A bridge tower."')
    assert answer.confidence >= overview_tools.SURE


def test_a_longer_name_is_another_thing_and_a_nearer_word_is_none() -> None:
    _, chat = ask(
        captioned(
            'A bus stop sign at a kerb.',
            'Two bus stop signs.',
            'A stop sign.',
            'A road, a red stop sign.',
            'A metal stop sign.',
        ),
        'How many stop signs are there?',
        START_NS + 9_000 * NS,
        calls(('list_all', {'query': 'stop sign'})),
        calls(('answer', {'kind': 'text', 'text': 'Three.', 'ids': ['m1', 'm2', 'm3']})),
    )
    head, *lines = told(chat).splitlines()
    assert head.startswith('3 of 5 memories have these words: 3 stays at 3 places; ')
    assert [re.findall(r'"(.*)"', line) for line in lines] == [
        ['A stop sign.'],
        ['A road, a red stop sign.'],
        ['A metal stop sign.'],
        [],
        ['A bus stop sign at a kerb.'],
        ['Two bus stop signs.'],
    ]


@pytest.mark.parametrize(('by', 'order'), [('time', [0, 50, 0, 50]), ('place', [0, 0, 50, 50])])
def test_stays_come_by_time_or_by_place(by: str, order: list[int]) -> None:
    memories = [
        replace(one, pose=Pose(50.0 * (i % 2), 0.0))
        for i, one in enumerate(captioned(*['A lift.'] * 4).memories)
    ]
    _, chat = ask(
        ListedRecall(memories),
        'Where are lifts?',
        START_NS + 9_000 * NS,
        calls(('list_all', {'query': 'lift', 'by': by})),
        calls(('answer', {'kind': 'not_seen'})),
    )
    assert [int(x) for x in re.findall(r'at \((\d+)\.0', told(chat))] == order


@pytest.mark.parametrize('query', ['cafe or bar', 'a café, cafe; bar', 'cafe/bar'])
def test_any_of_several_things_is_listed(query: str) -> None:
    _, chat = ask(
        captioned('A cafe.', 'A grey wall.', 'A small bar.', 'A crowbar, and orange walls.'),
        'Where can I drink something?',
        START_NS + 9_000 * NS,
        calls(('list_all', {'query': query})),
        calls(('answer', {'kind': 'not_seen'})),
    )
    assert told(chat).startswith('2 of 4 memories have these words: 2 stays at 2 places; ')


def test_a_stay_is_cited_by_what_shows_it_best_and_then_by_its_ends() -> None:
    captions = (
        'A wall. Far away there may be a fountain.',
        'A path. A big stone fountain stands in front of you.',
        'A wall. Behind the trees there may be a fountain.',
    )
    memories = [
        Memory(f's{i}', 'r', (s := START_NS + 10 * i * NS), s + 3 * NS, caption, Pose(1.0 * i, 0.0))
        for i, caption in enumerate(captions)
    ]
    answer, chat = ask(
        ListedRecall(memories),
        'How long did you see the stone fountain?',
        START_NS + 9_000 * NS,
        calls(('list_all', {'query': 'fountain'})),
        calls(('answer', {'kind': 'duration', 'ids': ['m1', 'm2', 'm3']})),
    )
    stay = told(chat).splitlines()[1]
    assert stay.startswith('[m1, m2, m3] place 1, ')
    assert stay.endswith('at (1.0, 0.0): "A big stone fountain stands in front of you."')
    assert answer.duration_s == 23.0
    assert {hit.memory.id for hit in answer.evidence} == {'s0', 's1', 's2'}


def test_by_place_the_stay_that_shows_it_best_comes_first() -> None:
    memories = [
        replace(one, pose=Pose(0.0, 0.0))
        for one in captioned(
            'There may be a lift.', 'A lift with steel doors.', 'There may be a lift.'
        ).memories
    ]
    _, chat = ask(
        ListedRecall(memories),
        'Where are lifts?',
        START_NS + 9_000 * NS,
        calls(('list_all', {'query': 'lift', 'by': 'place'})),
        calls(('answer', {'kind': 'not_seen'})),
    )
    assert re.findall('"(.*?)"', told(chat))[0] == 'A lift with steel doors.'


def test_a_page_that_is_told_of_can_be_asked_for() -> None:
    for tool in ALL_TOOLS:
        if tool.name in ('list_all', 'happened'):
            assert 'page' in tool.parameters['properties'], tool.name


def test_a_turn_is_the_same_in_every_window() -> None:
    """A bend of 96 degrees in five minutes, of which the windows end here and there."""

    def pose(second: int) -> Pose:
        yaw = math.radians(96.0) * min(max(second - 600, 0), 300) / 300
        return Pose(0.5 * second, 0.0, 0.0, yaw)

    memories = [
        Memory(
            f'b{i}', 'r', TOUR_NS + i * NS, TOUR_NS + (i + 30) * NS, 'A road.', pose(i + 15), travelled=15.0
        )
        for i in range(0, 1_500, 30)
    ]
    found = set()
    for after, before in ((0, 1_400), (700, 800), (740, 760), (600, 755)):
        when = f'between {_clock(after)} and {_clock(before)}'
        _, chat = ask(
            ListedRecall(memories),
            'How did you turn?',
            TOUR_NS + 1_600 * NS,
            calls(('happened', {'kind': 'turning', 'when': when})),
            calls(('answer', {'kind': 'not_seen'})),
        )
        found |= set(re.findall(r'turned (left|right) by about (\d+) degrees', told(chat)))
    assert found == {('left', '96')}


def _clock(second: int) -> str:
    return format_clock(TOUR_NS + second * NS, Question('', 0).zone).split(' ')[1]


def test_the_way_is_told_with_stops_turns_and_legs() -> None:
    of = drive(0)
    now_ns = TOUR_NS + 200 * NS
    answer, chat = ask(
        recall(0),
        'How long did you wait at the cafeteria?',
        now_ns,
        calls(
            ('happened', {'kind': 'moving', 'when': 'between 9:00:20 and 9:00:50'}),
            ('happened', {'kind': 'moving', 'page': 2}),
        ),
        lambda messages: _wait(str(messages[-2].content)),
    )
    first, second = (str(message.content) for message in chat.asked[1][0] if message.role == 'tool')
    assert 'stood 2 s at (29.5, 10.4) facing yaw 90' in first, first
    lines = re.findall(r'turned (left|right) by about (\d+) degrees', first)
    window = [turn for turn in of.turns if 20 < turn.start < 50]
    assert [side for side, _ in lines] == [turn.side for turn in window]
    assert re.search(r'\[m\d+, m\d+\] 09:00:\d\d to 09:00:\d\d drove \d+\.\d m at 0\.\d\d m/s from \(', first)
    assert 'page 2 of 2' in second
    assert f'standing {len(of.halts)} times' in second
    assert 'turning left 7 times' in second
    assert 'turning right 4 times' in second
    assert max(map(len, (first, second))) < 2_000  # 500 tokens
    assert answer.kind is Kind.DURATION
    start, end = of.halts[1]
    assert answer.duration_s == pytest.approx(end - start, abs=1.5)


def test_where_nothing_was_done_what_happened_is_how_it_moved() -> None:
    _, chat = ask(
        recall(0),
        'What happened?',
        TOUR_NS + 200 * NS,
        calls(
            ('happened', {'when': 'between 9:00:20 and 9:00:50'}),
            ('happened', {'kind': 'moving', 'when': 'between 9:00:20 and 9:00:50'}),
            ('happened', {'object': 'cup'}),
        ),
        calls(('answer', {'kind': 'not_seen'})),
    )
    whatever, moving, cup = (str(message.content) for message in chat.asked[1][0] if message.role == 'tool')
    assert whatever == f'no deeds; {moving}'
    assert 'stood 2 s at (29.5, 10.4)' in whatever
    assert cup == 'none'


def _wait(told: str) -> Reply:
    label = re.search(r'\[(m\d+)\] \S+ stood', told)
    assert label is not None, told
    return calls(('answer', {'kind': 'duration', 'ids': [label[1]]}))


def test_each_of_these_tools_takes_few_tokens() -> None:
    for tool in ALL_TOOLS:
        if tool.name in ('list_all', 'happened'):
            said = json.dumps(
                {'name': tool.name, 'description': tool.description, 'parameters': tool.parameters}
            )
            most = 110 if tool.name == 'list_all' else 230
            assert len(said) / 4 < most, (tool.name, len(said) / 4)


def test_of_more_memories_than_are_read_the_latest_count_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (overview_tools, journey):
        monkeypatch.setattr(module, 'every', lambda recall, scope: every(recall, scope, 5))
    tour_end_ns = recall(0).survey().last_ns or 0
    _, chat = ask(
        recall(0),
        'Stops?',
        tour_end_ns,
        calls(('happened', {'kind': 'moving'})),
        calls(('answer', {'kind': 'not_seen'})),
    )
    assert 'only the latest of that time' in told(chat).splitlines()[0]
    answer = OfflinePlanner().answer(
        Question('How far did you drive?', tour_end_ns), recall(0), Run(deadline=float('inf'))
    )
    assert answer.text.startswith('Of the latest that I remember: I drove ')


def test_the_ways_of_two_robots_are_not_one() -> None:
    """Of a shared memory the totals of all robots tell nobody anything."""
    one, end_ns = recall(0).memories, recall(0).survey().last_ns or 0
    other = [replace(m, id=f'o{m.id}', robot='other', caption='A crane.', scene_text=()) for m in one[:-3]]
    note = replace(other[-1], id='n', robot='someone', start_ns=end_ns, end_ns=end_ns + NS, source='person')
    both, alone = ListedRecall([*one, *other, note]), recall(0)
    _, chat = ask(
        both,
        'Stops?',
        end_ns,
        calls(('happened', {'kind': 'moving'})),
        calls(('answer', {'kind': 'not_seen'})),
    )
    head, *lines = told(chat).splitlines()
    assert head.startswith('2 robots')
    assert {line.split('"')[1] for line in lines[:-1]} == {one[0].robot, 'other'}
    for text in ('How far did you drive?', 'How many stops did you make?'):
        question = Question(text, end_ns)
        of_both, of_one = (
            OfflinePlanner().answer(question, it, Run(deadline=float('inf'))).text for it in (both, alone)
        )
        assert of_both == f'{one[0].robot}: {of_one}'
    of_other = OfflinePlanner().answer(
        Question('How far did you drive before the crane?', end_ns), both, Run(deadline=float('inf'))
    )
    assert of_other.text.startswith(('other: ', 'Perhaps: other: ')), of_other.text
