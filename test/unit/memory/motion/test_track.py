"""The way of one robot on one map."""

from dataclasses import replace

import pytest

from remembr_ros.memory.motion.track import GAP_NS, tracks
from remembr_ros.timestamps import NS
from test.unit.memory.motion.test_motion import START_NS, STRAIGHT, way


def test_a_track_ends_where_nothing_is_remembered_or_the_clock_was_set_back() -> None:
    memories = way(*[STRAIGHT] * 6)
    gap = [replace(m, start_ns=m.start_ns + 2 * GAP_NS, end_ns=m.end_ns + 2 * GAP_NS) for m in memories[3:]]
    assert [len(track.memories) for track in tracks(memories[:3] + gap)] == [3, 3]
    back = [replace(m, id=f'b{m.id}', start_ns=m.start_ns + NS, end_ns=m.end_ns + NS) for m in memories]
    assert sum(len(track.memories) for track in tracks(memories + back)) == 12


def test_robots_and_maps_have_tracks_of_their_own_and_unplaced_memories_none() -> None:
    memories = way(*[STRAIGHT] * 4)
    other = [replace(m, id=f'o{m.id}', robot='other') for m in memories]
    floor = [replace(m, id=f'f{m.id}', map_id='floor 2') for m in memories]
    nowhere = [replace(m, id=f'n{m.id}', pose=None) for m in memories]
    note = [replace(m, id=f'p{m.id}', source='person') for m in memories]
    found = tracks([*memories, *other, *floor, *nowhere, *note])
    assert [len(track.memories) for track in found] == [4, 4, 4]


def test_of_several_cameras_one_tells_the_way() -> None:
    memories = way(*[STRAIGHT] * 4)
    rear = [replace(m, id=f'r{m.id}', camera='rear') for m in memories[1:]]
    (track,) = tracks([*memories, *rear])
    assert [memory.camera for memory in track.memories] == [''] * 4


def test_where_it_was_and_how_far_it_had_driven_at_a_time() -> None:
    (track,) = tracks(way(*[STRAIGHT] * 4))
    at_ns = START_NS + 6 * NS
    assert track.pose_at(at_ns).x == pytest.approx(4.8, abs=0.1)
    assert track.driven_until(at_ns) == pytest.approx(4.8, abs=0.1)
    assert track.driven_until(START_NS - NS) == 0.0
    assert track.driven_until(START_NS + 60 * NS) == pytest.approx(0.8 * 11.8, abs=0.1)
    assert track.pose_at(0).x == pytest.approx(1.2)
    assert track.speed(2) == pytest.approx(0.8)
