"""Commands: each clause is done, or said not to be; of what is not all done nobody is sure."""

import math
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from remembr_ros.agent.model import english
from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.offline.reader.clauses import ClauseReader, split_command
from remembr_ros.agent.planner import Run
from remembr_ros.embedding.embedders import get_embedder
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.navigation.plan import Rules, goal_from_answer, plan_goals
from remembr_ros.navigation.terrain import Terrain
from remembr_ros.timestamps import NS, parse_time

T = parse_time('2026-11-23T09:00:00Z')
SEEN = (
    'A lift with a steel door.',
    'A yellow sponge lies on a desk.',
    'A brown parcel stands beside the printer.',
    'A workshop with a drill. A sign reads WORKSHOP.',
    'A kitchen with a fridge and a long counter.',
    'A black umbrella hangs on a coat rack.',
)
"""At x = 0, 10, 20 ... m, minute by minute."""
LIFT, SPONGE, PARCEL, WORKSHOP, KITCHEN, UMBRELLA = (10.0 * i for i in range(6))

Ask = Callable[..., Answer]

pytestmark = pytest.mark.skipif(not english.is_there(), reason='spaCy has no model of English here')


@pytest.fixture(scope='module')
def ask(folder: Path) -> Iterator[Ask]:
    with open_store(str(folder / 'commands.db'), get_embedder('all-MiniLM-L6-v2')) as store:
        memories = [
            Memory(f'c{i}', 'porter', T + 60 * i * NS, T + 60 * i * NS + NS, text, Pose(10.0 * i, 1.0))
            for i, text in enumerate(SEEN)
        ]
        store.add([Observation(memory) for memory in memories])

        def answered(text: str, here: Pose | None = None) -> Answer:
            question = Question(text, T + 3_600 * NS, here)
            return OfflinePlanner().answer(question, store, Run(float('inf')))

        yield answered


def stops(answer: Answer) -> list[float]:
    hits = answer.evidence if answer.every_place else answer.evidence[:1]
    return [hit.memory.pose.x for hit in hits if hit.memory.pose]


@pytest.mark.parametrize(
    ('text', 'clauses'),
    [
        ('find the sponge and bring it to me', ['find the sponge', 'bring it to me']),
        ('go to the lift, then to the workshop', ['go to the lift', 'go to the workshop']),
        ('Go to the lift. Wait there.', ['go to the lift', 'wait there']),
        ('tell me where the parcel is and take me there', ['tell me where the parcel is', 'take me there']),
        ('what is on the desk, and take me to it', ['tell me what is on the desk', 'take me to it']),
        ('What did you take and bring to the lift', []),
        ('the lift and the workshop', []),
        ('fire extinguisher', []),
    ],
)
def test_a_clause_begins_with_each_verb(text: str, clauses: list[str]) -> None:
    assert split_command(text.strip('.')) == clauses


@pytest.mark.parametrize(
    'text',
    [
        'Go to the object that you picked and put on the shelf in the hall',
        'Go to the table where you picked the cup and put it',
    ],
)
def test_what_was_done_is_no_command(text: str) -> None:
    assert len(split_command(text)) == 1


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('Go to the lift, then to the workshop', [LIFT, WORKSHOP]),
        ('Please drive to the workshop and then go to the lift.', [WORKSHOP, LIFT]),
        ('Guide me from the workshop to the lift', [WORKSHOP, LIFT]),
        ('Visit the lift, the workshop and the kitchen', [LIFT, WORKSHOP, KITCHEN]),
        ('Find the sponge and take me to the lift', [SPONGE, LIFT]),
        ('Go to (33, 4), then to the lift', [33.0, LIFT]),
    ],
)
def test_places_are_visited_in_the_order_of_the_clauses(ask: Ask, text: str, expected: list[float]) -> None:
    answer = ask(text)
    assert (answer.kind, answer.in_order, stops(answer)) == (Kind.POSITION, True, expected), answer.text
    assert answer.confidence >= 0.5
    plan = plan_goals(answer, Rules(), Terrain(), here=Pose(0.0, 0.0))
    assert len(plan.goals) == len(expected)


