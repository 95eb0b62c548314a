import pytest

from remembr_bench.evaluation.records.record import QuestionTrace
from remembr_bench.evaluation.run.runner import WindowedRecall
from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.memory.model.recall import ANYTHING, Query, Scope, Survey
from remembr_ros.memory.model.record import Observation
from remembr_ros.memory.opening import open_store
from test.unit.agent.listed_recall import ListedRecall
from test.unit.memory.recall_contract import DRIVE, FIRST_NS, LAST_NS, OUTSIDE, RecallContract

EVERYTHING = ListedRecall([*OUTSIDE, *DRIVE])


class TestWindowed(RecallContract):
    @pytest.fixture
    def recall(self):
        return WindowedRecall(EVERYTHING, Scope(FIRST_NS, LAST_NS))


class TestOracle(RecallContract):
    @pytest.fixture
    def recall(self):
        return WindowedRecall(EVERYTHING, ANYTHING, frozenset(memory.id for memory in DRIVE))


class TestWithoutWords(RecallContract):
    @pytest.fixture(scope='class')
    def recall(self, tmp_path_factory):
        path = tmp_path_factory.mktemp('store') / 'memory.db'
        with open_store(str(path), HashingEmbedder(64)) as store:
            store.add([Observation(memory) for memory in DRIVE])
            yield WindowedRecall(store, ANYTHING, hybrid=False)


class Recall:
    """Records the scopes that it was asked for."""

    def __init__(self) -> None:
        self.scopes: list[Scope] = []

    def find(self, query):
        self.scopes.append(query.scope)
        return []

    def count(self, scope=ANYTHING):
        self.scopes.append(scope)
        return 7

    embedder_name = 'recording'

    def survey(self, scope=ANYTHING):
        self.scopes.append(scope)
        return Survey(7)


def ask_everything(recall, scope=ANYTHING):
    recall.find(Query('mug', scope=scope))
    recall.find(Query(place=(0.0, 0.0, 0.0), scope=scope))
    recall.find(Query(time_ns=150, scope=scope))
    recall.find(Query(scope=scope))
    return recall.count(scope)


@pytest.mark.parametrize(
    ('asked', 'seen'),
    [
        (ANYTHING, Scope(100, 200, map_id='m')),
        (Scope(50, 300), Scope(100, 200, map_id='m')),
        (Scope(after_ns=150), Scope(150, 200, map_id='m')),
        (Scope(before_ns=150, robots=('r',)), Scope(100, 150, robots=('r',), map_id='m')),
        (Scope(map_id='m', near=(0.0, 0.0, 0.0), radius_m=1.0), None),
    ],
)
def test_every_recall_is_clipped_to_the_window(asked, seen):
    inner = Recall()
    assert ask_everything(WindowedRecall(inner, Scope(100, 200, map_id='m')), asked) == 7
    if seen is None:
        seen = Scope(100, 200, asked.near, asked.radius_m, map_id='m')
    assert inner.scopes == [seen] * 5


@pytest.mark.parametrize('asked', [Scope(after_ns=201), Scope(before_ns=99), Scope(map_id='other')])
def test_outside_the_window_there_is_nothing(asked):
    inner = Recall()
    recall = WindowedRecall(inner, Scope(100, 200, map_id='m'))
    assert ask_everything(recall, asked) == 0
    assert recall.find(Query('mug', scope=asked)) == []
    assert inner.scopes == []


def test_an_open_window_changes_nothing():
    inner = Recall()
    ask_everything(WindowedRecall(inner, ANYTHING), Scope(after_ns=3, map_id='x'))
    assert inner.scopes == [Scope(after_ns=3, map_id='x')] * 5


def test_each_query_is_written_down():
    trace = QuestionTrace()
    recall = WindowedRecall(ListedRecall(DRIVE), ANYTHING, trace=trace)
    scope = Scope(map_id='cellar')
    for query in (
        Query('white door', scope=scope, limit=1),
        Query(place=(0.0, 1.0, 0.0)),
        Query(time_ns=FIRST_NS),
        Query(limit=2),
    ):
        recall.find(query)
    recall.count()
    told = [(found['by'], found['asked'], found['scope'], found['limit']) for found in trace.recalls]
    assert told == [
        ('text', 'white door', {'robots': (), 'map_id': 'cellar', 'without': ()}, 1),
        ('position', (0.0, 1.0, 0.0), {'robots': (), 'without': ()}, 5),
        ('time', FIRST_NS, {'robots': (), 'without': ()}, 5),
        ('newest', None, {'robots': (), 'without': ()}, 2),
    ]
    assert trace.recalls[0]['hits'] == [['d09', 1.0]]
    assert all(found['seconds'] >= 0.0 for found in trace.recalls)
