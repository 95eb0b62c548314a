"""Objects by the services of the memory node: kept, paged, corrected, and told of."""

from dataclasses import replace

import pytest

from remembr_msgs.srv import CorrectObject, FindObjects, GetKeyframe, KeepObjects, ObjectHistory
from remembr_msgs.srv import Forget as ForgetSrv
from remembr_ros.errors import InvalidRequest, ObjectsChanged
from remembr_ros.memory.model.record import CAPTIONER, Observation
from remembr_ros.memory.objects.known import ObjectFacts
from remembr_ros.nodes.base.conversions import MAX_IDS, time_to_msg
from remembr_ros.nodes.memory.node import MemoryNode
from remembr_ros.nodes.memory.objects import PAGE
from remembr_ros.nodes.objects.kept import KeptObjects
from remembr_ros.objects.keeper import ObjectKeeper
from remembr_ros.timestamps import NS
from test.node.memory.test_node_keeping import JPEG
from test.object_scene import T0, known_object

MANY = 2 * PAGE + 50


@pytest.fixture
def memory(robot, tmp_path):
    return robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing')


@pytest.fixture
def kept(robot, memory):
    made = KeptObjects(robot.client, 'robbie', '')
    made.matching(scope=None)
    yield made
    made.close()


def observed(number=0, images=(), **changes):
    name = f'object-{number:04}'
    return Observation(known_object(number, id=name, **changes).memory, images)


def found(robot):
    return {
        one.memory.id: one for one in robot.call(FindObjects, 'find_objects', FindObjects.Request()).objects
    }


def correct(robot, action, number=0, **about):
    request = CorrectObject.Request(action=action, id=f'object-{number:04}', **about)
    return robot.call(CorrectObject, 'correct_object', request)


def test_objects_come_in_pages_each_once(robot, memory, kept):
    stored = kept.add([observed(number) for number in range(MANY)])
    assert len(stored) == MANY
    again = kept.matching(scope=None)
    assert [one.id for one in again] == [f'object-{number:04}' for number in range(MANY)]
    assert again[7] == memory._store.get(['object-0007'])[0]
    assert KeptObjects(robot.client, 'robbie', 'cellar').matching(scope=None) == []
    assert KeptObjects(robot.client, 'marvin', '').matching(scope=None) == []


def test_more_go_than_a_request_can_name(memory, kept):
    kept.add([observed(0), observed(1), observed(2)])
    others = [f'other-{number}' for number in range(MAX_IDS)]
    kept.add([observed(0)], ['object-0001', *others, 'object-0002'])
    assert [one.id for one in memory._store.all()] == ['object-0000']


def test_who_reads_them_finishes_a_merger_that_a_kill_cut_off(memory, kept):
    aliased = observed(0, aliases=('object-0001',), labels={'mug': 3.0})
    kept.add([aliased, observed(1, intervals=((T0 + 70 * NS, T0 + 80 * NS),))])
    ObjectKeeper(kept, 'robbie').keep()
    assert [one.id for one in memory._store.all()] == ['object-0000']


@pytest.mark.parametrize('what', ['rename', 'forget'])
def test_what_was_changed_by_others_is_read_before_anything_is_stored(robot, memory, kept, what):
    kept.add([observed(0), observed(1)])
    if what == 'rename':
        assert not correct(robot, 'rename', name='chalice').error_msg
    else:
        assert robot.call(ForgetSrv, 'forget', ForgetSrv.Request(id=['object-0000'])).count == 1
    for change in (lambda: kept.add([observed(0)]), lambda: kept.add([], ['object-0001'])):
        with pytest.raises(ObjectsChanged, match='read them again'):
            change()
    assert len(found(robot)) == (2 if what == 'rename' else 1)
    again = {one.id: one for one in kept.matching(scope=None)}
    assert ('object-0000' in again) == (what == 'rename')
    kept.add([Observation(again['object-0001'])])
    assert kept.add([], ['object-0001']) == []
    assert 'object-0001' not in found(robot)


def test_only_objects_are_kept(robot, memory, kept):
    caption = replace(observed().memory, source=CAPTIONER, facts={})
    with pytest.raises(InvalidRequest, match='only objects'):
        kept.add([observed(1), Observation(caption)])
    assert memory._store.count() == 0


