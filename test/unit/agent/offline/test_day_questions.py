"""Questions about a day, a time or a floor as a whole."""

import re
from datetime import timezone
from zoneinfo import ZoneInfo

import pytest

from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.agent.offline.day_questions import EPISODES
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.planner import Run
from remembr_ros.embedding.embedders import OFFLINE
from remembr_ros.geometry import Pose
from remembr_ros.memory.diary.day import PIECES
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import NS, parse_time
from test.unit.agent.in_short import assert_told, rows
from test.unit.agent.listed_recall import ListedRecall

NOW_NS = parse_time('2026-03-02T15:00:00Z')  # A Monday
MIDNIGHT_NS = parse_time('2026-03-02T00:00:00Z')


def hours(first: float, last: float) -> tuple[int, int]:
    return MIDNIGHT_NS + round(first * 3_600) * NS, MIDNIGHT_NS + round(last * 3_600) * NS


STAYS = (
    'Sat 22: -26, Sun 3: -21, Sun 6: -18, Sun 13: -11, Sun 20: -4, Mon 2: 2, Mon 8: 8, Mon 10: 10, Mon 14: 14'
)
"""Ids and hours of five minutes each; from Sunday noon to Monday morning upstairs."""


def hall(id_: str, hour: int) -> Memory:
    pose = Pose(10.0 * hour, 0.0, 4.0 if -12 < hour < 3 else 0.0)
    return Memory(id_, 'r', *hours(hour, hour + 1 / 12), 'A hall.', pose, merged=9)


HALLS = [hall(id_, int(hour)) for id_, hour in (one.split(': ') for one in STAYS.split(', '))]

WHOLE = """
What did you do today?                        | text Mon 2, Mon 8, Mon 10, Mon 14
What have you done so far today               | (perhaps) text Mon 2, Mon 8, Mon 10, Mon 14
What did you do?                              | text Mon 2, Mon 8, Mon 10, Mon 14
What have you been up to?                     | text Mon 2, Mon 8, Mon 10, Mon 14
Tell me about your day.                       | text Mon 2, Mon 8, Mon 10, Mon 14
Tell me about today.                          | text Mon 2, Mon 8, Mon 10, Mon 14
Tell me about Sunday.                         | text Sun 3, Sun 6, Sun 13, Sun 20
Summarise Sunday morning.                     | text Sun 6
Hey robot, how was your day?                  | text Mon 2, Mon 8, Mon 10, Mon 14
How was your morning?                         | text Mon 8, Mon 10
Summarise this morning.                       | text Mon 8, Mon 10
Can you please summarize yesterday afternoon? | (perhaps) text Sun 13
Give me a summary of yesterday.               | text Sun 3, Sun 6, Sun 13, Sun 20
Show me an overview of yesterday.             | text Sun 3, Sun 6, Sun 13, Sun 20
I want to know what you did today             | text Mon 2, Mon 8, Mon 10, Mon 14
Sum up what happened this morning             | text Mon 8, Mon 10
What happened in the last two hours?          | text Mon 14
What happened between 9:00 and 10:30?         | text Mon 10
What did you do on Sunday?                    | text Sun 3, Sun 6, Sun 13, Sun 20
What did you do on 2026-03-01?                | text Sun 3, Sun 6, Sun 13, Sun 20
What did you see today?                       | text Mon 2, Mon 8, Mon 10, Mon 14
List everything you saw this morning.         | text Mon 8, Mon 10
What did you do last night?                   | text Sun 20, Mon 2
Summarise 2026-03-01                          | text Sun 3, Sun 6, Sun 13, Sun 20
Summarise the afternoon of 2026-03-01.        | text Sun 13
What did you see on the second floor?         | text Sun 13, Sun 20, Mon 2
What was on floor 3?                          | not seen
Summarise the ground floor                    | (perhaps) text Sat 22, Sun 3, Sun 6, Mon 8, Mon 10, Mon 14
What did you do in the basement yesterday?    | not seen
"""


def ask(memories: list[Memory], text: str, zone=timezone.utc):
    run, recall = Run(deadline=float('inf')), ListedRecall(memories, embedder_name=OFFLINE)
    return OfflinePlanner().answer(Question(text, NOW_NS, zone=zone), recall, run)


@pytest.mark.parametrize(('text', 'short', '_'), rows(WHOLE))
def test_a_time_or_a_floor_as_a_whole(text: str, short: str, _: str) -> None:
    assert_told(ask(HALLS, text), short, most=9)


