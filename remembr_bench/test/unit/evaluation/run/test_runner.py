import threading

import numpy as np
import pytest

from remembr_bench.evaluation.datasets.navqa import load_captions, load_navqa
from remembr_bench.evaluation.metrics.scores import Outcome
from remembr_bench.evaluation.pacing import PacedChat, Pacer
from remembr_bench.evaluation.records.config import RunConfig
from remembr_bench.evaluation.report.results import results_json
from remembr_bench.evaluation.report.run_tables import tables
from remembr_bench.evaluation.run.runner import evaluate, remember
from remembr_ros.agent.model.answer import Answer, Kind, Usage
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.errors import ChatUnavailable, StoreUnavailable
from remembr_ros.geometry import Pose
from remembr_ros.images import encode_jpeg
from remembr_ros.memory.model.recall import Query
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.opening import open_store
from test.scripted.chat import ScriptedChat

CONFIG = RunConfig()


class Truthful:
    """Answers with the truth; records what it could have seen."""

    name = 'truthful'

    def __init__(self, samples) -> None:
        self._truth = {sample.question: sample.truth for sample in samples}
        self.seen: dict[str, list[float]] = {}
        self.now_ns: dict[str, int] = {}

    def answer(self, question, recall, run):
        self.seen[question.text] = sorted(hit.memory.pose.x for hit in recall.find(Query(limit=1000)))
        self.now_ns[question.text] = question.now_ns
        truth = self._truth[question]
        return Answer(
            truth.kind,
            truth.text,
            self.name,
            binary=truth.binary,
            pose=Pose(*truth.positions[0]) if truth.positions else None,
            time_ns=truth.times_ns[0] if truth.times_ns else None,
            duration_s=truth.duration_min * 60.0 if truth.duration_min is not None else None,
            cost=Usage(2, 300, 20),
        )


class Constant:
    """Answers yes, whatever is asked."""

    name = 'constant'

    def answer(self, question, recall, run):
        return Answer(Kind.BINARY, 'Yes.', self.name, binary=True)


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
    folder = navqa.write()
    return load_navqa(folder, 7, load_captions(folder, 7))


@pytest.fixture
def store(tmp_path):
    with open_store(str(tmp_path / 'memory.db'), HashingEmbedder(64)) as opened:
        yield opened


@pytest.fixture
def ask(sequence, store):
    """Return a function that asks a planner every question and returns the records in their order."""
    remember(sequence, store)

    def asked(planner, config=CONFIG, **options):
        found = evaluate(sequence, store, lambda trace, seed: planner, config, **options)
        order = [sample.id for sample in sequence.samples]
        return sorted((record for record, _ in found), key=lambda r: (r.seed, order.index(r.id)))

    return asked


def summary_of(records, excluded=()):
    return results_json(records, excluded, planner='', data='', embedder='')


def test_the_wait_for_a_turn_is_not_the_planners(sequence, store):
    remember(sequence, store)

    def paced(waited_s):
        def make_planner(trace, seed):
            trace.pace = PacedChat(ScriptedChat([]), Pacer(60.0))
            trace.pace.waited_s = waited_s
            return Constant()

        return [record.latency_sec for record, _ in evaluate(sequence, store, make_planner, CONFIG)]

    assert min(paced(0.0)) > 0.0
    assert paced(3600.0) == [0.0] * len(sequence.samples), 'never less than no time'


