import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.geometry import Pose
from remembr_ros.memory.consolidation.rule import (
    NEAREST,
    Consolidation,
    Scene,
    absorb,
    consolidate,
    scene_of,
    telling_sentences,
)
from remembr_ros.memory.matching.ranking import passages
from remembr_ros.memory.model.engine import Entry
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import NS

DOOR, LAMP = 'A closed door in a corridor.', 'Two people carry a lamp past the window.'

OFFICE = (
    'The scene depicts an office. Three desks with monitors stand on the left. '
    'A whiteboard hangs on the wall. Gray carpet covers the floor.'
)
OFFICE_AGAIN = (
    'Gray carpet covers the floor. The scene depicts an office. On the left stand three desks with monitors. '
    'On the wall hangs a whiteboard. There are no people visible.'
)
PASSING = f'{OFFICE} Somebody wearing a red jacket walks past.'
HERE = Pose(1.0, 2.0)

CONFIG = Consolidation(alike=0.5)
EMBEDDER = HashingEmbedder(256)


def memory(i: int, caption: str = DOOR, pose: Pose | None = HERE, **changes) -> Memory:
    fields = {'id': f'm{i}', 'robot': 'r', 'start_ns': 3 * i * NS, 'end_ns': (3 * i + 3) * NS}
    return Memory(**{**fields, 'caption': caption, 'pose': pose, **changes})


def consolidated(*memories: Memory) -> list[Memory]:
    return consolidate(memories, EMBEDDER, CONFIG)


def said(*memories: Memory) -> list[tuple[str, int]]:
    return [(m.id, m.merged) for m in consolidated(*memories)]


def scene(of: Memory) -> Scene:
    return scene_of(Entry(of, EMBEDDER.embed([part.text for part in passages(of)])))


def test_a_parked_hour_is_one_memory_that_stands_for_all():
    (one,) = consolidated(*(memory(i, travelled=0.01) for i in range(1200)))
    assert (one.id, one.start_ns, one.end_ns, one.merged) == ('m0', 0, 3600 * NS, 1200)
    assert one.travelled == pytest.approx(12.0)


def test_no_memory_grows_longer_than_an_hour():
    day = consolidated(*(memory(i) for i in range(8 * 1200)))
    assert [(m.start_ns, m.end_ns) for m in day] == [(h * 3600 * NS, (h + 1) * 3600 * NS) for h in range(8)]


def test_a_change_in_the_scene_starts_a_new_one():
    seen = [memory(0), memory(1), memory(2, LAMP), memory(3), memory(4)]
    assert said(*seen) == [('m0', 2), ('m2', 1), ('m3', 2)]


def test_other_words_for_the_same_are_no_change():
    assert said(memory(0, OFFICE), memory(1, OFFICE_AGAIN), memory(2, OFFICE)) == [('m0', 3)]


def test_one_new_sentence_is_a_change_and_so_is_its_end():
    seen = [memory(i, PASSING if i in {5, 6} else OFFICE) for i in range(20)]
    assert said(*seen) == [('m0', 5), ('m5', 2), ('m7', 13)]


def test_what_passes_while_a_sign_comes_into_view_still_ends():
    texts = {5: (), 6: ('EXIT',), 7: ('EXIT',)}
    seen = [
        memory(i, PASSING if i in texts else OFFICE, scene_text=texts.get(i, ('EXIT',) if i > 7 else ()))
        for i in range(12)
    ]
    assert said(*seen) == [('m0', 5), ('m5', 1), ('m6', 2), ('m8', 4)]


def test_what_was_there_when_the_robot_came_ends_too():
    assert said(memory(0, PASSING), memory(1, PASSING), memory(2, OFFICE)) == [('m0', 2), ('m2', 1)]


def test_a_detail_left_out_later_is_no_change():
    detail = f'{OFFICE} A round clock is mounted above the entrance.'
    seen = [memory(0, OFFICE), memory(1, detail), *(memory(i, OFFICE) for i in range(2, 20))]
    assert len(said(*seen)) == 3
    steady = [memory(i, detail if i % 2 else OFFICE) for i in range(21)]
    assert len(said(*steady)) <= 4


def test_a_short_caption_must_be_nearly_the_same():
    assert len(said(memory(0, 'It sees a desk.'), memory(1, 'It sees a desk and a person.'))) == 2


