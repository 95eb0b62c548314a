"""What is remembered while a map is made moves as its pose graph does."""

import cmath
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.geometry import Pose, wrap_angle
from remembr_ros.memory.model.record import AGENT, Memory
from remembr_ros.memory.motion.pose_graph import PoseGraph
from remembr_ros.timestamps import NS

T0 = 1_700_000_000 * NS
CORRIDOR = {number: complex(0.5 * number, 0.0) for number in range(61)}  # 30 m


def seen(x: float, y: float = 0.0, yaw: float = 0.0, second: float = 0.0, **changes: object) -> Memory:
    at_ns = T0 + round(second * NS)
    fields = {'pose': Pose(x, y, 1.0, yaw), 'start_ns': at_ns, 'end_ns': at_ns, **changes}
    return Memory(f'{x} {y} {second}', 'robot', caption='a door', **fields)  # type: ignore[arg-type]


def driven(vertices: dict[int, complex], second: float = 0.0, graph: PoseGraph | None = None) -> PoseGraph:
    """Return a graph that grew by a vertex each second."""
    graph = graph or PoseGraph()
    for count in range(1, len(vertices) + 1):
        so_far = dict(list(vertices.items())[:count])
        assert graph.take(so_far, T0 + round((second + count - 1) * NS)) == []
    return graph


def moved(graph: PoseGraph, vertices: dict[int, complex], *memories: Memory) -> list[Memory]:
    [moves] = graph.take(vertices, T0 + 1000 * NS)
    then = dict(moves(memories))
    return [then.get(memory, memory) for memory in memories]


@given(
    st.complex_numbers(max_magnitude=50.0),
    st.floats(-3.0, 3.0),
    st.lists(st.tuples(st.floats(-5.0, 35.0), st.floats(-5.0, 5.0), st.floats(-3.1, 3.1)), min_size=1),
)
def test_when_all_moves_rigidly_each_memory_moves_just_so(
    shift: complex, turn: float, places: list[tuple[float, float, float]]
) -> None:
    def there(place: complex) -> complex:
        return shift + cmath.rect(1.0, turn) * place

    graph = driven(CORRIDOR)
    after = {number: there(place) for number, place in CORRIDOR.items()}
    memories = [seen(*place, second=20.0) for place in places]
    if all(abs(after[number] - CORRIDOR[number]) <= 0.05 for number in CORRIDOR):
        assert graph.take(after, T0 + 1000 * NS) == []
        return
    for memory, then in zip(memories, moved(graph, after, *memories), strict=True):
        assert memory.pose
        assert then.pose
        expected = there(complex(memory.pose.x, memory.pose.y))
        assert complex(then.pose.x, then.pose.y) == pytest.approx(expected, abs=2e-3)
        assert then.pose.z == 1.0
        assert wrap_angle(then.pose.yaw - memory.pose.yaw - turn) == pytest.approx(0.0, abs=1e-2)


def test_where_the_far_end_bends_what_is_at_the_fixed_end_stays() -> None:
    graph = driven(CORRIDOR)
    bent = {
        number: place if place.real < 15.0 else 15.0 + cmath.rect(1.0, 0.1) * (place - 15.0)
        for number, place in CORRIDOR.items()
    }
    near, far = seen(2.0, 1.0, second=4.0), seen(29.0, 1.0, second=58.0)
    stays, goes = moved(graph, bent, near, far)
    assert stays is near
    expected = 15.0 + cmath.rect(1.0, 0.1) * (14.0 + 1.0j)
    assert goes.pose
    assert complex(goes.pose.x, goes.pose.y) == pytest.approx(expected, abs=1e-6)
    assert goes.pose.yaw == pytest.approx(0.1)


def test_two_passes_of_one_place_move_each_as_the_robot_was_then() -> None:
    back = {100 + number: 30.0 - place + 0.1j for number, place in CORRIDOR.items()}  # 10 cm beside, drifted
    graph = driven(CORRIDOR)
    graph = driven({**CORRIDOR, **back}, graph=graph, second=0.0)
    closed = {**CORRIDOR, **{number: place + 0.8j for number, place in back.items()}}
    first, second = seen(10.0, 0.05, second=20.0), seen(10.0, 0.05, second=101.0)
    early, late = moved(graph, closed, first, second)
    assert early is first
    assert late.pose
    assert (late.pose.x, late.pose.y) == (pytest.approx(10.0), pytest.approx(0.85))


def test_an_unmoved_graph_and_a_new_one_move_nothing_and_small_steps_add_up() -> None:
    graph = driven(CORRIDOR)
    assert graph.take(CORRIDOR, T0 + 100 * NS) == []
    step = {number: place + 0.03j for number, place in CORRIDOR.items()}
    assert graph.take(step, T0 + 101 * NS) == []
    twice = {number: place + 0.06j for number, place in CORRIDOR.items()}
    [then] = moved(graph, twice, seen(10.0, second=20.0))
    assert then.pose
    assert then.pose.y == pytest.approx(0.06)
    assert graph.take(twice, T0 + 1001 * NS) == []
    assert graph.take({0: 7.0 + 0.0j, 1: 7.5 + 0.0j}, T0 + 1002 * NS) == [], 'a map is begun anew'


def test_what_came_after_the_graph_before_or_has_no_place_stays() -> None:
    graph = driven(CORRIDOR)  # to second 60
    shifted = {number: place + 1.0 for number, place in CORRIDOR.items()}
    deed = {'source': AGENT, 'start_ns': T0, 'end_ns': T0 + 61 * NS}
    staying = (seen(29.0, second=61.0), seen(3.0, pose=None), seen(5.0, **deed))
    *stayed, gone = moved(graph, shifted, *staying, seen(4.0, end_ns=T0 + 61 * NS))
    assert all(now is then for now, then in zip(stayed, staying, strict=True))
    assert gone.pose, 'a stay that goes on'
    assert gone.pose.x == pytest.approx(5.0)


def test_one_vertex_shifts_and_removed_ones_do_not_count() -> None:
    graph = PoseGraph()
    graph.take({0: 0.0j, 1: 1.0 + 0.0j, 2: 2.0 + 0.0j}, T0 + NS)
    [then] = moved(graph, {2: 2.0 + 1.0j}, seen(0.0, yaw=0.5))
    assert then.pose == Pose(0.0, 1.0, 1.0, 0.5)


def test_a_robot_that_turned_on_the_spot_turns_no_memory() -> None:
    spot = {number: cmath.rect(0.02, number) for number in range(6)}
    graph = driven(spot)
    [then] = moved(graph, {n: 1.0 + cmath.rect(0.02, -2.0 * n) for n in spot}, seen(3.0, second=3.0))
    assert then.pose
    assert then.pose.yaw == 0.0
    assert math.hypot(then.pose.x - 4.0, then.pose.y) < 0.05