def test_a_perfect_planner_is_always_right_and_sees_the_windows_only(sequence, ask):
    planner = Truthful(sequence.samples)
    records = ask(planner)
    windows = [(0, 9), (2, 9), (5, 5), (0, 19), (0, 19)]
    assert list(planner.seen.values()) == [
        [10.0 * i for i in range(first, last + 1)] for first, last in windows
    ]
    assert planner.now_ns == {s.question.text: s.question.now_ns for s in sequence.samples}
    assert [r.outcome for r in records] == [Outcome.ANSWERED] * 4 + [Outcome.UNSCORED]
    assert [r.correct for r in records] == [True] * 4 + [None]
    assert [r.error for r in records[:3]] == [0.0, 0.0, 0.0]
    assert (records[4].exact, records[4].token_f1) == (True, 1.0)
    summary = summary_of(records, sequence.excluded)
    assert summary['questions'] == 5
    overall = summary['overall']
    assert [overall[name] for name in ('ALL', 'SHORT', 'MEDIUM', 'LONG')] == [1.0] * 4
    assert (overall['scored'], overall['scored_by_length']) == (4, {'SHORT': 1, 'MEDIUM': 1, 'LONG': 2})
    assert overall['interval']['ALL'] == (1.0, 1.0)
    assert summary['outcomes'] == {'answered': 4, 'not_seen': 0, 'failed': 0, 'unscored': 1}
    text = summary['by_kind']['text']
    assert (text['n'], text['scored'], text['correct'], text['exact'], text['token_f1']) == (1, 0, None, 1, 1)
    assert summary['cost'] | {'latency_p50_sec': 0, 'latency_p95_sec': 0} == {
        'llm_calls': 10,
        'prompt_tokens': 1500,
        'completion_tokens': 100,
        'latency_p50_sec': 0,
        'latency_p95_sec': 0,
        'per_question': {'llm_calls': 2.0, 'prompt_tokens': 300.0, 'completion_tokens': 20.0},
    }
    assert [row['question'] for row in summary['excluded']] == ['Where?']
    assert '1.00 (4/4)' in tables(records, summary)[0].text()


def test_a_constant_answer_scores_what_a_hand_count_says(ask):
    summary = summary_of(ask(Constant()))
    # right: the one yes-or-no question; wrong: position, time and duration; the text is not scored
    assert (summary['overall']['ALL'], summary['overall']['scored']) == (0.25, 4)
    assert summary['overall']['of_answered']['ALL'] == 0.25
    assert summary['by_kind']['binary']['correct'] == 1.0
    assert summary['by_kind']['position'] | {'interval': 0} == {
        'n': 1,
        'scored': 1,
        'correct': 0.0,
        'interval': 0,
        'answered': 1,
        'error_mean': None,
        'error_std': None,
        'error_n': 0,
    }
    assert summary['by_kind']['text']['token_f1'] == 0.0


def test_a_planner_that_fails_is_not_wrong_but_failed(ask):
    records = ask(Broken())
    assert {r.outcome for r in records} == {Outcome.FAILED}
    assert {r.failure for r in records} == {'ChatUnavailable: nobody is there'}
    summary = summary_of(records)
    assert summary['overall']['ALL'] == 0.0
    assert summary['overall']['scored'] == 4
    assert summary['overall']['of_answered']['ALL'] is None, 'nothing was answered'
    assert summary['cost']['latency_p50_sec'] is None
    assert records[0].answer is None
    assert '0.00 (0/4)' in tables(records, summary)[0].text()


def test_what_failed_has_cost_something_too(sequence, store):
    remember(sequence, store)

    def make_planner(trace, seed):
        trace.chat += [{'prompt_tokens': 40, 'completion_tokens': 2}, {'error': 'cut off'}]
        return Broken()

    record, _ = next(evaluate(sequence, store, make_planner, CONFIG))
    assert (record.llm_calls, record.prompt_tokens, record.completion_tokens) == (2, 40, 2)


def test_retrieval_alone_answers_nothing(ask):
    records = ask(None)
    assert {(r.outcome, r.correct, r.answer) for r in records} == {(Outcome.UNSCORED, None, None)}
    # 'elevator' stands in two captions of the drive; one of them is inside the window.
    assert records[0].rank == 1
    assert records[2].rank == 1, 'a window of one memory'
    assert len(records[2].hits) == 1
    summary = summary_of(records)
    assert summary['overall']['ALL'] is None
    recall = summary['retrieval']
    assert 0.4 <= recall['recall@1'] <= recall['recall@5'] <= recall['recall@15'] <= 1.0