@pytest.mark.parametrize(
    ('text', 'expected', 'undone'),
    [
        ('Find the sponge and bring it to me', [SPONGE], 'bring it to me'),
        ('Bring me the parcel', [PARCEL], 'bring me the parcel'),
        ('Fetch the sponge and put it in the workshop', [SPONGE, WORKSHOP], 'put it in the workshop'),
        ('Could you clean the workshop?', [WORKSHOP], 'clean the workshop'),
        ('Go to the lift and wait there', [LIFT], 'wait there'),
    ],
)
def test_what_cannot_be_done_is_said_and_the_rest_is_done(
    ask: Ask, text: str, expected: list[float], undone: str
) -> None:
    answer = ask(text)
    assert (answer.kind, stops(answer)) == (Kind.POSITION, expected), answer.text
    assert 'cannot do this' in answer.text
    assert undone in answer.text


def test_a_question_among_commands_is_answered_in_the_text(ask: Ask) -> None:
    answer = ask('Tell me where the umbrella is and then go to the lift')
    assert stops(answer) == [LIFT]
    assert 'umbrella' in answer.text
    was = ask('Go to the kitchen and tell me when you were last there')
    assert stops(was) == [KITCHEN]
    assert '09:04' in was.text
    there = ask('Tell me where the umbrella is and take me there')
    assert stops(there) == [UMBRELLA]


@pytest.mark.parametrize(
    ('text', 'expected', 'why'),
    [
        ('Go to the lift and then to the aquarium', [LIFT], 'not: the aquarium'),
        ('Take the umbrella from the fridge and give it to me', [UMBRELLA], 'cannot do this'),
        (
            'Follow Miriam from the lift to the workshop',
            [LIFT, WORKSHOP],
            'no person by sight, so not Miriam',
        ),
        ('Greet the guest in the workshop and follow her', [WORKSHOP], 'no person by sight'),
        ('Go to the lift but not to the workshop', [], 'left out'),
        ('Go to the lift in 10 minutes', [LIFT], 'cannot wait'),
        ('At 3 pm drive to the lift', [LIFT], 'cannot wait'),
        ('If the door is open, go to the lift', [LIFT], 'cannot wait'),
        ('Drive to the lift every day', [LIFT], 'cannot wait'),
        ('Go to the lift, to the workshop and then back to the lift', [LIFT, WORKSHOP, LIFT], 'once'),
        ('Go to (3, 2), then to the lift', [3.0, LIFT], 'one place'),
        ('Do not go to the lift', [], 'remember no order'),
        ('Can you dance?', [], 'cannot do this'),
        ('Can you juggle?', [], 'cannot do this'),
        ('Stop', [], 'cannot do this'),
    ],
)
def test_nobody_is_sure_of_what_is_not_all_done(ask: Ask, text: str, expected: list[float], why: str) -> None:
    answer = ask(text)
    assert stops(answer) == expected, answer.text
    assert answer.confidence < 0.5
    assert why in answer.text


@pytest.mark.parametrize(
    'text',
    [
        'Take me to the lift',
        'Where is the sponge?',
        'Find the parcel, please',
        'Tell me where the umbrella is',
        'Can you take me to the workshop?',
        'Could you tell me where the parcel is?',
    ],
)
def test_a_simple_request_is_answered_as_before(ask: Ask, text: str) -> None:
    answer = ask(text)
    assert answer.kind is Kind.POSITION
    assert answer.confidence >= 0.5
    assert 'cannot' not in answer.text


