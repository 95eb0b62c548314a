"""What is read of a wish about deeds, and which of its words are left."""

import pytest

from remembr_ros.agent.model import english
from remembr_ros.agent.model.grounding import Choice
from remembr_ros.agent.offline.deeds.wish import read_goal
from remembr_ros.agent.offline.deeds.wish_tree import GoalRequest
from remembr_ros.memory.deeds.query import HANDLING, DeedOrder, DeedQuery


def goal(text: str) -> GoalRequest:
    found = read_goal(text)
    assert found is not None
    return found


def side(query: DeedQuery | None) -> tuple[str, str] | None:
    return query and (query.kind, query.object)


@pytest.mark.parametrize(
    ('text', 'field', 'kind', 'object_', 'receptacle'),
    [
        ('Drive to the receptacle that you lifted the blue mug from', 'receptacle', 'lifted', 'blue mug', ''),
        ('Take me to the shelf onto which you put something', 'receptacle', 'put', '', ''),
        ('Bring me to the thing that you took off the desk', 'object', 'took', '', 'desk'),
        (
            'Head to the cup you picked up from the table in the study',
            'object',
            'picked',
            '',
            'table in the study',
        ),
        ('Revisit the table the newspaper was placed on', 'receptacle', 'placed', 'newspaper', ''),
        ('Go to the counter to which you carried the toy', 'receptacle', 'place', 'toy', ''),
        ('Go to the object that you carried from the rack', 'object', 'pick', '', 'rack'),
        ('Proceed to the room where you used the kettle', 'place', HANDLING, 'kettle', ''),
        ('Go to the drawer you opened', 'receptacle', 'opened', '', ''),
        ('Visit something you dealt with', 'object', HANDLING, '', ''),
        ('Go to where you dropped the keys', 'place', 'dropped', 'keys', ''),
    ],
)
def test_what_was_done_to_what(text: str, field: str, kind: str, object_: str, receptacle: str) -> None:
    found = goal(text)
    assert (found.field, found.unused) == (field, ())
    assert (found.query.kind, found.query.object, found.query.receptacle) == (kind, object_, receptacle)


@pytest.mark.parametrize(
    ('text', 'after', 'before', 'nth', 'order'),
    [
        ('Go to the thing you used right after the vase', (HANDLING, 'vase'), None, 1, DeedOrder.FIRST),
        (
            'Go to the thing you used four items before you lifted the vase',
            None,
            ('lifted', 'vase'),
            4,
            DeedOrder.LAST,
        ),
        (
            'Go to the shelf you put something on 3 interactions after handling the vase',
            (HANDLING, 'vase'),
            None,
            3,
            DeedOrder.FIRST,
        ),
        (
            'Go to the desk you took an item from just before you started moving the vase',
            None,
            ('place', 'vase'),
            1,
            DeedOrder.LAST,
        ),
        (
            'Go to an object that you touched between interacting with the vase and the pen',
            (HANDLING, 'vase'),
            (HANDLING, 'pen'),
            None,
            DeedOrder.FIRST,
        ),
        (
            'Go to the thing you used after the vase but before the pen',
            (HANDLING, 'vase'),
            (HANDLING, 'pen'),
            None,
            DeedOrder.FIRST,
        ),
        ('Go to the last thing you used before the pen', None, (HANDLING, 'pen'), -1, DeedOrder.FIRST),
    ],
)
def test_before_and_after(
    text: str, after: object, before: object, nth: int | None, order: DeedOrder
) -> None:
    found = goal(text)
    assert (side(found.query.after), side(found.query.before)) == (after, before)
    assert (found.query.nth, found.query.order, found.unused) == (nth, order, ())


@pytest.mark.parametrize(
    ('text', 'times', 'often', 'order'),
    [
        ('Go to the toy you used twice', (2, 2), 0, DeedOrder.FIRST),
        ('Go to the toy you used at least three times', (3, None), 0, DeedOrder.FIRST),
        ('Go to the toy you used more than once', (2, None), 0, DeedOrder.FIRST),
        ('Go to the toy which was used most often', (1, None), 1, DeedOrder.FIRST),
        ('Go to the toy you touched the least', (1, None), -1, DeedOrder.FIRST),
        ('Which toy did you use most frequently?', (1, None), 1, DeedOrder.FIRST),
        ('Go to the toy you needed the longest to rearrange', (1, None), 0, DeedOrder.LONGEST),
        ('Go to the toy that took you the least time to carry', (1, None), 0, DeedOrder.SHORTEST),
        ('Go to the room in which you spent the most time', (1, None), 0, DeedOrder.LONGEST),
    ],
)
def test_how_often_and_how_long(
    text: str, times: tuple[int, int | None], often: int, order: DeedOrder
) -> None:
    found = goal(text)
    assert (found.times, found.often, found.query.order, found.unused) == (times, often, order, ())


