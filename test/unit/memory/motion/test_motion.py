"""Stops, turns and legs from the poses of memories."""

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembr_ros.geometry import Pose, distance
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.motion.motion import Motion, Stretch, legs, stops, stretches, turns
from remembr_ros.timestamps import NS
from test.unit.agent.offline.test_motion_questions import drive, recall

START_NS = 1_700_000_000 * NS


def way(*legs_driven: tuple[float, float], **changes: object) -> list[Memory]:
    """Return memories of 3 s each.

    :param legs_driven: speed [m/s] and heading [degrees] in each
    """
    x = y = 0.0
    memories = []
    for i, (speed, degrees) in enumerate(legs_driven):
        yaw = math.radians(degrees)
        dx, dy = 3.0 * speed * math.cos(yaw), 3.0 * speed * math.sin(yaw)
        start_ns = START_NS + i * 3 * NS
        end_ns = start_ns + 28 * NS // 10
        pose = Pose(x + dx / 2, y + dy / 2, 0.0, yaw)
        memory = Memory(f'w{i:02}', 'robbie', start_ns, end_ns, 'x', pose, travelled=2.8 * speed)
        memories.append(replace(memory, **changes))  # type: ignore[arg-type]
        x, y = x + dx, y + dy
    return memories


STRAIGHT = (0.8, 0.0)


def kinds(found: list[Stretch]) -> list[str]:
    return [one.motion.value for one in found]


def test_a_straight_is_driven() -> None:
    (one,) = stretches(way(*[STRAIGHT] * 5))
    assert one.motion is Motion.DRIVING
    assert one.driven_m == pytest.approx(0.8 * 14.8, rel=0.01)
    assert one.speed == pytest.approx(0.8, rel=0.01)
    assert len(one.memories) == 5


def test_two_pictures_of_one_moment_are_one_stretch() -> None:
    first, second = way(STRAIGHT, STRAIGHT)
    second = replace(second, start_ns=first.start_ns, end_ns=first.start_ns)
    (one,) = stretches([replace(first, end_ns=first.start_ns), second])
    assert one.seconds == 0.0
    assert one.memories


def test_a_stay_is_a_stop_between_two_legs() -> None:
    found = stretches(way(STRAIGHT, STRAIGHT, *[(0.0, 0.0)] * 4, STRAIGHT, STRAIGHT))
    assert kinds(found) == ['driving', 'standing', 'driving']
    assert found[1].seconds == pytest.approx(11.8, abs=0.5)
    assert [len(of) for of in (stops(found), turns(found), legs(found))] == [1, 0, 2]


def test_a_merged_memory_is_a_stop_however_far_the_noise_of_poses_adds_up() -> None:
    memories = way(STRAIGHT, STRAIGHT, (0.0, 0.0))
    memories[-1] = replace(memories[-1], end_ns=memories[-1].start_ns + 600 * NS, merged=200, travelled=24.0)
    assert stops(stretches(memories))[0].seconds == pytest.approx(600.0, abs=5.0)


@pytest.mark.parametrize('side', [1, -1])
def test_a_corner_is_a_turn_by_the_heading_around_it(side: int) -> None:
    found = stretches(way(STRAIGHT, STRAIGHT, (0.5, side * 45.0), (0.8, side * 90.0), (0.8, side * 90.0)))
    (turn,) = turns(found)
    assert turn.motion is (Motion.LEFT if side > 0 else Motion.RIGHT)
    assert math.degrees(turn.turned_rad) == pytest.approx(side * 90.0)
    assert 'w02' in [memory.id for memory in turn.memories]


def test_a_turn_over_the_end_of_the_circle_is_as_small_as_it_is() -> None:
    (turn,) = turns(stretches(way((0.8, 150.0), (0.8, 150.0), (0.5, 180.0), (0.8, -150.0), (0.8, -150.0))))
    assert math.degrees(turn.turned_rad) == pytest.approx(60.0)


