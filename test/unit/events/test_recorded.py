import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from remembr_ros.bags.reader import open_bag
from remembr_ros.events.recorded import RecordedDeeds
from remembr_ros.events.watch import LEFT_OUT
from remembr_ros.images import Frame
from remembr_ros.memory.deeds.deed import facts_of
from remembr_ros.memory.model.record import Memory
from test.deed_bag import EVENT, FEEDBACK, TREE, DeedBag, write_deeds
from test.unit.bags.conftest import NS, T0, BagBuilder


def deeds_of(path: Path, left_out=LEFT_OUT) -> list[Memory]:
    with open_bag(path) as bag:
        deeds = RecordedDeeds(bag.recording, left_out, 'first', 'map')
        for event in bag.events(deeds.topics, deeds.hear):
            if not isinstance(event, Frame):
                deeds.placer.add(event)
        return sorted(deeds.end('r2'), key=lambda memory: memory.start_ns)


@pytest.mark.parametrize('storage', ['mcap', 'sqlite3'])
def test_what_was_done_when_where_and_how_it_ended(storage, tmp_path):
    went, failed, cup, goes_on = deeds_of(write_deeds(tmp_path, storage))
    assert [(one.robot, one.map_id, one.source) for one in (went, cup)] == [('r2', 'first', 'agent')] * 2
    times = [((one.start_ns - T0) / NS, (one.end_ns - T0) / NS) for one in (went, failed, cup, goes_on)]
    assert times == [(2.0, 8.0), (10.0, 12.0), (10.5, 10.5), (15.0, 20.0)]
    assert [one.pose.x for one in (went, failed, cup, goes_on)] == pytest.approx([4.0, 6.0, 5.25, 10.0])
    assert (went.travelled, failed.travelled) == pytest.approx((3.0, 1.0))
    facts = [facts_of(one) for one in (went, failed, cup, goes_on)]
    assert [(one.kind, one.outcome) for one in facts] == [
        ('go', 'succeeded'),
        ('go', 'failed'),
        ('pick', 'succeeded'),
        ('go', 'unknown'),
    ]
    assert facts[0].began == pytest.approx((-3.0, 0.0, 0.0))
    assert facts[0].goal == pytest.approx((2.0, 0.0, 0.0))
    assert (facts[0].details['number_of_recoveries'], facts[0].details['distance_remaining']) == (1, 1.5)
    assert [one.reason for one in facts[:2]] == ['', 'ComputePathToPose failed']
    assert facts[2].object == 'cup'
    assert facts[3].reason == 'nobody saw how it ended'


@pytest.mark.parametrize('encoding', ['ros2msg', 'unknown'])
@pytest.mark.parametrize('storage', ['mcap', 'sqlite3'])
def test_what_has_no_definition_is_left_out_and_said(storage, encoding, tmp_path, caplog):
    path = write_deeds(tmp_path, storage, undefined=(FEEDBACK,))
    (file,) = (file for file in path.iterdir() if file.suffix != '.yaml')
    if storage == 'sqlite3':
        with closing(sqlite3.connect(file)) as table, table:
            which = "WHERE encoded_message_definition = ''"
            table.execute(f'UPDATE message_definitions SET encoding = ? {which}', (encoding,))
    else:
        said, meant = (f'{FEEDBACK}\x07\0\0\0{one}'.encode() for one in ('ros2msg', encoding))
        file.write_bytes(file.read_bytes().replace(said, meant))
    assert encoding.encode() in file.read_bytes()
    found = deeds_of(path)
    assert len(found) == 4
    assert 'number_of_recoveries' not in facts_of(found[0]).details
    (line,) = caplog.messages
    assert f'/navigate_to_pose/_action/feedback, of {FEEDBACK}: the recording has no definition' in line


