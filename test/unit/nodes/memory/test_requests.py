import math

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: make setup')

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point

from remembr_msgs.srv import FindDeeds
from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Pose
from remembr_ros.memory.deeds.deed import deed, facts_of
from remembr_ros.memory.deeds.query import DeedOrder, DeedQuery, FoundDeeds, Occurrence
from remembr_ros.memory.model.recall import Scope
from remembr_ros.nodes.base.memory_conversion import memory_from_msg
from remembr_ros.nodes.memory.requests import deed_query_from_msg, fill_deeds
from remembr_ros.timestamps import NS

T0 = 1_700_000_000 * NS


def test_an_empty_request_is_for_all_deeds():
    assert deed_query_from_msg(FindDeeds.Request()) == DeedQuery(limit=1000)


def test_every_field_counts():
    request = FindDeeds.Request(
        kind='pick',
        object='cup',
        receptacle='table',
        place='kitchen',
        outcomes=['failed', 'cancelled'],
        attribute='red',
        after=Time(sec=10),
        before=Time(sec=20, nanosec=5),
        after_deed='docked',
        right=True,
        use_at=True,
        at=Time(sec=15),
        order='way',
        use_here=True,
        here=Point(x=1.0, y=2.0, z=3.0),
        nth=-1,
        limit=7,
        never='object',
        robots=['r1', 'r2'],
        map_id='cellar',
    )
    scope = Scope(10 * NS, 20 * NS + 5, robots=('r1', 'r2'), map_id='cellar')
    assert deed_query_from_msg(request) == DeedQuery(
        'pick',
        'cup',
        'table',
        'kitchen',
        'red',
        ('failed', 'cancelled'),
        scope,
        after=DeedQuery(attribute='docked', scope=scope),
        right=True,
        at_ns=15 * NS,
        order=DeedOrder.WAY,
        here=(1.0, 2.0, 3.0),
        nth=-1,
        limit=7,
        never='object',
    )


def test_what_looks_empty_but_is_meant():
    query = deed_query_from_msg(FindDeeds.Request(use_at=True, match_map=True, limit=5000, before_deed='fed'))
    assert (query.at_ns, query.scope.map_id, query.limit) == (0, '', 1000)
    assert (query.after, query.before) == (None, DeedQuery(attribute='fed', scope=query.scope))


@pytest.mark.parametrize(
    ('fields', 'why'),
    [
        ({'outcomes': ['well']}, "'well' is no outcome"),
        ({'order': 'prettiest'}, 'order is'),
        ({'order': 'nearest'}, 'nearest needs a place to start from'),
        ({'order': 'way', 'use_here': True, 'here': Point(x=math.nan)}, 'is not a position'),
        ({'use_here': True, 'here': Point(y=math.inf)}, 'is not a position'),
        ({'right': True}, 'give one'),
        ({'right': True, 'after_deed': 'docked', 'before_deed': 'docked'}, 'give one'),
        ({'never': 'kind'}, 'never is'),
        ({'after_deed': ' ... '}, 'no such deed'),
        ({'after': Time(sec=20), 'before': Time(sec=10)}, 'the time window is empty'),
    ],
)
def test_a_request_that_makes_no_sense_is_refused(fields, why):
    with pytest.raises(InvalidRequest, match=why):
        deed_query_from_msg(FindDeeds.Request(**fields))


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
