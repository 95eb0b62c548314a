from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.events.watch import DOWN_NS, MOST_NAMES, UP_NS, WELL, Condition, Conditions
from remembr_ros.timestamps import NS
from test.unit.events.messages import T

BAD = Condition('fail', 'the arm failed')


def test_what_lasts_is_told_when_it_begins_and_when_it_ends():
    known = Conditions()
    known.tell('arm', WELL, T)
    known.tell('arm', BAD, T + NS)
    assert known.take(T + NS + UP_NS - 1) == []
    (begun,) = known.take(T + NS + UP_NS)
    known.tell('arm', WELL, T + 60 * NS)
    assert known.take(T + 60 * NS + DOWN_NS - 1) == []
    (ended,) = known.take(T + 60 * NS + DOWN_NS)
    assert begun.memory('r').id == ended.memory('r').id
    assert (begun.begin_ns, begun.end_ns, ended.end_ns) == (T + NS, T + NS, T + 60 * NS)
    assert ended.facts.text == 'the arm failed'
    assert known.take(T + 900 * NS) == []


def test_flickering_is_no_news():
    known = Conditions()
    for second in range(100):
        known.tell('arm', BAD if second % 2 else WELL, T + second * NS)
        assert known.take(T + second * NS) == []


def test_a_bad_time_goes_on_over_short_good_ones():
    known = Conditions()
    known.tell('arm', BAD, T)
    (begun,) = known.take(T + UP_NS)
    for second in range(10, 50, 4):
        known.tell('arm', WELL, T + second * NS)
        known.tell('arm', BAD, T + (second + 3) * NS)
        assert known.take(T + (second + 3) * NS) == []
    known.tell('arm', WELL, T + 60 * NS)
    (ended,) = known.take(T + 99 * NS)
    assert (ended.begin_ns, ended.end_ns) == (begun.begin_ns, T + 60 * NS)


def test_from_bad_to_worse_is_two_times():
    known = Conditions()
    known.tell('arm', Condition('warning', 'warm'), T)
    assert len(known.take(T + UP_NS)) == 1
    known.tell('arm', Condition('fail', 'hot'), T + 10 * NS)
    warm, hot = known.take(T + 20 * NS)
    assert [(one.facts.text, one.begin_ns - T, one.end_ns - T) for one in (warm, hot)] == [
        ('warm', 0, 10 * NS),
        ('hot', 10 * NS, 10 * NS),
    ]


def test_names_are_bounded():
    known = Conditions()
    for number in range(MOST_NAMES + 50):
        known.tell(f'{number}', BAD, T)
    assert len(known.take(T + UP_NS)) == MOST_NAMES


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(-2, 8)), max_size=40))
def test_every_time_ends_once_and_none_overlap(said):
    known, now_ns, made = Conditions(), T, []
    levels = (WELL, Condition('warning', 'w'), BAD)
    for level, step in said:
        now_ns += max(step, 0) * NS
        known.tell('arm', levels[level], now_ns)
        made += known.take(now_ns)
    known.tell('arm', WELL, now_ns)
    made += known.take(now_ns + 99 * NS)
    last = {one.memory('r').id: one for one in made}.values()
    spans = sorted((one.begin_ns, one.end_ns) for one in last)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    assert len(made) == 2 * len(last)
