"""What every recall does, compared with plain Python over the same memories.

A test class of an implementation subclasses RecallContract and has a fixture `recall` that finds DRIVE and
nothing else. A recall that hides something is given OUTSIDE, too: it has to hide that.
"""

import math
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remembr_ros.geometry import Pose, distance
from remembr_ros.memory.model.recall import ANYTHING, Hit, Query, Scope, survey_of
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.recall_protocol import Recall
from remembr_ros.timestamps import NS

T0 = 1_700_000_000 * NS
FIRST_NS, LAST_NS = T0, T0 + 140 * NS
THINGS = ('red mug', 'green chair', 'blue lift', 'white door', 'black bin', 'yellow sign')


def memory(i: int) -> Memory:
    """Return the memory number i: every 10 s, on a bent line; every fifth one has no place."""
    start_ns = T0 + 10 * i * NS + i
    return Memory(
        f'd{i:02}',
        'ab'[i % 2],
        start_ns,
        start_ns + (1 + i % 3) * NS,
        f'A {THINGS[i % len(THINGS)]}.',
        None if i % 5 == 3 else Pose(2.0 * i, (i * i) % 7 + 0.1 * i, 0.0, 0.1 * i),
        map_id=('', 'cellar')[i // 9],
        source=('captioner', 'person')[i % 6 == 5],
    )


DRIVE = [memory(i) for i in range(14)]
OUTSIDE = [
    replace(memory(i), id=f'o{i}', start_ns=start_ns, end_ns=start_ns + NS)
    for i, start_ns in ((0, T0 - 500 * NS), (1, T0 - 400 * NS), (5, LAST_NS + 300 * NS))
]

TIMES = st.integers(FIRST_NS - 20 * NS, LAST_NS + 20 * NS)
POINTS = st.sampled_from([(0.0, 0.0, 0.0), (5.3, 0.7, 0.0), (13.1, 4.2, 1.0), (40.0, -3.0, 0.0)])


@st.composite
def scopes(draw: st.DrawFn) -> Scope:
    """Draw scopes, most of which admit something."""
    after_ns, before_ns = draw(st.none() | TIMES), draw(st.none() | TIMES)
    if after_ns is not None and before_ns is not None and after_ns > before_ns:
        after_ns, before_ns = before_ns, after_ns
    near = draw(st.none() | POINTS)
    return Scope(
        after_ns,
        before_ns,
        near,
        None if near is None else draw(st.sampled_from([1.1, 6.0, 25.0])),
        draw(st.sampled_from([(), (), ('a',), ('a', 'b'), ('nobody',)])),
        draw(st.sampled_from([None, None, '', 'cellar'])),
        draw(st.sampled_from([None, None, 'captioner', 'person'])),
    )


@st.composite
def queries(draw: st.DrawFn) -> Query:
    """Draw queries of each order."""
    by = draw(
        st.sampled_from(THINGS).map(lambda text: {'text': text})
        | POINTS.map(lambda place: {'place': place})
        | TIMES.map(lambda time_ns: {'time_ns': time_ns})
        | TIMES.map(lambda time_ns: {'time_ns': time_ns, 'around': True})
        | st.just({})
    )
    return Query(**by, scope=draw(scopes()), limit=draw(st.sampled_from([1, 2, 3, 5, 100])))


def offset_ns(memory: Memory, time_ns: int) -> int:
    """Return how long after a time a memory is, 0 inside it."""
    return max(memory.start_ns - time_ns, 0) + min(memory.end_ns - time_ns, 0)


def expected(query: Query) -> list[Memory]:
    """Return what a query by anything but a text finds."""
    inside = [m for m in DRIVE if query.scope.admits(m)]
    if (place := query.place) is not None:
        placed = [(distance(m.pose.position, place), m) for m in inside if m.pose is not None]
        return [m for _, m in sorted(placed, key=lambda pair: pair[0])][: query.limit]
    if (time_ns := query.time_ns) is not None:
        nearest = sorted(inside, key=lambda m: (abs(offset_ns(m, time_ns)), m.start_ns))
        if not query.around or not nearest:
            return nearest[: query.limit]
        before = [m for m in inside if m.start_ns < nearest[0].start_ns]
        after = [m for m in inside if m.start_ns > nearest[0].start_ns]
        others = query.limit - 1
        earlier = min(len(before), max(others // 2, others - len(after)))
        return [*before[len(before) - earlier :], nearest[0], *after[: others - earlier]]
    return sorted(inside, key=lambda m: -m.end_ns)[: query.limit]


def ids(hits: list[Hit]) -> list[str]:
    return [hit.memory.id for hit in hits]


class RecallContract:
    ranks_texts = True
    """It tells which memory fits a text; False: it was asked one text before, and knows what that found."""

    @settings(
        deadline=None,
        max_examples=60,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
    )
    @given(query=queries())
    def test_a_query_finds_what_plain_python_does(self, recall: Recall, query: Query) -> None:
        hits = recall.find(query)
        if query.text is not None:
            inside = {m.id for m in DRIVE if query.scope.admits(m)}
            assert len(hits) == len(set(ids(hits))) == min(query.limit, len(inside))
            assert set(ids(hits)) <= inside
            assert all(hits[0].score >= hit.score for hit in hits)
            named = [m.id for m in DRIVE if m.id in inside and query.text in m.caption]
            assert not named or not self.ranks_texts or hits[0].memory.id in named
        else:
            assert ids(hits) == [m.id for m in expected(query)]
        for hit in hits:
            if (place := query.place) is not None:
                assert hit.memory.pose is not None
                assert hit.distance_m == pytest.approx(math.dist(hit.memory.pose.position, place), rel=1e-5)
            if (time_ns := query.time_ns) is not None:
                assert hit.offset_s == pytest.approx(offset_ns(hit.memory, time_ns) / NS, rel=1e-5)

    def test_a_limit_beyond_what_there_is_finds_everything(self, recall: Recall) -> None:
        for query in (Query('mug', limit=10**9), Query(time_ns=0, limit=10**9), Query(limit=10**9)):
            assert sorted(ids(recall.find(query))) == [m.id for m in DRIVE]
        placed = recall.find(Query(place=(0.0, 0.0, 0.0), limit=10**9))
        assert sorted(ids(placed)) == [m.id for m in DRIVE if m.pose is not None]

    @settings(
        deadline=None,
        max_examples=30,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
    )
    @given(scope=scopes())
    def test_a_count_is_of_what_the_scope_admits(self, recall: Recall, scope: Scope) -> None:
        assert recall.count(scope) == sum(map(scope.admits, DRIVE))

    def test_without_a_scope_everything_counts(self, recall: Recall) -> None:
        assert recall.count() == recall.count(ANYTHING) == len(DRIVE)

    @settings(
        deadline=None,
        max_examples=30,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
    )
    @given(scope=scopes())
    def test_a_survey_tells_what_there_is_in_the_scope(self, recall: Recall, scope: Scope) -> None:
        told, there = recall.survey(scope), survey_of(filter(scope.admits, DRIVE))
        assert replace(told, driven_m=0.0) == replace(there, driven_m=0.0)
        assert told.driven_m == pytest.approx(there.driven_m)

    def test_it_tells_whose_scores_its_hits_have(self, recall: Recall) -> None:
        recall.find(Query('mug'))
        assert recall.embedder_name
