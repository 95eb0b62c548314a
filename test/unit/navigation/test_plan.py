import math
from dataclasses import replace

import pytest

from remembr_ros.agent.model.answer import Answer, Kind
from remembr_ros.errors import GoalRejected
from remembr_ros.geometry import Pose, StampedPose
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import Memory
from remembr_ros.navigation.plan import Plan, Rules, describe, plan_goals
from remembr_ros.navigation.terrain import KeepOut, Terrain
from test.unit.navigation.grids import drawn

HALL = drawn(*['.' * 40] * 19, '#' * 40)
NOWHERE = Terrain()


def hit(x: float, y: float, yaw: float = 0.0, **fields) -> Hit:
    memory = Memory(f'{x}-{y}', 'robbie', 0, 1, 'A printer.', pose=Pose(x, y, 0.0, yaw))
    return Hit(replace(memory, **fields), 1.0)


def answer(*hits: Hit, every: bool = True) -> Answer:
    return Answer(
        Kind.POSITION, 'There', 'offline', pose=hits[0].memory.pose, evidence=hits, every_place=every
    )


def places(plan: Plan) -> list[tuple[float, float]]:
    return [(goal.pose.x, goal.pose.y) for goal in plan.goals]


def test_one_place_is_one_goal_as_it_was_seen() -> None:
    found = plan_goals(
        answer(hit(5, 5, 2.0), hit(30, 5), every=False), Rules(), Terrain(map=HALL), stamp_ns=7
    )
    assert found == Plan((StampedPose(7, Pose(5, 5, 0.0, 2.0), 'map'),))
    assert describe(found.goals) == 'to x 5.00 m, y 5.00 m'


def test_every_place_is_visited_once_in_the_shortest_order() -> None:
    hits = [hit(30, 5), hit(31, 6), hit(10, 5), hit(20, 5), hit(11, 5)]
    found = plan_goals(answer(*hits), Rules(), Terrain(map=HALL), here=Pose(1, 5))
    assert places(found) == [(10, 5), (20, 5), (30, 5)]
    cited = plan_goals(answer(*hits), Rules(order='as_cited'), Terrain(map=HALL), here=Pose(1, 5))
    assert places(cited) == [(30, 5), (10, 5), (20, 5)]
    assert describe(cited.goals) == 'to 3 places, x 30.00 m, y 5.00 m first'


def test_things_and_deeds_have_places_of_their_own() -> None:
    hits = [hit(10, 5), hit(11, 5), *(hit(x, 5, source='agent') for x in (12, 14, 14.4))]
    found = plan_goals(answer(*hits), Rules(), Terrain(map=HALL), here=Pose(1, 5))
    assert places(found) == [(10, 5), (12, 5), (14, 5), (14.4, 5)]


def test_what_is_to_be_visited_in_its_order_is() -> None:
    hits = [hit(30, 5, source='agent'), hit(10, 5), hit(20, 5, source='agent')]
    ordered = replace(answer(*hits), in_order=True)
    found = plan_goals(ordered, Rules(), Terrain(map=HALL), here=Pose(1, 5))
    assert places(found) == [(30, 5), (10, 5), (20, 5)]


def test_of_every_place_those_that_cannot_be_are_left_out_with_a_reason() -> None:
    hits = [hit(10, 5), hit(90, 5), hit(20, 5, map_id='attic'), hit(30, 5)]
    unplaced = Hit(replace(hits[0].memory, id='nowhere', pose=None), 0.5)
    found = plan_goals(answer(*hits, unplaced), Rules(), Terrain(map=HALL))
    assert sorted(places(found)) == [(10, 5), (30, 5)]
    assert len(found.left_out) == 2
    assert 'attic' in ' '.join(found.left_out)
    assert 'outside the map' in ' '.join(found.left_out)


def test_how_near_makes_one_place_is_a_rule_and_a_wall_makes_two() -> None:
    hits = [hit(10, 5), hit(14, 5), hit(30, 5)]
    free = Terrain(map=HALL)
    assert len(plan_goals(answer(*hits), Rules(), free).goals) == 2
    assert len(plan_goals(answer(*hits), Rules(same_place_m=3.0), free).goals) == 3
    walled = Terrain(map=drawn(*['.' * 12 + '#' + '.' * 27] * 18, '.' * 40, '#' * 40))
    assert len(plan_goals(answer(*hits), Rules(), walled).goals) == 3
    assert len(plan_goals(answer(*hits), Rules(), Terrain(costmap=walled.map)).goals) == 2, 'no map'


def test_more_places_than_allowed_are_left_out() -> None:
    found = plan_goals(answer(hit(5, 5), hit(15, 5), hit(25, 5)), Rules(max_places=2), Terrain(map=HALL))
    assert sorted(places(found)) == [(5, 5), (15, 5)]
    assert 'max_places' in found.left_out[0]


def test_from_a_blocked_place_the_nearest_free_one_faces_what_was_seen() -> None:
    # It stood in what is a wall by now, and looked up at an obstacle that the map has.
    terrain = Terrain(map=drawn('..#..', '.....', '.....', '#####'))
    goal = plan_goals(answer(hit(2.5, 0.6, math.pi / 2)), Rules(), terrain).goals[0].pose
    assert (goal.x, goal.y) == (2.5, 1.5)
    assert goal.yaw == pytest.approx(math.pi / 2)


@pytest.mark.parametrize('source', ['person', 'object'])
def test_a_marked_thing_is_faced_where_it_is(source: str) -> None:
    terrain = Terrain(map=drawn('.....', '##...'))
    goal = plan_goals(answer(hit(1.9, 0.9, 3.0, source=source)), Rules(), terrain).goals[0].pose
    assert (goal.x, goal.y) == (1.5, 1.5)
    assert goal.yaw == pytest.approx(math.atan2(-0.6, 0.4))


@pytest.mark.parametrize(
    ('rules', 'terrain', 'here', 'message'),
    [
        (Rules(require_map=True), NOWHERE, None, 'no map.*require_map'),
        (Rules(search_radius_m=0.5), Terrain(map=HALL), None, 'occupied in the map.*goal_search_radius'),
        (Rules(max_distance_m=3.0), NOWHERE, Pose(5, 5), r'4\.5 m from here, more than the 3 m'),
        (Rules(max_distance_m=3.0), NOWHERE, None, 'where the robot is.*pose_source'),
        (
            Rules(search_radius_m=0.4),
            Terrain(keep_out=(KeepOut.parse('0 0, 9 0, 9 9, 0 9'),)),
            None,
            'keep-out.*keep_out',
        ),
        (Rules(frame_id='odom'), NOWHERE, None, "'map'.*'odom'"),
    ],
    ids=['no map', 'blocked', 'too far', 'not localised', 'keep-out', 'frame'],
)
def test_a_refusal_says_why_and_what_to_do(rules, terrain, here, message) -> None:
    for every in (False, True):
        with pytest.raises(GoalRejected, match=message):
            plan_goals(answer(hit(5, 0.5), every=every), rules, terrain, here=here)
