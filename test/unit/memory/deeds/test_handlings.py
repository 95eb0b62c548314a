from remembr_ros.memory.deeds.query import HANDLING, DeedOrder, DeedQuery
from remembr_ros.memory.model.recall import Scope
from remembr_ros.timestamps import NS
from test.unit.agent.offline.places.test_place_answers import T
from test.unit.memory.deeds.test_occurrences import find, told

LOG = [
    told(0, object='Red cup', object_id='c1', receptacle='table', travelled=2.0),
    told(10, kind='go', travelled=3.0),
    told(20, kind='place', object='cup', object_id='c1', receptacle='shelf', travelled=1.0),
    told(30, kind='open', object='fridge'),
    told(40, object='book', receptacle='table'),
    told(50, kind='place', object='book', receptacle='floor', outcome='failed'),
    told(60, kind='place', object='book', receptacle='desk'),
    told(70, object='red cup', object_id='c2', receptacle='sink'),
    told(80, kind='place', object='red cup', object_id='c3', receptacle='sink'),
]


def handled(query: DeedQuery) -> list[tuple[str, str, float]]:
    return [(one.facts.object, one.facts.receptacle, one.seconds) for one in find(LOG, query)]


def test_a_thing_is_handled_from_its_pick_to_where_it_is_put() -> None:
    assert handled(DeedQuery(HANDLING)) == [
        ('cup', 'shelf', 25.0),
        ('fridge', '', 5.0),
        ('book', 'desk', 25.0),
        ('book', 'floor', 5.0),
        ('red cup', 'sink', 15.0),  # its id is another one since it was seen elsewhere
    ]


def test_it_rests_on_both_deeds_and_tells_the_way_between() -> None:
    first = find(LOG, DeedQuery(HANDLING))[0]
    assert [one.caption for one in first.memories] == [LOG[2].caption, LOG[0].caption]
    assert (first.facts.kind, first.facts.object_id, first.metres) == (HANDLING, 'c1', 6.0)


def test_what_took_longest_and_what_came_before_and_after() -> None:
    assert handled(DeedQuery(HANDLING, order=DeedOrder.LONGEST, nth=1)) == [('cup', 'shelf', 25.0)]
    fridge = DeedQuery(HANDLING, object='fridge')
    assert handled(DeedQuery(HANDLING, after=fridge, nth=2)) == [('book', 'floor', 5.0)]
    assert handled(DeedQuery(HANDLING, after=fridge, right=True)) == [('book', 'desk', 25.0)]
    before = DeedQuery(HANDLING, before=fridge, order=DeedOrder.LAST, nth=1)
    assert handled(before) == [('cup', 'shelf', 25.0)]


def test_one_that_began_before_a_time_is_whole() -> None:
    assert handled(DeedQuery(HANDLING, scope=Scope(after_ns=T + 18 * NS, before_ns=T + 26 * NS))) == [
        ('cup', 'shelf', 25.0)
    ]
