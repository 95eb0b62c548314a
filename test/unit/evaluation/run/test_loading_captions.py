import pytest

from remembr_ros.evaluation.datasets.navqa import load_captions
from remembr_ros.evaluation.run.loading import joined, timed


@pytest.fixture
def segments(navqa):
    return load_captions(navqa.write(), 7)


def test_segments_are_joined_to_the_length_asked_for(segments):
    longer = joined(segments, 12.0)
    assert [s.memory.start_ns for s in longer] == [s.memory.start_ns for s in segments[::4]]
    first = longer[0]
    assert first.memory.end_ns == segments[3].memory.end_ns
    assert first.memory.pose.x == pytest.approx(15.0), 'the mean of 0, 10, 20 and 30'
    assert first.memory.caption == '\n\n'.join(s.memory.caption for s in segments[:4])
    assert first.mean_ns == sum(s.mean_ns for s in segments[:4]) // 4
    assert first.memory.id == segments[0].memory.id


def test_a_length_that_they_have_changes_nothing(segments):
    assert joined(segments, 3.0) == segments
    assert joined([], 12.0) == []


def test_what_remains_at_the_end_is_a_shorter_one(segments):
    assert joined(segments[:5], 12.0)[-1] == segments[4]


def test_a_gap_is_not_bridged(segments):
    assert joined([segments[0], segments[9]], 12.0) == [segments[0], segments[9]]


def test_a_memory_is_timed_by_its_middle(segments):
    memory = segments[0].memory
    assert timed(memory).mean_ns == (memory.start_ns + memory.end_ns) // 2