def test_sqlite_without_definitions(tmp_path, caplog):
    found = deeds_of(write_deeds(tmp_path, 'sqlite3', undefined=(FEEDBACK, TREE, EVENT)))
    assert [facts_of(one).reason for one in found] == ['', '', 'nobody saw how it ended']
    assert [line.split(',')[0] for line in caplog.messages] == [
        'left out: /behavior_tree_log',
        'left out: /navigate_to_pose/_action/feedback',
        'left out: /remembr/event',
    ]


def test_garbage_on_a_topic_is_said_once_and_a_deed_that_makes_no_sense_each_time(tmp_path, caplog):
    with DeedBag(tmp_path) as bag:
        bag.drive(2)
        for second in (0.5, 0.6):
            bag.raw('/remembr/event', EVENT, b'\0\1\0\0\xff', T0 + round(second * NS))
        bag.event(0.7, kind='pick', outcome='splendid')
        bag.event(0.8, kind='pick', robot='\0')
        bag.event(0.9, kind='pick', object='cup')
    (found,) = deeds_of(bag.path)
    assert found.facts['object'] == 'cup'
    no_message, no_outcome, no_robot = caplog.messages
    assert f'a message on /remembr/event is no {EVENT}' in no_message
    assert 'splendid' in no_outcome
    assert 'control characters' in no_robot


def test_without_poses_and_in_another_frame(tmp_path):
    (tmp_path / 'none').mkdir()
    found = deeds_of(write_deeds(tmp_path / 'none', poses=False))
    assert [one.pose for one in found] == [None] * 4
    went = deeds_of(write_deeds(tmp_path, frame='odom'))[0]
    assert (went.frame_id, went.pose.x) == ('odom', pytest.approx(4.0))
    assert facts_of(went).goal is None  # the plan is of the map


def test_what_is_left_out(tmp_path):
    path = write_deeds(tmp_path)
    kinds = {facts_of(one).kind for one in deeds_of(path, ('navigate_*',))}
    assert kinds == {'follow path', 'pick'}


def test_a_plan_of_ros_1_is_no_deed(tmp_path):
    with BagBuilder(tmp_path, 'ros1') as bag:
        bag.compressed('/camera/compressed', T0)
        bag.add('/plan', bag.make('nav_msgs/msg/Path', bag.header(T0), []), T0)
    assert deeds_of(bag.path) == []


def test_a_service_that_was_called_by_the_definition_of_its_event(tmp_path):
    kind, rule = 'std_srvs/srv/Trigger', '=' * 80
    text = f"""service_msgs/ServiceEventInfo info
{kind}_Request[<=1] request
{kind}_Response[<=1] response
{rule}
MSG: service_msgs/ServiceEventInfo
uint8 event_type
builtin_interfaces/Time stamp
char[16] client_gid
int64 sequence_number
{rule}
MSG: {kind}_Request
{rule}
MSG: {kind}_Response
bool success
string message
"""
    named = 'std_srvs/srv/msg/Trigger'
    with DeedBag(tmp_path) as bag:
        bag.drive(2)
        bag.add_custom_type(f'{kind}_Event', text)
        topic = bag._writer.add_connection(
            '/open_gripper/_service_event', f'{kind}_Event', msgdef=text, rihs01='RIHS01_' + '0' * 64
        )
        request = bag.make(f'{named}_Request')
        response = bag.make(f'{named}_Response', False, 'stuck')
        for second, asked, answered in ((0.5, [request], []), (1.5, [], [response])):
            client = np.arange(16, dtype=np.uint8)
            info = bag.make('service_msgs/msg/ServiceEventInfo', 1, bag.time(second), client, 7)
            message = bag.make(f'{named}_Event', info, asked, answered)
            data = bag.store.serialize_cdr(message, f'{named}_Event')
            bag._writer.write(topic, T0 + round(second * NS), bytes(data))
    (found,) = deeds_of(bag.path)
    facts = facts_of(found)
    assert (facts.kind, facts.object, facts.outcome, facts.reason) == ('open', 'gripper', 'failed', 'stuck')
    assert (found.start_ns - T0, found.end_ns - T0) == (NS // 2, 3 * NS // 2)
