"""What became of objects."""

from remembr_ros.memory.objects.wording import changes_of, visits_among
from remembr_ros.timestamps import NS
from test.object_room import CUP, HOUR_NS, VISITS, thing
from test.object_scene import T0

LATER = VISITS[1][0]


def test_each_kind_of_change_has_its_time() -> None:
    seen = (*VISITS[:1], (T0 + 4 * HOUR_NS, T0 + 4 * HOUR_NS + 9 * NS))
    one = thing('cup', (0.0, 0.0, 0.0), (0.1, 0.1, 0.1), intervals=seen, absences=((LATER, LATER + 9 * NS),))
    assert [(change.kind, change.at_ns) for change in changes_of(one, 0)] == [
        ('appeared', T0),
        ('missing', LATER),
        ('returned', T0 + 4 * HOUR_NS),
    ]
    assert [change.kind for change in changes_of(one, T0, LATER)] == ['missing']
    moved = thing(
        'cup', (0.0, 0.0, 0.0), (0.1, 0.1, 0.1), moves=((VISITS[0][1], LATER, (1, 0, 0), (0, 0, 0)),)
    )
    assert [(change.kind, change.at_ns) for change in changes_of(moved, T0)] == [('moved', LATER)]


def test_what_goes_where_it_wants_does_not_change() -> None:
    assert changes_of(thing('cat', (0.0, 0.0, 0.0), (0.3, 0.2, 0.2)), 0) == []


def test_visits_are_told_apart_by_long_gaps() -> None:
    gone = thing(
        'vase', (0.0, 0.0, 0.0), (0.1, 0.1, 0.1), intervals=VISITS[:1], absences=(VISITS[1],), looked=LATER
    )
    assert visits_among([CUP]) == VISITS
    assert visits_among([gone]) == (*VISITS[:1], (LATER, VISITS[1][1]))
    assert visits_among([]) == ()
