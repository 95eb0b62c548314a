import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.agent.times.time_expression import at_reach, clock_now, parse_moment, with_reach
from remembr_ros.agent.times.time_window import parse_span
from remembr_ros.errors import InvalidRequest
from remembr_ros.timestamps import NS, parse_time


def at(text: str) -> int:
    return parse_time(f'2023-11-{text}Z')


NOW_NS = at('20T11:30:00')
REACH = at('14T08:00:00'), at('14T15:04:00')


@pytest.mark.parametrize('text', ['earliest', 'first', 'the start', 'The Beginning', 'start of the tour'])
def test_the_beginning_is_when_the_first_memory_began(text: str) -> None:
    assert at_reach(text, REACH) == parse_moment(text, NOW_NS, reach=REACH) == REACH[0]


@pytest.mark.parametrize('text', ['latest', 'last', 'the end', 'newest', 'the last memory'])
def test_the_end_is_when_the_last_memory_ended(text: str) -> None:
    assert at_reach(text, REACH) == parse_moment(text, NOW_NS, reach=REACH) == REACH[1]


@pytest.mark.parametrize('text', ['the last 10 minutes', 'last Tuesday', 'first floor', 'now', ''])
def test_other_times_are_left_to_others(text: str) -> None:
    assert at_reach(text, REACH) is None
    assert with_reach(text, REACH) == text


def test_where_nobody_knows_since_when_there_are_memories_there_is_no_beginning() -> None:
    with pytest.raises(InvalidRequest):
        parse_moment('earliest', NOW_NS)
    with pytest.raises(InvalidRequest):
        parse_span('since the beginning', NOW_NS)


@pytest.mark.parametrize(
    ('text', 'after', 'before'),
    [
        ('the beginning', '14T07:59:00', '14T08:01:00'),
        ('since the beginning', '14T08:00:00', None),
        ('until the end', None, '14T15:04:00'),
        ('from the start to 9:30', '14T08:00:00', '14T09:30:00'),
        ('at 3 pm', '14T14:59:00', '14T15:01:00'),
        ('14:00', '14T13:59:00', '14T14:01:00'),
        ('between 9 and 10', '14T09:00:00', '14T10:00:00'),
        ('between 2 and 4', '14T14:00:00', '14T16:00:00'),
        ('between 23 and 2', '13T23:00:00', '14T02:00:00'),
        ('at 9', '14T08:59:00', '14T09:01:00'),
        ('after 14:00', '14T14:00:00', None),
        ('yesterday', '19T00:00:00', '20T00:00:00'),
    ],
)
def test_an_hour_without_a_date_is_the_last_one_that_may_be_remembered(
    text: str, after: str | None, before: str | None
) -> None:
    window = parse_span(text, NOW_NS, reach=REACH)
    assert (window.after_ns, window.before_ns) == tuple(edge and at(edge) for edge in (after, before))


@given(st.integers(0, 2 * 10**9), st.integers(0, 2 * 10**9), st.integers(0, 10**9))
def test_a_clock_time_is_never_after_now(now_s: int, first_s: int, lasted_s: int) -> None:
    assert clock_now(now_s * NS, (first_s * NS, (first_s + lasted_s) * NS)) <= now_s * NS
