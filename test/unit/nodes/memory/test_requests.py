import math

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: make setup')

from remembr_msgs.srv import FindDeeds
from remembr_ros.geometry import Pose
from remembr_ros.memory.deeds.deed import deed, facts_of
from remembr_ros.memory.deeds.query import FoundDeeds, Occurrence
from remembr_ros.nodes.base.memory_conversion import memory_from_msg
from remembr_ros.nodes.memory.requests import fill_deeds
from remembr_ros.timestamps import NS

T0 = 1_700_000_000 * NS


def test_what_was_found_is_told_with_its_own_times_and_place():
    memory = deed(T0, T0 + 60 * NS, kind='go', place='hall', pose=Pose(1.0, 2.0)).memory('r1')
    drives = [
        Occurrence(T0 + start * NS, T0 + (start + 10) * NS, facts_of(memory), (memory,), 3)  # an int
        for start in (0, 50)
    ]
    response = FindDeeds.Response()
    fill_deeds(FoundDeeds((drives[1],), tuple(drives), (drives[0],) * 1001, whole=False), response)
    [msg] = response.deeds
    found = memory_from_msg(msg)
    assert (found.start_ns, found.end_ns, found.id) == (T0 + 50 * NS, T0 + 60 * NS, memory.id)
    assert (msg.place, facts_of(found)) == ('hall', facts_of(memory))
    assert (list(response.lasted), list(response.driven), response.total) == ([10.0], [3.0], 2)
    assert (response.seconds, response.mean_seconds, response.metres) == (20.0, 10.0, 6.0)
    assert not response.whole
    assert len(response.anchors) == 1000


def test_there_is_no_average_of_nothing():
    response = FindDeeds.Response()
    fill_deeds(FoundDeeds(), response)
    assert (response.total, response.seconds, response.metres, response.whole) == (0, 0.0, 0.0, True)
    assert math.isnan(response.mean_seconds)