def test_a_new_text_is_a_change_a_missing_or_misread_one_is_not():
    read = [('EXIT', 'LIFT'), (), ('EXI',), ('LIFT', 'EX1T'), ('EXIT', 'CLOSED'), ('LIFT',), ('CLOSED',)]
    assert said(*(memory(i, scene_text=texts) for i, texts in enumerate(read))) == [
        ('m0', 4),
        ('m4', 1),
        ('m5', 1),
        ('m6', 1),
    ]


@pytest.mark.parametrize(
    'pose',
    [Pose(1.6, 2.0), Pose(1.0, 2.0, 0.0, math.radians(25.0)), None],
    ids=['moved', 'turned', 'unplaced'],
)
def test_a_robot_that_does_not_stand_remembers_anew(pose):
    assert len(consolidated(memory(0), memory(1, pose=pose))) == 2


def test_standing_is_measured_from_where_the_stay_began():
    creeping = [memory(i, pose=Pose(0.3 * i, 0.0)) for i in range(6)]
    assert [m.id for m in consolidated(*creeping)] == ['m0', 'm2', 'm4']


def test_yaw_is_compared_the_short_way_round():
    around = [memory(0, pose=Pose(0.0, 0.0, 0.0, 3.1)), memory(1, pose=Pose(0.0, 0.0, 0.0, -3.1))]
    assert len(consolidated(*around)) == 1


@pytest.mark.parametrize(
    'other',
    [
        memory(100),
        memory(1, robot='s'),
        memory(1, map_id='cellar'),
        memory(1, frame_id='odom'),
        memory(1, source='object'),
    ],
    ids=['time', 'robot', 'map', 'frame', 'source'],
)
def test_a_stay_of_another_time_robot_map_or_source_is_another(other):
    assert len(consolidated(memory(0), other)) == 2


@pytest.mark.parametrize('source', ['person', 'agent', 'object'])
def test_what_was_said_once_is_never_merged(source):
    assert len(consolidated(memory(0, source=source), memory(1, source=source))) == 2


def test_nothing_is_merged_into_nothing():
    assert consolidated() == []
    assert len(consolidated(memory(0, ''), memory(1, ''))) == 1
    assert len(consolidated(memory(0, ''), memory(1, DOOR))) == 2


def test_sentences_that_say_nothing_do_not_count():
    caption = 'A desk. There are no people. The overall atmosphere is calm. Nothing moves.'
    assert list(telling_sentences(memory(0, caption)).values()) == ['A desk.']
    assert list(telling_sentences(memory(0, 'There are no signs.')).values()) == ['no signs.']


def test_a_stored_entry_gives_the_vectors_of_its_sentences():
    of = memory(0, f'{OFFICE} No people are present.', scene_text=('EXIT',))
    np.testing.assert_array_equal(
        scene(of).vectors, EMBEDDER.embed(list(telling_sentences(memory(0, OFFICE)).values()))
    )
    np.testing.assert_array_equal(scene(memory(0)).vectors, EMBEDDER.embed([DOOR]))
    assert scene(memory(0, '')).vectors.shape == (0, 256)


def test_a_stay_goes_on_after_a_restart_from_what_is_stored():
    (stored,) = consolidated(*(memory(i, OFFICE) for i in range(10)))
    whole = absorb([scene(stored)], scene(memory(10, OFFICE_AGAIN)), CONFIG)
    assert whole is not None
    assert whole == replace(stored, end_ns=33 * NS, merged=11)


def test_what_is_stored_already_changes_nothing():
    (stored,) = consolidated(*(memory(i, OFFICE) for i in range(10)))
    for i in range(10):
        assert absorb([scene(stored)], scene(memory(i, OFFICE_AGAIN if i else OFFICE)), CONFIG) == stored


def test_another_caption_of_the_same_segment_replaces_it():
    assert absorb([scene(memory(0, OFFICE))], scene(memory(0, PASSING)), CONFIG) is None


def test_what_arrives_late_and_saw_something_else_is_kept():
    stored = [scene(m) for m in consolidated(*(memory(i, OFFICE) for i in range(10) if i != 5))]
    assert absorb(stored, scene(memory(5, PASSING)), CONFIG) is None
    assert absorb(stored, scene(memory(5, OFFICE)), CONFIG) == stored[0].memory


