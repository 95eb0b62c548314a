"""What every engine does, exactly, compared with plain Python over the same memories.

A test file of an engine subclasses EngineContract and has a fixture `shared` that opens an engine for
DIMENSION numbers, once for all tests: making a collection takes a server seconds.
"""

import math
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import shapely
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import MAX_COORDINATE, Pose
from remembr_ros.memory.embedded.index import MemoryIndex
from remembr_ros.memory.matching.terms import words
from remembr_ros.memory.model.area import Area
from remembr_ros.memory.model.engine import Engine, Entry
from remembr_ros.memory.model.outline import Outline
from remembr_ros.memory.model.recall import ANYTHING, Scope, survey_of
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import MAX_NS, NS

DIMENSION = 16
T0 = 1_700_000_000 * NS
FAR = (4_000_000.0, 500_000.0)
ROBOTS = ('anna', 'bob', '" or id != "', "o'hara 🚪")
HOSTILE = (
    'say "room"',
    "it's",
    'C:\\temp\\',
    'two\nlines\r\n\tand a tab',
    'emoji 🚪😀 and ümlauts',
    '" or id != "',
    "' or 1=1; drop table memories; --",
    '{"json": [1, 2]} %s {0} ${x}',
    '\u2028\u202e\ufeff',
    ' ',
    '',
)


