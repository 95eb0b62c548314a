import pytest

from remembr_ros.memory.matching.terms import everyday_names, synonyms


@pytest.mark.parametrize(
    ('label', 'shown', 'also'),
    [
        ('tvmonitor', 'tv monitor', 'television set'),
        ('TV Monitor', 'tv monitor', 'screen'),
        ('diningtable', 'dining table', 'table'),
        ('cell_phone', 'cell phone', 'mobile phone'),
        ('TrafficLight', 'traffic light', 'traffic lights'),
        ('fire-hydrant', 'fire hydrant', 'hydrant'),
        ('Monitor/TV', 'Monitor', 'TV'),
        ('table', 'table', 'table'),
        ('/', '/', '/'),
    ],
)
def test_what_detectors_call_a_thing_is_shown_as_people_write_it(label: str, shown: str, also: str) -> None:
    names = everyday_names(label)
    assert names[0] == shown
    assert also in names


def test_a_table_is_no_dining_table_although_that_is_a_table() -> None:
    assert 'dining table' not in everyday_names('table')


def test_words_for_the_same_thing_are_each_others() -> None:
    assert synonyms('telly') == ('tv', 'television')
    assert synonyms('mug') == ('cup',)
    assert synonyms('robot') == ()
