from dataclasses import replace

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: make setup')

from visualization_msgs.msg import Marker

from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory
from remembr_ros.nodes.base.markers import age_colour
from remembr_ros.nodes.memory.markers import MAX_LABELS, MemoryMarkers
from remembr_ros.timestamps import NS

T = 1_700_000_000 * NS


def memory(index: int, **fields) -> Memory:
    start = T + 1000 * index * NS
    pose = Pose(5.0 * index, 1.0)
    return replace(Memory(f'm{index}', 'robot', start, start + NS, f'thing {index}', pose), **fields)


def drawn(markers: MemoryMarkers) -> dict[str, list[Marker]]:
    """Return the markers by namespace."""
    first, *others = markers.take().markers
    assert first.action == Marker.DELETEALL
    found: dict[str, list[Marker]] = {}
    for marker in others:
        found.setdefault(marker.ns, []).append(marker)
    return found


def test_memories_are_coloured_by_how_much_older_than_the_newest_they_are():
    markers = MemoryMarkers(10)
    markers.add(memory(i) for i in range(3))
    (balls,) = drawn(markers)['memories']
    assert [point.x for point in balls.points] == [0.0, 5.0, 10.0]
    assert balls.colors == [age_colour(1000 * age * NS) for age in (2, 1, 0)]


def test_every_frame_has_a_marker_and_unplaced_memories_have_none():
    markers = MemoryMarkers(10)
    markers.add([memory(0), memory(1, frame_id='odom'), memory(2, pose=None)])
    assert [(m.header.frame_id, len(m.points)) for m in drawn(markers)['memories']] == [
        ('map', 1),
        ('odom', 1),
    ]


def test_only_the_newest_are_kept_and_only_some_labelled():
    markers = MemoryMarkers(MAX_LABELS + 50)
    markers.add(memory(i, scene_text=(f'sign {i}',)) for i in range(MAX_LABELS + 60))
    shown = drawn(markers)
    assert len(shown['memories'][0].points) == MAX_LABELS + 50
    assert [label.text for label in shown['scene_text']] == [f'sign {i}' for i in range(60, MAX_LABELS + 60)]


def test_nothing_is_sent_where_nothing_changed():
    markers = MemoryMarkers(3)
    assert markers.take() is None
    markers.add([memory(0)])
    assert markers.take() is not None
    assert markers.take() is None


def test_the_memory_that_was_clicked_at_is_described_until_another_click():
    markers = MemoryMarkers(10)
    markers.add([memory(i, scene_text=(f'sign {i}',)) for i in range(3)])
    assert markers.select('map', 5.3, 1.4).id == 'm1'
    shown = drawn(markers)
    (label,) = shown['selected']
    assert label.text.splitlines() == ['2023-11-14 22:30:00 UTC  robot', 'thing 1']
    assert [other.text for other in shown['scene_text']] == ['sign 0', 'sign 2']
    assert markers.select('map', 2.5, 8.0) is None
    assert 'selected' not in drawn(markers)


def test_of_memories_at_one_place_the_newest_is_described_and_a_click_in_another_frame_means_none():
    markers = MemoryMarkers(10)
    markers.add([memory(0, pose=Pose(1.0, 1.0, 0.2)), memory(1, pose=Pose(1.0, 1.0, 3.0))])
    assert markers.select('map', 1.0, 1.0).id == 'm1'
    assert markers.select('odom', 1.0, 1.0) is None


def test_a_selected_memory_that_was_forgotten_is_not_shown():
    markers = MemoryMarkers(10)
    markers.add([memory(0), memory(1)])
    markers.select('map', 0.0, 1.0)
    markers.show([memory(1)])
    assert set(drawn(markers)) == {'memories'}


def test_a_click_where_there_are_no_memories_selects_none():
    markers = MemoryMarkers(10)
    assert markers.select('map', 0.0, 0.0) is None
