from types import SimpleNamespace

import pytest

from remembr_ros.evaluation.records.trace import QuestionTrace, TracedRecall
from remembr_ros.memory.model.recall import Query, Scope
from test.unit.agent.listed_recall import ListedRecall
from test.unit.memory.recall_contract import DRIVE, FIRST_NS, RecallContract


class TestTraced(RecallContract):
    @pytest.fixture
    def recall(self):
        return TracedRecall(ListedRecall(DRIVE), QuestionTrace())


def test_each_query_is_written_down():
    trace = QuestionTrace()
    recall = TracedRecall(ListedRecall(DRIVE), trace)
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


def test_the_seconds_of_a_call_are_the_models_own():
    trace = QuestionTrace(pace=SimpleNamespace(waited_s=2.0))
    record = trace.begin()
    record('chat', {'seconds': 2.5, 'prompt_tokens': 7})
    trace.pace.waited_s = 5.0
    record('chat', {'seconds': 3.25, 'completion_tokens': 1})
    record('answered', {'kind': 'position'})
    assert [call['seconds'] for call in trace.chat] == [0.5, 0.25]
    assert (trace.spent.calls, trace.spent.prompt_tokens, trace.spent.completion_tokens) == (2, 7, 1)