@pytest.mark.parametrize(
    'text',
    [
        'What did you see?',
        'What did you see 3 minutes ago?',
        'What did you see in the last 10 minutes?',
        'What did you see after the lift?',
        'What did you see in the library today?',
        'What did you do with the box today?',
        'What did you see here today?',
        'What happened on Sunday before the lift?',
        'What time is it?',
        'Where did you go on the second floor?',
        'Where is the second floor?',
        'Take me to the second floor.',
        'Is there a lift on the second floor?',
        'Which rooms did you see today?',
        'What signs did you read this morning?',
        'How long did you stand still today?',
        'Tell me about the red sofa.',
        'How far did you drive this morning?',
    ],
)
def test_what_asks_for_a_thing_is_no_day(text: str) -> None:
    assert not re.match(r'(?:Perhaps: )?\w+day, ', ask(HALLS, text).text)


def memory(i: int, caption: str, start_ns: int, seconds: float, x: float, **fields) -> Memory:
    driven = {'travelled': 2.0} if fields.get('merged', 1) == 1 else {}
    end_ns = start_ns + round(seconds * NS)
    return Memory(
        f'{i}', 'r', start_ns, end_ns, caption, Pose(x, 1.0, fields.pop('z', 0.0)), **driven, **fields
    )


def patrol(start_ns: int, rooms: list[str], z: float = 0.0) -> list[Memory]:
    """Return drives of 8 m, each with a stay of a minute in a room behind it."""
    made: list[Memory] = []
    for room in rooms:
        for _ in range(4):
            made.append(memory(len(made) + start_ns, 'A corridor.', start_ns, 3.0, 2.0 * len(made), z=z))
            start_ns += 3 * NS
        stay = f'A {room.lower()} with tables.'
        made.append(
            memory(
                len(made) + start_ns,
                stay,
                start_ns,
                60.0,
                2.0 * len(made),
                merged=20,
                scene_text=(room,),
                z=z,
            )
        )
        start_ns += 60 * NS
    return made


ROOMS = ['KITCHEN', 'LIBRARY', 'WORKSHOP']


def test_the_answer_is_a_list_with_a_memory_of_each_stay_and_drive() -> None:
    memories = patrol(parse_time('2026-03-02T09:00:00Z'), ROOMS)
    answer = ask(memories, 'What did you do today?')
    assert (answer.kind, answer.planner) == (Kind.TEXT, 'offline')
    assert answer.confidence > 0.9
    lines = answer.text.splitlines()
    assert lines[0] == 'Monday, 2026-03-02, morning:'
    assert [('drove' in line, 'stood' in line) for line in lines[1:]] == [(True, False), (False, True)] * 3
    for room, line in zip(ROOMS, lines[2::2], strict=True):
        assert f'A {room.lower()} with tables. Read: "{room}".' in line
    assert len(answer.evidence) == 6
    assert [hit.memory.scene_text for hit in answer.evidence][1::2] == [(room,) for room in ROOMS]


def test_a_time_without_memories_is_not_seen_and_days_are_named() -> None:
    memories = patrol(parse_time('2026-03-01T09:00:00Z'), ROOMS)
    answer = ask(memories, 'What did you do today?')
    assert (answer.kind, answer.evidence) == (Kind.NOT_SEEN, ())
    assert '2026-03-01' in answer.text
    assert ask(memories, 'Summarise yesterday').kind is Kind.TEXT
    assert ask([], 'What did you do today?').text == 'The memory holds nothing.'


def test_the_day_is_that_of_the_askers_clock() -> None:
    memories = patrol(parse_time('2026-03-01T20:00:00Z'), ROOMS)
    answer = ask(memories, 'What did you do yesterday?', ZoneInfo('Asia/Tokyo'))
    assert answer.text.startswith('Monday, 2026-03-02, morning:\n05:00:00')


def test_a_floor_is_told_alone_and_one_without_memories_is_not_seen() -> None:
    below = patrol(parse_time('2026-03-01T09:00:00Z'), ROOMS[:1])
    above = patrol(parse_time('2026-03-01T10:00:00Z'), ROOMS[1:], z=4.0)
    answer = ask([*below, *above], 'What did you see on the second floor?')
    assert 'LIBRARY' in answer.text
    assert 'KITCHEN' not in answer.text
    assert {hit.memory.pose.z for hit in answer.evidence} == {4.0}
    assert (
        ask([*below, *above], 'What did you see on the fifth floor?').text
        == 'I remember nothing of that floor.'
    )
    flat = ask(below, 'What did you see on the second floor?')
    assert (flat.kind, flat.text) == (Kind.NOT_SEEN, 'Nothing that I remember tells floors apart.')


def test_a_busy_day_stays_short() -> None:
    rooms = [f'ROOM {i}' for i in range(300)]
    answer = ask(patrol(parse_time('2026-03-02T05:00:00Z'), rooms), 'What did you do today?')
    assert len(answer.text.splitlines()) <= EPISODES + 2 * PIECES + 2
    assert len(answer.text) < 20_000
