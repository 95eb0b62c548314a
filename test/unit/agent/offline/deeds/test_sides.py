"""What a question about deeds puts in relation to them, and which of them it asks for."""

import pytest

from remembr_ros.agent.offline.deeds import deed_request
from remembr_ros.agent.offline.deeds.deed_request import parse_deeds
from remembr_ros.agent.offline.deeds.sides import order_of, which_ones
from remembr_ros.memory.deeds.query import DeedOrder


@pytest.mark.parametrize(
    ('text', 'sides', 'right'),
    [
        ('What did you do right before you opened the fridge?', {'before': 'you opened the fridge'}, True),
        ('What was the next thing you did after the tour?', {'after': 'the tour'}, True),
        ('How long did you wait until somebody came?', {'before': 'somebody came'}, False),
        ('What did you pick up as soon as you entered the study?', {'after': 'you entered the study'}, False),
        ('What did you hand over prior to docking?', {'before': 'docking'}, False),
        ('Before you opened the drawer, which room were you in?', {'before': 'you opened the drawer'}, False),
        ('What did you do in the middle of the tour?', {'during': 'the tour'}, False),
        ('What did you do when Mia asked you to wave?', {'at': 'Mia asked you to wave'}, False),
        (
            'The last time you loaded the oven, who came?',
            {'at': 'you loaded the oven'},
            False,
        ),
        (
            'What happened between loading the dishwasher and the tour?',
            {'after': 'loading the dishwasher', 'before': 'the tour'},
            False,
        ),
        (
            'How far did you drive from leaving the dock to reaching the kitchen?',
            {'after': 'leaving the dock', 'before': 'reaching the kitchen'},
            False,
        ),
        ('You gave the tea demo. What did you do before that?', {'before': 'You gave the tea demo.'}, True),
        ('You polished the cup. What did you do afterwards?', {'after': 'You polished the cup.'}, False),
        ('When did you dock?', {}, False),
        ('What did you do next?', {}, False),
        ('How many times did you wave at people from the window?', {}, False),
    ],
)
def test_relations(text: str, sides: dict[str, str], right: bool) -> None:
    asked = parse_deeds(text)
    assert asked is not None
    assert (asked.sides, asked.right) == (sides, right)
    assert not any(said in asked.main for said in sides.values() if not said.endswith('.'))


def test_relations_are_not_ignored_where_there_is_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deed_request, 'is_there', lambda: False)
    assert parse_deeds('What did you do before docking?') is None
    assert parse_deeds('How often did you dock?') is not None


@pytest.mark.parametrize(
    ('text', 'which'),
    [
        ('the second one', (2, None, False)),
        ('the second to last tour', (-2, None, False)),
        ('your most recent tour', (-1, None, False)),
        ('the last three things', (None, 3, True)),
        ('a couple of things', (None, 2, False)),
        ('the first aid kit', (None, None, False)),
        ('three cups', (None, None, False)),
    ],
)
def test_which_ones(text: str, which: tuple[int | None, int | None, bool]) -> None:
    assert which_ones(text) == which


def test_orders() -> None:
    texts = 'your longest tour', 'the fastest drive', 'the shortest way', 'the nearest cup', 'a cup'
    assert [order_of(text) for text in texts] == [
        DeedOrder.LONGEST,
        DeedOrder.SHORTEST,
        DeedOrder.WAY,
        DeedOrder.NEAREST,
        DeedOrder.FIRST,
    ]
