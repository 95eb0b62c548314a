from datetime import timedelta, timezone
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.recall import ANYTHING, Scope
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.motion.motion import Motion
from remembr_ros.memory.motion.motion import stretches as stretches_of
from remembr_ros.timestamps import MAX_NS, NS, format_iso
from remembr_ros.web.activity import ROUND_S, activity, gaps
from test.unit.web.seen import memories, outlined, scopes

T = 1_700_000_000 * NS - 1_700_000_000 * NS % (86_400 * NS)
"""The start of a day."""


def seen_at(start_s: float, end_s: float, x: float | None, robot: str = 'r', **others: str) -> Memory:
    times = (T + round(start_s * NS), T + round(end_s * NS))
    pose = None if x is None else Pose(x, 0.0)
    return Memory(f'{robot}{start_s:09.3f}{x}', robot, *times, '', pose, **others)


@given(memories(), scopes(), st.integers(2, 50))
def test_every_memory_of_the_scope_is_stored_once(seen: list[Memory], scope: Scope, bins: int) -> None:
    found = activity(outlined(seen), scope, bins)
    inside = [memory for memory in seen if scope.admits(memory)]
    assert found.stored.sum() == len(inside)
    assert len(found.stored) == len(found.driving_s) == len(found.standing_s) <= bins
    assert found.start_ns % (found.bin_s * NS) == 0
    for number, stored in enumerate(found.stored.tolist()):
        low = found.start_ns + number * found.bin_s * NS
        times = [max(memory.start_ns, found.start_ns) for memory in inside]
        assert stored == sum(low <= time_ns < low + found.bin_s * NS for time_ns in times)


@given(memories(), scopes(), st.integers(2, 50))
def test_no_robot_drives_and_stands_longer_than_its_memories_last(
    seen: list[Memory], scope: Scope, bins: int
) -> None:
    found = activity(outlined(seen), scope, bins)
    own = [m for m in seen if scope.admits(m) and m.pose and m.source == 'captioner']
    robots = {memory.robot for memory in own}
    both = found.driving_s + found.standing_s
    assert (found.driving_s >= 0.0).all()
    assert (found.standing_s >= 0.0).all()
    assert (both <= len(robots) * found.bin_s + 1e-6).all()
    last_ns = found.start_ns + len(both) * found.bin_s * NS
    least = most = 0.0
    for robot in robots:
        spans = sorted((m.start_ns, m.end_ns) for m in own if m.robot == robot)
        clipped = [(max(a, found.start_ns), min(b, last_ns)) for a, b in spans]
        covered_ns = found.start_ns
        for low, high in clipped:
            least += max(high - max(low, covered_ns), 0) / NS
            covered_ns = max(covered_ns, high)
        most += (covered_ns - min(low for low, _ in clipped)) / NS
    assert least - 1e-6 <= both.sum() <= most + 1e-6


def test_a_robot_drives_and_then_stands() -> None:
    driving = [seen_at(3 * i, 3 * i + 3, 2.0 * i) for i in range(20)]
    standing = [seen_at(60 + 3 * i, 63 + 3 * i, 40.0) for i in range(20)]
    found = activity(outlined(driving + standing), ANYTHING, 10)
    assert (found.start_ns, found.bin_s) == (T, 15)
    assert found.stored.tolist() == [5] * 8 + [0]
    assert found.driving_s.tolist() == pytest.approx([15.0] * 4 + [3.0] + [0.0] * 4)
    assert found.standing_s.tolist() == pytest.approx([0.0] * 4 + [12.0] + [15.0] * 3 + [0.0])


def test_between_pictures_counts_too() -> None:
    pictures = [seen_at(10 * i, 10 * i, 5.0 * i) for i in range(6)]
    found = activity(outlined(pictures), ANYTHING, 1000)
    assert (found.driving_s.sum(), found.standing_s.sum()) == (50.0, 0.0)


@pytest.mark.parametrize(('gap_s', 'told_s'), [(30, 150.0), (31, 120.0)])
def test_of_longer_without_memories_than_a_track_bridges_nothing_is_told(gap_s: int, told_s: float) -> None:
    found = activity(outlined([seen_at(0, 60, 0.0), seen_at(60 + gap_s, 120 + gap_s, 0.0)]), ANYTHING, 1000)
    assert found.standing_s.sum() == told_s


def test_what_is_driven_and_stood_is_what_the_answers_say() -> None:
    """Up to the memories at the ends of a stop, of which the outline knows the places alone."""
    seen = [seen_at(3 * i, 3 * i + 3, 2.0 * i) for i in range(20)]
    seen += [seen_at(60 + 3 * i, 63 + 3 * i, 40.0) for i in range(40)]
    seen += [seen_at(300 + 3 * i, 303 + 3 * i, 40.0 + 2.0 * i) for i in range(20)]
    found = activity(outlined(seen), ANYTHING, 1000)
    stretches = stretches_of(seen)
    stood_s = sum(one.seconds for one in stretches if one.motion is Motion.STANDING)
    driven_s = sum(one.seconds for one in stretches) - stood_s
    assert found.standing_s.sum() == pytest.approx(stood_s, abs=6.0)
    assert found.driving_s.sum() == pytest.approx(driven_s, abs=6.0)


