import random
from dataclasses import replace

import pytest

from remembr_ros.geometry import Pose
from remembr_ros.memory.consolidation.merging import SINGLE, absorb_deed
from remembr_ros.memory.consolidation.rule import Consolidation
from remembr_ros.memory.deeds.deed import deed, each_time
from remembr_ros.memory.model.record import Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.timestamps import NS

T = 1_700_000_000 * NS
RULE = Consolidation(0.9)


def drive(second: float, x: float = 0.0, **about):
    begin_ns = T + round(second * NS)
    about = {'kind': 'go', 'outcome': 'succeeded', 'pose': Pose(x, 0.0), 'key': f'{second} {x}'} | about
    return deed(begin_ns, begin_ns + 5 * NS, travelled=2.0, **about).memory('r')


def after(memories):
    """Return what is kept of deeds that come one after the other."""
    kept = {}
    for memory in memories:
        whole = absorb_deed(kept.values(), memory, RULE) or memory
        kept[whole.id] = whole
    return list(kept.values())


def test_what_is_news_is_kept_one_by_one():
    assert len(after([drive(60 * i) for i in range(SINGLE)])) == SINGLE
    assert len(after([drive(60 * i, outcome='failed') for i in range(20)])) == 20
    assert len(after([drive(60 * i, kind='dock') for i in range(20)])) == 20
    assert len(after([drive(60 * i, x=i) for i in range(20)])) == 20
    assert len(after([drive(4000 * i) for i in range(20)])) == 20, 'not within the hour'


def test_a_patrol_of_a_thousand_goals_is_a_few_memories():
    drives = [drive(13 * i, x=10.0 * (i % 4)) for i in range(1000)]
    kept = after(drives)
    assert len(kept) <= 4 * 4 * SINGLE + 4
    assert sum(memory.merged for memory in kept) == 1000
    assert sum(memory.travelled for memory in kept) == pytest.approx(2000.0)
    times = [(one.start_ns, one.end_ns) for memory in kept for one in each_time(memory)]
    assert sorted(times) == [(memory.start_ns, memory.end_ns) for memory in drives]
    assert all(memory.end_ns - memory.start_ns <= RULE.max_span_ns for memory in kept)


def test_told_again_changes_nothing():
    drives = [drive(13 * i) for i in range(50)]
    kept = after(drives)
    again = list(drives)
    random.Random(1).shuffle(again)
    for memory in again:
        whole = absorb_deed(kept, memory, RULE)
        assert whole in kept if whole else memory in kept


def test_robots_maps_and_frames_are_apart():
    kept = [drive(i) for i in range(SINGLE)]
    for about in ({'robot': 's'}, {'map_id': 'm'}, {'frame_id': 'odom'}, {'pose': None}):
        assert absorb_deed(kept, replace(drive(9), **about), RULE) is None
    assert absorb_deed(kept, drive(9), RULE) is not None


def test_a_store_keeps_a_patrol_as_few_memories_and_takes_it_twice(tmp_path):
    drives = [Observation(drive(13 * i, x=10.0 * (i % 4))) for i in range(200)]
    with_store = open_store(str(tmp_path / 'm.db'), 'hashing', create=True, consolidation=True)
    for _ in range(2):
        for first in range(0, 200, 16):
            with_store.add(drives[first : first + 16])
        kept = with_store.all()
        assert len(kept) <= 4 * SINGLE
        assert sum(memory.merged for memory in kept) == 200
    with_store.close()
