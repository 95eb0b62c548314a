"""What is known of objects, and that it is kept, moved, exported and forgotten like all memories."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.errors import StoreUnavailable
from remembr_ros.geometry import Pose, RigidTransform, quaternion_from_yaw
from remembr_ros.memory.exchange.transfer import export_memories, import_memories
from remembr_ros.memory.model.recall import Query, Scope
from remembr_ros.memory.model.record import OBJECT, Memory, Observation
from remembr_ros.memory.objects.known import (
    INTERVALS,
    ONE_INTERVAL_NS,
    SIGHTINGS,
    Interval,
    Sighting,
    best_label,
    interval_added,
    joined,
    known_objects,
    thinned,
)
from remembr_ros.memory.objects.query import object_json
from remembr_ros.memory.objects.wording import is_called, of_itself, sentence
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.pending.spool import Spool
from remembr_ros.memory.pending.writer import SpoolingWriter
from remembr_ros.memory.retention import RetentionPolicy, plan_retention
from remembr_ros.memory.store import MemoryStore
from remembr_ros.timestamps import NS
from test.object_scene import T0, known_object
from test.patience import holds_within

WAIT_S = 30.0
Make = Callable[..., Memory]


@pytest.fixture
def own(tmp_path: Path) -> Iterator[MemoryStore]:
    """A store with a file and pictures of its own."""
    with open_store(str(tmp_path / 'own.db'), HashingEmbedder(64)) as opened:
        yield opened


@pytest.fixture
def other(tmp_path: Path) -> Iterator[MemoryStore]:
    """Another one."""
    with open_store(str(tmp_path / 'other' / 'memory.db'), HashingEmbedder(64)) as opened:
        yield opened


@cache
def crop(number: int) -> bytes:
    image = np.random.default_rng(number).integers(0, 256, (16, 16, 3), np.uint8)
    return cv2.imencode('.jpg', image)[1].tobytes()


def mugs_in(store: MemoryStore, count: int = 3) -> list[Memory]:
    """Store mugs a metre apart along x, seen a minute long an hour apart, each with a picture."""
    colours = ('red', 'blue', 'green')
    known = [
        known_object(
            number,
            colour=colours[number],
            intervals=((T0 + number * 3600 * NS, T0 + (number * 3600 + 60) * NS),),
            appearance='ADw=',  # 1 as a 16-bit float
        )
        for number in range(count)
    ]
    return store.add(
        [
            Observation(replace(one.memory, caption=sentence(one, 'dining table')), (crop(i),))
            for i, one in enumerate(known)
        ]
    )


def pictures(store: MemoryStore) -> set[str]:
    return {file.name for file in store.keyframes.folder.rglob('*.jpg')}


def test_facts_come_back_as_they_were_stored_also_after_a_restart(tmp_path: Path) -> None:
    path = str(tmp_path / 'memory.db')
    with open_store(path, HashingEmbedder(64)) as store:
        stored = mugs_in(store)
        assert store.all() == stored
    with open_store(path) as store:
        assert store.all() == stored
        assert [known.facts for known in known_objects(store.all())] == [
            known.facts for known in known_objects(stored)
        ]
        assert store.find(Query('blue mug', limit=1))[0].memory == stored[1]
    found = known_objects(stored)[0]
    assert found.appearance is not None
    assert found.appearance.tolist() == [1.0]


@pytest.mark.parametrize(
    'conditions',
    [
        {'ids': ['object1']},
        {'scope': Scope(near=(2.0, 2.0, 0.8), radius_m=0.4)},
        {'scope': Scope(after_ns=T0 + 3600 * NS, before_ns=T0 + 3700 * NS)},
        {'text': 'blue MUG'},
    ],
    ids=['id', 'place', 'time', 'text'],
)
def test_forgetting_deletes_an_object_and_its_picture(own: MemoryStore, conditions: dict) -> None:
    first, forgotten, last = mugs_in(own)
    assert pictures(own) == {*first.keyframes, *forgotten.keyframes, *last.keyframes}
    assert own.matching(**conditions) == [forgotten]
    assert own.forget(**conditions) == 1
    assert own.all() == [first, last]
    assert pictures(own) == {*first.keyframes, *last.keyframes}
    assert forgotten.id not in {hit.memory.id for hit in own.find(Query('blue mug', limit=9))}
    assert set(own.engine.vectors([forgotten.id])) == set()


def test_export_and_import_bring_facts_and_pictures_to_another_store(
    own: MemoryStore, other: MemoryStore, tmp_path: Path
) -> None:
    name = 'm.jsonl'
    stored = mugs_in(own)
    assert export_memories(own, tmp_path / name) == 3
    done = import_memories(other, tmp_path / name)
    assert (done.added, done.embedded) == (3, 0)
    assert other.all() == stored
    assert known_objects(other.all()) == known_objects(stored)
    for memory in stored:
        assert other.keyframe(memory.id) == own.keyframe(memory.id)
    assert import_memories(other, tmp_path / name).unchanged == 3


def test_a_renamed_map_takes_its_objects_along_and_no_others(own: MemoryStore) -> None:
    before = [replace(memory, map_id='old') for memory in mugs_in(own)]
    elsewhere = known_object(7).memory
    own.add([*map(Observation, before), Observation(elsewhere)])
    assert own.move_map('old', new_map_id='new', frame_id='new_frame') == 3
    there = own.matching(scope=Scope(map_id='new', source=OBJECT))
    assert there == [replace(memory, map_id='new', frame_id='new_frame') for memory in before]
    assert own.matching(scope=Scope(map_id='')) == [elsewhere]
    assert {name for memory in there for name in memory.keyframes} == pictures(own)


def test_a_turned_map_turns_places_sightings_and_sizes_of_objects(own: MemoryStore) -> None:
    own.add([Observation(known_object(position=(1.0, 2.0, 0.8), size=(0.1, 0.3, 0.2)).memory)])
    [before] = known_objects(own.all())
    quarter = RigidTransform((10.0, 0.0, 1.0), quaternion_from_yaw(math.pi / 2.0))
    assert own.move_map('', quarter) == 1
    [after] = known_objects(own.all())
    assert after.position == pytest.approx((8.0, 1.0, 1.8))
    assert after.size == pytest.approx((0.3, 0.1, 0.2))
    assert after.facts == before.facts  # nothing but the pose is rewritten
    for then, now in zip(before.sightings, after.sightings, strict=True):
        assert now[0] == then[0]
        for was, turned in zip(then[1:], now[1:], strict=True):
            assert turned == pytest.approx((10.0 - was[1], was[0], 1.0 + was[2]))
    assert own.move_map('', quarter) == 1
    [twice] = known_objects(own.all())
    assert twice.size == pytest.approx(before.size)
    assert object_json(twice)['position'] == pytest.approx([9.0, 8.0, 2.8])


def test_what_waits_for_a_server_keeps_its_facts(own: MemoryStore, tmp_path: Path) -> None:
    away = True

    def server(observations: Sequence[Observation]) -> list[Memory]:
        if away:
            raise StoreUnavailable('nobody answers')
        return own.add(observations)

    observations = [Observation(known_object(i).memory, (crop(i),)) for i in range(3)]
    writer = SpoolingWriter(server, Spool(tmp_path / 'spool'), retry_s=0.01)
    assert writer.add(observations) == [one.memory for one in observations]
    waiting = [o.memory for o in writer.queued() if o.memory.source == OBJECT]
    assert waiting == [one.memory for one in observations]
    writer.close()
    writer = SpoolingWriter(server, Spool(tmp_path / 'spool'), retry_s=0.01)
    away = False
    assert holds_within(WAIT_S, lambda: not writer.state().spooled)
    writer.close()
    assert [replace(memory, keyframes=()) for memory in own.all()] == waiting
    assert [own.keyframe(f'object{i}') for i in range(3)] == [crop(i) for i in range(3)]


def test_two_mugs_in_one_square_metre_are_no_repetition(make: Make) -> None:
    mugs = [known_object(i, position=(1.0 + 0.2 * i, 2.0, 0.8)).memory for i in range(2)]
    scenes = ('A wide window.', 'A lamp above a table.')
    seen = [make(i, start_ns=T0 + i * NS, caption=text, pose=Pose(5.0, 5.0)) for i, text in enumerate(scenes)]
    now_ns = T0 + 3600 * NS
    assert plan_retention([*mugs, *seen], RetentionPolicy(max_memories=3), now_ns).ids == ['m0']
    told = [replace(mug, source='captioner') for mug in mugs]
    assert plan_retention([*told, *seen], RetentionPolicy(max_memories=3), now_ns).ids == ['object0']


def test_retention_deletes_pictures_of_objects_that_are_too_old(own: MemoryStore) -> None:
    first, second, last = mugs_in(own)
    policy = RetentionPolicy(max_age_s=7200.0)
    assert own.retain(policy, T0 + 7300 * NS).ids == [first.id]
    assert own.all() == [second, last]
    assert pictures(own) == {*second.keyframes, *last.keyframes}


def test_a_scope_leaves_objects_out_and_a_source_leaves_the_others_out(
    store: MemoryStore, make: Make
) -> None:
    happened, mug = make(1, caption='A red mug falls.'), known_object().memory
    store.add([Observation(happened), Observation(mug)])
    for scope, expected in (
        (Scope(), {'m1', 'object0'}),
        (Scope(without=('object',)), {'m1'}),
        (Scope(source=OBJECT), {'object0'}),
    ):
        assert {memory.id for memory in store.matching(scope=scope)} == expected
        assert store.count(scope) == len(expected)
        for query in (Query('red mug', scope=scope), Query(place=(1.0, 2.0, 0.8), scope=scope)):
            assert {hit.memory.id for hit in store.find(query)} == expected
        assert store.forget(ids=['nothing'], scope=scope) == 0
    assert store.forget(scope=Scope(without=('object',))) == 1
    assert store.all() == [mug]


def test_by_time_objects_are_found_only_where_they_are_asked_for(store: MemoryStore, make: Make) -> None:
    store.add([Observation(make(1)), Observation(known_object().memory)])
    for scope, expected in (
        (Scope(), ['m1']),
        (Scope(without=('object',)), ['m1']),
        (Scope(source=OBJECT), ['object0']),
    ):
        for query in (
            Query(time_ns=T0, scope=scope),
            Query(time_ns=T0, around=True, scope=scope),
            Query(scope=scope),
        ):
            assert [hit.memory.id for hit in store.find(query)] == expected
        assert store.survey(scope).memories == 1


def test_damaged_facts_are_left_out_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    whole = known_object(0).memory
    damages = (
        {'labels': {}},
        {'labels': 'mug'},
        {'size': [1.0, 2.0]},
        {'size': [1.0, 2.0, 'far']},
        {'std': -1.0},
        {'observations': 0},
        {'intervals': []},
        {'intervals': [[-1, 5]]},
        {'sightings': [[T0, [0, 0, 0]]]},
        {'appearance': 'no base64!'},
    )
    memories = [
        whole,
        *(
            replace(whole, id=f'damaged{i}', facts={**whole.facts, **damage})
            for i, damage in enumerate(damages)
        ),
        replace(whole, id='empty', facts={}),
    ]
    assert [known.id for known in known_objects(memories)] == [whole.id]
    logged = [record.getMessage() for record in caplog.records]
    assert len(logged) == len(damages) + 1
    assert all(
        f'memory {m.id} has facts of no object' in line for m, line in zip(memories[1:], logged, strict=True)
    )


def test_facts_of_a_later_program_and_what_is_no_object_are_passed_over() -> None:
    memory = known_object().memory
    later = replace(memory, facts={**memory.facts, 'weight': 0.3})
    note, unplaced = replace(memory, id='note', source='person'), replace(memory, id='far', pose=None)
    assert [known.id for known in known_objects([later, note, unplaced])] == [memory.id]


def test_objects_come_seen_last_first_without_those_that_were_merged() -> None:
    early, merged = known_object(0, id='b'), known_object(1, id='merged')
    late = known_object(2, intervals=((T0, T0 + 90 * NS),), aliases=('merged', 'gone'))
    same = known_object(3, id='a')
    found = known_objects(one.memory for one in (early, merged, late, same))
    assert [known.id for known in found] == ['object2', 'a', 'b']


@pytest.mark.parametrize(
    ('arguments', 'expected'),
    [
        (('mug', 'red', ''), 'A red mug.'),
        (('mug', '', 'diningtable'), 'A mug near the dining table.'),
        (('apple', '', ''), 'An apple.'),
        (('umbrella', 'orange', 'tvmonitor'), 'An orange umbrella near the tv monitor.'),
    ],
)
def test_a_sentence_says_what_it_is_and_near_what(arguments: tuple[str, str, str], expected: str) -> None:
    name, colour, near = arguments
    one = known_object(labels={name: 2.0}, colour=colour)
    assert sentence(one, near) == expected
    assert '2' not in sentence(known_object(labels={name: 2.0}, measured=False), near)


def test_the_sentence_of_what_has_no_depth_says_so() -> None:
    assert sentence(known_object(measured=False), 'sofa') == 'A red mug, how far away is not known.'


def test_of_an_object_itself_counts_and_not_what_it_is_near(make: Make) -> None:
    mug = replace(known_object().memory, caption=sentence(known_object(), 'sofa'))
    assert of_itself(mug).caption == 'A red mug'
    assert of_itself(replace(mug, caption='A red mug.')).caption == 'A red mug.'
    caption = make(0, caption='A mug near the sofa.')
    assert of_itself(caption) is caption


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('mug', True),
        ('the red mugs', True),
        ('red', False),
        ('blue mug', False),
        ('red bowl', False),
        ('mug near the sofa', False),
        ('', False),
    ],
)
def test_a_text_names_an_object_by_its_label_and_its_colour(text: str, expected: bool) -> None:
    assert is_called(known_object(), text) is expected


def test_labels_of_two_words_are_named_as_people_do() -> None:
    table = known_object(labels={'diningtable': 1.0}, colour='')
    assert is_called(table, 'dining tables')
    assert is_called(table, 'table')
    assert not is_called(table, 'red table')


def test_the_best_label_is_the_most_certain_and_of_equals_the_first() -> None:
    assert best_label({'cup': 1.0, 'mug': 2.0}) == 'mug'
    assert best_label({'mug': 1.0, 'cup': 1.0}) == 'cup'


def test_of_too_many_intervals_the_first_and_the_newest_stay() -> None:
    every = 2 * ONE_INTERVAL_NS
    intervals: tuple[Interval, ...] = ()
    for number in range(INTERVALS + 30):
        intervals = interval_added(intervals, T0 + number * every)
    assert len(intervals) == INTERVALS
    assert intervals[0] == (T0, T0)
    last = INTERVALS + 29
    assert [start for start, _ in intervals[1:]] == [
        T0 + number * every for number in range(last - INTERVALS + 2, last + 1)
    ]
    assert interval_added(intervals, T0) == intervals


def test_a_sighting_within_a_minute_extends_an_interval() -> None:
    once = interval_added((), T0)
    assert interval_added(once, T0 + ONE_INTERVAL_NS) == ((T0, T0 + ONE_INTERVAL_NS),)
    assert interval_added(once, T0 + ONE_INTERVAL_NS + 1) == (*once, (T0 + ONE_INTERVAL_NS + 1,) * 2)
    assert interval_added(once, T0 - 1) == ((T0 - 1, T0),)


def _interval(ends: tuple[int, int]) -> Interval:
    return min(ends), max(ends)


SOME_INTERVALS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)).map(_interval), max_size=12)


@given(SOME_INTERVALS, st.integers(0, 5))
def test_joined_intervals_cover_the_same_in_order_and_further_apart(
    intervals: list[Interval], gap: int
) -> None:
    found = joined(intervals, gap)
    assert joined(found, gap) == found == joined(reversed(intervals), gap)
    assert all(a[1] + gap < b[0] for a, b in pairwise(found))
    assert all(any(start <= a and b <= end for start, end in found) for a, b in intervals)
    assert {end for one in found for end in one} <= {end for one in intervals for end in one}
    if not gap:
        covered = {at for a, b in intervals for at in range(a, b + 1)}
        assert {at for start, end in found for at in range(start, end + 1)} == covered


@given(st.lists(st.integers(0, 10**6), max_size=60))
def test_thinned_sightings_keep_the_first_the_last_and_the_order(stamps: list[int]) -> None:
    sightings: list[Sighting] = [(stamp, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0)) for stamp in stamps]
    found = [stamp for stamp, *_ in thinned(sightings)]
    ordered = sorted(stamps)
    assert len(found) == min(len(stamps), SIGHTINGS)
    assert found == sorted(found)
    assert found[:1] + found[-1:] == ordered[:1] + ordered[-1:]
    assert set(found) <= set(stamps)


def test_sightings_that_follow_close_on_another_are_the_first_to_go() -> None:
    wide = [T0 + number * 100 * NS for number in range(SIGHTINGS)]
    close = [T0 + 500 * NS + number for number in range(1, 20)]
    found = thinned((stamp, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)) for stamp in (*wide, *close))
    assert sum(stamp in wide for stamp, *_ in found) >= SIGHTINGS - 1
