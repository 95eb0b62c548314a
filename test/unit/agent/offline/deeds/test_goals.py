"""Where a wish leads to that says what the robot did."""

import time
from collections.abc import Callable

import pytest

from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.planner import Run
from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.geometry import Pose
from remembr_ros.memory.deeds.deed import deed
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.places.places import known_places
from remembr_ros.memory.store import MemoryStore
from remembr_ros.timestamps import NS
from test.object_room import thing
from test.unit.agent.offline.places.test_place_answers import ROOMS

T = 1_700_056_800 * NS  # 14:00
MINUTE = 60 * NS

KNOWN = [
    thing(name, (*at, 0.0), (0.3, 0.3, 0.3), colour=colour, id=id_, intervals=((0, T - MINUTE),)).memory
    for name, id_, colour, at in (
        ('cup', 'c1', 'red', (1.0, 1.0)),
        ('cup', 'c2', 'green', (8.0, 8.0)),
        ('table', 't1', '', (1.0, 0.0)),
        ('table', 't2', '', (3.0, 0.0)),
        ('shelf', 's1', '', (18.0, 0.0)),
        ('desk', 'd1', '', (30.0, 0.0)),
        ('lamp', 'l1', '', (30.0, 1.0)),
        ('cat', 'k1', '', (30.0, 2.0)),
        ('clock', 'k2', '', (30.0, 3.0)),
    )
]


def told(minute: float, x: float, kind: str, object_: str, receptacle: str = '', **about) -> Memory:
    begin_ns, seconds = T + round(minute * MINUTE), about.pop('seconds', 20)
    about = {'kind': kind, 'object': object_, 'receptacle': receptacle, 'outcome': 'succeeded'} | about
    return deed(begin_ns, begin_ns + seconds * NS, pose=Pose(x, 0.5), **about).memory('r')


RED = {'object_id': 'c1'}
LOG = [
    told(1, 1.1, 'pick', 'cup', 'table', receptacle_id='t1', **RED),
    told(2, 18.1, 'place', 'cup', 'shelf', receptacle_id='s1', **RED),
    told(4, 3.1, 'pick', 'apple', 'table', receptacle_id='t2'),
    told(6, 9.1, 'place', 'apple', 'fridge'),
    told(8, 18.2, 'pick', 'blue bowl', 'shelf', receptacle_id='s1'),
    told(15, 5.1, 'place', 'blue bowl', 'sink', seconds=60),
    told(20, 9.2, 'open', 'fridge'),
    told(21, 9.3, 'pick', 'book', 'fridge'),
    told(22, 3.2, 'place', 'book', 'table', receptacle_id='t2'),
    told(23, 3.2, 'pick', 'spoon', 'rack', outcome='failed', reason='it slipped'),
]
STAYS = [
    Memory(f's{second}', 'r', T + second * NS, T + second * NS, 'A wall.', Pose(x, 5.0))
    for second, x in (*((s, 5.0) for s in range(0, 60, 5)), *((s, 15.0) for s in range(60, 200, 5)))
]

Ask = Callable[..., Answer]


@pytest.fixture(scope='module')
def store(tmp_path_factory: pytest.TempPathFactory):
    made = open_store(str(tmp_path_factory.mktemp('goals') / 'robot.db'), HashingEmbedder())
    made.add([Observation(one) for one in (*LOG, *KNOWN, *STAYS, *ROOMS)])
    yield made
    made.close()


@pytest.fixture
def ask(store: MemoryStore) -> Ask:
    def answered(text: str, here: Pose | None = None) -> Answer:
        question = Question(text, T + 60 * MINUTE, here=here, places=known_places(store))
        return OfflinePlanner().answer(question, store, Run(time.monotonic() + 30.0))

    return answered