def test_two_cameras_of_a_robot_do_not_double_its_time() -> None:
    front = [seen_at(3 * i, 3 * i + 3, 2.0 * i) for i in range(20)]
    rear = [seen_at(3 * i, 3 * i + 3, 2.0 * i + 0.1) for i in range(20)]
    found = activity(outlined(front + rear), ANYTHING, 1000)
    assert found.driving_s.sum() + found.standing_s.sum() == pytest.approx(60.0)
    assert found.driving_s.sum() >= 57.0  # before the first pair nobody knows


def test_a_stay_of_hours_stands_beside_a_drive() -> None:
    seen = [seen_at(0, 7200, 0.0), seen_at(7200, 7203, 1.0), seen_at(7203, 7206, 3.0)]
    found = activity(outlined(seen), ANYTHING, 10)
    assert found.standing_s.sum() == pytest.approx(7200.0)
    assert found.driving_s.sum() == pytest.approx(6.0)


def test_notes_and_objects_and_what_is_unplaced_are_stored_but_do_not_move() -> None:
    seen = [seen_at(0, 3, 0.0, source='person'), seen_at(3, 6, 9.0, source='object'), seen_at(6, 9, None)]
    found = activity(outlined(seen), ANYTHING, 10)
    assert found.stored.sum() == 3
    assert found.driving_s.sum() == found.standing_s.sum() == 0.0


def test_the_window_of_the_scope_is_that_of_the_bins() -> None:
    seen = outlined([seen_at(3 * i, 3 * i + 3, 2.0 * i) for i in range(20)])
    found = activity(seen, Scope(after_ns=T + 30 * NS, before_ns=T + 3600 * NS), 100)
    assert found.bin_s == 60
    assert found.start_ns == T
    assert len(found.stored) == 61
    assert found.stored[0] == 11  # the one that ends as the window begins is in it
    empty = activity(seen, Scope(after_ns=T + 86_400 * NS), 100)
    assert (empty.start_ns, empty.stored.tolist()) == (T + 86_400 * NS, [0])


def test_what_began_before_the_window_is_in_the_first_bin() -> None:
    found = activity(outlined([seen_at(0, 600, 0.0)]), Scope(after_ns=T + 300 * NS), 400)
    assert (found.start_ns, found.bin_s) == (T + 300 * NS, 1)
    assert found.stored[0] == 1
    assert found.standing_s.sum() == 300.0


@given(st.integers(0, MAX_NS), st.integers(0, MAX_NS), st.integers(2, 400))
def test_bins_are_of_a_round_length_and_hold_the_window(one: int, other: int, bins: int) -> None:
    after, before = sorted((one, other))
    found = activity(outlined([]), Scope(after_ns=after, before_ns=before), bins)
    assert 1 <= len(found.stored) <= bins
    assert found.bin_s in ROUND_S or found.bin_s % 86_400 == 0
    assert found.start_ns <= after
    assert before < found.start_ns + len(found.stored) * found.bin_s * NS


def test_a_day_begins_when_it_does_in_the_zone() -> None:
    month = Scope(after_ns=T, before_ns=T + 30 * 86_400 * NS)
    for hours in (-10, 0, 1, 5.5, 14):
        found = activity(outlined([]), month, 40, timezone(timedelta(hours=hours)))
        assert found.bin_s == 86_400
        assert (found.start_ns + round(hours * 3600) * NS) % (86_400 * NS) == 0
        assert found.start_ns <= T < found.start_ns + 86_400 * NS
    berlin = activity(outlined([]), month, 40, ZoneInfo('Europe/Berlin'))
    assert format_iso(berlin.start_ns).endswith('T23:00:00.000000Z')


def test_an_empty_memory_has_an_empty_timeline() -> None:
    found = activity(outlined([]), ANYTHING, 10)
    assert (found.start_ns, found.stored.tolist(), found.driving_s.tolist()) == (0, [0], [0.0])


def test_times_are_counted_by_bin() -> None:
    found = activity(outlined([]), Scope(after_ns=T, before_ns=T + 9 * NS), 10)
    times = [T - 1, T, T + NS - 1, T + 9 * NS, T + 10 * NS, MAX_NS]
    assert found.bins_of(times).tolist() == [2, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    assert found.bins_of([]).tolist() == [0] * 10


def test_no_bins_make_no_timeline() -> None:
    with pytest.raises(InvalidRequest, match='one or more'):
        activity(outlined([]), ANYTHING, 0)


HOUR, DAY = 3600, 86_400


@pytest.mark.parametrize(
    ('tours', 'left_out'),
    [
        ([], []),
        ([(0, HOUR)], []),
        ([(0, 600), (240 * DAY, 240 * DAY)], [(600, 240 * DAY)]),
        ([(0, 0), (HOUR, HOUR)], []),  # too short to be left out
        ([(0, HOUR), (DAY, DAY + HOUR), (300 * DAY, 300 * DAY + HOUR)], 'all'),  # the first is hidden, too
        ([(i * DAY, i * DAY + 9 * HOUR) for i in range(5)], []),  # nights
        ([(i * DAY, i * DAY + 600) for i in range(30)], []),  # too many
        ([(0, 50 * DAY), (10 * DAY, 11 * DAY), (60 * DAY, 61 * DAY)], []),  # of several robots
    ],
)
def test_what_would_hide_the_rest_is_left_out(tours: list[tuple[int, int]], left_out: Any) -> None:
    if left_out == 'all':
        left_out = [(a[1], b[0]) for a, b in pairwise(tours)]
    seen = [seen_at(start, end, None) for start, end in tours]
    found = [((a - T) // NS, (b - T) // NS) for a, b in gaps(outlined(seen))]
    assert found == left_out
