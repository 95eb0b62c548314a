"""Driving to poses: where the robot ends, and how far it was."""

import math

import pytest

from remembr_bench.evaluation.tasks.trial import WITHIN_M, WITHIN_RAD, drive_to
from remembr_ros.geometry import Pose, wrap_angle
from test.task_world import TaskWorld

WORLD = TaskWorld()


def test_the_robot_stops_as_soon_as_it_is_near_enough() -> None:
    goal = Pose(3.0, 3.0, yaw=math.pi / 2)
    [ended], driven = drive_to(Pose(1.0, 3.0), [goal], WORLD)
    assert math.dist((ended.x, ended.y), (3.0, 3.0)) == pytest.approx(WITHIN_M)
    assert abs(wrap_angle(ended.yaw - goal.yaw)) == pytest.approx(WITHIN_RAD)
    assert driven == pytest.approx(2.0 - WITHIN_M)


def test_it_drives_on_from_where_it_stopped() -> None:
    ended, driven = drive_to(Pose(1.0, 3.0), [Pose(3.0, 3.0), Pose(3.0, 1.0)], WORLD)
    assert [round(pose.x, 2) for pose in ended] == [2.75, 2.97]
    assert driven == pytest.approx(1.75 + math.dist((2.75, 3.0), (3.0, 1.0)) - WITHIN_M)


def test_who_is_there_already_does_not_move() -> None:
    [ended], driven = drive_to(Pose(1.0, 3.0, yaw=0.1), [Pose(1.1, 3.0)], WORLD)
    assert (ended.x, ended.y, driven) == (1.0, 3.0, 0.0)


def test_what_cannot_be_reached_ends_the_drive() -> None:
    walled = TaskWorld()
    walled.way = lambda start, goal: []  # type: ignore[method-assign]
    assert drive_to(Pose(1.0, 3.0), [Pose(6.0, 3.0)], walled) == ([], 0.0)
