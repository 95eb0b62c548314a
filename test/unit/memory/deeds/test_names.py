import pytest

from remembr_ros.memory.deeds.names import DeedNames
from remembr_ros.memory.deeds.query import DeedQuery
from test.unit.memory.deeds.test_query import DAY

NAMES = DeedNames(DAY, [('green room', 'place')])


@pytest.mark.parametrize(
    ('text', 'query'),
    [
        ('picking the soy milk', DeedQuery('pick', 'soy milk')),
        ('take something out of the fridge', DeedQuery('take', receptacle='fridge')),
        ('put the milk on the kitchen table', DeedQuery('put', 'milk', 'kitchen table')),
        ('introductions to visitors', DeedQuery('introduce', attribute='visitors')),
        ('what you did in the kitchen', DeedQuery(place='kitchen')),
        ('handing it over', DeedQuery('hand over')),
        ('Out of curiosity, loading the dishwasher', DeedQuery('load', 'dishwasher')),
    ],
)
def test_a_phrase_becomes_a_query_by_the_names_of_the_deeds(text: str, query: DeedQuery) -> None:
    assert NAMES.meant(NAMES.read(text)) == query


def test_what_no_deed_has_is_unknown() -> None:
    phrase = NAMES.read('pick up a knife')
    assert phrase.unknown == ('knife',)
    assert phrase.kind == 'pick'
    assert NAMES.read('in the green room').of('place') == ['green room']
    assert NAMES.meant(NAMES.read('the weather of next week')) is None


def test_all_words_count_where_that_is_wanted() -> None:
    phrase = NAMES.read('put the cup on the kitchen table')
    assert NAMES.meant(phrase, exactly=True) is None
    assert NAMES.meant(phrase) == DeedQuery('put', 'cup')


def test_rather_what_ended_so() -> None:
    phrase = NAMES.read('load the dishwasher')
    assert NAMES.meant(phrase, outcomes=('failed',)) == DeedQuery('load', 'dishwasher')
