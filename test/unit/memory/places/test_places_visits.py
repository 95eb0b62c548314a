from dataclasses import replace

from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.places.place import place
from remembr_ros.memory.places.places import Places, visits
from remembr_ros.timestamps import NS

T = 1_700_000_000 * NS
KNOWN = Places(
    place(name, outline=[(x, 0), (x + 10, 0), (x + 10, 5), (x, 5)]).memory
    for name, x in (('kitchen', 0), ('hall', 10))
)


def drive(*xs: float, start_s: float = 0.0, step_s: float = 3.0, robot: str = 'r') -> list[Memory]:
    return [
        Memory(f'{robot}{start_s}{i}', robot, T + round((start_s + i * step_s) * NS),
               T + round((start_s + (i + 0.9) * step_s) * NS), '', Pose(x, 2.0))
        for i, x in enumerate(xs)
    ]  # fmt: skip


def told(memories: list[Memory]) -> list[tuple[str, float, float, float]]:
    return [
        (one.place.name, (one.start_ns - T) / NS, (one.end_ns - T) / NS, round(one.spent_ns / NS, 1))
        for one in visits(memories, KNOWN)
    ]


def test_from_room_to_room():
    memories = drive(1, 2, 3, 12, 13, 25, 26, 2, 2, 2, 2, 2)
    assert told(memories[::-1]) == [
        ('kitchen', 0.0, 9.0, 9.0),
        ('hall', 9.0, 15.0, 15.0 - 9.0),
        ('kitchen', 21.0, 35.7, 14.7),
    ]
    assert [len(one.memories) for one in visits(memories, KNOWN)] == [3, 2, 5]


def test_a_pose_that_drifts_over_the_threshold_is_no_visit_more():
    assert told(drive(9, 9.9, 10.1, 9.9, 9)) == [('kitchen', 0.0, 14.7, 11.7), ('hall', 6.0, 9.0, 3.0)]


def test_what_nobody_knows_is_not_spent():
    later = drive(1, 1, start_s=3600.0)
    assert told(drive(1, 1) + later) == [('kitchen', 0.0, 5.7, 5.7), ('kitchen', 3600.0, 3605.7, 5.7)]


def test_each_robot_for_itself_and_nothing_but_where_cameras_were():
    notes = [replace(one, source='person') for one in drive(12, 12)]
    assert told(drive(1, 1, 1) + drive(12, 12, 12, robot='q') + notes) == [
        ('hall', 0.0, 8.7, 8.7),
        ('kitchen', 0.0, 8.7, 8.7),
    ]
    assert told([]) == []


def test_within_a_time():
    (one,) = visits(drive(1, 1, 1, 1), KNOWN)
    cut = one.within(T + 3 * NS, T + 6 * NS)
    assert cut is not None
    assert (cut.start_ns, cut.end_ns, cut.spent_ns) == (T + 3 * NS, T + 6 * NS, 3 * NS)
    assert one.within(T + 100 * NS, None) is None
    assert one.within(None, None) == one