def test_a_memory_that_is_only_read_refuses_with_the_reason(robot, tmp_path):
    uri = str(tmp_path / 'm.db')
    robot.start(MemoryNode, uri=uri, embedder='hashing').trigger_shutdown()
    robot.start(MemoryNode, uri=uri, embedder='hashing', read_only=True)
    for kind, name in ((KeepObjects, 'keep_objects'), (CorrectObject, 'correct_object')):
        response = robot.call(kind, name, kind.Request())
        assert response.error_code == kind.Response.INVALID_REQUEST
        assert 'read_only' in response.error_msg


def test_a_picture_stays_until_another_one_comes(robot, memory, kept):
    def picture():
        return bytes(robot.call(GetKeyframe, 'get_keyframe', GetKeyframe.Request(id=stored.id)).image.data)

    [stored] = kept.add([observed(images=(JPEG,))])
    assert len(stored.keyframes) == 1
    [again] = kept.add([observed(observations=9)])
    assert (again.keyframes, picture()) == (stored.keyframes, JPEG)
    other = JPEG + b'\0'
    [again] = kept.add([observed(images=(other,))])
    assert (len(again.keyframes), picture()) == (1, other)


def test_what_became_of_an_object_is_told_by_its_id_or_an_alias(robot, kept):
    times = [T0 + hour * 3600 * NS for hour in range(4)]
    seen = tuple((start, start + 60 * NS) for start in (times[0], times[2]))
    moved = (seen[0][1], seen[1][0], (1.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    gone, done = (times[1], times[1] + NS), (times[3], 'in hand', 'a deed')
    kept.add(
        [observed(intervals=seen, absences=(gone,), moves=(moved,), states=(done,), aliases=('younger',))]
    )
    for name in ('object-0000', 'younger'):
        told = robot.call(ObjectHistory, 'object_history', ObjectHistory.Request(id=name))
        assert told.object.memory.id == 'object-0000'
        assert [event.event for event in told.events] == ['seen', 'moved', 'gone', 'seen', 'state']
        assert told.events[1].old_place.x - told.events[1].new_place.x == pytest.approx(1.0)
        assert told.events[-1].state == told.object.state == 'in hand'
    refused = robot.call(ObjectHistory, 'object_history', ObjectHistory.Request(id='mug'))
    assert refused.error_code == ObjectHistory.Response.INVALID_REQUEST
    assert 'find_objects' in refused.error_msg


def test_each_correction_is_stored_and_can_be_taken_back(robot, memory, kept):
    kept.add([observed(0), observed(1)])
    assert correct(robot, 'rename', name='chalice').objects[0].name == 'chalice'
    assert correct(robot, 'rename').objects[0].name == 'mug'
    [gone] = correct(robot, 'gone').objects
    assert (gone.presence, found(robot)[gone.memory.id].presence) == ('missing', 'missing')
    assert correct(robot, 'there').objects[0].presence == 'present'
    assert correct(robot, 'delete').objects == []
    assert found(robot).keys() == {'object-0001'}
    assert correct(robot, 'there').objects[0].name == 'mug'
    since = time_to_msg(T0 + 30 * NS)
    [before] = correct(robot, 'split', time=since).objects
    assert before.memory.id == 'object-0000'
    [new] = found(robot).keys() - {'object-0000', 'object-0001'}
    [merged] = correct(robot, 'merge', other=new).objects
    assert merged.memory.id == 'object-0000'
    assert found(robot).keys() == {'object-0000', 'object-0001'}
    [stored] = memory._store.get(['object-0000'])
    assert ObjectFacts.model_validate(stored.facts).aliases == (new,)


@pytest.mark.parametrize(
    'case',
    [
        ('paint', {}, 'give one of'),
        ('split', {}, 'split with the time'),
        ('split', {'time': time_to_msg(T0)}, 'both before that time and since'),
        ('merge', {'other': 'nobody'}, 'there is no object'),
        ('merge', {'other': 'object-0000'}, 'two objects'),
        ('gone', {'map': 'cellar'}, 'not on'),
        ('rename', {'name': 'x' * 1000}, 'characters'),
    ],
)
def test_corrections_that_make_no_sense_are_refused_and_change_nothing(robot, memory, kept, case):
    action, about, why = case
    kept.add([observed(0)])
    before = memory._store.all()
    refused = correct(robot, action, **about)
    assert refused.error_code == CorrectObject.Response.INVALID_REQUEST
    assert why in refused.error_msg
    assert memory._store.all() == before