@pytest.mark.parametrize(
    ('text', 'x', 'y', 'yaw'),
    [
        ('Go to x=2, y=3', 2.0, 3.0, math.atan2(3.0, 2.0)),
        ('Navigate to (2.0, 3.5)', 2.0, 3.5, math.atan2(3.5, 2.0)),
        ('please drive to 2.5 / -1', 2.5, -1.0, math.atan2(-1.0, 2.5)),
        ('go to 2 3 in map', 2.0, 3.0, math.atan2(3.0, 2.0)),
        ('go to 2, 3 in the map frame', 2.0, 3.0, math.atan2(3.0, 2.0)),
        ('Go to the point x: 1 m y: -2 m with a heading of 90 degrees', 1.0, -2.0, math.pi / 2.0),
        ('take me to [4, 5], yaw=-1.5', 4.0, 5.0, -1.5),
        ('Head for (-1.5; 2)', -1.5, 2.0, math.atan2(2.0, -1.5)),
        ('navigate to [2.0, 3.5, 0.5]', 2.0, 3.5, math.atan2(3.5, 2.0)),
        ('send the robot to x=1 y=2 theta=1.5', 1.0, 2.0, 1.5),
        ('move to point two comma three', 2.0, 3.0, math.atan2(3.0, 2.0)),
        (
            'drive to x equals minus two point five and y equals twenty one',
            -2.5,
            21.0,
            math.atan2(21.0, -2.5),
        ),
        ('go to two point oh five, negative 3.25', 2.05, -3.25, math.atan2(-3.25, 2.05)),
    ],
)
def test_coordinates_are_a_goal(ask: Ask, text: str, x: float, y: float, yaw: float) -> None:
    answer = ask(text, here=Pose(0.0, 0.0))
    assert (answer.kind, answer.confidence) == (Kind.POSITION, 1.0)
    goal = goal_from_answer(answer, frame_id='map')
    assert (goal.x, goal.y, goal.yaw) == pytest.approx((x, y, yaw))
    assert plan_goals(answer, Rules(), Terrain(), here=Pose(0.0, 0.0)).goals[0].pose == goal


@pytest.mark.parametrize(
    'text', ['Go to (2, 3) in odom', 'Go to (2, 3, 4, 5, 6)', 'Drive to x=1e99, y=2', 'Go to two three']
)
def test_other_coordinates_are_not_understood(ask: Ask, text: str) -> None:
    answer = ask(text)
    assert answer.kind is Kind.NOT_SEEN
    assert answer.confidence < 0.5


@pytest.mark.parametrize(
    ('text', 'goals'),
    [
        ('find the cup and the vase', ['the cup', 'the vase']),
        ('find the cup and the vase in the hall', ['the cup and the vase in the hall']),
        ('find the cup and the vase that you saw', ['the cup and the vase that you saw']),
        ('go from room 3 to ward 5', ['room 3', 'ward 5']),
        ('visit room 101 and room 102', ['room 101', 'room 102']),
        ('put the cup on the table in the hall', ['the cup', 'the table in the hall']),
    ],
)
def test_of_several_each_is_a_goal_unless_more_is_said(text: str, goals: list[str]) -> None:
    assert list(ClauseReader().read(text).goals.values()) == goals


def test_one_number_is_no_place(ask: Ask) -> None:
    assert ask('Go to 23').kind is Kind.NOT_SEEN


def test_where_the_asker_is(ask: Ask) -> None:
    known = ask('Where am I?', here=Pose(900.0, 2.0, 0.0, math.pi / 2.0))
    assert (known.kind, known.pose) == (Kind.POSITION, Pose(900.0, 2.0, 0.0, math.pi / 2.0))
    assert known.text.startswith('You are at (900.0, 2.0) in map, facing +y')
    assert ask('Where are you now?', here=Pose(0.0, 1.0)).text.startswith('I am at (0.0, 1.0)')
    assert ask('What are your coordinates?', here=Pose(0.0, 1.0)).text.startswith('I am at (0.0, 1.0)')
    assert ask('Where am I?').text.startswith('I do not know where I am')


def test_without_a_model_of_english_nobody_is_sure_of_two_clauses(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr('remembr_ros.agent.offline.commands.command_answers.english.is_there', lambda: False)
    assert ask('Find the sponge and bring it to me').confidence < 0.5