def test_a_turn_where_it_stands_does_not_end_the_stop() -> None:
    found = stretches(
        way(STRAIGHT, STRAIGHT, (0.0, 0.0), (0.0, 0.0), (0.0, 90.0), (0.0, 90.0), (0.8, 90.0), (0.8, 90.0))
    )
    assert len(stops(found)) == 1
    assert [math.degrees(turn.turned_rad) for turn in turns(found)] == [pytest.approx(90.0)]


def test_who_drives_slowly_does_not_stand() -> None:
    found = stretches(way(*[STRAIGHT] * 6, *[(0.3, 0.0)] * 5, *[STRAIGHT] * 3))
    assert kinds(found) == ['driving']


def test_a_source_without_headings_and_path_lengths_turns_as_its_path_does() -> None:
    memories = way(*[(1.4, 0.0)] * 5, *[(1.4, 90.0)] * 5, *[(0.0, 90.0)] * 4)
    bare = [replace(m, travelled=0.0, pose=replace(m.pose, yaw=0.0)) for m in memories if m.pose]
    found = stretches(bare)
    (turn,) = turns(found)
    assert math.degrees(turn.turned_rad) == pytest.approx(90.0, abs=2.0)
    assert len(stops(found)) == 1
    assert sum(one.driven_m for one in found) == pytest.approx(1.4 * 30, rel=0.1)
    assert found[0].memories[0] in bare  # as they are stored


@pytest.mark.parametrize('seed', range(4))
def test_the_tour_has_its_stops_and_turns(seed: int) -> None:
    of, found = drive(seed), stretches(recall(seed).memories)
    assert len(stops(found)) == len(of.halts)
    assert ['left' if turn.turned_rad > 0 else 'right' for turn in turns(found)] == [t.side for t in of.turns]
    for stop, (start, _) in zip(stops(found), of.halts, strict=True):
        assert stop.start is not None
        assert distance(stop.start.position, of.tour.pose_at(start).position) < 0.3


POSES = st.one_of(
    st.none(),
    st.builds(
        Pose,
        st.floats(-1e3, 1e3),
        st.floats(-1e3, 1e3),
        st.floats(-5, 5),
        st.floats(-math.pi, math.pi),
    ),
)


def _memory(
    name: tuple[str, str, str], span: tuple[int, int], pose: Pose | None, path: tuple[float, int], map_id: str
) -> Memory:
    (robot, source, camera), (start, length), (travelled, merged) = name, span, path
    times = start * NS, (start + length) * NS
    fields = {'map_id': map_id, 'travelled': travelled, 'merged': merged, 'source': source, 'camera': camera}
    return Memory(f'{name}{start}', robot, *times, 'x', pose, **fields)  # type: ignore[arg-type]


MEMORIES = st.lists(
    st.builds(
        _memory,
        st.tuples(
            st.sampled_from('ab'),
            st.sampled_from(['captioner', 'person', 'object']),
            st.sampled_from(['', 'rear']),
        ),
        st.tuples(st.integers(0, 300), st.integers(0, 40)),
        POSES,
        st.tuples(st.floats(0, 50), st.integers(1, 3)),
        st.sampled_from(['', 'm']),
    ),
    max_size=25,
)


@settings(deadline=None)
@given(MEMORIES)
def test_whatever_is_remembered_is_told_without_holes(memories: list[Memory]) -> None:
    found = stretches(memories)
    placed = {m.id for m in memories if m.pose is not None and m.source == 'captioner'}
    for one in found:
        assert one.memories
        assert {memory.id for memory in one.memories} <= placed
        assert len({(memory.robot, memory.map_id) for memory in one.memories}) == 1
        assert one.end_ns >= one.start_ns
        assert one.driven_m >= -1e-6
        assert math.isfinite(one.speed)
    assert bool(found) == bool(placed)
    for of in (stops(found), legs(found), turns(found)):
        assert all(one.end_ns >= one.start_ns for one in of)
