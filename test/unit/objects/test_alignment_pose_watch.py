"""Which ways of a camera were driven and which are jumps, and when a jump is over."""

import math

from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.geometry import Transform, compose, quaternion_from_yaw
from remembr_ros.objects.alignment import AGREED, FASTEST_M_S, PATIENCE_NS, PoseWatch
from remembr_ros.timestamps import NS
from test.object_scene import AHEAD, T0

MOUNT: Transform = ((0.4, -0.1, 1.1), AHEAD[1])
"""Of a camera on a robot that turns about its middle."""

directions = st.floats(-math.pi, math.pi)
places = st.tuples(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3), directions)
frames = st.floats(0.001, 100.0)
"""From one image to the next [s]."""


def camera(x: float, y: float, yaw: float) -> Transform:
    return compose(((x, y, 0.0), quaternion_from_yaw(yaw)), MOUNT)


def jumped(start: tuple[float, float, float], stop: tuple[float, float, float], seconds: float) -> bool:
    """Tell whether a camera that was at one place, and so much later at another one, jumped."""
    watch = PoseWatch()
    assert not watch.jumped(T0, camera(*start))
    found = watch.jumped(T0 + round(seconds * NS), camera(*stop))
    assert watch.unsettled == found
    return found


@given(places, st.lists(st.tuples(frames, st.floats(-2.0, 2.0), st.floats(-2.0, 2.0)), max_size=20))
def test_a_drive_at_any_frame_rate_is_none(
    start: tuple[float, float, float], steps: list[tuple[float, float, float]]
) -> None:
    (x, y, yaw), now_ns, watch = start, T0, PoseWatch()
    watch.jumped(now_ns, camera(x, y, yaw))
    for seconds, speed, turn_rate in steps:
        now_ns += round(seconds * NS)
        x += seconds * speed * math.cos(yaw)
        y += seconds * speed * math.sin(yaw)
        yaw += seconds * turn_rate
        assert not watch.jumped(now_ns, camera(x, y, yaw))
    assert not watch.unsettled


@given(places, directions, st.floats(0.6, 1e3), st.floats(-0.1, 0.1))
def test_where_nobody_drives_within_a_tenth_of_a_second_is_one(
    start: tuple[float, float, float], direction: float, metres: float, seconds: float
) -> None:
    x, y, yaw = start
    aside = x + metres * math.cos(direction), y + metres * math.sin(direction), yaw
    assert jumped(start, aside, seconds)


@given(places, st.floats(math.radians(60.0), math.radians(300.0)), st.floats(0.0, 0.1))
def test_so_is_a_turn_that_nobody_makes(
    start: tuple[float, float, float], turn: float, seconds: float
) -> None:
    x, y, yaw = start
    assert jumped(start, (x, y, yaw + turn), seconds)


@given(places, places, st.floats(300.0, 1e6))
def test_after_a_long_time_it_may_be_anywhere_near(
    start: tuple[float, float, float], stop: tuple[float, float, float], seconds: float
) -> None:
    far = math.dist(start[:2], stop[:2]) + 2.0
    assert not jumped(start, stop, max(seconds, far / FASTEST_M_S))


looks = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)).map(lambda pair: (max(pair), min(pair))))
"""How many things each image shows, and how many of these are known."""


@given(looks)
def test_it_is_over_once_enough_is_known_of_what_is_seen(of_images: list[tuple[int, int]]) -> None:
    watch = PoseWatch()
    watch.jumped(T0, camera(0.0, 0.0, 0.0))
    watch.jumped(T0 + 1, camera(5.0, 0.0, 0.0))
    seen = known = 0
    for number, (some, of_them) in enumerate(of_images):
        watch.compare(T0 + number + 1, some, [T0] * of_them)
        seen, known = seen + some, known + of_them
        settled = known >= AGREED and 2 * known >= seen
        assert watch.unsettled == (not settled)
        if settled:
            break


@given(st.integers(-(10**18), 10**18))
def test_it_is_over_in_the_end_and_where_the_clock_starts_over(later_ns: int) -> None:
    watch = PoseWatch()
    watch.jumped(T0, camera(0.0, 0.0, 0.0))
    watch.jumped(T0 + 1, camera(5.0, 0.0, 0.0))
    watch.compare(T0 + 1 + later_ns, 3, [])
    assert watch.unsettled == (0 <= later_ns <= PATIENCE_NS)


def test_another_jump_begins_anew() -> None:
    watch = PoseWatch()
    watch.jumped(T0, camera(0.0, 0.0, 0.0))
    for number in range(1, 5):
        assert watch.jumped(T0 + number, camera(5.0 * number, 0.0, 0.0))
        watch.compare(T0 + number, AGREED - 1, [T0] * (AGREED - 1))
        assert watch.unsettled
    watch.compare(T0 + 5, 1, [T0])
    assert not watch.unsettled
    assert not watch.jumped(T0 + 6, camera(20.0, 0.0, 0.0))
    assert not watch.unsettled


def epoch(known_in_it: int, older: int) -> PoseWatch:
    """Return a watch of a camera that jumped after ten seconds, and then recognised things of so long ago."""
    watch = PoseWatch()
    watch.jumped(T0, camera(0.0, 0.0, 0.0))
    watch.recognise(known_in_it)
    watch.jumped(T0 + 10, camera(0.0, 0.0, 0.0))
    assert watch.jumped(T0 + 11, camera(5.0, 0.0, 0.0))
    watch.compare(T0 + 12, 8, [T0 - 1] * older + [T0 + 1] * (8 - older))
    assert not watch.unsettled
    return watch


def test_a_pose_by_which_nothing_older_was_recognised_was_wrong_if_that_is_now() -> None:
    assert epoch(0, AGREED).wrong == (T0, T0 + 10)
    assert epoch(AGREED, AGREED).wrong is None
    assert epoch(0, AGREED - 1).wrong is None
