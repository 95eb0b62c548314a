"""The service find_deeds of the memory node."""

import math
from pathlib import Path

import pytest
from geometry_msgs.msg import Point

from remembr_msgs.srv import FindDeeds
from remembr_ros.geometry import Pose
from remembr_ros.memory.deeds.deed import deed
from remembr_ros.memory.model.record import Observation
from remembr_ros.nodes.base.conversions import time_from_msg, time_to_msg
from remembr_ros.nodes.memory.node import MemoryNode
from remembr_ros.timestamps import NS

T0 = 1_700_000_000 * NS
DONE = (
    ('pick', {'object': 'red cup', 'receptacle': 'table', 'travelled': 2.0}),
    ('place', {'object': 'red cup', 'receptacle': 'shelf', 'outcome': 'failed', 'reason': 'it is full'}),
    ('dock', {'place': 'hall'}),
    ('pick', {'object': 'blue mug', 'map_id': 'cellar'}),
)


@pytest.fixture
def deeds(robot, tmp_path: Path):
    """Asks the memory node, in which each deed begins a minute after the last one and takes 10 s longer."""
    node = robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing')
    made = []
    for i, (kind, about) in enumerate(DONE):
        begin_ns, pose = T0 + i * 60 * NS, Pose(float(i), 0.0)
        made.append(deed(begin_ns, begin_ns + (i + 1) * 10 * NS, kind=kind, pose=pose, **about).memory('r1'))
    node._store.add([Observation(memory) for memory in made])
    return lambda **fields: robot.call(FindDeeds, 'find_deeds', FindDeeds.Request(**fields))


@pytest.mark.parametrize(
    ('fields', 'found'),
    [
        ({}, [0, 1, 2, 3]),
        ({'kind': 'grasp'}, [0, 3]),
        ({'kind': 'pick', 'nth': -1}, [3]),
        ({'object': 'cup', 'order': 'longest'}, [3, 1, 0]),
        ({'object': 'red cup', 'receptacle': 'shelf'}, [1]),
        ({'place': 'hall'}, [2]),
        ({'outcome': ['failed', 'cancelled']}, [1]),
        ({'attribute': 'blue'}, [3]),
        ({'after': time_to_msg(T0 + 150 * NS), 'limit': 1}, [2]),
        ({'before': time_to_msg(T0 + 60 * NS)}, [0, 1]),
        ({'after_deed': 'put the red cup'}, [2, 3]),
        ({'after_deed': 'picked the red cup', 'before_deed': 'docked'}, [1]),
        ({'before_deed': 'docked', 'right': True}, [1]),
        ({'time': time_to_msg(T0 + 62 * NS)}, [1]),
        ({'order': 'nearest', 'position': Point(x=2.0), 'limit': 1}, [2]),
        ({'use_map': True}, [0, 1, 2]),
        ({'robot': ['r2']}, []),
        ({'kind': 'place', 'never': 'receptacle'}, [0]),
        ({'near': Point(x=3.0), 'radius': 1.5}, [2, 3]),
        ({'near': Point(x=2.0), 'radius': 1.0, 'order': 'farthest', 'position': Point(x=2.9)}, [1, 2, 3]),
        ({'during': 'picked the blue mug'}, []),
    ],
)
def test_deeds_are_found(deeds, fields, found):
    response = deeds(**fields)
    assert response.error_msg == ''
    assert [(time_from_msg(msg.start) - T0) // (60 * NS) for msg in response.deeds] == found
    assert response.whole


def test_without_a_limit_it_is_the_greatest(deeds, monkeypatch):
    monkeypatch.setattr('remembr_ros.nodes.memory.services.MAX_LIMIT', 3)
    assert [len(deeds(limit=limit).deeds) for limit in (0, 2, 4)] == [3, 2, 4]


def test_how_long_and_how_far(deeds):
    response = deeds(after_deed='picked the red cup', limit=2)
    assert [msg.caption for msg in response.anchors] == ['Picked the red cup from the table']
    assert (list(response.lasted), list(response.driven)) == ([20.0, 30.0], [0.0, 0.0])
    assert (response.total, response.seconds, response.mean_seconds) == (3, 90.0, 30.0)
    assert deeds(kind='pick').metres == 2.0
    assert math.isnan(deeds(object='piano').mean_seconds)


@pytest.mark.parametrize(
    ('fields', 'why'),
    [
        ({'outcome': ['well']}, "outcome.0 is 'well': it has to be one of 'succeeded', 'failed',"),
        ({'order': 'nearest'}, 'needs a place'),
        ({'order': 'nearest', 'position': Point(x=math.nan)}, 'is not a position'),
        ({'right': True}, 'give one'),
        ({'never': 'kind'}, 'never is'),
        ({'after_deed': 'played the piano'}, "no such deed as 'played the piano'"),
        ({'limit': 1001}, 'limit is 1001: it has to be at most 1000'),
        ({'after': time_to_msg(T0), 'after_deed': 'docked'}, 'after and after_deed are both given'),
        ({'object': 'x' * 10_000}, 'object has 10000 characters'),
    ],
)
def test_a_request_for_deeds_that_makes_no_sense_is_refused(deeds, fields, why):
    response = deeds(**fields)
    assert response.error_code == FindDeeds.Response.INVALID_REQUEST
    assert why in response.error_msg
    assert list(response.deeds) == []
