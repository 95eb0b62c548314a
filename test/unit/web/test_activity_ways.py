import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.recall import ANYTHING, Scope
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.motion.track import GAP_NS
from remembr_ros.memory.motion.track import tracks as tracks_of_memories
from remembr_ros.timestamps import NS
from remembr_ros.web.activity import tracks
from remembr_ros.web.overview import Box
from test.unit.web.seen import memories, outlined, scopes

Way = list[Memory]


def ways_by_hand(seen: list[Memory], scope: Scope) -> list[Way]:
    """The same by a loop over the memories of each robot."""
    of_robot = defaultdict(list)
    for memory in sorted(seen, key=lambda m: (m.start_ns, m.id)):
        if memory.pose is not None and memory.source == 'captioner':
            of_robot[memory.robot].append(memory)
    found: list[Way] = []
    for own in of_robot.values():
        way: Way = []
        until_ns = 0
        for memory in own:
            if not scope.admits(memory):
                found.append(way)
                way = []
                continue
            if way and (memory.map_id != way[-1].map_id or memory.start_ns - until_ns > GAP_NS):
                found.append(way)
                way = []
            way = [*way, memory]
            until_ns = max(until_ns, memory.end_ns)
        found.append(way)
    return [way for way in found if way]


def as_rows(way: Way) -> tuple[str, str, list[tuple[float, float, int]]]:
    points = [(m.pose.x, m.pose.y, m.start_ns) for m in way if m.pose]
    return way[0].robot, way[0].map_id, points


def drawn(
    seen: list[Memory], scope: Scope = ANYTHING, points: int = 1000, box: Box | None = None
) -> list[tuple[str, str, list[tuple[float, float, int]]]]:
    return [
        (t.robot, t.map_id, list(zip(t.x.tolist(), t.y.tolist(), t.time_ns.tolist(), strict=True)))
        for t in tracks(outlined(seen), scope, points, box)
    ]


def drive(count: int, robot: str = 'r', **others: str) -> list[Memory]:
    """A robot that drives about for so many memories of 3 s."""
    return [
        Memory(f'{robot}{i:05}', robot, 3 * i * NS, 3 * i * NS + 2 * NS, '',
               Pose(10 * math.sin(i / 9) + i / 50, 10 * math.cos(i / 23)), **others)
        for i in range(count)
    ]  # fmt: skip


@given(memories(), scopes())
def test_ways_are_those_of_each_robot_in_the_order_of_time(seen: list[Memory], scope: Scope) -> None:
    assert sorted(drawn(seen, scope)) == sorted(map(as_rows, ways_by_hand(seen, scope)))


@given(memories(), st.integers(3, 40))
def test_of_too_many_points_some_of_the_same_ways_are_left(seen: list[Memory], points: int) -> None:
    whole, some = drawn(seen), drawn(seen, points=points)
    assert sum(len(way[2]) for way in some) <= points
    of_whole = {(robot, map_id, way[0]): way for robot, map_id, way in whole}
    for robot, map_id, way in some:
        full = of_whole[robot, map_id, way[0]]
        assert way[-1] == full[-1]
        assert [point for point in full if point in set(way)] == way
    if len(whole) <= points // 3:
        assert len(some) == len(whole)


@pytest.mark.parametrize('points', [60, 200, 600])
def test_the_shape_stays(points: int) -> None:
    (whole,) = tracks(outlined(drive(5000)), ANYTHING, 10_000)
    (some,) = tracks(outlined(drive(5000)), ANYTHING, points)
    drawn_x, drawn_y = (np.interp(whole.time_ns, some.time_ns, column) for column in (some.x, some.y))
    off = np.hypot(whole.x - drawn_x, whole.y - drawn_y)
    path = float(np.hypot(np.diff(whole.x), np.diff(whole.y)).sum())
    assert off.max() < 3.0 * path / points
    assert len(some.x) > points / 2
    assert (np.diff(some.time_ns) > 0).all()


