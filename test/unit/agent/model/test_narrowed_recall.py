from collections.abc import Callable

import pytest

from remembr_ros.agent.model.narrowed_recall import NarrowedRecall, Narrowing
from remembr_ros.agent.planner import Run
from remembr_ros.memory.model.recall import ANYTHING, Hit, Scope
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import NS
from test.unit.agent.listed_recall import ListedRecall

START_NS = 1_700_000_000 * NS
THIRD_NS = START_NS + 30 * NS


@pytest.fixture
def recall(make_memory: Callable[..., Memory]) -> ListedRecall:
    return ListedRecall([make_memory(i, ('LIFT',)) for i in range(8)])


def ids(hits: list[Hit]) -> list[str]:
    return sorted(hit.memory.id for hit in hits)


def found(narrowed: NarrowedRecall, scope: Scope = ANYTHING, limit: int = 20) -> list[str]:
    """Return what every kind of search finds, which is the same."""
    hits = [
        narrowed.by_text('lift', scope, limit),
        narrowed.by_position((0.0, 1.0, 0.0), scope, limit),
        narrowed.by_time(START_NS, scope, limit),
        narrowed.newest(scope, limit),
    ]
    assert all(ids(some) == ids(hits[0]) for some in hits)
    return ids(hits[0])


@pytest.mark.parametrize(
    ('narrowing', 'scope', 'expected'),
    [
        (Narrowing(), ANYTHING, range(8)),
        (Narrowing(before_ns=THIRD_NS), ANYTHING, range(3)),
        (Narrowing(after_ns=THIRD_NS), ANYTHING, range(4, 8)),
        (Narrowing(before_ns=THIRD_NS), Scope(before_ns=START_NS + 15 * NS), range(2)),
        (Narrowing(before_ns=THIRD_NS), Scope(after_ns=THIRD_NS + NS), ()),
        (Narrowing(without=frozenset({'t00', 't07'})), ANYTHING, range(1, 7)),
        (Narrowing(elsewhere=(('', (15.0, 1.0, 0.0)),)), ANYTHING, (0, 1, 5, 6, 7)),
        (Narrowing(elsewhere=(('other map', (15.0, 1.0, 0.0)),)), ANYTHING, range(8)),
    ],
)
def test_only_what_is_inside_is_found(
    recall: ListedRecall, run: Run, narrowing: Narrowing, scope: Scope, expected: range
) -> None:
    assert found(NarrowedRecall(recall, run, narrowing), scope) == [f't{i:02}' for i in expected]


def test_what_is_left_out_makes_room_for_others(recall: ListedRecall, run: Run) -> None:
    narrowed = NarrowedRecall(recall, run, Narrowing(without=frozenset({'t06', 't07'})))
    assert ids(narrowed.newest(limit=2)) == ['t04', 't05']


def test_an_empty_window_holds_nothing(recall: ListedRecall, run: Run) -> None:
    narrowed = NarrowedRecall(recall, run, Narrowing(before_ns=THIRD_NS))
    assert narrowed.count(Scope(after_ns=THIRD_NS + NS)) == 0
    assert narrowed.count() == 4  # those that begin before it ends
