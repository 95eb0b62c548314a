import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Pose
from remembr_ros.memory.matching.ranking import meaning, paragraphs_among, passages, score
from remembr_ros.memory.model.engine import Entry
from remembr_ros.memory.model.recall import Hit, Query, Scope
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.store import MemoryStore
from test.unit.memory.recall_contract import DRIVE, RecallContract

Make = Callable[..., Memory]
Add = Callable[..., list[Memory]]

SECOND = 1_000_000_000
THINGS = ['red sofa', 'door', 'printer', 'water fountain', 'exit sign', 'green plant', 'lift', 'poster']


def names(hits: list[Hit]) -> list[str]:
    return [hit.memory.id for hit in hits]


@pytest.fixture
def drive(make: Make) -> list[Memory]:
    """Make 200 random memories, some unplaced, some at the same place or time."""
    rng = np.random.default_rng(7)
    memories = []
    for i in range(200):
        start_ns = (
            1_700_000_000_000_000_000 + int(rng.integers(0, 60)) * 17 * SECOND + int(rng.integers(0, 3))
        )
        x, y = np.round(rng.uniform(-20, 20, 2), int(rng.integers(0, 4))) + np.array([4e6, 5e5])
        memories.append(
            make(
                i,
                start_ns=start_ns,
                end_ns=start_ns + int(rng.integers(0, 20)) * SECOND,
                pose=None if i % 17 == 0 else Pose(float(x), float(y), float(rng.integers(0, 2)), 0.1),
                robot=('a', 'b')[int(rng.integers(2))],
                map_id=('', 'm')[int(rng.integers(2))],
                source=('captioner', 'person', 'object')[int(rng.integers(3))],
                caption=' '.join(f'I see a {rng.choice(THINGS)}.' for _ in range(3)) + f' Number {i}.',
            )
        )
    return memories


T0 = 1_700_000_000_000_000_000
SCOPES = [
    Scope(),
    Scope(after_ns=T0 + 500 * SECOND),
    Scope(before_ns=T0 + 34 * SECOND + 1),
    Scope(after_ns=T0 + 100 * SECOND, before_ns=T0 + 400 * SECOND),
    Scope(near=(4_000_000.0, 500_000.0, 0.0), radius_m=9.5),
    Scope(near=(4_000_001.25, 500_003.5, 1.0), radius_m=0.0),
    Scope(robots=('a',)),
    Scope(map_id=''),
    Scope(map_id='m'),
    Scope(source='person'),
    Scope(source='captioner'),
    Scope(without=('object',)),
    Scope(robots=('nobody',)),
    Scope(
        after_ns=T0 + 50 * SECOND,
        before_ns=T0 + 900 * SECOND,
        near=(4_000_003.0, 500_002.0, 0.0),
        radius_m=12.0,
        robots=('b',),
        map_id='m',
        source='captioner',
    ),
]


def test_every_recall_agrees_with_brute_force(store: MemoryStore, add: Add, drive: list[Memory]) -> None:
    add(*drive)
    embedder = HashingEmbedder(64)
    query = embedder.embed_query('a red sofa')
    for number, scope in enumerate(SCOPES):
        inside = [memory for memory in drive if scope.admits(memory)]
        assert store.count(scope) == len(inside), scope
        for limit in (1, 5, 250):
            point = (4_000_000.0 + number, 500_001.37, 0.5)
            placed = [m for m in inside if m.pose is not None]
            placed.sort(key=lambda m: (math.dist(m.pose.position, point), -m.end_ns, m.id))
            hits = store.find(Query(place=point, scope=scope, limit=limit))
            assert names(hits) == [m.id for m in placed[:limit]], scope
            assert [h.distance_m for h in hits] == [math.dist(m.pose.position, point) for m in placed[:limit]]

            time = T0 + (number * 83 - 20) * SECOND + 1
            offsets = {m.id: max(m.start_ns - time, 0) or min(m.end_ns - time, 0) for m in inside}
            happened = [m for m in inside if m.source != 'object']  # an object lasts
            in_time = sorted(happened, key=lambda m: (abs(offsets[m.id]), m.start_ns, m.id))
            hits = store.find(Query(time_ns=time, scope=scope, limit=limit))
            assert names(hits) == [m.id for m in in_time[:limit]], scope
            assert [h.offset_s for h in hits] == [offsets[m.id] / SECOND for m in in_time[:limit]]

            newest = sorted(happened, key=lambda m: (-m.end_ns, -m.start_ns, m.id))
            assert names(store.find(Query(scope=scope, limit=limit))) == [m.id for m in newest[:limit]], scope
        found = store.find(Query('a red sofa', scope=scope, limit=250))
        assert set(names(found)) == {m.id for m in inside}
        asked = np.stack([query, *embedder.embed(['red', 'sofa'])])
        rare = store.engine.rarities(['red', 'sofa'], [hit.memory for hit in found])
        for hit in found:
            near = embedder.embed([p.text for p in passages(hit.memory)]) @ asked.T
            shared = store.engine.word_shares('a red sofa', [hit.memory])[0]
            expected = score(meaning(near, paragraphs_among(hit.memory, len(near)), rare), shared)
            assert hit.score == pytest.approx(expected, abs=1e-3)
        assert [h.score for h in found] == sorted((h.score for h in found), reverse=True)


