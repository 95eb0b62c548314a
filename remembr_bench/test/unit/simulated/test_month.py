from collections import Counter
from datetime import date
from itertools import pairwise

import pytest

from remembr_ros.geometry import distance
from test.simulated.hospital import NOTES, ROUNDS, THINGS
from test.simulated.month import FIRST, Month, month

COUNT = 6_000


@pytest.fixture(scope='module')
def made() -> Month:
    return month(3, COUNT)


def test_the_same_seed_gives_the_same_month(made):
    assert month(3, COUNT) == made
    assert month(4, COUNT) != made


@pytest.mark.parametrize('count', [100, 999, COUNT])
def test_it_has_as_many_memories_as_are_wanted(count):
    memories = month(0, count).memories
    assert len(memories) == count
    assert len({memory.id for memory in memories}) == count


def test_a_robot_is_at_one_place_at_a_time(made):
    for robot in ROUNDS:
        own = [m for m in made.memories if m.robot == robot and m.source == 'captioner']
        assert all(a.end_ns < b.start_ns for a, b in pairwise(own))


def test_a_stay_is_at_its_place(made):
    known = {memory.id: memory for memory in made.memories}
    for stay in made.stays:
        seen = [known[i] for i in stay.memories]
        assert all(m.robot == stay.robot and m.map_id == stay.place.map_id for m in seen)
        assert all(distance(m.pose.position, stay.place.at) < 0.5 for m in seen)
        assert (seen[0].start_ns, seen[-1].end_ns) == (stay.start_ns, stay.end_ns)


@pytest.mark.parametrize('thing', THINGS, ids=lambda thing: thing.name)
def test_a_thing_is_said_where_it_is_and_nowhere_else(made, thing):
    named = {m.id for m in made.memories if m.source == 'captioner' and thing.name in m.caption}
    assert named == set(made.naming[thing.name])
    stays = made.stays_with(thing.name)
    assert stays
    assert all(thing.place((stay.day - FIRST.date()).days + 1) == stay.place.name for stay in stays)
    assert list(made.days_of(thing.name)) == sorted({stay.day for stay in stays})


def test_a_thing_that_was_taken_away_is_seen_no_more(made):
    assert made.days_of('stepladder')[-1] < date(2026, 11, 12)


def test_captions_repeat(made):
    assert len(Counter(memory.caption for memory in made.memories)) < COUNT / 3
    sentences = {s for memory in made.memories for s in memory.caption.split('. ')}
    assert len(sentences) < 200


def test_notes_are_of_persons(made):
    assert [m.caption for m in made.memories if m.source == 'person'] == [note.text for note in NOTES]