ONE = {
    'Go to any receptacle that you used': 1.1,
    'Go to a receptacle you interacted with': 1.1,
    'Please take me to a receptacle that you did not use': 30.0,
    'Navigate to a receptacle that you never touched': 30.0,
    'Go to a piece of furniture never used': 30.0,
    'Go to an object that you handled': 3.2,
    'Go to an object that you did not handle': 8.0,
    'Go to a cup that you handled': 18.1,
    "Go to a cup that you didn't handle": 8.0,
    'Go to a desk that you did not use': 30.0,
    'Go to a table that you picked an object from': 1.1,
    'Go to a table that you placed something on': 3.2,
    'Go to a table on which you put an object': 3.2,
    'Go to a table from which you took an object': 1.1,
    'Drive to a receptacle that you placed an object on': 3.2,
    'Go to the receptacle from which you picked the red cup': 1.1,
    'Where is the receptacle that you put the red cup on?': 18.1,
    'Go to the object that you picked from the fridge': 3.2,
    'Go to the object you took out of the fridge': 3.2,
    'Go to the red object that you handled': 18.1,
    'Go to an object that you handled and that is red': 18.1,
    'Go to an object that is blue and that you handled': 5.1,
    'Go to an object that you handled and that is shaped like a ball': 9.1,
    'Go to an object that you handled and that is shaped like a box': 3.2,
    'Go to a ball-shaped object that you handled': 9.1,
    'Go to an object that you handled and that is used for drinking': 18.1,
    'Go to an object that you handled that is used for reading': 3.2,
    'Go to an object used for eating that you moved': 5.1,
    'Go to an object that you did not handle and that is used for telling the time': 30.0,
    'Go to the receptacle farthest from here that you used': 18.1,
    'Go to the farthest receptacle from which you picked an object': 18.2,
    'Go to the receptacle farthest from here that you did not use': 30.0,
    'Go to the receptacle farthest from here that you placed an object on': 18.1,
    'Go to the object farthest from here that you handled': 18.1,
    'Go to the nearest object that you handled': 3.2,
    'Go to the room where you picked the third object': 18.2,
    'Go to the room in which you placed the third object': 5.1,
    'Go to the room where you picked up the red cup': 1.1,
    'Take me to the place where you put the red cup': 18.1,
    'Go to the room where you handled the red cup': 18.1,
    'Go to the room where you stayed the longest': 15.0,
    'Go to the room where you spent the most time': 15.0,
    'Go to the room you were in for the shortest time': 5.0,
    'Go to the third object that you handled': 5.1,
    'Go to the 2nd object you moved': 9.1,
    'Go to the last object that you handled': 3.2,
    'Go to the second receptacle that you picked an object from': 3.1,
    'Go to the second receptacle that you placed one on': 9.1,
    'Go to the receptacle from which you picked the third object': 18.2,
    'Go to the object that you picked from the third receptacle': 5.1,
    'Go to the object that you handled right after the red cup': 9.1,
    'Go to the object that you handled right before the blue bowl': 9.1,
    'Go to the object you handled immediately before you picked the blue bowl': 9.1,
    'Go to the object that you handled two interactions after the red cup': 5.1,
    'Go to the object that you handled 2 interactions before the blue bowl': 18.1,
    'Go to the object that you handled between the red cup and the blue bowl': 9.1,
    'Go to the object that you handled between the blue bowl and the red cup': 9.1,
    'Go to the receptacle that you placed an object on right before you picked the blue bowl': 9.1,
    'Go to the receptacle on which you put something just before picking the apple': 18.1,
    'Go to the receptacle that you picked an object from right after you placed the red cup': 3.1,
    'Go to the receptacle that you placed an object on two interactions before the blue bowl': 18.1,
    'Go to the receptacle that you picked an object from two interactions after the red cup': 18.2,
    'Go to the receptacle that you placed an object on between the red cup and the blue bowl': 9.1,
    'Go to the receptacle that you picked an object from between the red cup and the blue bowl': 3.1,
    'Go to the receptacle that you used at 14:06': 9.1,
    'Go to the object that you handled at 14:12': 5.1,
    'Go to the object that you handled at 14:19': 9.2,
    'Go to the object that took you longest to rearrange': 5.1,
    'Go to the object that took you the longest time to move': 5.1,
    'Go to the object that you carried the longest': 5.1,
    'Go to the object that took the shortest time to carry': 9.2,
    'Go to the receptacle that you opened': 9.2,
    'Go to the sink that you used': 5.1,
    'Go to the object you picked in the hall': 5.1,
    'Go to the cup that you put on the shelf in the hall': 18.1,
    'Take me to something that you moved': 3.2,
    'Go to where you put the red cup': 18.1,
    'Go to the object you handled third': 5.1,
    'Go to the object you handled after the red cup and before the blue bowl': 9.1,
    'Navigate to the room that you spent the longest time in': 15.0,
    'Go to the receptacle that is farthest from here and that you used': 18.1,
    'Go to the object that you were carrying at 14:12': 5.1,
    "Go to a receptacle that you haven't used before": 30.0,
    'Go to the fridge that you opened': 9.2,
    'I want to go to the object that you handled after 14:20': 3.2,
}


@pytest.mark.parametrize(('text', 'x'), ONE.items(), ids=ONE)
def test_one_goal(ask: Ask, text: str, x: float) -> None:
    answer = ask(text, Pose(0.0, 0.0))
    assert (answer.kind, answer.every_place) == (Kind.POSITION, False), answer.text
    assert answer.pose.x == x, answer.text


