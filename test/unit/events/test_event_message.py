import pytest

from remembr_ros.errors import InvalidRequest
from remembr_ros.events.event_message import deed_of
from remembr_ros.timestamps import NS
from test.unit.events.messages import Message, T, pose, stamp

EMPTY = dict.fromkeys(
    ('kind', 'text', 'object', 'receptacle', 'place', 'outcome', 'reason', 'robot', 'map_id', 'details'), ''
)


def event(**about) -> Message:
    times = {name: stamp(about.pop(name, 0)) for name in ('begin', 'end')}
    return Message(**{'use_pose': False, 'pose': pose(1.0)} | EMPTY | times | about)


def test_times_that_nobody_told():
    made = [
        deed_of(event(kind='pick', **times), T)
        for times in ({}, {'begin': 5}, {'end': 7}, {'begin': 5, 'end': 7})
    ]
    assert [(one.begin_ns, one.end_ns) for one in made] == [(T, T), (5, 5), (7, 7), (5, 7)]


def test_whose_and_where():
    made = deed_of(event(kind='pick', use_pose=True, robot='r2', map_id='attic', details='{"grip": 3}'), T)
    memory = made.memory('r1')
    assert (memory.robot, memory.map_id, memory.pose.x, memory.frame_id) == ('r2', 'attic', 1.0, 'map')
    assert made.facts.details == {'grip': 3}
    assert made.facts.outcome == 'unknown'


@pytest.mark.parametrize(
    'about',
    [
        {},
        {'kind': 'pick', 'begin': 2 * NS, 'end': NS},
        {'kind': 'pick', 'outcome': 'well'},
        {'kind': 'pick', 'details': '[1]'},
        {'kind': 'pick', 'details': '{'},
        {'kind': 'pick', 'use_pose': True, 'pose': pose(float('nan'))},
    ],
)
def test_what_makes_no_sense_is_refused(about):
    with pytest.raises(InvalidRequest):
        deed_of(event(**about), T)