def test_who_goes_and_comes_back_between_two_points_went() -> None:
    stood = [Memory(f'{i:03}', 'r', i * NS, i * NS, '', Pose(0.0, 0.0)) for i in range(100)]
    there = Memory('050', 'r', 50 * NS, 50 * NS, '', Pose(7.0, 0.0))
    (track,) = tracks(outlined([*stood[:50], there, *stood[51:]]), ANYTHING, 6)
    assert 7.0 in track.x.tolist()


def test_of_many_ways_the_longest_are_kept() -> None:
    seen = [
        Memory(f'{i:03}{k}', 'r', (3600 * i + k) * NS, (3600 * i + k) * NS, '', Pose(float(i * k), 0.0))
        for i in range(100)
        for k in range(2)
    ]
    found = tracks(outlined(seen), ANYTHING, 30)
    assert [t.x.tolist() for t in found] == [[0.0, float(i)] for i in range(90, 100)]


def test_a_way_that_crosses_a_box_is_drawn_from_before_it_to_after_it() -> None:
    seen = [Memory(f'{i}', 'r', i * NS, i * NS, '', Pose(float(i), 0.0)) for i in range(10)]
    crossing = [(float(i), 0.0, i * NS) for i in (3, 4, 5, 6)]
    assert drawn(seen, box=(3.5, -1.0, 5.0, 1.0)) == [('r', '', crossing)]
    assert drawn(seen, box=(3.2, -1.0, 3.8, 1.0)) == [('r', '', [(3.0, 0.0, 3 * NS), (4.0, 0.0, 4 * NS)])]
    assert drawn(seen, box=(3.0, 1.0, 5.0, 2.0)) == []


def test_a_way_that_leaves_a_box_and_comes_back_is_two() -> None:
    xs = (0.0, 1.0, 5.0, 6.0, 5.0, 1.0, 0.0)
    seen = [Memory(f'{i}', 'r', i * NS, i * NS, '', Pose(x, 0.0)) for i, x in enumerate(xs)]
    assert [len(t.x) for t in tracks(outlined(seen), ANYTHING, 100, (-1.0, -1.0, 2.0, 1.0))] == [3, 3]


def test_a_gap_of_half_a_minute_is_bridged_and_no_longer_one() -> None:
    def seen(gap_ns: int) -> list[Memory]:
        first = Memory('0', 'r', 0, 5 * NS, '', Pose(0.0, 0.0))
        return [first, Memory('1', 'r', 5 * NS + gap_ns, 6 * NS + gap_ns, '', Pose(1.0, 0.0))]

    assert len(drawn(seen(GAP_NS))) == 1
    assert len(drawn(seen(GAP_NS + 1))) == 2


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 40)), max_size=20))
def test_a_way_ends_where_the_tracks_of_the_answers_do(times: list[tuple[int, int]]) -> None:
    """On one map, and of one camera, whose memories follow each other: the outline does not know cameras."""
    seen: list[Memory] = []
    end_ns = 0
    for pause_s, lasts_s in times:
        start_ns = end_ns + pause_s * NS
        end_ns = start_ns + lasts_s * NS
        seen.append(Memory(f'{len(seen):02}', 'r', start_ns, end_ns, '', Pose(1.0, 2.0)))
    runs = [[memory.start_ns for memory in track.memories] for track in tracks_of_memories(seen)]
    assert [way.time_ns.tolist() for way in tracks(outlined(seen), ANYTHING, 1000)] == runs


def test_a_long_stay_bridges_the_gap_behind_a_short_memory_of_its_time() -> None:
    stay = Memory('0', 'r', 0, 7200 * NS, '', Pose(0.0, 0.0))
    short = Memory('1', 'r', 0, 3 * NS, '', Pose(0.0, 0.0))
    after = Memory('2', 'r', 7201 * NS, 7203 * NS, '', Pose(1.0, 0.0))
    assert len(drawn([stay, short, after])) == 1


def test_what_others_told_is_no_way() -> None:
    assert drawn(drive(10, source='person') + drive(10, robot='q', source='object')) == []


def test_two_points_make_no_way_of_many() -> None:
    with pytest.raises(InvalidRequest, match='3 or more'):
        tracks(outlined([]), ANYTHING, 2)
