import math

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: make setup')

from hypothesis import given
from hypothesis import strategies as st
from visualization_msgs.msg import Marker

from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory
from remembr_ros.nodes.base import markers as m
from remembr_ros.timestamps import NS

T = 1_700_000_000 * NS
DAY = 86_400 * NS


def rgb(colour) -> tuple[float, float, float]:
    return (round(colour.r, 3), round(colour.g, 3), round(colour.b, 3))


def brightness(colour) -> float:
    return 0.3 * colour.r + 0.6 * colour.g + 0.1 * colour.b


@given(st.floats(), st.floats())
def test_a_higher_value_is_brighter_and_every_value_has_a_colour(a, b):
    low, high = m.ramp(min(a, b)), m.ramp(max(a, b))
    for colour in (low, high):
        assert all(0.0 <= part <= 1.0 for part in (*rgb(colour), colour.a))
    if not math.isnan(a) and not math.isnan(b):
        assert brightness(low) <= brightness(high) + 1e-6


def test_values_beyond_the_ends_and_no_number_have_the_colours_of_the_ends():
    assert rgb(m.ramp(-3.0)) == rgb(m.ramp(0.0)) == rgb(m.ramp(math.nan))
    assert rgb(m.ramp(7.0)) == rgb(m.ramp(1.0)) == (1.0, 0.9, 0.15)


def test_age_counts_by_its_logarithm_from_a_minute_to_a_month():
    assert (
        rgb(m.age_colour(-5 * NS)) == rgb(m.age_colour(0)) == rgb(m.age_colour(60 * NS)) == rgb(m.ramp(1.0))
    )
    assert rgb(m.age_colour(30 * DAY)) == rgb(m.age_colour(300 * DAY)) == rgb(m.ramp(0.0))
    middle = math.sqrt(60 * 30 * 86_400)
    assert rgb(m.age_colour(round(middle * NS))) == rgb(m.ramp(0.5))


def test_an_arrow_faces_as_its_pose_does():
    arrow = m.arrow('map', 'goal', Pose(1.0, 2.0, 0.5, math.pi / 2), m.GREEN)
    assert (arrow.pose.position.x, arrow.pose.position.y, arrow.pose.position.z) == (1.0, 2.0, 0.5)
    assert arrow.pose.orientation.z == pytest.approx(math.sqrt(0.5))
    assert arrow.header.frame_id == 'map'
    assert (arrow.header.stamp.sec, arrow.header.stamp.nanosec) == (0, 0)


def test_what_is_shown_takes_the_place_of_all_that_was_and_has_ids_of_its_own():
    shown = m.clear(m.label('map', 'n', Pose(0, 0), str(i)) for i in range(3)).markers
    assert [marker.action for marker in shown] == [Marker.DELETEALL, Marker.ADD, Marker.ADD, Marker.ADD]
    assert [marker.id for marker in shown[1:]] == [0, 1, 2]


def test_a_memory_is_described_in_a_few_short_lines():
    memory = Memory('id', 'rosie', T, T + NS, 'A corridor with doors. ' * 50)
    when, *said = m.described(memory).split('\n')
    assert when == '2023-11-14 22:13:20 UTC  rosie'
    assert len(said) == m.CAPTION_LINES
    assert max(map(len, said)) <= m.CAPTION_WIDTH
    assert said[0].startswith('A corridor with doors.')
    assert said[-1].endswith('...')
