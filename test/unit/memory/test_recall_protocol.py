"""All memories of a scope by pages."""

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembr_ros.memory import recall_protocol as module
from remembr_ros.memory.model.recall import Hit, Query, Scope
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.recall_protocol import every
from test.unit.agent.listed_recall import ListedRecall


@dataclass
class PagedRecall(ListedRecall):
    """Gives no more than a page at once, and may leave some out as a follow-up question does."""

    without: frozenset[str] = frozenset()

    def find(self, query: Query) -> list[Hit]:
        assert query.limit <= module.PAGE
        return [hit for hit in super().find(query) if hit.memory.id not in self.without]


@pytest.fixture(autouse=True)
def _small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, 'PAGE', 4)


def _memories(spans: list[tuple[int, int]]) -> list[Memory]:
    return [Memory(f'{i:03}', 'r', start, start + length, 'x') for i, (start, length) in enumerate(spans)]


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 30)), max_size=40),
    st.sets(st.integers(0, 39)),
    st.integers(0, 90),
)
def test_gives_each_memory_of_the_scope_once_in_order(
    spans: list[tuple[int, int]], left_out: set[int], after: int
) -> None:
    memories = _memories(spans)
    without = frozenset(f'{i:03}' for i in left_out)
    scope = Scope(after_ns=after)
    found, whole = every(PagedRecall(memories, without=without), scope)
    ids = [memory.id for memory in found]
    wanted = {memory.id for memory in memories if scope.admits(memory) and memory.id not in without}
    assert len(ids) == len(set(ids))
    assert found == sorted(found, key=lambda m: (m.start_ns, m.end_ns, m.id))
    assert set(ids) <= wanted
    if whole:
        assert set(ids) == wanted
    at_once = max((sum(s <= t <= s + n for s, n in spans) for t in range(91)), default=0)
    assert whole or at_once > module.PAGE


def test_more_at_one_moment_than_a_page_are_told_to_be_more() -> None:
    found, whole = every(PagedRecall(_memories([(5, 0)] * 9 + [(1, 0)])))
    assert (len(found), whole) == (5, False)


def test_of_more_than_asked_for_the_latest() -> None:
    found, whole = every(PagedRecall(_memories([(i, 0) for i in range(30)])), most=7)
    assert [memory.start_ns for memory in found] == list(range(23, 30))
    assert not whole


def test_nothing() -> None:
    assert every(PagedRecall([])) == ([], True)
