import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.agent.model.answer import Answer, Kind
from remembr_ros.errors import GoalRejected, NoPlace
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import Memory
from remembr_ros.navigation.plan import goal_from_answer

POSE = Pose(1.0, 2.0, 0.1, 0.5)
MEMORY = Memory('m', 'robbie', 0, 1, 'A lift.', pose=POSE, map_id='ground')
ANSWER = Answer(
    Kind.POSITION,
    'There',
    'offline',
    pose=POSE,
    frame_id='map',
    map_id='ground',
    evidence=(Hit(MEMORY, 1.0),),
)


def test_a_position_becomes_a_goal_that_faces_as_the_robot_did() -> None:
    assert goal_from_answer(ANSWER, frame_id='map', map_id='ground') == POSE


@pytest.mark.parametrize('kind', [kind for kind in Kind if kind is not Kind.POSITION])
def test_only_a_position_becomes_a_goal(kind: Kind) -> None:
    with pytest.raises(NoPlace, match=kind.value):
        goal_from_answer(replace(ANSWER, kind=kind), frame_id='map', map_id='ground')


@pytest.mark.parametrize(
    ('changes', 'frame_id', 'map_id', 'message'),
    [
        ({'evidence': ()}, 'map', 'ground', 'no memory'),
        ({'pose': None}, 'map', 'ground', 'no place'),
        ({}, 'odom', 'ground', "'map'.*'odom'"),
        ({'frame_id': ''}, 'map', 'ground', 'frame'),
        ({}, 'map', 'first', "'ground'.*'first'"),
        ({}, 'map', '', 'ground'),
        ({'map_id': ''}, 'map', 'ground', 'map'),
        ({'pose': Pose(math.nan, 0.0)}, 'map', 'ground', 'finite'),
        ({'pose': Pose(0.0, math.inf)}, 'map', 'ground', 'finite'),
        ({'pose': Pose(0.0, 0.0, -math.inf)}, 'map', 'ground', 'finite'),
        ({'pose': Pose(0.0, 0.0, 0.0, math.nan)}, 'map', 'ground', 'finite'),
    ],
)
def test_a_goal_that_could_not_be_right_is_rejected(
    changes: dict[str, object], frame_id: str, map_id: str, message: str
) -> None:
    with pytest.raises(GoalRejected, match=message):
        goal_from_answer(replace(ANSWER, **changes), frame_id=frame_id, map_id=map_id)


@given(st.floats(-1e6, 1e6))
def test_the_goals_yaw_is_the_same_direction_within_one_turn(yaw: float) -> None:
    answer = replace(ANSWER, pose=replace(POSE, yaw=yaw))
    goal = goal_from_answer(answer, frame_id='map', map_id='ground')
    assert -math.pi <= goal.yaw <= math.pi
    assert math.cos(goal.yaw) == pytest.approx(math.cos(yaw), abs=1e-6)
    assert math.sin(goal.yaw) == pytest.approx(math.sin(yaw), abs=1e-6)
