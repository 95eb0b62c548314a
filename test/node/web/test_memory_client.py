"""What the page wants of the memory node, through its services."""

import time
from pathlib import Path

import numpy as np
import pytest

from remembr_msgs.srv import GetKeyframe, Outline, Recall
from remembr_ros.errors import InvalidRequest, StoreUnavailable
from remembr_ros.forms.events import NoteForm
from remembr_ros.forms.fields import Nanoseconds
from remembr_ros.forms.forget import ForgetForm
from remembr_ros.geometry import Pose
from remembr_ros.images import encode_jpeg
from remembr_ros.memory.deeds.deed import deed
from remembr_ros.memory.model.record import Memory, Observation, memory_id
from remembr_ros.nodes.base import memory_conversion
from remembr_ros.nodes.events.node import EventsNode
from remembr_ros.nodes.memory.node import MemoryNode
from remembr_ros.nodes.web import memory_client
from remembr_ros.nodes.web.memory_client import MemoryClient
from remembr_ros.timestamps import NS
from test.unit.memory.engine_contract import outlined, told

T0 = 1_700_000_000 * NS


@pytest.fixture
def store(robot, tmp_path: Path):
    node = robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing')
    image = encode_jpeg(np.zeros((24, 32, 3), np.uint8))
    for i in range(7):
        # Several at one time, some unplaced, of two robots.
        start, name = T0 + (i // 3) * NS, 'ab'[i % 2]
        pose = Pose(float(i), 1.0) if i % 3 else None
        made = Memory(
            memory_id(name, 'captioner', start, f'{i}'), name, start, start + NS, f'thing {i}', pose
        )
        node._store.add([Observation(made, (image,) if i == 0 else ())])
    return node._store


@pytest.fixture
def client(robot, store):
    client = MemoryClient(robot.client, 20.0)
    yield client
    client.destroy()


@pytest.mark.parametrize('page', [20_000, 7, 3, 1])
def test_the_outline_comes_whole_page_by_page(client, store, page, monkeypatch):
    monkeypatch.setattr(memory_conversion, 'OUTLINE_PAGE', page)
    monkeypatch.setattr(memory_client, 'OUTLINE_PAGE', page)
    assert told(client.outline()) == outlined(store.all())


def test_the_outline_of_nothing_is_empty(client, store):
    store.forget(ids=[memory.id for memory in store.all()])
    assert told(client.outline()) == []


def test_a_page_goes_on_where_a_memory_was_that_is_gone(robot, client, store):
    everything = store.all()
    first = robot.call(Outline, 'outline', Outline.Request(limit=3))
    assert (list(first.ids), first.total) == ([memory.id for memory in everything[:3]], 7)
    store.forget(ids=[first.ids[-1]])
    request = Outline.Request(after_ns=first.start[-1], after_id=first.ids[-1])
    assert list(robot.call(Outline, 'outline', request).ids) == [memory.id for memory in everything[3:]]


def test_a_picture_is_got_by_its_name_and_goes_with_its_memory(client, store):
    (shown,) = (memory for memory in store.all() if memory.keyframes)
    (name,) = shown.keyframes
    assert client.picture(name) == store.keyframe(shown.id)
    assert client.forget(ForgetForm(id=(shown.id,))) == 1
    with pytest.raises(InvalidRequest, match='no keyframe'):
        client.picture(name)
    assert not (store.keyframes.folder / name[:2] / name).exists()


@pytest.mark.parametrize('name', ['../m.db', '/etc/passwd', '..', 'a/b.jpg', '\x00', 'x' * 201])
def test_no_name_leads_out_of_the_folder_of_pictures(robot, store, name):
    response = robot.call(GetKeyframe, 'get_keyframe', GetKeyframe.Request(name=name))
    assert response.error_code == GetKeyframe.Response.NOT_FOUND
    assert not response.image.data


def test_a_note_is_stored_where_it_was_made(client, store):
    note = NoteForm(text='the spare key', position=(1.0, 2.0, 0.0), yaw=0.5, map='cellar')
    before_ns = time.time_ns()
    (kept,) = store.get([client.note(note)])
    assert (kept.caption, kept.source, kept.map_id) == ('the spare key', 'person', 'cellar')
    assert kept.pose.position == (1.0, 2.0, 0.0)
    assert kept.pose.yaw == pytest.approx(0.5)
    assert before_ns <= kept.start_ns <= time.time_ns()
    (kept,) = store.get([client.note(NoteForm(text='nowhere'))])
    assert kept.pose is None
    (kept,) = store.get([client.note(NoteForm(text='of then', time=Nanoseconds(T0 + 5), robot='b'))])
    assert (kept.start_ns, kept.robot) == (T0 + 5, 'b')


def test_a_deed_goes_through_the_events_node(robot, client, store):
    client.recall.timeout_s = 0.5
    with pytest.raises(StoreUnavailable, match='is the events node running and active'):
        client.tell(deed(0, kind='dock'))
    client.recall.timeout_s = 20.0
    robot.start(EventsNode, pose_source='none', watch=False, robot='a', map_id='cellar')
    told = deed(T0, T0 + NS, kind='pick', object='cup', details={'force': 3}, pose=Pose(1.0, 2.0, 0.0, 0.5))
    (kept,) = store.get([client.tell(told)])
    assert (kept.caption, kept.source, kept.robot, kept.start_ns) == ('Picked the cup', 'agent', 'a', T0)
    assert kept.facts['details'] == {'force': 3}
    assert kept.pose.yaw == pytest.approx(0.5)
    (kept,) = store.get([client.tell(deed(0, kind='dock', robot='b'))])
    assert (kept.robot, kept.map_id, kept.pose) == ('b', 'cellar', None)
    assert kept.start_ns == kept.end_ns > T0
    with pytest.raises(InvalidRequest, match='no place'):
        client.tell(deed(0, kind='dock', pose=Pose(1e300, 0.0)))


def test_the_events_node_may_take_longer_than_others(robot, monkeypatch):
    monkeypatch.setattr('remembr_ros.nodes.events.node.STORED_S', 2.0)
    robot.start(EventsNode, pose_source='none', watch=False)
    client = MemoryClient(robot.client, 1.0)
    with pytest.raises(StoreUnavailable, match='no memory node has stored it yet'):
        client.tell(deed(0, kind='dock'))
    client.destroy()


def test_too_many_ids_are_refused(robot, store):
    response = robot.call(Recall, 'recall', Recall.Request(id=['a'] * 1001))
    assert (response.error_code, 'at most 1000' in response.error_msg) == (
        Recall.Response.INVALID_REQUEST,
        True,
    )


def test_forgetting_nothing_in_particular_is_refused(client, store):
    for forget in (client.forget, client.doomed):
        with pytest.raises(InvalidRequest, match='give id, text'):
            forget(ForgetForm())
    assert len(store.all()) == 7


def test_what_would_be_forgotten_is_told_before_it_is(client, store):
    form = ForgetForm(text='THING', robot=('b',), near=(4.0, 1.0, 0.0), radius=1.5)
    foreseen = client.doomed(form)
    assert [memory.caption for memory in store.get(foreseen)] == ['thing 5']
    assert len(store.all()) == 7
    assert client.forget(form) == 1
    assert (len(store.all()), store.get(foreseen)) == (6, [])


@pytest.mark.parametrize(
    'form',
    [
        ForgetForm(text='thing', before=Nanoseconds(0)),
        ForgetForm(text='thing', after=Nanoseconds(2**62)),
        ForgetForm(text='thing', near=(0.0, 0.0, 0.0), radius=0.0),
        ForgetForm(text='thing', near=(1.0, 1.0, 0.5), radius=0),
        ForgetForm(text='thing', map='cellar'),
    ],
)
def test_no_condition_is_lost_on_the_way(client, store, form):
    assert client.doomed(form) == []