class TestStore(RecallContract):
    @pytest.fixture(scope='class')
    def recall(self, database: str) -> Iterator[MemoryStore]:
        with open_store(database, HashingEmbedder(64), collection='drive') as opened:
            opened.add([Observation(memory) for memory in DRIVE])
            yield opened


def test_objects_come_by_text_and_place_and_by_time_when_they_are_asked_for(
    store: MemoryStore, make: Make, add: Add
) -> None:
    mug = make(0, id='mug', source='object', start_ns=T0, end_ns=T0 + 99 * SECOND, caption='A red mug.')
    other = replace(mug, id='other', pose=Pose(0.3, 0.0))
    add(mug, other, make(1, start_ns=T0 + 50 * SECOND))
    objects = Scope(source='object')
    for query in (Query(time_ns=T0 + 45 * SECOND), Query(), Query(time_ns=T0 + 45 * SECOND, around=True)):
        assert names(store.find(query)) == ['m1']
        assert set(names(store.find(replace(query, scope=objects)))) == {'mug', 'other'}
    # Each is a thing of its own, however alike and near.
    assert set(names(store.find(Query('red mug', limit=2)))) == {'mug', 'other'}
    assert names(store.find(Query(place=(0.0, 0.0, 0.0), limit=2))) == ['mug', 'other']
    assert (store.survey().memories, store.survey(objects).memories, store.count()) == (1, 2, 3)


def test_around_a_time_what_began_before_the_window_counts(store: MemoryStore, make: Make, add: Add) -> None:
    long = [make(i, start_ns=T0 + i * SECOND, end_ns=T0 + 60 * SECOND) for i in range(3)]
    add(*long, make(9, start_ns=T0 + 50 * SECOND))
    scope = Scope(after_ns=T0 + 40 * SECOND)
    found = store.find(Query(time_ns=T0 + 45 * SECOND, around=True, scope=scope, limit=2))
    assert names(found) == ['m0', 'm1']
    found = store.find(Query(time_ns=T0 + 51 * SECOND, around=True, scope=scope, limit=9))
    assert names(found) == ['m0', 'm1', 'm2', 'm9']


def test_centimetres_count_four_thousand_kilometres_from_the_origin(
    store: MemoryStore, make: Make, add: Add
) -> None:
    add(*[make(i, pose=Pose(4_000_000.0 + 0.01 * i, 5_000_000.0)) for i in range(150)])
    for i in (0, 71, 149):
        assert names(
            store.find(Query(place=(4_000_000.0 + 0.01 * i + 0.001, 5_000_000.0, 0.0), limit=1))
        ) == [f'm{i}']


