from dataclasses import replace

import pytest

from remembr_ros.agent.answer import Answer, Kind
from remembr_ros.embedding.hashing import HashingEmbedder
from remembr_ros.errors import ChatUnavailable, InvalidRequest
from remembr_ros.evaluation.metrics import Outcome
from remembr_ros.evaluation.navqa import load_navqa
from remembr_ros.evaluation.planners import get_planner
from remembr_ros.evaluation.report import result_json, results_json, table
from remembr_ros.evaluation.runner import evaluate, remember
from remembr_ros.geometry import Pose
from remembr_ros.memory.store import open_store


class Oracle:
    """Answers with the truth; records what it could have seen."""

    name = 'oracle'

    def __init__(self, samples) -> None:
        self._truth = {sample.question: sample.truth for sample in samples}
        self.seen: list[list[float]] = []
        self.now_ns: list[int] = []

    def answer(self, question, recall, run):
        self.seen.append(sorted(hit.memory.pose.x for hit in recall.newest(limit=1000)))
        self.now_ns.append(question.now_ns)
        truth = self._truth[question]
        return Answer(
            truth.kind,
            truth.text,
            self.name,
            binary=truth.binary,
            pose=Pose(*truth.positions[0]) if truth.positions else None,
            time_ns=truth.times_ns[0] if truth.times_ns else None,
            duration_s=truth.duration_min * 60.0 if truth.duration_min is not None else None,
        )


class Broken:
    name = 'broken'

    def answer(self, question, recall, run):
        raise ChatUnavailable('nobody is there')


@pytest.fixture
def sequence(navqa, clock):
    navqa.ask('Where is the elevator?', 'position', clock(4), window=(0, 9))
    navqa.ask('When did you see the statue?', 'time', clock(5), window=(2, 9), length='MEDIUM')
    navqa.ask('How long?', 'duration', clock(5), parsable='0.5', window=(5, 5), length='LONG')
    navqa.ask('Did you see a fountain?', 'binary', clock(6), parsable='Yes', length='LONG')
    navqa.ask('What colour is the fountain?', 'text', clock(6), text='red', length='LONG')
    navqa.ask('Where?', 'position', '23:00:00', length='LONG')
    return load_navqa(navqa.write(), 7)


@pytest.fixture
def store(tmp_path):
    with open_store(str(tmp_path / 'memory.db'), HashingEmbedder(64)) as opened:
        yield opened


def test_an_oracle_is_always_right_and_each_question_sees_its_window_only(sequence, store):
    remember(sequence, store)
    planner = Oracle(sequence.samples)
    results = list(evaluate(sequence, store, planner))
    windows = [(0, 9), (2, 9), (5, 5), (0, 19), (0, 19)]
    assert planner.seen == [[10.0 * i for i in range(first, last + 1)] for first, last in windows]
    assert planner.now_ns == [sample.question.now_ns for sample in sequence.samples]
    assert [r.score.outcome for r in results] == [Outcome.ANSWERED] * 4 + [Outcome.UNSCORED]
    assert [r.score.correct for r in results] == [True] * 4 + [None]
    assert [r.score.error for r in results[:3]] == [0.0, 0.0, 0.0]
    summary = results_json(
        results, sequence.excluded, planner='oracle', data='navqa', embedder=store.info().embedder
    )
    assert summary['questions'] == 5
    assert summary['overall'] == {
        'ALL': 1.0,
        'SHORT': 1.0,
        'MEDIUM': 1.0,
        'LONG': 1.0,
        'scored': 4,
        'scored_by_length': {'SHORT': 1, 'MEDIUM': 1, 'LONG': 2},
    }
    assert summary['outcomes'] == {'answered': 4, 'not_seen': 0, 'failed': 0, 'unscored': 1}
    assert summary['by_kind']['text'] == {
        'n': 1,
        'scored': 0,
        'correct': None,
        'answered': 1,
        'error_mean': None,
        'error_std': None,
    }
    assert [row['question'] for row in summary['excluded']] == ['Where?']
    assert '1.00 (4/4)' in table(results)


def test_a_planner_that_fails_is_not_wrong_but_failed(sequence, store):
    remember(sequence, store)
    results = list(evaluate(sequence, store, Broken()))
    assert {r.score.outcome for r in results} == {Outcome.FAILED}
    assert {r.failure for r in results} == {'ChatUnavailable: nobody is there'}
    summary = results_json(results, [], planner='broken', data='navqa', embedder='hashing')
    assert summary['overall']['ALL'] == 0.0
    assert summary['overall']['scored'] == 4
    assert summary['cost']['latency_p50_sec'] is None
    assert result_json(results[0])['answer'] is None
    assert '0.00 (0/4)' in table(results)


def test_retrieval_is_measured_before_the_planner(sequence, store):
    remember(sequence, store)
    results = list(evaluate(sequence, store, Broken()))
    # 'elevator' stands in two captions of the drive; one of them is inside the window.
    assert results[0].rank == 1
    assert results[2].rank == 1, 'a window of one memory'
    recall = results_json(results, [], planner='', data='', embedder='')['retrieval']
    assert 0.4 <= recall['recall@1'] <= recall['recall@5'] <= recall['recall@15'] <= 1.0


def test_the_offline_planner_answers(sequence, store):
    remember(sequence, store)
    first = next(iter(evaluate(sequence, store, get_planner('offline'))))
    assert first.answer is not None
    assert first.answer.planner == 'offline'
    assert (first.answer.kind, first.score.correct) == (Kind.POSITION, True)
    answer = result_json(first)['answer']
    assert answer['position'] == [40.0, 1.0, 0.0]
    assert len(answer['evidence']) >= 1


def test_remembering_again_changes_nothing_and_drops_what_is_not_of_the_sequence(sequence, store):
    steps = []
    remember(sequence, store, lambda *step: steps.append(step))
    assert steps[-1] == ('remember', 20, 20)
    assert store.all() == list(sequence.memories)
    shorter = replace(sequence, memories=sequence.memories[:12])
    remember(shorter, store)
    remember(shorter, store)
    assert store.all() == list(sequence.memories[:12])


def test_progress_is_reported_per_question(sequence, store):
    remember(sequence, store)
    steps = []
    list(evaluate(sequence, store, Broken(), on_progress=lambda *step: steps.append(step)))
    assert steps == [('ask', i, 5) for i in range(1, 6)]


def test_planners_by_name(monkeypatch):
    for name in ('REMEMBR_LLM', 'REMEMBR_LLM_URL', 'OPENAI_API_KEY'):
        monkeypatch.delenv(name, raising=False)
    assert get_planner('offline').name == 'offline'
    with pytest.raises(InvalidRequest, match='--llm'):
        get_planner('agent')
    with pytest.raises(InvalidRequest, match='offline, agent'):
        get_planner('oracle')
