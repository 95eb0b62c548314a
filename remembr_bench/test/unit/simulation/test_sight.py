import dataclasses
import math

import numpy as np
import pytest

from remembr_bench.simulation.building import Building, SignPanel, Solid, Thing
from remembr_bench.simulation.sight import CENTRE_PX, FOCAL_PX, UP_M, Sight, project
from remembr_ros.geometry import Pose

WEST = math.pi
SIGN = SignPanel('ROOM 101', 'hall', (4.0, 0.0, 1.5), WEST, 0.16, (255, 255, 255), (0, 0, 0))
BOX = Thing('box', 'hall', (Solid((2.9, -0.2, 0.8), (3.1, 0.2, 1.2), (200, 0, 0)),))
SCREEN = Solid((1.5, -2.0, 0.0), (1.6, 2.0, 2.5), (90, 90, 90))


def hall(signs=(), things=(), walls=()) -> Building:
    return Building(0, (10.0, 10.0), tuple(walls), (), tuple(signs), tuple(things), ())


def test_what_is_straight_ahead_is_in_the_middle():
    # the camera is 0.2 m before base_link
    column, row, depth = project(Pose(1.0, 1.0, 0.0, math.pi / 2), np.array([[1.0, 4.2, UP_M]]))[0]
    assert (column, row) == pytest.approx(CENTRE_PX)
    assert depth == pytest.approx(3.0)


def test_left_is_left_and_up_is_up():
    column, row, _ = project(Pose(0.0, 0.0), np.array([[2.2, 1.0, UP_M + 0.5]]))[0]
    assert column == pytest.approx(CENTRE_PX[0] - FOCAL_PX / 2)
    assert row == pytest.approx(CENTRE_PX[1] - FOCAL_PX / 4)


def test_what_is_behind_has_no_positive_depth():
    assert project(Pose(0.0, 0.0), np.array([[-3.0, 0.0, 1.0]]))[0, 2] < 0.0


def test_near_sign_ahead_is_readable():
    assert Sight(hall([SIGN])).signs(Pose(0.0, 0.0)) == [SIGN]


@pytest.mark.parametrize(
    ('pose', 'why'),
    [
        (Pose(-8.5, 0.0), 'its letters are lower than 7 px'),
        (Pose(0.0, 0.0, 0.0, 0.6), 'it is not wholly in the image'),
        (Pose(0.0, 0.0, 0.0, WEST), 'it is behind the robot'),
        (Pose(3.0, -2.0, 0.0, 1.2), 'it is seen from the side'),
        (Pose(8.0, 0.0, 0.0, WEST), 'its back is seen'),
    ],
)
def test_sign_is_not_readable(pose, why):
    assert not Sight(hall([SIGN])).can_read(pose, SIGN), why


def test_flag_sign_is_readable_from_behind_too():
    flag = dataclasses.replace(SIGN, two_sided=True)
    assert Sight(hall([flag])).can_read(Pose(8.0, 0.0, 0.0, WEST), flag)


def test_wall_hides_a_sign():
    assert not Sight(hall([SIGN], walls=[SCREEN])).can_read(Pose(0.0, 0.0), SIGN)


def test_wall_behind_a_sign_does_not_hide_it():
    behind = Solid((4.03, -2.0, 0.0), (4.2, 2.0, 2.5), (90, 90, 90))
    assert Sight(hall([SIGN], walls=[behind])).can_read(Pose(0.0, 0.0), SIGN)


def test_nearer_sign_hides_a_farther_one():
    nearer = dataclasses.replace(SIGN, text='ROOM 102', centre=(2.5, 0.0, 1.36))
    assert not Sight(hall([SIGN, nearer])).can_read(Pose(0.0, 0.0), SIGN)


def test_thing_ahead_is_recognised_and_its_own_solids_do_not_hide_it():
    assert Sight(hall(things=[BOX])).things(Pose(0.0, 0.0)) == [BOX]


@pytest.mark.parametrize('pose', [Pose(-6.0, 0.0), Pose(0.0, 0.0, 0.0, WEST), Pose(0.0, 0.0, 0.0, 1.0)])
def test_far_or_unseen_thing_is_not_recognised(pose):
    assert Sight(hall(things=[BOX])).things(pose) == []


def test_wall_hides_a_thing():
    assert Sight(hall(things=[BOX], walls=[SCREEN])).things(Pose(0.0, 0.0)) == []
