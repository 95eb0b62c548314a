from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.web.door.access import MOST_KEYS, Allowance


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@given(st.integers(1, 100), st.lists(st.floats(0.0, 30.0), max_size=200))
def test_nobody_takes_more_than_a_minutes_worth_at_once_and_so_much_a_minute(
    per_minute: int, pauses: list[float]
) -> None:
    clock = Clock()
    allowance = Allowance(per_minute, clock)
    taken = 0
    for pause_s in pauses:
        clock.now_s += pause_s
        taken += allowance.take('a') == 0.0
    assert taken <= per_minute * (1.0 + clock.now_s / 60.0) + 1e-6


def test_who_waits_as_long_as_told_may_again() -> None:
    clock = Clock()
    allowance = Allowance(6, clock)
    assert [allowance.take('a') for _ in range(6)] == [0.0] * 6
    assert allowance.take('a') == 10.0
    assert allowance.wait_s('a') == 10.0
    assert allowance.take('b') == 0.0
    clock.now_s = 10.0
    assert allowance.take('a') == 0.0
    assert allowance.take('a') == 10.0


def test_who_has_not_taken_of_late_is_not_known() -> None:
    clock = Clock()
    allowance = Allowance(60, clock)
    assert 'a' not in allowance
    allowance.take('a')
    assert 'a' in allowance
    clock.now_s = 1.0
    assert 'a' not in allowance


def test_memory_does_not_grow_with_who_tries() -> None:
    allowance = Allowance(1, Clock())
    for number in range(MOST_KEYS + 10):
        allowance.take(str(number))
    assert '0' not in allowance
    assert str(MOST_KEYS + 9) in allowance