def test_a_clock_set_back_does_not_shorten_a_memory():
    stored = [scene(m) for m in consolidated(*(memory(i, OFFICE) for i in range(10)))]
    straddling = replace(memory(9, OFFICE), id='other', start_ns=28 * NS, end_ns=32 * NS)
    whole = absorb(stored, scene(straddling), CONFIG)
    assert whole is not None
    assert (whole.end_ns, whole.merged) == (32 * NS, 11)
    earlier = replace(straddling, start_ns=0, end_ns=NS)
    assert absorb(stored, scene(earlier), CONFIG) == stored[0].memory


SPOTS = (HERE, Pose(1.2, 2.1), Pose(5.0, 2.0), None)


@st.composite
def days(draw) -> list[Memory]:
    """Segments of two robots, one after the other."""
    memories = []
    for robot in ('r', 's'):
        now = 0
        for _ in range(draw(st.integers(0, 15))):
            now += draw(st.sampled_from((0, 0, 0, 40, 90))) * NS
            length = draw(st.sampled_from((1, 3))) * NS
            source = draw(st.sampled_from(('captioner', 'captioner', 'captioner', 'person')))
            memories.append(
                Memory(
                    id=f'{robot}{now // NS}',
                    robot=robot,
                    start_ns=now,
                    end_ns=now + length,
                    caption=draw(st.sampled_from((OFFICE, OFFICE, OFFICE_AGAIN, PASSING, DOOR, ''))),
                    pose=draw(st.sampled_from(SPOTS)),
                    map_id=draw(st.sampled_from(('', '', 'cellar'))),
                    scene_text=draw(st.sampled_from(((), ('EXIT',), ('EXI',), ('LIFT', 'EXIT')))),
                    source=source,
                    travelled=0.5,
                )
            )
            now += length
    return memories


def seconds(memories: list[Memory]) -> set[tuple[str, int]]:
    return {(m.robot, second) for m in memories for second in range(m.start_ns // NS, m.end_ns // NS)}


@settings(max_examples=150)
@given(day=days())
def test_no_time_and_no_segment_is_lost(day):
    whole = consolidated(*day)
    assert sum(m.merged for m in whole) == len(day)
    assert sum(m.travelled for m in whole) == pytest.approx(0.5 * len(day))
    assert seconds(day) <= seconds(whole)
    for robot, second in seconds(whole) - seconds(day):  # only gaps within a stay are bridged
        ends = [m.end_ns for m in day if m.robot == robot and m.end_ns <= second * NS]
        starts = [m.start_ns for m in day if m.robot == robot and m.start_ns > second * NS]
        assert min(starts) - max(ends) <= CONFIG.max_gap_ns
    original = {m.id: m for m in day}
    for m in whole:
        first = original[m.id]
        assert m == replace(first, end_ns=m.end_ns, merged=m.merged, travelled=m.travelled)
        assert m.merged == 1 or m.source == 'captioner'
        assert m.end_ns - m.start_ns <= CONFIG.max_span_ns


@settings(max_examples=150)
@given(day=days(), data=st.data())
def test_fed_twice_or_in_another_order_it_is_the_same(day, data):
    whole = consolidated(*day)
    assert consolidated(*data.draw(st.permutations([*day, *day]))) == whole
    assert consolidated(*whole) == whole
    assert consolidated(*whole, *day) == whole


@settings(max_examples=100)
@given(day=days())
def test_one_by_one_from_what_is_stored_gives_the_same_as_all_at_once(day):
    stored: dict[str, Memory] = {}

    def take(new: Memory) -> None:
        nearest = sorted(
            (m for m in stored.values() if (m.robot, m.map_id) == (new.robot, new.map_id)),
            key=lambda m: max(m.start_ns - new.start_ns, new.start_ns - m.end_ns, 0),
        )
        whole = absorb([scene(m) for m in nearest[: 2 * NEAREST]], scene(new), CONFIG)
        stored[(whole or new).id] = whole or new

    for new in day:
        take(new)
    assert sorted(stored.values(), key=lambda m: (m.start_ns, m.id)) == consolidated(*day)
    before = dict(stored)
    for new in day:
        take(new)
    assert stored == before