def test_a_radius_is_a_ball_and_no_box(store: MemoryStore, make: Make, add: Add) -> None:
    corners = [make(i, pose=Pose(0.9, 0.9 - i * 1e-4), caption='a red sofa') for i in range(100)]
    add(*corners, make(200, pose=Pose(1.0, 0.0), caption='grey wall'), make(201, pose=Pose(1.0, 1e-6)))
    scope = Scope(near=(0.0, 0.0, 0.0), radius_m=1.0)
    assert store.count(scope) == 1
    for hits in (
        store.find(Query('red sofa', scope=scope)),
        store.find(Query(place=(5.0, 5.0, 0.0), scope=scope)),
        store.find(Query(time_ns=0, scope=scope)),
        store.find(Query(scope=scope)),
    ):
        assert names(hits) == ['m200']


def test_a_window_includes_memories_that_touch_it(store: MemoryStore, make: Make, add: Add) -> None:
    memory = make(1)
    add(memory)
    assert store.count(Scope(after_ns=memory.end_ns, before_ns=memory.end_ns)) == 1
    assert store.count(Scope(after_ns=memory.start_ns, before_ns=memory.start_ns)) == 1
    assert store.count(Scope(after_ns=memory.end_ns + 1)) == 0
    assert store.count(Scope(before_ns=memory.start_ns - 1)) == 0
    assert store.count(Scope(after_ns=-(2**70), before_ns=2**70)) == 1


@pytest.mark.parametrize('time_ns', [-5, 0, T0, 2**63 - 1, 2**70])
def test_any_time_has_a_nearest_memory(store: MemoryStore, make: Make, add: Add, time_ns: int) -> None:
    add(make(1), make(2))
    assert len(store.find(Query(time_ns=time_ns))) == 2


def test_offsets_tell_before_inside_and_after(store: MemoryStore, make: Make, add: Add) -> None:
    memory = make(1)
    add(memory)
    assert store.find(Query(time_ns=memory.end_ns + SECOND))[0].offset_s == -1.0
    assert store.find(Query(time_ns=memory.start_ns - SECOND))[0].offset_s == 1.0
    assert store.find(Query(time_ns=memory.start_ns + SECOND))[0].offset_s == 0.0
    assert store.find(Query(time_ns=memory.start_ns + SECOND))[0].score == 1.0


def test_an_exact_string_is_found_among_like_ones(store: MemoryStore, make: Make, add: Add) -> None:
    add(*[make(i, caption='A door with a sign.', scene_text=(f'room 4{i:02d}B',)) for i in range(100)])
    assert store.find(Query('room 417B'))[0].memory.id == 'm17'
    assert store.find(Query('Where is ROOM 499b?'))[0].memory.id == 'm99'


def test_a_note_by_a_person_outranks_a_caption(store: MemoryStore, make: Make, add: Add) -> None:
    captions = [make(i, caption='This is an office with a desk.', pose=Pose(3.0 * i, 0.0)) for i in range(30)]
    add(*captions, make(50, caption="This is Anna's office", source='person'))
    assert store.find(Query("Where is Anna's office?"))[0].memory.id == 'm50'
    assert store.find(Query("where is anna's office"))[0].memory.id == 'm50'


def test_one_sentence_of_a_long_caption_is_enough(store: MemoryStore, make: Make, add: Add) -> None:
    chatter = ' '.join(f'The corridor {i} is long and empty.' for i in range(20))
    add(make(0, caption=f'{chatter} A violin lies on the bench. {chatter}'), make(1, caption=chatter))
    hits = store.find(Query('A violin lies on the bench.'))
    assert names(hits) == ['m0', 'm1']
    assert hits[0].score > hits[1].score + 0.2


def test_a_hit_tells_what_of_it_is_nearest_to_the_text(store: MemoryStore, make: Make, add: Add) -> None:
    add(make(0, caption='A long empty corridor. A violin lies on the bench.', scene_text=('EXIT',)))
    (hit,) = store.find(Query('Where is the violin?'))
    assert hit.passages[0] == 'A violin lies on the bench.'
    assert set(hit.passages) == {'A long empty corridor.', 'A violin lies on the bench.', 'EXIT'}
    assert not store.find(Query(time_ns=0))[0].passages


