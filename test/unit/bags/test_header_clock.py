"""Stamps of clocks that were never set."""

from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.bags.header_clock import FAR_NS, HeaderClock

S = 1_000_000_000
NOW = 1_760_000_000 * S
OLD = 1_500_000_000 * S  # July 2017


def message(stamp_ns: int) -> Any:
    return SimpleNamespace(
        header=SimpleNamespace(stamp=SimpleNamespace(sec=stamp_ns // S, nanosec=stamp_ns % S))
    )


class Heard:
    """A clock that hears messages."""

    def __init__(self, *, simulated: bool = False) -> None:
        self.warned: list[str] = []
        self.clock = HeaderClock(simulated=simulated, warn=self.warned.append, remedy='do something')

    def stamp(self, stamp_ns: int, arrival_ns: int, topic: str = '/image') -> int:
        received = message(stamp_ns)
        self.clock.set_right(topic, received, arrival_ns)
        stamp = received.header.stamp
        return int(stamp.sec) * S + int(stamp.nanosec)


def test_a_clock_that_counts_from_its_start_is_set() -> None:
    heard = Heard()
    assert [heard.stamp(5000 * S + n * S, NOW + n * S) for n in range(3)] == [NOW, NOW + S, NOW + 2 * S]
    assert len(heard.warned) == 1
    assert '/image has stamps of 1970-01-01T01:23:20' in heard.warned[0]
    assert 'do something' in heard.warned[0]


def test_stamps_keep_their_distances_whatever_the_way_takes() -> None:
    heard = Heard()
    arrivals = [NOW + n * S + tenths * S // 10 for n, tenths in enumerate((2, 9, 1, 3))]
    found = [heard.stamp(5000 * S + n * S, at) for n, at in enumerate(arrivals)]
    assert found[3] - found[2] == S
    assert all(at - 2 * S < stamp <= at for stamp, at in zip(found, arrivals, strict=True))


def test_a_camera_that_starts_anew_is_set_anew() -> None:
    heard = Heard()
    heard.stamp(5000 * S, NOW)
    assert heard.stamp(3 * S, NOW + 60 * S) == NOW + 60 * S


def test_all_transforms_of_a_message_are_set() -> None:
    heard = Heard()
    received = SimpleNamespace(transforms=[message(5 * S), message(NOW)])
    heard.clock.set_right('/tf', received, NOW)
    assert [int(each.header.stamp.sec) for each in received.transforms] == [NOW // S, NOW // S]


def test_simulated_time_is_left_alone() -> None:
    assert Heard(simulated=True).stamp(5000 * S, NOW) == 5000 * S
    assert Heard().stamp(5000 * S, 5001 * S) == 5000 * S


def test_what_is_all_of_another_year_is_left_alone() -> None:
    heard = Heard()
    assert heard.stamp(OLD, NOW) == OLD
    assert not heard.warned


def test_a_camera_of_another_year_than_the_rest_is_set() -> None:
    heard = Heard()
    heard.stamp(NOW - S, NOW, '/tf')
    assert heard.stamp(OLD, NOW) == NOW
    assert 'of 2017' in heard.warned[0]


@given(st.integers(0, 2**31 - 1), st.integers(0, S - 1))
def test_whatever_the_stamp_is_it_is_not_moved_within_a_year_of_its_arrival(seconds: int, rest: int) -> None:
    stamp_ns = seconds * S + rest
    found = Heard().stamp(stamp_ns, NOW)
    assert found in {stamp_ns, NOW}
    assert found == stamp_ns or abs(stamp_ns - NOW) > FAR_NS


def test_topics_of_one_clock_stay_together() -> None:
    heard = Heard()
    late = {'/image': S // 30, '/depth': S // 20, '/detections': S // 5}
    for second in range(3):
        stamp_ns = (5000 + second) * S
        found = {heard.stamp(stamp_ns, NOW + second * S + way, topic) for topic, way in late.items()}
        assert found == {NOW + second * S + S // 30}


def test_topics_of_two_clocks_do_not() -> None:
    heard = Heard()
    for second in range(3):
        at = NOW + second * S
        assert heard.stamp((5000 + second) * S, at, '/image') == at
        assert heard.stamp((4995 + second) * S, at, '/tf') == at
