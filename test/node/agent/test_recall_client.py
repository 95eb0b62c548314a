"""Recall through the memory node's service finds what the store itself finds."""

import math
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from geometry_msgs.msg import Point

from remembr_msgs.srv import FindObjects
from remembr_msgs.srv import Recall as RecallSrv
from remembr_ros.agent.in_parallel import in_parallel
from remembr_ros.agent.planner import Run
from remembr_ros.errors import InvalidRequest, StoreUnavailable
from remembr_ros.geometry import Pose
from remembr_ros.images import encode_jpeg
from remembr_ros.memory.model.recall import ANYTHING, Query, Scope
from remembr_ros.memory.model.record import Memory, Observation, memory_id
from remembr_ros.memory.objects.query import ObjectOrder, ObjectQuery
from remembr_ros.nodes.agent.recall_client import RecallClient
from remembr_ros.nodes.memory.node import MemoryNode
from remembr_ros.timestamps import MAX_NS, NS
from test.object_room import ROOM, VISITS, thing
from test.patience import patiently
from test.unit.memory.recall_contract import DRIVE, RecallContract

T0 = 1_700_000_000 * NS
THINGS = ('red mug', 'green chair', 'blue lift', 'white door', 'black bin', 'yellow sign')


def memories() -> list[Memory]:
    made = []
    for i, seen in enumerate(THINGS):
        robot, start = 'ab'[i % 2], T0 + i * 10 * NS + i
        pose = Pose(2.0 * i, 1.0, 0.0, 0.1 * i) if i != 3 else None
        map_id, source = ('', 'cellar')[i // 4], ('captioner', 'person')[i == 5]
        made.append(
            Memory(
                memory_id(robot, source, start),
                robot,
                start,
                start + 3 * NS,
                f'A {seen}.',
                pose,
                map_id=map_id,
                source=source,
            )
        )
    return made


@pytest.fixture(scope='module')
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp('store')


@pytest.fixture
def recalls(robot, folder):
    """The client, and the store that the node behind it has open."""
    node = robot.start(MemoryNode, uri=str(folder / 'm.db'), embedder='hashing')
    node._store.add([Observation(memory) for memory in memories()])
    client = RecallClient(robot.client, 20.0)
    yield client, node._store
    client.close()


SCOPES = [
    ANYTHING,
    Scope(robots=('a',)),
    Scope(map_id=''),
    Scope(map_id='cellar'),
    Scope(source='person'),
    Scope(after_ns=T0 + 15 * NS, before_ns=T0 + 35 * NS),
    Scope(before_ns=0),
    Scope(after_ns=MAX_NS),
    Scope(near=(4.0, 1.0, 0.0), radius_m=3.0),
    Scope(near=(4.0, 1.0, 0.0), radius_m=0.0),
]


def found(hits) -> list[tuple]:
    return [(hit.memory.id, pytest.approx(hit.score, abs=1e-6)) for hit in hits]


def test_every_recall_agrees_with_the_store_in_every_scope(recalls):
    client, store = recalls
    for scope in SCOPES:
        for query in (
            Query('green chair', scope=scope),
            Query(scope=scope, limit=3),
            Query(scope=scope, limit=5000),
        ):
            assert found(client.find(query)) == found(store.find(query)), query
        by_time = [recall.find(Query(time_ns=T0 + 21 * NS, scope=scope)) for recall in recalls]
        assert found(by_time[0]) == found(by_time[1]), scope
        assert [h.offset_s for h in by_time[0]] == pytest.approx([h.offset_s for h in by_time[1]]), scope
        by_place = [recall.find(Query(place=(5.0, 0.0, 0.0), scope=scope)) for recall in recalls]
        assert [h.memory.id for h in by_place[0]] == [h.memory.id for h in by_place[1]], scope
        distances = [[hit.distance_m for hit in hits] for hits in by_place]
        assert distances[0] == pytest.approx(distances[1], rel=1e-6), scope
        assert client.count(scope) == store.count(scope), scope


def test_without_a_limit_it_is_five(recalls):
    client, _ = recalls
    response = client.call(client._recalls, RecallSrv.Request())
    assert (len(response.memories), response.total) == (5, 6)


def test_what_a_survey_does_not_tell_is_not_told(recalls, monkeypatch):
    client, store = recalls
    told = replace(store.survey(), driven_m=None, areas=())
    monkeypatch.setattr(store, 'survey', lambda scope: told)
    assert client.survey() == told


class TestClient(RecallContract):
    @pytest.fixture
    def recall(self, robot, tmp_path):
        node = robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing')
        node._store.add([Observation(memory) for memory in DRIVE])
        client = RecallClient(robot.client, 20.0)
        yield client
        client.close()


def test_requests_without_sense_are_refused_as_the_store_does(recalls):
    for recall in recalls:
        for wrong in (
            lambda r=recall: r.find(Query('')),
            lambda r=recall: r.find(Query(limit=0)),
            lambda r=recall: r.find(Query(scope=Scope(source='nobody'))),
            lambda r=recall: r.find(Query(scope=Scope(near=(0.0, 0.0, 0.0)))),
            lambda r=recall: r.find(Query(scope=Scope(near=(0.0, 0.0, 0.0), radius_m=-1.0))),
            lambda r=recall: r.find(Query(place=(float('nan'), 0.0, 0.0))),
        ):
            with pytest.raises(InvalidRequest):
                wrong()


def test_what_no_request_can_ask_for_is_refused_in_its_words(recalls):
    client, _ = recalls
    for long, why in ((201, 'robot has 201 characters'), (10_001, "robot.0 is 'x+[.]{3}': .* at most 10000")):
        scope = Scope(robots=('x' * long,))
        with pytest.raises(InvalidRequest, match=f'^{why}'):
            client.find(Query(scope=scope))
        with pytest.raises(InvalidRequest, match=f'^{why}'):
            client.find_objects(ObjectQuery(scope=scope))


def test_a_keyframe_is_that_of_the_store(recalls):
    client, store = recalls
    jpeg = encode_jpeg(np.zeros((8, 8, 3), np.uint8), 80)
    start = T0 + 100 * NS
    memory = Memory(memory_id('a', 'captioner', start), 'a', start, start + NS, 'A lamp.')
    store.add([Observation(memory, (jpeg,))])
    assert client.keyframe(memory.id, 0) == store.keyframe(memory.id, 0) == jpeg
    for wrong in ((memory.id, 1), ('nobody', 0)):
        with pytest.raises(InvalidRequest):
            client.keyframe(*wrong)


def test_a_deadline_holds_in_the_threads_of_a_question(robot):
    client = RecallClient(robot.client, 20.0)
    began = time.monotonic()
    with client.until(began + 0.3):
        (outcome,) = in_parallel([lambda: client.find(Query())], Run(began + 20.0))
    client.close()
    assert isinstance(outcome, StoreUnavailable)
    assert time.monotonic() - began < patiently(5.0)


def test_without_a_memory_node_the_store_is_unavailable(robot):
    client = RecallClient(robot.client, 0.2)
    with pytest.raises(StoreUnavailable, match='memory node'):
        client.find(Query())
    client.close()


def test_memories_are_got_by_their_ids(recalls):
    client, store = recalls
    there = [memory.id for memory in memories()]
    asked = [there[3], 'nobody', there[0]]
    assert client.get(asked) == store.get(asked) != []
    assert client.get([]) == []


OBJECT_QUERIES = [
    ObjectQuery(),
    ObjectQuery('mug'),
    ObjectQuery(text='something to drink from', limit=2),
    ObjectQuery(relation='on', anchor='table'),
    ObjectQuery('book', relation='on', anchor='table', scope=Scope(before_ns=VISITS[0][1])),
    ObjectQuery(missing=True),
    ObjectQuery(missing=False, order=ObjectOrder.LARGEST, limit=3),
    ObjectQuery(moved=True),
    ObjectQuery(changed_since_ns=VISITS[0][1]),
    ObjectQuery(place=(2.0, 0.0, 1.0), scope=Scope(near=(0.0, 0.0, 0.5), radius_m=1.0)),
    ObjectQuery(place=(2.0, 0.0, 1.0), order=ObjectOrder.NEAREST, limit=2),
    ObjectQuery(moved=False, changed_since_ns=0, limit=5000),
    ObjectQuery(scope=Scope(near=(0.0, 0.0, 0.5), radius_m=0.0)),
    ObjectQuery(scope=Scope(robots=('nobody',))),
]


@pytest.mark.parametrize('query', OBJECT_QUERIES)
def test_objects_are_those_that_the_store_finds(objects, query):
    client, store = objects
    assert client.find_objects(query) == store.find_objects(query)


def test_objects_without_a_limit_are_as_many_as_one_may_ask_for(objects, monkeypatch):
    client, store = objects
    monkeypatch.setattr('remembr_ros.nodes.memory.services.MAX_LIMIT', 3)
    assert store.find_objects(ObjectQuery()).total == 8

    def shown(**fields) -> int:
        return len(client.call(client._objects, FindObjects.Request(**fields)).objects)

    assert [shown(), shown(limit=2), shown(limit=4), shown(text='something to drink from')] == [3, 2, 4, 5]


@pytest.fixture
def objects(robot, tmp_path):
    """The client, and the store that the node behind it has open, of a room with things."""
    node = robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing')
    gone = thing('vase', (0.4, 0.2, 0.76), (0.1, 0.1, 0.2), intervals=VISITS[:1], absences=(VISITS[1],))
    node._store.add([Observation(one.memory) for one in (*ROOM, gone)])
    client = RecallClient(robot.client, 20.0)
    yield client, node._store
    client.close()


@pytest.mark.parametrize(
    ('request_fields', 'why'),
    [
        ({'relation': 'above', 'anchor': 'table'}, "relation is 'above': it has to be one of 'on', 'in',"),
        ({'order': 'prettiest'}, 'order is'),
        ({'order': 'nearest'}, 'the nearest needs a place'),
        ({'limit': 1001}, 'limit is 1001: it has to be at most 1000'),
        ({'position': Point(x=math.nan)}, 'position is'),
        ({'radius': 1.0}, 'a radius needs near'),
        ({'called': 'c' * 1000}, 'called'),
    ],
)
def test_a_request_for_objects_that_makes_no_sense_is_refused(objects, request_fields, why):
    client, _ = objects
    response = client.call(client._objects, FindObjects.Request(**request_fields))
    assert response.error_code == FindObjects.Response.INVALID_REQUEST
    assert why in response.error_msg
