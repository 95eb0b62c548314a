"""From an object to a place from which it can be seen."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.agent.model.answer import Answer, Kind
from remembr_ros.errors import GoalRejected
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.objects.known import KnownObject
from remembr_ros.navigation.grid import Grid
from remembr_ros.navigation.plan import FARTHEST_M, STAND_OFF_M, STEEP, Rules, plan_goals
from remembr_ros.navigation.terrain import KeepOut, Terrain
from test.object_room import thing
from test.object_scene import T0

OPEN = Terrain()


def seen_from(
    x: float, y: float, at: tuple[float, float] = (0.0, 0.0), above: float = 0.5, **changes: object
) -> KnownObject:
    eye = (x - at[0], y - at[1], above)
    return thing('cup', (*at, 0.7), (0.2, 0.2, 0.1), sightings=((T0, (0, 0, 0), eye),), **changes)


def goal(known: KnownObject, terrain: Terrain = OPEN, here: Pose | None = None, **rules: float) -> Pose:
    memory = known.memory
    answer = Answer(Kind.POSITION, '', 'rules', pose=memory.pose, evidence=(Hit(memory, 1.0),))
    [found] = plan_goals(answer, Rules(**rules), terrain, here=here).goals  # type: ignore[arg-type]
    return found.pose


def room(*walls: tuple[float, float, float, float]) -> Terrain:
    """Return a room of 8 m x 8 m around the origin, in cells of 5 cm, with walls: least x and y, greatest."""
    cells = np.zeros((160, 160), np.int8)
    for x0, y0, x1, y1 in walls:
        columns, rows = ([round((edge + 4.0) / 0.05) for edge in ends] for ends in ((x0, x1), (y0, y1)))
        cells[rows[0] : rows[1], columns[0] : columns[1]] = 100
    return Terrain(map=Grid(cells, 0.05, Pose(-4.0, -4.0)))


@given(st.floats(-math.pi, math.pi), st.floats(0.5, 4.0))
def test_it_is_seen_from_the_side_that_it_was_seen_from(angle: float, away: float) -> None:
    found = goal(seen_from(away * math.cos(angle), away * math.sin(angle)))
    assert math.hypot(found.x, found.y) == pytest.approx(0.1 + STAND_OFF_M, abs=1e-6)
    assert math.cos(math.atan2(found.y, found.x) - angle) == pytest.approx(1.0)
    assert math.cos(found.yaw - angle) == pytest.approx(-1.0)


def test_the_robot_stands_before_the_table_that_it_lies_on() -> None:
    found = goal(seen_from(3.0, 0.0), room((-0.5, -0.5, 0.5, 0.5)))
    assert found.x > 0.5
    assert abs(found.y) < 0.1
    assert math.cos(found.yaw) == pytest.approx(-1.0, abs=0.02)


def test_no_wall_is_between() -> None:
    # It stands close to a wall, and could be stood nearer to on its other side.
    terrain = room((0.3, -4.0, 0.4, 4.0), (-4.0, -4.0, 0.3, -1.2), (-4.0, 1.2, 0.3, 4.0))
    found = goal(seen_from(2.0, 0.0), terrain)
    assert found.x < 0.3


def test_what_cannot_be_reached_is_no_goal() -> None:
    box = ((-1.5, -1.5, 1.5, -1.4), (-1.5, 1.4, 1.5, 1.5), (-1.5, -1.5, -1.4, 1.5), (1.4, -1.5, 1.5, 1.5))
    with pytest.raises(GoalRejected, match=r'from no free place within 1.7 m can cup.*goal_search_radius'):
        goal(seen_from(1.0, 0.0), room(*box), Pose(3.0, 3.0))
    assert goal(seen_from(1.0, 0.0), room(*box), Pose(1.0, 0.5)).x > 0.0


def test_keep_out_areas_and_distances_count() -> None:
    kept = Terrain(keep_out=(KeepOut.parse('0 -5, 5 -5, 5 5, 0 5'),))
    assert goal(seen_from(3.0, 0.0), kept).x < 0.0
    with pytest.raises(GoalRejected, match='from here, more than the 1 m'):
        goal(seen_from(3.0, 0.0), here=Pose(3.0, 3.0), max_distance_m=1.0)


def test_of_a_direction_alone_the_place_it_was_seen_from_counts() -> None:
    found = goal(seen_from(3.0, 0.0, measured=False))
    assert (found.x, found.y) == pytest.approx((3.0, 0.0))
    assert math.cos(found.yaw) == pytest.approx(-1.0)


def test_where_it_was_before_is_seen_from_near_there() -> None:
    found = goal(seen_from(3.0, 0.0).placed_at((-2.0, -2.0, 0.75)), room())
    assert math.dist((found.x, found.y), (-2.0, -2.0)) == pytest.approx(0.7, abs=0.1)


def test_a_low_thing_is_not_looked_at_from_so_near_that_it_is_below_the_picture() -> None:
    def on_the_floor(*away: float, high: float = 1.05) -> KnownObject:
        sightings = tuple((T0 + i, (0, 0, 0), (x, 0.0, high)) for i, x in enumerate(away))
        return thing('cup', (0.0, 0.0, 0.0), (0.2, 0.2, 0.1), sightings=sightings)

    assert goal(on_the_floor(4.0)).x == pytest.approx(1.0 / STEEP)
    assert goal(on_the_floor(4.0, high=3.0)).x == pytest.approx(FARTHEST_M)
    assert goal(on_the_floor(1.05, 4.0)).x == pytest.approx(1.0)  # it was seen as steeply as that
    assert goal(on_the_floor(0.4)).x == pytest.approx(0.1 + STAND_OFF_M)
    assert goal(seen_from(3.0, 0.0, above=-0.5)).x == pytest.approx(0.1 + STAND_OFF_M)
