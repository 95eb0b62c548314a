"""Where a robot that searches looks round."""

import math

import pytest

from remembr_ros.geometry import Pose
from remembr_ros.navigation.plan import looking_round

START = Pose(0.0, 0.0, 0.0, 0.5)


def headings(stop: list[Pose]) -> list[float]:
    return sorted(round(math.degrees(pose.yaw - stop[0].yaw)) % 360 for pose in stop)


def test_it_looks_round_where_it_is_first() -> None:
    [stop] = looking_round(START, [])
    assert [pose.position for pose in stop] == [START.position] * 3
    assert START not in stop  # there it looks already
    assert headings([START, *stop]) == [0, 90, 180, 270]


def test_it_looks_round_in_each_part_of_a_place_once() -> None:
    goals = [Pose(1.0, 0.0), Pose(5.0, 0.0), Pose(5.0, 1.0), Pose(5.0, 3.0, 0.0, math.pi)]
    _, near, far, beside, further = looking_round(START, goals)
    assert [len(stop) for stop in (near, far, beside, further)] == [1, 4, 1, 4]
    assert [stop[0] for stop in (near, far, beside, further)] == goals
    assert headings(further) == [0, 90, 180, 270]
    assert all(-math.pi <= pose.yaw <= math.pi for pose in further)


@pytest.mark.parametrize('turns', [1, 5])
def test_goals_are_taken_one_by_one(turns: int) -> None:
    taken = []

    def goals():
        for i in range(10):
            taken.append(i)
            yield Pose(3.0 * i + 3.0, 0.0)

    stops = looking_round(START, goals())
    for _ in range(turns):
        next(stops)
    assert taken == [*range(turns - 1)]
