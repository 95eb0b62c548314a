import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from remembr_ros.geometry import Pose
from remembr_ros.memory.embedded.scalar_index import Columns, in_place_order, in_time_order
from remembr_ros.memory.model.recall import Scope, offset_ns
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import MAX_NS

TIMES = st.integers(0, 50) | st.integers(0, MAX_NS)
# To a micrometre: the square of less than 1e-154 m is 0, so that a radius of 0 would reach so far.
STEPS = st.floats(-1e9, 1e9).map(lambda metres: round(metres, 6))
COORDINATES = st.sampled_from([0.0, 1.0, -1.0, 1e9, 4e6 + 0.01]) | STEPS
POSES = st.none() | st.builds(Pose, COORDINATES, COORDINATES, COORDINATES)
MEMORIES = st.lists(
    st.builds(
        lambda times, pose, robot, source: Memory(
            '', robot, min(times), max(times), '', pose, map_id=robot, source=source
        ),
        st.tuples(TIMES, TIMES),
        POSES,
        st.sampled_from(['a', 'b', '']),
        st.sampled_from(['captioner', 'person']),
    ),
    max_size=30,
)
SCOPES = st.builds(
    lambda times, robots, map_id, source, near: Scope(
        min(times) if times else None,
        max(times) if times else None,
        near[:3] if near else None,
        near[3] if near else None,
        tuple(robots),
        map_id,
        source,
    ),
    st.none() | st.tuples(TIMES, TIMES),
    st.lists(st.sampled_from(['a', 'b', 'nobody']), max_size=2),
    st.none() | st.sampled_from(['a', '']),
    st.none() | st.sampled_from(['person', 'object']),
    st.none() | st.tuples(COORDINATES, COORDINATES, COORDINATES, st.sampled_from([0.0, 1.0, 5.0, 1e9])),
)


def filled(memories: list[Memory]) -> tuple[Columns, list[Memory]]:
    columns = Columns()
    numbered = [
        Memory(f'm{i}', m.robot, m.start_ns, m.end_ns, '', m.pose, map_id=m.map_id, source=m.source)
        for i, m in enumerate(memories)
    ]
    for number, memory in enumerate(numbered):
        columns.add(memory, number, 1)
    return columns, numbered


@given(MEMORIES, SCOPES, st.integers(1, 8), TIMES, st.tuples(COORDINATES, COORDINATES, COORDINATES))
@settings(max_examples=200)
def test_passes_over_the_columns_find_what_comparing_each_memory_does(
    memories: list[Memory], scope: Scope, limit: int, time_ns: int, point: tuple[float, float, float]
) -> None:
    columns, numbered = filled(memories)
    gone = numbered[2::5]
    for memory in gone:
        columns.remove(int(memory.id[1:]))
    inside = [m for m in numbered if scope.admits(m) and m not in gone]
    mask = columns.admitted(scope)
    slots = np.arange(len(columns)) if mask is None else np.flatnonzero(mask)
    assert [numbered[slot] for slot in slots] == inside

    def of(found: np.ndarray) -> list[Memory]:
        return [numbered[slot] for slot in found]

    placed = columns.admitted(scope, placed_only=True)
    in_place = in_place_order(of(columns.nearest_in_place(point, placed, limit)), point, limit)
    assert in_place == in_place_order(inside, point, limit)
    in_time = in_time_order(of(columns.nearest_in_time(time_ns, mask, limit)), time_ns, limit)
    assert in_time == in_time_order(inside, time_ns, limit)
    newest = sorted(of(columns.newest(mask, limit)), key=lambda m: (-m.end_ns, m.id))[:limit]
    assert newest == sorted(inside, key=lambda m: (-m.end_ns, m.id))[:limit]


def test_the_figures_are_those_of_what_is_there() -> None:
    columns, memories = filled(
        [Memory('', 'a', 5, 9, '', Pose(0.0, 0.0)), Memory('', 'b', 2, 30, ''), Memory('', 'c', 1, 2, '')]
    )
    columns.remove(2)
    assert columns.span() == (2, 30)
    assert columns.names('robot') == ('a', 'b')
    assert columns.placed() == 1
    columns.replace(1, Memory('m1', 'a', 2, 40, '', Pose(1.0, 1.0)))
    assert (columns.span(), columns.names('robot'), columns.placed()) == ((2, 40), ('a',), 2)
    for slot in (0, 1):
        columns.remove(slot)
    assert columns.span() is None
    assert Columns().span() is None
    assert [offset_ns(memories[0], t) for t in (0, 5, 7, 9, 10)] == [5, 0, 0, 0, -1]
    assert math.isfinite(sum(len(columns.names(f)) for f in ('robot', 'map_id', 'source')))


def test_memories_are_found_by_their_numbers_and_come_back_without_those_that_were_deleted() -> None:
    columns = Columns()
    for number, paragraphs in ((3, 2), (4, 1), (9, 3)):
        columns.add(Memory(f'm{number}', 'anna', 1, 2, ''), number, paragraphs)
    assert columns.slots_of(np.array([9, 5, 3, 4, 99])).tolist() == [2, -1, 0, 1, -1]
    assert Columns().slots_of(np.array([1])).tolist() == [-1]
    columns.remove(1)
    numbers, paragraphs = columns.live()
    assert (numbers.tolist(), paragraphs) == ([3, 9], 5)
    again = Columns(columns.dump())
    assert (len(again), again.column('number').tolist(), again.names('robot')) == (2, [3, 9], ('anna',))
    assert again.add(Memory('m12', 'bob', 1, 2, ''), 12, 1) == 2
    assert again.names('robot') == ('anna', 'bob')
