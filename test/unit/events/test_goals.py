import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.events.goals import HOLD_NS, Goals, kind_of
from remembr_ros.timestamps import NS
from test.unit.events.messages import (
    ABORTED,
    ACCEPTED,
    CANCELED,
    EXECUTING,
    SUCCEEDED,
    Message,
    T,
    path,
    pose,
    status,
    tree,
    uuid,
)

GO = '/navigate_to_pose'


def watched() -> Goals:
    goals = Goals(T)
    goals.is_of(GO, 'nav2_msgs/action/NavigateToPose')
    return goals


def told(goals: Goals, at_ns: int):
    return [(one.facts.outcome, one.begin_ns - T, one.end_ns - T) for one in goals.take(at_ns)]


@pytest.mark.parametrize(
    ('end', 'outcome'), [(SUCCEEDED, 'succeeded'), (CANCELED, 'cancelled'), (ABORTED, 'failed')]
)
def test_a_goal_is_told_once_when_it_is_over(end, outcome):
    goals = watched()
    for ns, how in ((0, ACCEPTED), (NS, EXECUTING), (5 * NS, end), (6 * NS, end)):
        goals.status(GO, status((1, T, how)), T + ns)
    assert len(goals) == 1
    assert told(goals, T + 5 * NS + HOLD_NS - 1) == []
    assert told(goals, T + 5 * NS + HOLD_NS) == [(outcome, 0, 5 * NS)]
    goals.status(GO, status((1, T, end)), T + 9 * NS)
    assert told(goals, T + 20 * NS) == []


def test_goals_that_were_over_before_are_somebody_else_s():
    goals = watched()
    goals.status(
        GO, status((1, T - 5 * NS, SUCCEEDED), (2, T - 5 * NS, EXECUTING), (3, T + 1, ABORTED)), T + NS
    )
    goals.status(
        GO, status((1, T - 5 * NS, SUCCEEDED), (2, T - 5 * NS, SUCCEEDED), (3, T + 1, ABORTED)), T + 2 * NS
    )
    assert sorted(told(goals, T + 9 * NS)) == [('failed', 1, NS), ('succeeded', -5 * NS, 2 * NS)]


def test_a_server_that_goes_away_or_forgets():
    goals = watched()
    goals.status(GO, status((1, T, EXECUTING)), T + NS)
    goals.status('/other', status((2, T, EXECUTING)), T + NS)
    goals.gone(GO, T + 2 * NS)
    goals.status('/other', status(), T + 3 * NS)
    lost, forgotten = goals.take(T + 9 * NS)
    assert lost.facts.reason == 'its action server went away'
    assert forgotten.facts.reason == 'its action server does not know of it any more'
    assert (lost.end_ns, forgotten.end_ns) == (T + 2 * NS, T + 3 * NS)
    goals.status(GO, status((1, T, SUCCEEDED)), T + 10 * NS)
    (found,) = goals.take(T + 20 * NS)
    assert found.facts.outcome == 'succeeded', 'it was there all the time'
    assert found.memory('r').id == lost.memory('r').id


def test_plans_and_failed_nodes_belong_to_who_drove_then():
    goals = watched()
    goals.plan(path(1.0), T)
    goals.status(GO, status((1, T, EXECUTING)), T)
    goals.plan(path(3.0), T + NS)
    goals.plan(path(9.0, 'odom'), T + NS)
    goals.tree(
        tree(
            T + NS,
            ('GoalUpdated', 'IDLE', 'FAILURE'),
            ('ComputePathToPose', 'RUNNING', 'FAILURE'),
            ('FollowPath', 'RUNNING', 'SUCCESS'),
            ('NavigateRecovery', 'RUNNING', 'FAILURE'),
        ),
        T + NS,
    )
    goals.status(GO, status((1, T, ABORTED)), T + 2 * NS)
    goals.tree(tree(T + 5 * NS, ('Spin', 'RUNNING', 'FAILURE')), T + 2 * NS)
    (made,) = goals.take(T + 9 * NS)
    assert made.goal == (3.0, 0.0, 0.0)
    assert made.facts.details['failed_nodes'] == ['ComputePathToPose']
    assert made.facts.reason == 'ComputePathToPose failed'


def test_feedback_and_introspection_may_come_before_the_status():
    goals = watched()
    asked = Message(pose=pose(4.0), object_name='red mug', __dataclass_fields__={'object_name': 0})
    goals.told(uuid(1).uuid.hex()).asked = asked
    goals.feedback(Message(goal_id=uuid(1), feedback=Message(number_of_recoveries=3, other=1)))
    goals.status(GO, status((1, T, EXECUTING)), T)
    goals.status(GO, status((1, T, ABORTED)), T + NS)
    result = Message(error_code=7, error_msg='no way', __dataclass_fields__={'error_code': 0, 'error_msg': 0})
    goals.told(uuid(1).uuid.hex()).result = result
    (made,) = goals.take(T + 9 * NS)
    assert (made.goal, made.facts.object, made.facts.reason) == ((4.0, 0.0, 0.0), 'red mug', 'no way')
    assert made.facts.details == {
        'action': GO,
        'goal': {'object_name': 'red mug'},
        'result': {'error_code': 7, 'error_msg': 'no way'},
        'number_of_recoveries': 3,
    }


def test_what_nobody_sees_the_end_of_is_told_at_the_end():
    goals = watched()
    goals.status(GO, status((1, T, EXECUTING)), T)
    (made,) = goals.end(T + NS)
    assert (made.facts.outcome, made.facts.reason) == ('unknown', 'nobody saw how it ended')
    assert goals.end(T + NS) == []


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 6), st.integers(-3, 3)), max_size=30))
def test_whatever_a_server_says_each_goal_is_told_once(said):
    goals, now_ns, made = watched(), T, []
    for number, how, step in said:
        now_ns = max(now_ns + step * NS, 1)  # clocks jump
        goals.status(
            GO, status(*((n, T, how if n == number else EXECUTING) for n in range(number + 1))), now_ns
        )
        made += goals.take(now_ns)
    made += goals.end(now_ns)
    over = [one.key for one in made if one.facts.outcome != 'unknown']
    assert len(over) == len(set(over))
    assert all(one.end_ns >= one.begin_ns for one in made)


@pytest.mark.parametrize(
    ('msgtype', 'kind'),
    [
        ('nav2_msgs/action/NavigateToPose', ('go', '')),
        ('nav2_msgs/action/FollowWaypoints', ('go', '')),
        ('nav2_msgs/action/DockRobot', ('dock', '')),
        ('nav2_msgs/action/UndockRobot', ('undock robot', '')),
        ('my_msgs/action/PickObject', ('pick', '')),
        ('my_msgs/action/OpenDoor', ('open', 'door')),
        ('control_msgs/action/FollowJointTrajectory', ('follow joint trajectory', '')),
        ('', ('water plants', '')),
    ],
)
def test_kinds_of_actions(msgtype, kind):
    assert kind_of(msgtype, '/robot/water_plants') == kind