@pytest.mark.parametrize(
    ('text', 'choice'),
    [
        ('Go to the shelf you used', Choice.CITED_FIRST),
        ('Go to any shelf you used', Choice.NEAREST),
        ('Go to the shelf you used which is the furthest from your current position', Choice.FARTHEST),
        ('Go to the shelf nearest to me that you used', Choice.NEAREST),
        ('Go to each of the shelves you used', Choice.EVERY),
        ('In the same order, revisit all the shelves you used', Choice.IN_ORDER),
        ('Revisit all shelves that you used in the order you did so', Choice.IN_ORDER),
    ],
)
def test_which_one(text: str, choice: Choice) -> None:
    assert (goal(text).choice, goal(text).unused) == (choice, ())


def test_an_order_that_is_told() -> None:
    found = goal('Revisit all the shelves that you used. The order to revisit them is: third, first, second')
    assert (found.choice, found.sequence, found.unused) == (Choice.IN_ORDER, (3, 1, 2), ())


@pytest.mark.parametrize(
    ('text', 'any_of', 'target'),
    [
        ('Go to a spherical object that you used', ['apple', 'ball', 'orange'], ''),
        ('Go to a box-shaped object that you used', ['box', 'book'], ''),
        ('Go to a red colored thing you used', [], 'red'),
        ('Go to a thing that you used which is used for reading', ['book', 'newspaper'], ''),
    ],
)
def test_what_it_is_like(text: str, any_of: list[str], target: str) -> None:
    assert (goal(text).any_of, goal(text).target, goal(text).unused) == (any_of, target, ())


@pytest.mark.parametrize(
    'text', ['Go to a cup that was never touched', 'Visit all unused cups', "Go to a cup you haven't handled"]
)
def test_never(text: str) -> None:
    assert (goal(text).never, goal(text).unused) == (True, ())


@pytest.mark.parametrize(
    ('text', 'unused'),
    [
        ('Go to the object that you could have moved', ('could',)),
        ('Go to the object you moved from the sofa to the rack', ('rack',)),
        ('Go to the shelf you used that is farthest from the oven', ('farthest', 'oven')),
        ('Go to the vase made of glass that you moved', ('made', 'glass')),
        ('Go to the object you used two minutes before the pen', ('two', 'minutes')),
        ('Go to the cup in the hall that you moved', ('hall',)),
        ('Go to the cup that you did not move twice', ('twice',)),
        ('Visit all shelves you used in reverse order', ('reverse', 'order')),
    ],
)
def test_words_that_are_not_understood_are_told(text: str, unused: tuple[str, ...]) -> None:
    assert goal(text).unused == unused


@pytest.mark.parametrize(
    ('text', 'kind', 'after', 'before'),
    [
        ('Where did you carry the pen from the desk?', 'placed', ('picked', 'the pen'), None),
        ('From where did you bring the pen to the sofa?', 'picked', None, ('placed', 'the pen')),
        ('Where did you take the pen that you put on the sofa?', 'picked', None, ('placed', 'the pen')),
        ('Where was the pen before you moved it?', 'picked', None, None),
    ],
)
def test_where_things_were_moved(text: str, kind: str, after: object, before: object) -> None:
    found = goal(text)
    named = [s and (s[0], f'the {s[1]}') for s in (side(found.query.after), side(found.query.before))]
    assert (found.field, found.query.kind, found.query.object) == ('receptacle', kind, 'pen')
    assert (named, found.question, found.unused) == ([after, before], True, ())


@pytest.mark.parametrize(
    'text',
    [
        'Go to the lobby',
        'Take me to the painting that she likes',
        'Where did you take the pen from?',
        'Where did you take the pen from before putting it on the desk?',
        'What did you move?',
        'Which cup did you move?',
    ],
)
def test_anything_else_is_no_such_wish(text: str) -> None:
    assert read_goal(text) is None


def test_without_a_model_nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    english.parse.cache_clear()
    monkeypatch.setattr(english, 'is_there', lambda: False)
    assert read_goal('Go to the cup you moved') is None
    english.parse.cache_clear()


def test_names_that_the_memory_knows_are_nouns() -> None:
    wish = 'Go to the shelves that you placed the purple teddy bear on before you took two teddy bears'
    found = read_goal(wish, {'purple teddy bear', 'cup', ''})
    assert found is not None
    assert (found.query.object, side(found.query.before), found.unused) == (
        'purple teddy bear',
        ('took', 'two teddy bears'),
        (),
    )