def test_unplaced_memories_are_found_but_not_by_place(store: MemoryStore, make: Make, add: Add) -> None:
    add(make(1, pose=None))
    assert (
        names(store.find(Query('thing')))
        == names(store.find(Query(time_ns=0)))
        == names(store.find(Query()))
        == ['m1']
    )
    assert store.find(Query(place=(0.0, 0.0, 0.0))) == []
    assert store.count(Scope(near=(0.0, 0.0, 0.0), radius_m=1e9)) == 0


def test_memories_without_a_word_are_found(store: MemoryStore, make: Make, add: Add) -> None:
    add(make(1, caption=''), make(2, caption='...'))
    assert sorted(names(store.find(Query('anything')))) == ['m1', 'm2']


def test_an_emptied_store_answers(store: MemoryStore, make: Make, add: Add) -> None:
    add(make(1))
    store.forget(['m1'])
    assert store.find(Query('anything')) == []


def test_an_empty_store_answers(store: MemoryStore) -> None:
    assert store.find(Query('anything')) == []
    assert store.find(Query(place=(0.0, 0.0, 0.0))) == []
    assert store.find(Query(time_ns=T0)) == []
    assert store.find(Query()) == []
    assert store.count() == 0


@pytest.mark.parametrize(
    'text',
    ['???', 'the', '😀', 'x ' * 5_000, '😀' * 20_000, 'a "b" AND (c OR', "' -- \\", 'nul \0', '\ud800', '%s'],
)
def test_any_text_can_be_asked(store: MemoryStore, make: Make, add: Add, text: str) -> None:
    add(make(1), make(2))
    assert sorted(names(store.find(Query(text)))) == ['m1', 'm2']


def test_recalls_without_sense_are_refused(store: MemoryStore) -> None:
    nan, inf = math.nan, math.inf
    for text in ('', ' \n'):
        with pytest.raises(InvalidRequest, match='needs a text'):
            store.find(Query(text))
    for point in ((nan, 0.0, 0.0), (0.0, inf, 0.0), (0.0, 0.0, -1e300), (0.0, 0.0)):
        with pytest.raises(InvalidRequest, match='position'):
            store.find(Query(place=point))  # type: ignore[arg-type]
    for limit in (0, -1):
        with pytest.raises(InvalidRequest, match='limit'):
            store.find(Query(limit=limit))
    with pytest.raises(InvalidRequest, match='radius'):
        store.count(Scope(near=(0.0, 0.0, 0.0), radius_m=nan))
    nobody = Scope(source='nobody')
    for ask in (lambda: store.find(Query('thing', scope=nobody)), lambda: store.count(nobody)):
        with pytest.raises(InvalidRequest, match='not a source'):
            ask()


def test_a_huge_limit_returns_what_there_is(store: MemoryStore, make: Make, add: Add) -> None:
    add(*[make(i) for i in range(7)])
    for hits in (
        store.find(Query('thing', limit=10**9)),
        store.find(Query(place=(0.0, 0.0, 0.0), limit=10**9)),
        store.find(Query(time_ns=0, limit=10**9)),
        store.find(Query(limit=10**9)),
    ):
        assert len(hits) == 7


def test_more_memories_than_one_volume_holds(database: str, make: Make) -> None:
    total = 5_000
    vector = np.ones((1, 8), np.float32) / 8**0.5
    with open_store(database, HashingEmbedder(8), collection='many') as store:
        # Below the store's interface, because to embed so many captions would take long.
        memories = [make(i, caption='', pose=Pose(i * 0.001, 0.0)) for i in range(total)]
        store.engine.put([Entry(memory, vector) for memory in memories])
        assert store.count() == total
        assert store.info().memories == total
        assert len(store.all()) == total
        assert names(store.find(Query(limit=2))) == [f'm{total - 1}', f'm{total - 2}']
        assert names(store.find(Query(place=(4.5, 0.0, 0.0), limit=1))) == ['m4500']
        assert names(store.find(Query(time_ns=make(4_200).start_ns, limit=1))) == ['m4200']
        assert names(store.find(Query(time_ns=2**62, limit=1))) == [f'm{total - 1}']
        assert store.count(Scope(near=(0.0, 0.0, 0.0), radius_m=3.9995)) == 4_000
        assert store.forget(scope=Scope(after_ns=make(100).start_ns)) == total - 100
        assert store.count() == 100
