from collections.abc import Callable

import pytest

from remembr_ros.agent.narrowed_recall import NarrowedRecall, Narrowing
from remembr_ros.agent.planner import Run
from remembr_ros.memory.deeds.deed import TALK, deed
from remembr_ros.memory.model.recall import ANYTHING, Hit, Query, Scope
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.objects.query import ObjectQuery
from remembr_ros.timestamps import NS
from test.object_room import ROOM
from test.unit.agent.listed_recall import ListedRecall
from test.unit.memory.recall_contract import DRIVE, FIRST_NS, LAST_NS, OUTSIDE, RecallContract

START_NS = 1_700_000_000 * NS
THIRD_NS = START_NS + 30 * NS


@pytest.fixture
def recall(make_memory: Callable[..., Memory]) -> ListedRecall:
    return ListedRecall([make_memory(i, ('LIFT',)) for i in range(8)])


class TestNarrowed(RecallContract):
    @pytest.fixture(params=[Narrowing(), Narrowing(without=frozenset({'nobody'}))])
    def recall(self, request: pytest.FixtureRequest, run: Run) -> NarrowedRecall:
        return NarrowedRecall(ListedRecall(DRIVE), run, request.param)


class TestNarrowedToATime(RecallContract):
    @pytest.fixture
    def recall(self, run: Run) -> NarrowedRecall:
        inside = Narrowing(after_ns=FIRST_NS - NS, before_ns=LAST_NS)
        return NarrowedRecall(ListedRecall([*OUTSIDE, *DRIVE]), run, inside)


class TestNarrowedToAScope(RecallContract):
    @pytest.fixture
    def recall(self, run: Run) -> NarrowedRecall:
        inside = Scope(min(memory.start_ns for memory in DRIVE), LAST_NS, robots=('a', 'b'))
        return NarrowedRecall(ListedRecall([*OUTSIDE, *DRIVE]), run, scope=inside)


class TestListed(RecallContract):
    @pytest.fixture
    def recall(self) -> ListedRecall:
        return ListedRecall(DRIVE)


def ids(hits: list[Hit]) -> list[str]:
    return sorted(hit.memory.id for hit in hits)


def found(narrowed: NarrowedRecall, scope: Scope = ANYTHING, limit: int = 20) -> list[str]:
    """Return what every kind of search finds, which is the same."""
    hits = [
        narrowed.find(Query('lift', scope=scope, limit=limit)),
        narrowed.find(Query(place=(0.0, 1.0, 0.0), scope=scope, limit=limit)),
        narrowed.find(Query(time_ns=START_NS, scope=scope, limit=limit)),
        narrowed.find(Query(scope=scope, limit=limit)),
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


@pytest.mark.parametrize(
    ('asked', 'scope', 'expected'),
    [
        (Scope(after_ns=THIRD_NS), ANYTHING, range(3, 8)),
        (Scope(after_ns=THIRD_NS), Scope(before_ns=THIRD_NS), range(3, 4)),
        (Scope(robots=('r', 'nobody')), Scope(robots=('nobody',)), ()),
        (Scope(robots=('nobody',)), Scope(robots=('r',)), ()),
        (Scope(map_id='cellar'), ANYTHING, ()),
    ],
)
def test_only_what_is_asked_of_is_found(
    recall: ListedRecall, run: Run, asked: Scope, scope: Scope, expected: range
) -> None:
    narrowed = NarrowedRecall(recall, run, scope=asked)
    assert found(narrowed, scope) == [f't{i:02}' for i in expected]
    assert narrowed.count(scope) == narrowed.survey(scope).memories == len(expected)


def test_what_is_left_out_makes_room_for_others(recall: ListedRecall, run: Run) -> None:
    narrowed = NarrowedRecall(recall, run, Narrowing(without=frozenset({'t06', 't07'})))
    assert ids(narrowed.find(Query(limit=2))) == ['t04', 't05']


def test_an_empty_window_holds_nothing(recall: ListedRecall, run: Run) -> None:
    narrowed = NarrowedRecall(recall, run, Narrowing(before_ns=THIRD_NS))
    assert narrowed.count(Scope(after_ns=THIRD_NS + NS)) == 0
    assert narrowed.count() == 4  # those that begin before it ends


def test_what_was_asked_and_answered_is_no_evidence(recall: ListedRecall, run: Run) -> None:
    talk = [
        deed(START_NS + i, kind='answer', text=f'was asked "Where is the lift?" for time {i}').memory(
            'a', TALK
        )
        for i in range(50)
    ]
    seen = list(recall.memories)
    narrowed = NarrowedRecall(ListedRecall([*talk, *seen]), run)
    assert found(narrowed, limit=8) == sorted(memory.id for memory in seen)
    assert set(ids(narrowed.find(Query('lift', scope=Scope(source='agent'), limit=60)))) == {
        m.id for m in talk
    }
    around = narrowed.find(Query(time_ns=seen[4].start_ns, around=True, limit=3))
    assert [hit.memory.id for hit in around] == [memory.id for memory in seen[3:6]]


def test_objects_that_are_left_out_are_not_found(run: Run) -> None:
    room = ListedRecall([one.memory for one in ROOM])
    everything = room.find_objects(ObjectQuery())
    first = everything.objects[0].known.id
    left = NarrowedRecall(room, run, Narrowing(without=frozenset({first}))).find_objects(ObjectQuery())
    assert [one.known.id for one in left.objects] == [one.known.id for one in everything.objects[1:]]
    assert left.total == everything.total - 1


def test_what_a_question_recalls_twice_is_recalled_once(recall: ListedRecall, run: Run) -> None:
    narrowed = NarrowedRecall(recall, run)
    first = narrowed.find(Query('lift', limit=3))
    first.clear()  # who was given the list may change it
    recall.memories.clear()
    assert len(narrowed.find(Query('lift', limit=3))) == 3
    assert NarrowedRecall(recall, run).find(Query('lift', limit=3)) == []