def test_the_offline_planner_answers_and_its_recalls_are_traced(sequence, store):
    remember(sequence, store)
    found = list(evaluate(sequence, store, lambda trace, seed: OfflinePlanner(), CONFIG))
    record, trace = next((r, t) for r, t in found if r.question == 'Where is the elevator?')
    assert record.answer.planner == 'offline'
    assert (record.answer.kind, record.correct) == (Kind.POSITION, True)
    assert record.answer.position == (40.0, 1.0, 0.0)
    assert record.answer.evidence
    texts = [recall['asked'] for recall in trace.recalls if recall['by'] == 'text']
    assert 'elevator' in texts[0]
    assert trace.recalls[0]['hits']


def test_an_oracle_shows_what_holds_the_answer_and_nothing_else(sequence, ask):
    planner = Truthful(sequence.samples)
    ask(planner, RunConfig(planner='oracle'))
    assert list(planner.seen.values()) == [[40.0], [50.0], [50.0], [60.0], [60.0]]


def test_each_question_is_asked_once_per_seed_unless_it_is_done(sequence, store):
    remember(sequence, store)
    seeds = []

    def make_planner(trace, seed):
        seeds.append(seed)
        return Truthful(sequence.samples)

    done = {(sequence.name, sequence.samples[0].id, 1)}
    found = list(evaluate(sequence, store, make_planner, RunConfig(seeds=(1, 2)), done=done))
    assert sorted(seeds) == [1] * 4 + [2] * 5
    assert len({record.key for record, _ in found} | done) == 10
    summary = summary_of([record for record, _ in found])
    assert (summary['questions'], summary['seeds'], summary['overall']['std']['ALL']) == (5, [1, 2], 0.0)


def test_questions_run_at_once_and_all_of_them_are_answered(sequence, ask):
    together = threading.Barrier(3, timeout=20.0)

    class Waiting(Truthful):
        def answer(self, question, recall, run):
            if question.text in ('Where is the elevator?', 'How long?', 'Did you see a fountain?'):
                together.wait()
            return super().answer(question, recall, run)

    records = ask(Waiting(sequence.samples), parallel=5)
    assert [r.correct for r in records] == [True] * 4 + [None]


def test_a_stop_cancels_what_is_under_way(sequence, store):
    remember(sequence, store)
    begun, cancelled = threading.Event(), threading.Event()

    class Hanging:
        name = 'hanging'

        def answer(self, question, recall, run):
            if question.text == 'Where is the elevator?':
                return Answer(Kind.NOT_SEEN, '', self.name)
            begun.set()
            if run.cancel.wait(20.0):
                cancelled.set()
            run.check()
            raise AssertionError('not cancelled')

    found = evaluate(sequence, store, lambda trace, seed: Hanging(), CONFIG, parallel=2)
    next(found)
    assert begun.wait(20.0)
    found.close()
    assert cancelled.is_set()


def test_a_store_that_is_gone_ends_the_run(sequence, store):
    remember(sequence, store)

    class Gone:
        name = 'gone'

        def answer(self, question, recall, run):
            raise StoreUnavailable('the database is gone')

    with pytest.raises(StoreUnavailable):
        list(evaluate(sequence, store, lambda trace, seed: Gone(), CONFIG))


def test_remembering_again_changes_nothing_and_drops_what_is_not_of_the_sequence(sequence, store):
    steps = []
    remember(sequence, store, lambda *step: steps.append(step))
    assert steps[-1] == (20, 20)
    assert store.all() == list(sequence.memories)
    shorter = type(sequence)(sequence.name, sequence.memories[:12], (), ())
    remember(shorter, store)
    remember(shorter, store)
    assert store.all() == list(sequence.memories[:12])


def test_keyframes_are_remembered_with_their_memory(store):
    memory = Memory('m1', 'r', 0, 1, 'a door')
    jpeg = encode_jpeg(np.zeros((8, 8, 3), np.uint8))
    sequence = type('Drive', (), {'memories': (memory,), 'images': {'m1': (jpeg,)}})()
    remember(sequence, store)
    assert store.keyframe('m1') == jpeg
