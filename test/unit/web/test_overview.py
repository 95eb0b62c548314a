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
from remembr_ros.web.overview import before_and_after, clusters, scope_mask
from test.unit.web.seen import memories, outlined, scopes

boxes = st.tuples(st.integers(-9, 9), st.integers(-9, 9), st.integers(0, 9), st.integers(0, 9)).map(
    lambda b: (float(b[0]), float(b[1]), float(b[0] + b[2]), float(b[1] + b[3]))
)
EVERYWHERE = (-math.inf, -math.inf, math.inf, math.inf)


@given(memories(), scopes())
def test_a_scope_admits_what_it_admits_of_the_memories_themselves(seen: list[Memory], scope: Scope) -> None:
    outline = outlined(seen)
    found = {name.decode() for name in outline.ids[scope_mask(outline, scope)]}
    assert found == {memory.id for memory in seen if scope.admits(memory)}


def test_a_window_holds_what_ends_at_its_start_and_what_starts_at_its_end() -> None:
    outline = outlined([Memory('a', 'r', 10, 20, ''), Memory('b', 'r', 30, 40, '')])
    assert scope_mask(outline, Scope(after_ns=20, before_ns=30)).tolist() == [True, True]
    assert scope_mask(outline, Scope(after_ns=21, before_ns=29)).tolist() == [False, False]


@given(memories(), scopes(), boxes, st.sampled_from([0.5, 1.0, 3.0]))
def test_cells_have_each_placed_memory_of_the_scope_once(
    seen: list[Memory], scope: Scope, box: tuple[float, float, float, float], cell_m: float
) -> None:
    found = clusters(outlined(seen), scope, box, cell_m)

    low, high = ([math.floor(value / cell_m) for value in corner] for corner in (box[:2], box[2:]))
    cells = defaultdict(list)
    for memory in filter(scope.admits, seen):
        if memory.pose is not None:
            cell = (math.floor(memory.pose.x / cell_m), math.floor(memory.pose.y / cell_m))
            if low[0] <= cell[0] <= high[0] and low[1] <= cell[1] <= high[1]:
                cells[cell].append(memory)
    expected = [
        (
            pytest.approx(sum(m.pose.x for m in of) / len(of)),
            pytest.approx(sum(m.pose.y for m in of) / len(of)),
            len(of),
            max(m.end_ns for m in of),
            of[0].id if len(of) == 1 else '',
        )
        for _, of in sorted(cells.items())
    ]
    columns = (found.x, found.y, found.count, found.newest_ns, found.ids)
    assert list(zip(*columns, strict=True)) == expected
    assert found.total == sum(found.count) == sum(map(len, cells.values()))
    assert found.cell_m == cell_m


@given(memories(), st.integers(4, 8), st.sampled_from([1e-9, 0.01, 1.0]))
def test_cells_grow_until_there_are_no_more_than_asked_for(
    seen: list[Memory], most: int, cell_m: float
) -> None:
    found = clusters(outlined(seen), ANYTHING, None, cell_m, most=most)
    assert len(found.ids) <= most
    assert found.total == sum(memory.pose is not None for memory in seen)


def test_a_cell_has_the_same_memories_wherever_one_looks_from() -> None:
    seen = [Memory(f'{i}', 'r', i, i, '', Pose(i / 10, 0.0)) for i in range(20)]
    whole = clusters(outlined(seen), ANYTHING, None, 1.0)
    part = clusters(outlined(seen), ANYTHING, (0.7, -0.1, 1.2, 0.1), 1.0)
    assert whole.count.tolist() == part.count.tolist() == [10, 10]


def test_a_million_metres_of_millimetres_are_cells_that_can_be_told_apart() -> None:
    seen = [Memory(f'{i}', 'r', i, i, '', Pose(x, x)) for i, x in enumerate((-1e9, 0.0, 1e-3, 1e9))]
    found = clusters(outlined(seen), ANYTHING, None, 1e-12)
    assert found.total == 4
    assert found.count.tolist() == [1, 2, 1]


@pytest.mark.parametrize('box', [(1.0, 0.0, 0.0, 1.0), (0.0, 1.0, 1.0, 0.0), (math.nan, 0.0, 1.0, 1.0)])
def test_a_box_that_is_none_is_refused(box: tuple[float, float, float, float]) -> None:
    with pytest.raises(InvalidRequest, match='least first'):
        clusters(outlined([]), ANYTHING, box, 1.0)


@pytest.mark.parametrize('cell_m', [0.0, -1.0, math.inf, math.nan])
def test_a_cell_without_size_is_refused(cell_m: float) -> None:
    with pytest.raises(InvalidRequest, match='metres above 0'):
        clusters(outlined([]), ANYTHING, EVERYWHERE, cell_m)


@given(memories())
def test_before_and_after_are_neighbours_in_time_of_the_same_robot(seen: list[Memory]) -> None:
    outline = outlined(seen)
    for memory in seen:
        same = sorted((m.start_ns, m.id) for m in seen if m.robot == memory.robot)
        place = same.index((memory.start_ns, memory.id))
        before = same[place - 1][1] if place else None
        after = same[place + 1][1] if place + 1 < len(same) else None
        assert before_and_after(outline, memory.id) == (before, after)


@pytest.mark.parametrize('name', ['', 'nobody', 'a\0', 'a' * 65, 'ä', '\udc80'])
def test_a_memory_that_is_not_there_has_no_neighbours(name: str) -> None:
    outline = outlined([Memory('a', 'r', 1, 2, ''), Memory('b', 'r', 1, 2, '')])
    assert before_and_after(outline, name) == (None, None)
    assert np.array_equal(outline.ids, [b'a', b'b'])
