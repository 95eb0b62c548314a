import pytest

from remembr_bench.evaluation.baselines.one_call import OneCallPlanner, _Found
from remembr_ros.agent.model.answer import Kind
from remembr_ros.memory.model.recall import Hit
from test.unit.memory.recall_contract import DRIVE, RecallContract


@pytest.mark.parametrize(
    ('question', 'kind', 'evidence'),
    [
        ('Where is the printer?', Kind.POSITION, ['t2']),
        ('Where is the nearest lift?', Kind.POSITION, ['t4', 't0']),
        ('Where is the first lift?', Kind.POSITION, ['t0', 't4']),
        ('When did you last see the lift?', Kind.TIME, ['t4', 't0']),
        ('Did you see a printer?', Kind.BINARY, ['t2']),
        ('Did you see a swimming pool?', Kind.BINARY, []),
        ('Where is the swimming pool?', Kind.NOT_SEEN, []),
        ('Where is room 999?', Kind.NOT_SEEN, []),
        ('What colour is the bench?', Kind.TEXT, ['t1']),
        ('How long did you see the bench?', Kind.DURATION, ['t1']),
        ('How long did it take from the bench to the printer?', Kind.DURATION, ['t1', 't2']),
        ('What did you see 43 seconds ago?', Kind.TEXT, ['t4']),
        ('What can be read here?', Kind.TEXT, ['t3']),
        ('How many lifts are there?', Kind.TEXT, ['t0', 't4']),
        ('What time is it?', Kind.NOT_SEEN, []),
    ],
)
def test_rules_decide_on_what_one_retrieval_found(drive, ask_about, run, question, kind, evidence):  # noqa: PLR0917
    answer = OneCallPlanner().answer(ask_about(question), drive, run)
    assert drive.asked == [(question, 15)]
    assert (answer.kind, answer.planner) == (kind, 'one_call')
    assert [hit.memory.id for hit in answer.evidence] == evidence


def test_no_is_no_and_counts_what_was_looked_at(drive, ask_about, run):
    answer = OneCallPlanner(3).answer(ask_about('Did you see a swimming pool?'), drive, run)
    assert answer.binary is False
    assert 'none of 3 memories' in answer.text


def test_what_was_not_retrieved_is_not_known(drive, ask_about, run):
    answer = OneCallPlanner(1).answer(ask_about('Where is the nearest lift?'), drive, run)
    assert [hit.memory.id for hit in answer.evidence] == ['t0']


def test_the_asked_time_is_held(drive, ask_about, run):
    answer = OneCallPlanner().answer(ask_about('Where did you see a lift in the last minute?'), drive, run)
    assert [hit.memory.id for hit in answer.evidence] == ['t4']


def test_an_empty_memory_has_seen_nothing(nothing, ask_about, run):
    answer = OneCallPlanner().answer(ask_about('Did you see a lift?'), nothing, run)
    assert answer.kind is Kind.NOT_SEEN


class TestFound(RecallContract):
    ranks_texts = False

    @pytest.fixture
    def recall(self):
        return _Found([Hit(memory, 1.0) for memory in DRIVE], 'found')