MANY = {
    'Visit all receptacles that you picked an object from': [1.1, 3.1, 9.3, 18.2],
    'Go to every receptacle on which you placed an object': [3.2, 5.1, 9.1, 18.1],
    'Go to all receptacles that you used': [1.1, 3.1, 5.1, 9.1, 18.1],
    'Go to each receptacle that you used': [1.1, 3.1, 5.1, 9.1, 18.1],
    'Go to all tables that you placed an object on': [3.2],
    'Go to all tables that you picked an object from': [1.1, 3.1],
    'Go to all objects that you handled': [3.2, 5.1, 9.1, 9.2, 18.1],
    'Go to the objects you touched': [3.2, 5.1, 9.1, 9.2, 18.1],
    'Revisit all the receptacles you picked objects from': [1.1, 3.1, 9.3, 18.2],
    'Go to all rooms that you visited': [5.0, 15.0],
    'Go to all objects that you did not handle': [8.0, 30.0],
}


@pytest.mark.parametrize(('text', 'xs'), MANY.items(), ids=MANY)
def test_all_of_them(ask: Ask, text: str, xs: list[float]) -> None:
    answer = ask(text)
    assert (answer.every_place, answer.in_order) == (True, False)
    assert sorted(hit.memory.pose.x for hit in answer.evidence) == xs


ORDERED = {
    'Go to all receptacles that you used in the order in which you did so': [1.1, 18.1, 3.1, 9.1, 5.1],
    'Go to all receptacles that you picked an object from, in that order': [1.1, 3.1, 18.2, 9.3],
    'Visit the tables from which you picked an object in the order you did': [1.1, 3.1],
    'Go to all objects that you handled in the order of the day': [18.1, 9.1, 5.1, 9.2, 3.2],
}


@pytest.mark.parametrize(('text', 'xs'), ORDERED.items(), ids=ORDERED)
def test_in_the_order_in_which_it_was_done(ask: Ask, text: str, xs: list[float]) -> None:
    answer = ask(text)
    assert (answer.every_place, answer.in_order) == (True, True)
    assert [hit.memory.pose.x for hit in answer.evidence] == xs


@pytest.mark.parametrize(
    'text',
    [
        'Go to the object that you could have handled',
        'Go to the object that you handled two minutes before the blue bowl',
        'Go to the object you handled right after you polished the red cup',
        'Go to the object that you moved least often',  # which is true of several
    ],
)
def test_of_what_is_not_understood_nobody_is_sure(ask: Ask, text: str) -> None:
    assert ask(text).confidence <= 0.4


def test_where_a_thing_was_moved(ask: Ask) -> None:
    assert ask('Where did you move the red cup from the table?').pose.x == 18.1
    assert ask('From where did you carry the red cup to the shelf?').pose.x == 1.1
    assert ask('Where was the blue bowl originally?').pose.x == 18.2


def test_a_room_that_was_not_visited(ask: Ask) -> None:
    assert ask('Go to a room that you did not visit', Pose(21.0, 0.0)).pose.x == 25.0


@pytest.mark.parametrize(
    'text',
    [
        'Go to the object that you handled right after the green teapot',
        'Go to the cup that you picked from the dishwasher',
        'Take me to a vase that you handled',
        'Go to the rack that you picked an object from',
        'Go to the ninth object that you handled',
    ],
)
def test_what_was_not_done_is_no_goal(ask: Ask, text: str) -> None:
    assert ask(text).kind is Kind.NOT_SEEN


@pytest.mark.parametrize(
    ('text', 'told'),
    [
        ('Take me to the lift', 'I have not seen the lift'),
        ('Go to the kitchen', 'The kitchen is: at (5.0, 5.0)'),
        ('Take me to the chair that you saw in the kitchen', 'I have not seen the chair'),
        ('Go to the place where you are', 'I was in '),
        ('Take me to the table that is near the window', 'no memory shows the window'),
        ('Go to the cup after the table', 'The cup was seen (after the table)'),
        ('How many objects did you handle?', '6: apple, blue bowl, book, cup, fridge, spoon.'),
        ('Take me to the book that I like', 'not: "like"'),
    ],
)
def test_other_wishes_are_left_to_others(ask: Ask, text: str, told: str) -> None:
    assert told in ask(text).text


def test_without_deeds_nothing_is_said(tmp_path) -> None:
    store = open_store(str(tmp_path / 'robot.db'), HashingEmbedder())
    store.add([Observation(one) for one in KNOWN])
    question = Question('Go to an object that you handled', T)
    assert 'that I did' not in OfflinePlanner().answer(question, store, Run(time.monotonic() + 30.0)).text
    store.close()


def test_a_thing_that_was_seen_elsewhere_since_is_there(tmp_path) -> None:
    seen = thing(
        'cup', (40.0, 0.0, 0.0), (0.1,) * 3, colour='red', id='c1', intervals=((T + 9 * MINUTE,) * 2,)
    )
    store = open_store(str(tmp_path / 'robot.db'), HashingEmbedder())
    store.add([Observation(one) for one in (*LOG, seen.memory)])
    question = Question('Go to the cup that you handled', T + 60 * MINUTE)
    assert OfflinePlanner().answer(question, store, Run(time.monotonic() + 30.0)).pose.x == 40.0
    store.close()