def unit(rng: np.random.Generator, count: int) -> NDArray[np.float32]:
    """Return random vectors of length 1."""
    vectors = rng.standard_normal((count, DIMENSION)).astype(np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def memory(i: int, **changes: Any) -> Memory:
    """Return the memory number i: 2 s long, every 3 s, a metre further along x."""
    start_ns = T0 + 3 * i * NS
    made = Memory(f'm{i}', 'anna', start_ns, start_ns + 2 * NS, f'thing{i} is here', Pose(float(i), 0.0))
    return replace(made, **changes)


def entry(made: Memory, passages: int = 1) -> Entry:
    """Return a memory with vectors that belong to its id."""
    return Entry(made, unit(np.random.default_rng(zlib.crc32(made.id.encode())), passages))


def outlined(memories: Iterable[Memory]) -> list[tuple[Any, ...]]:
    """Return what an outline says of memories, in its order."""
    ordered = sorted(memories, key=lambda m: (m.start_ns, m.id.encode()))
    return [
        (m.id, m.start_ns, m.end_ns, m.pose.position if m.pose else None, m.robot, m.map_id, m.source)
        for m in ordered
    ]


def told(outline: Outline) -> list[tuple[Any, ...]]:
    """Return the rows of an outline."""
    points = np.stack([outline.x, outline.y, outline.z], axis=1)
    names = ([outline.names[i] for i in of] for of in (outline.robot, outline.map_id, outline.source))
    places = [None if np.isnan(point).all() else tuple(point.tolist()) for point in points]
    ids = [memory_id.decode() for memory_id in outline.ids.tolist()]
    times = outline.start_ns.tolist(), outline.end_ns.tolist()
    return list(zip(ids, *times, places, *names, strict=True))


def drive(count: int) -> list[Entry]:
    """Return random memories, some unplaced, many at the same place or time, of some robots."""
    rng = np.random.default_rng(7)
    entries = []
    for i in range(count):
        start_ns = T0 + int(rng.integers(0, 20)) * 17 * NS + int(rng.integers(0, 3))
        x, y = np.round(rng.uniform(-20, 20, 2), int(rng.integers(0, 2)))
        made = memory(
            i,
            robot=ROBOTS[int(rng.integers(len(ROBOTS)))],
            start_ns=start_ns,
            end_ns=start_ns + int(rng.integers(0, 20)) * NS,
            pose=None
            if i % 11 == 0
            else Pose(FAR[0] + float(x), FAR[1] + float(y), float(rng.integers(0, 2))),
            map_id=('', 'floor "1"')[int(rng.integers(2))],
            source=('captioner', 'person')[int(rng.integers(2))],
        )
        entries.append(Entry(made, unit(rng, int(rng.integers(1, 8)))))
    return entries


def check_best(found: dict[str, float], cosines: dict[str, float], limit: int) -> None:
    """Check that the memories with the best cosines were found, at least so many."""
    assert len(found) >= min(limit, len(cosines))
    assert found.keys() <= cosines.keys()
    assert list(found.values()) == sorted(found.values(), reverse=True)
    for memory_id, cosine in found.items():
        assert cosine == pytest.approx(cosines[memory_id], abs=2e-3)
    others = [cosines[i] for i in cosines.keys() - found.keys()]
    assert min(found.values(), default=1.0) >= max(others, default=-1.0) - 2e-3


DRIVE = drive(150)
MIDDLE_NS = sorted(entry.memory.start_ns for entry in DRIVE)[75]

SCOPES = st.builds(
    Scope,
    after_ns=st.one_of(st.none(), st.integers(T0 - NS, T0 + 400 * NS)),
    before_ns=st.none(),
    robots=st.lists(st.sampled_from((*ROBOTS, 'nobody')), max_size=3, unique=True).map(tuple),
    map_id=st.sampled_from((None, '', 'floor "1"')),
    source=st.sampled_from((None, None, 'person', 'captioner')),
)
WINDOWS = st.one_of(st.none(), st.integers(0, 300 * NS))
CIRCLES = st.one_of(
    st.none(),
    st.tuples(st.floats(-20, 20), st.floats(-20, 20), st.sampled_from((0.0, 1.0, 4.5, 30.0, 1e12))),
)


def admitted(scope: Scope, made: Memory) -> bool:
    """Tell whether a scope admits a memory."""
    return (
        (scope.after_ns is None or made.end_ns >= scope.after_ns)
        and (scope.before_ns is None or made.start_ns <= scope.before_ns)
        and (not scope.robots or made.robot in scope.robots)
        and (scope.map_id is None or made.map_id == scope.map_id)
        and (scope.source is None or made.source == scope.source)
        and (
            scope.near is None
            or (made.pose is not None and math.dist(made.pose.position, scope.near) <= scope.radius_m)
        )
    )


def best(entries: Sequence[Entry], vector: NDArray[np.float32]) -> dict[str, float]:
    """Return the cosine of the best passage of each memory."""
    return {e.memory.id: float((e.vectors @ vector).max()) for e in entries}


def names(memories: Sequence[Memory]) -> list[str]:
    return [made.id for made in memories]


class EngineContract:
    """The tests; `engine` is empty at the start of each."""

    @pytest.fixture
    def engine(self, shared: Engine) -> Engine:
        """An engine without memories."""
        shared.delete([made.id for made in shared.select()])
        return shared

    @pytest.fixture
    def driven(self, shared: Engine) -> Engine:
        """An engine with DRIVE, which these tests do not change."""
        stored = {made.id: made for made in shared.select()}
        if stored != {e.memory.id: e.memory for e in DRIVE}:
            shared.delete(list(stored))
            shared.put(DRIVE)
        return shared

    def test_memories_come_back_as_they_were_put(self, engine: Engine) -> None:
        entries = [
            entry(
                memory(
                    i,
                    caption=text,
                    scene_text=(text, 'EXIT'),
                    robot=ROBOTS[i % 4],
                    pose=None if i % 3 == 0 else Pose(4_123_456.123456789, -0.1, 1e-9, -3.0),
                    keyframes=(f'm{i}_0.jpg',),
                    travelled=1.1,
                    captioner='vlm',
                    source='agent',
                    merged=7,
                ),
                1 + i,
            )
            for i, text in enumerate(HOSTILE)
        ]
        engine.put(entries)
        wanted = {e.memory.id: e for e in entries}
        asked = [*reversed(wanted), 'nothing', "it's", '', '" or id != "', 'm1']
        assert engine.get(asked) == [wanted[i].memory for i in asked if i in wanted]
        vectors = engine.vectors([*wanted, 'nothing'])
        assert vectors.keys() == wanted.keys()
        for memory_id, of_one in vectors.items():
            np.testing.assert_allclose(of_one, wanted[memory_id].vectors, atol=1e-3)
        assert sorted(names(list(engine.select()))) == sorted(wanted)

    def test_an_empty_engine_finds_nothing(self, engine: Engine) -> None:
        vector = unit(np.random.default_rng(0), 1)[0]
        assert engine.get(['m1']) == []
        assert engine.vectors(['m1']) == {}
        assert engine.like(vector, ANYTHING, 5) == {}
        assert engine.compared(vector[None], ['m1']) == []
        assert engine.with_words('door', ANYTHING, 5) == []
        assert engine.nearest_in_place((0.0, 0.0, 0.0), ANYTHING, 5) == []
        assert engine.nearest_in_time(T0, ANYTHING, 5) == []
        assert engine.newest(ANYTHING, 5) == []
        assert list(engine.select()) == []
        assert engine.count() == 0
        summary = engine.summary()
        assert (summary.memories, summary.placed, summary.first_ns, summary.last_ns) == (0, 0, None, None)
        assert (summary.robots, summary.maps, summary.sources) == ((), (), ())
        engine.put([])
        engine.update([])
        engine.update([memory(1)])
        engine.delete([])
        engine.delete(['m1'])
        assert engine.count() == 0

    @settings(
        max_examples=12,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
    )
    @given(scope=SCOPES, window=WINDOWS, circle=CIRCLES, limit=st.sampled_from((1, 5, 60, 10**9)))
    def test_in_every_scope_it_agrees_with_brute_force(
        self,
        driven: Engine,
        scope: Scope,
        window: int | None,
        circle: tuple[float, float, float] | None,
        limit: int,
    ) -> None:
        if window is not None:
            scope = replace(scope, before_ns=(scope.after_ns or T0) + window)
        if circle is not None:
            x, y, radius = circle
            scope = replace(scope, near=(FAR[0] + x, FAR[1] + y, 0.0), radius_m=radius)
        inside = [e for e in DRIVE if admitted(scope, e.memory)]
        memories = [e.memory for e in inside]
        assert driven.count(scope) == len(inside)
        assert sorted(names(list(driven.select(scope)))) == sorted(names(memories))

        point = (FAR[0] + 1.25, FAR[1] - 3.5, 0.5)
        placed = [m for m in memories if m.pose is not None]
        placed.sort(key=lambda m: (math.dist(m.pose.position, point) if m.pose else 0.0, -m.end_ns, m.id))
        assert names(driven.nearest_in_place(point, scope, limit)) == names(placed[:limit])

        time_ns = T0 + 150 * NS + 1
        away = {m.id: max(m.start_ns - time_ns, time_ns - m.end_ns, 0) for m in memories}
        memories.sort(key=lambda m: (away[m.id], m.start_ns, m.id))
        assert names(driven.nearest_in_time(time_ns, scope, limit)) == names(memories[:limit])
        memories.sort(key=lambda m: (-m.end_ns, -m.start_ns, m.id))
        assert names(driven.newest(scope, limit)) == names(memories[:limit])

        vector = DRIVE[3].vectors[0]
        cosines = best(inside, vector)
        # Of one vector the sentence is its paragraph; of more, which a caption of one sentence does not have,
        # it is not known which is what.
        check_best(driven.like(vector, scope, limit), cosines, limit)

    def test_the_corners_of_a_circle_are_not_in_it(self, engine: Engine) -> None:
        rng = np.random.default_rng(5)
        places = [(x, y) for x in (-1.0, 1.0) for y in (-1.0, 1.0)] * 20 + [(0.5, 0.5), (0.0, -0.9)]
        engine.put(
            [Entry(memory(i, pose=Pose(*xy), caption='a door'), unit(rng, 2)) for i, xy in enumerate(places)]
        )
        scope = Scope(near=(0.0, 0.0, 0.0), radius_m=1.0)
        assert set(list(engine.like(unit(rng, 1)[0], scope, 2))[:2]) == {'m80', 'm81'}
        assert set(engine.with_words('door', scope, 2)) in (set(), {'m80', 'm81'})
        assert names(engine.newest(scope, 3)) == ['m81', 'm80']
        assert engine.count(scope) == 2

    def test_of_an_area_what_is_round_it_is_left_out(self, engine: Engine) -> None:
        rng = np.random.default_rng(5)
        places = [(-0.9, 0.9)] * 40 + [(0.9, 0.9), (0.5, 0.1), (0.0, 0.0)]
        engine.put(
            [Entry(memory(i, pose=Pose(*xy), caption='a door'), unit(rng, 2)) for i, xy in enumerate(places)]
        )
        area = Area(shapely.Polygon([(0, 0), (1, 0), (1, 1)]), 0.0)
        scope = Scope(near=area.sphere[0], radius_m=area.sphere[1], area=area)
        inside = {'m40', 'm41', 'm42'}
        assert {made.id for made in engine.select(scope)} == inside
        assert set(names(engine.nearest_in_place((0.0, 0.0, 0.0), scope, 9))) == inside
        assert set(list(engine.like(unit(rng, 1)[0], scope, 3))[:3]) == inside
        assert set(engine.with_words('door', scope, 3)) in (set(), inside)
        assert set(names(engine.newest(scope, 9))) == inside
        assert (engine.count(scope), engine.survey(scope).memories) == (3, 3)

    def test_paragraphs_are_told_from_sentences_or_all_are_searched(self, engine: Engine) -> None:
        rng = np.random.default_rng(8)
        texts = ['One door. Two doors.', 'One window. Two windows.\nThree large old windows. Four.']
        engine.put([Entry(memory(i, caption=texts[i]), unit(rng, (3, 6)[i])) for i in (0, 1)])
        vectors = engine.vectors(['m0', 'm1'])
        for query in (*vectors['m0'], *vectors['m1']):
            paragraphs = {'m0': vectors['m0'][:1], 'm1': vectors['m1'][:2]}
            searched = paragraphs if isinstance(engine, MemoryIndex) else vectors
            check_best(
                engine.like(query, ANYTHING, 2), {i: float((v @ query).max()) for i, v in searched.items()}, 2
            )

    def test_every_passage_is_compared(self, driven: Engine) -> None:
        vectors = np.stack([DRIVE[5].vectors[0], DRIVE[7].vectors[0]])
        asked = [e.memory.id for e in DRIVE[::2]]
        found = driven.compared(vectors, [*asked, 'nothing', '" or id != "'])
        assert [one.memory.id for one in found] == asked
        for e, one in zip(DRIVE[::2], found, strict=True):
            np.testing.assert_allclose(one.cosines, e.vectors @ vectors.T, atol=2e-3)

    def test_a_word_is_the_rarer_the_fewer_have_it(self, driven: Engine) -> None:
        memories = [e.memory for e in DRIVE]
        counts = Counter(word for m in memories for word in set(words(m.caption)))
        common, _ = counts.most_common(1)[0]
        never, always = driven.rarities(['zyzzyva', common], memories)
        assert never == pytest.approx(1.0)
        assert 0.0 <= always < never

    @pytest.mark.parametrize(
        'scope',
        [
            ANYTHING,
            Scope(after_ns=MIDDLE_NS),
            Scope(before_ns=MIDDLE_NS),
            Scope(near=(2.0, 1.0, 0.0), radius_m=6.0),
            Scope(robots=(ROBOTS[0],)),
            Scope(map_id='floor "1"'),
            Scope(map_id='nowhere'),
        ],
    )
    def test_the_survey_is_that_of_all_memories_in_the_scope(self, driven: Engine, scope: Scope) -> None:
        found, expected = driven.survey(scope), survey_of(driven.select(scope))
        assert replace(found, driven_m=0.0) == replace(expected, driven_m=0.0)
        assert found.driven_m == pytest.approx(expected.driven_m)

    def test_the_outline_is_that_of_all_memories(self, driven: Engine) -> None:
        assert told(driven.outline()) == outlined(driven.select())

    def test_the_outline_follows_every_change(self, engine: Engine) -> None:
        assert told(engine.outline()) == []
        engine.put([entry(memory(i, robot=ROBOTS[i % 2])) for i in range(6)])
        engine.delete(['m1', 'm4'])
        engine.put([entry(memory(2, pose=None, caption='another'))])
        engine.update([memory(3, end_ns=memory(3).end_ns + NS, map_id='upstairs', robot=ROBOTS[1])])
        assert told(engine.outline()) == outlined(engine.select())

    def test_the_summary_adds_up(self, driven: Engine) -> None:
        summary = driven.summary()
        memories = [e.memory for e in DRIVE]
        assert summary.memories == len(memories)
        assert summary.placed == sum(m.pose is not None for m in memories)
        assert summary.first_ns == min(m.start_ns for m in memories)
        assert summary.last_ns == max(m.end_ns for m in memories)
        assert summary.robots == tuple(sorted(ROBOTS))
        assert summary.maps == ('', 'floor "1"')
        assert summary.sources == ('captioner', 'person')

    @pytest.mark.parametrize(
        'scope',
        [
            Scope(robots=('two\nlines',)),
            Scope(source='nobody'),
        ],
    )
    def test_a_scope_without_sense_is_refused(self, driven: Engine, scope: Scope) -> None:
        vector = DRIVE[0].vectors[0]
        for ask in (
            lambda: list(driven.select(scope)),
            lambda: driven.count(scope),
            lambda: driven.like(vector, scope, 5),
            lambda: driven.with_words('door', scope, 5),
            lambda: driven.nearest_in_place((0.0, 0.0, 0.0), scope, 5),
            lambda: driven.nearest_in_time(T0, scope, 5),
            lambda: driven.newest(scope, 5),
        ):
            with pytest.raises(InvalidRequest):
                ask()

    def test_putting_again_replaces(self, engine: Engine) -> None:
        engine.put([entry(memory(1), 7), entry(memory(2), 2)])
        replaced = entry(memory(1, caption='a green door', start_ns=T0 - NS), 3)
        replaced = Entry(replaced.memory, unit(np.random.default_rng(99), 3))
        engine.put([replaced])
        assert engine.count() == 2
        assert engine.get(['m1', 'm2']) == [replaced.memory, memory(2)]
        assert engine.vectors(['m1'])['m1'].shape == (3, DIMENSION)
        np.testing.assert_allclose(engine.vectors(['m1'])['m1'], replaced.vectors, atol=1e-3)
        old = entry(memory(1), 7).vectors[6]
        assert engine.like(old, ANYTHING, 5)['m1'] < 0.99

    def test_an_update_keeps_the_vectors(self, engine: Engine) -> None:
        engine.put([entry(memory(1), 4), entry(memory(2), 2)])
        longer = memory(1, end_ns=T0 + 10_000 * NS, pose=Pose(50.0, 60.0), merged=9)
        engine.update([longer, memory(3)])
        assert engine.get(['m1', 'm2', 'm3']) == [longer, memory(2)]
        np.testing.assert_allclose(engine.vectors(['m1'])['m1'], entry(memory(1), 4).vectors, atol=1e-3)
        late = Scope(after_ns=T0 + 9_000 * NS, near=(50.0, 60.0, 0.0), radius_m=1.0)
        vector = entry(memory(1), 4).vectors[3]
        assert engine.like(vector, late, 5) == pytest.approx({'m1': 1.0}, abs=2e-3)
        assert names(engine.newest(ANYTHING, 1)) == ['m1']

    def test_what_is_deleted_is_gone(self, engine: Engine) -> None:
        engine.put([entry(memory(i), 3) for i in range(5)])
        engine.delete(['m1', 'm3', 'nothing', "it's"])
        assert sorted(names(list(engine.select()))) == ['m0', 'm2', 'm4']
        assert engine.vectors(['m1', 'm3']) == {}
        assert 'm1' not in engine.like(entry(memory(1), 3).vectors[0], ANYTHING, 10)
        engine.vacuum()
        assert engine.count() == 3

    def test_keyframes_that_are_named_are_found_by_name(self, engine: Engine) -> None:
        engine.put([entry(memory(1, keyframes=('a.jpg', 'b.jpg'))), entry(memory(2, keyframes=('b.jpg',)))])
        engine.put([entry(memory(3))])
        assert engine.named(['a.jpg', 'b.jpg', 'c.jpg']) == {'a.jpg', 'b.jpg'}
        assert engine.named([]) == set()
        assert engine.named([f'{i}.jpg' for i in range(2_500)] + ['b.jpg']) == {'b.jpg'}
        engine.update([memory(1, keyframes=('c.jpg',))])
        assert engine.named(['a.jpg', 'b.jpg', 'c.jpg']) == {'b.jpg', 'c.jpg'}
        engine.delete(['m2'])
        engine.put([entry(memory(1, caption='Another text.', keyframes=('c.jpg', 'd.jpg')))])
        assert engine.named(['a.jpg', 'b.jpg', 'c.jpg', 'd.jpg']) == {'c.jpg', 'd.jpg'}

    def test_a_claim_holds_until_it_is_released(self, engine: Engine) -> None:
        engine.release('first')
        for _ in range(2):
            engine.claim('first')
            assert engine.is_claimed('first')
        engine.release('first')
        engine.release('first')

    def test_ties_are_decided_by_the_other_fields(self, engine: Engine) -> None:
        engine.put([entry(memory(i, start_ns=T0, end_ns=T0 + i % 3, pose=Pose(3.0, 3.0))) for i in range(40)])
        by_end = sorted(range(40), key=lambda i: (-(i % 3), f'm{i}'))
        assert names(engine.nearest_in_place((3.0, 3.0, 0.0), ANYTHING, 3)) == [f'm{i}' for i in by_end[:3]]
        assert names(engine.nearest_in_place((9.0, 3.0, 0.0), ANYTHING, 2)) == [f'm{i}' for i in by_end[:2]]
        assert names(engine.newest(ANYTHING, 40)) == [f'm{i}' for i in by_end]
        by_id = sorted(f'm{i}' for i in range(40))
        assert names(engine.nearest_in_time(T0, ANYTHING, 5)) == by_id[:5]

    def test_times_and_places_at_the_limits(self, engine: Engine) -> None:
        limit = MAX_COORDINATE
        engine.put(
            [
                entry(memory(1, start_ns=0, end_ns=0, pose=Pose(-limit, limit, limit))),
                entry(memory(2, start_ns=MAX_NS, end_ns=MAX_NS, pose=Pose(limit, -limit))),
                entry(memory(3, start_ns=0, end_ns=MAX_NS, pose=None)),
            ]
        )
        assert names(engine.nearest_in_time(0, ANYTHING, 9)) == ['m1', 'm3', 'm2']
        assert names(engine.nearest_in_time(MAX_NS, ANYTHING, 9)) == ['m3', 'm2', 'm1']
        assert names(engine.newest(ANYTHING, 9)) == ['m2', 'm3', 'm1']
        assert names(engine.nearest_in_place((limit, -limit, 0.0), ANYTHING, 9)) == ['m2', 'm1']
        assert engine.count(Scope(near=(limit, -limit, 0.0), radius_m=0.0)) == 1
        assert (engine.summary().first_ns, engine.summary().last_ns) == (0, MAX_NS)

    def test_many_at_once(self, engine: Engine) -> None:
        rng = np.random.default_rng(3)
        entries = [Entry(memory(i, start_ns=T0 + i, end_ns=T0 + i), unit(rng, 2)) for i in range(1_200)]
        engine.put(entries)
        assert engine.count() == 1_200
        assert len(engine.get([f'm{i}' for i in range(1_200)])) == 1_200
        assert names(engine.nearest_in_time(T0 + 1_000, ANYTHING, 3)) == ['m1000', 'm999', 'm1001']
        assert names(engine.newest(ANYTHING, 2)) == ['m1199', 'm1198']
        assert len(engine.like(entries[7].vectors[1], ANYTHING, 1_200)) == 1_200
        assert next(iter(engine.like(entries[7].vectors[1], ANYTHING, 1))) == 'm7'
