from itertools import pairwise

import pytest

from remembr_ros.geometry import distance
from test.simulated.idle_day import SEGMENT_NS, idle_day
from test.simulated.parked_view import VIEWS


@pytest.fixture(scope='module')
def day():
    return idle_day(3, idle_h=2.0, driving_h=0.1)


def test_the_same_seed_gives_the_same_day(day):
    assert idle_day(3, idle_h=2.0, driving_h=0.1) == day
    assert idle_day(4, idle_h=2.0, driving_h=0.1) != day


def test_segments_follow_each_other_without_a_gap(day):
    starts = [memory.start_ns for memory in day.memories]
    assert [b - a for a, b in pairwise(starts)] == [SEGMENT_NS] * (len(starts) - 1)
    assert len(day.idle) == 2400
    assert len(day.memories) == 2400 + 3 * 40


def test_each_happening_is_said_by_its_memories_and_by_no_others(day):
    captions = {memory.id: memory.caption for memory in day.memories}
    showing = {i for planted in day.planted for i in planted.memories}
    for planted in day.planted:
        for memory_id in planted.memories:
            assert any(wording in captions[memory_id] for wording in planted.happening.wordings)
    wordings = {wording for planted in day.planted for wording in planted.happening.wordings}
    assert not any(w in captions[i] for i in captions.keys() - showing for w in wordings)


def test_the_parked_robot_stands(day):
    parked = [memory for memory in day.memories if memory.id in day.idle]
    for view in range(len(VIEWS)):
        stay = parked[view * 800 : (view + 1) * 800]
        assert all(distance(stay[0].pose.position, m.pose.position) < 0.4 for m in stay)


def test_a_stay_too_short_for_all_leaves_happenings_out():
    assert len(idle_day(idle_h=0.1, driving_h=0.0).planted) < 10
