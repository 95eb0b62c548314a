"""Puts a sequence into a store and asks its questions, each with the memory up to its time."""

import threading
import time
from collections.abc import Callable, Container, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from typing import cast

from remembr_bench.evaluation.datasets.sample import Sample, Sequence
from remembr_bench.evaluation.metrics.judge import Judge
from remembr_bench.evaluation.metrics.scores import Outcome, Score, exact_match, rank, score, token_f1
from remembr_bench.evaluation.records.config import PlannerName, RunConfig
from remembr_bench.evaluation.records.record import QuestionRecord, QuestionTrace, answer_record, truth_record
from remembr_ros.agent.agent import Agent
from remembr_ros.agent.model.answer import Answer, Kind
from remembr_ros.agent.planner import Planner
from remembr_ros.errors import RemembrError, StoreUnavailable
from remembr_ros.memory.model.recall import ANYTHING, Hit, Query, Scope, Survey, survey_of
from remembr_ros.memory.model.record import PLACE, Observation
from remembr_ros.memory.objects.query import FoundObjects, ObjectQuery
from remembr_ros.memory.recall_protocol import Recall
from remembr_ros.memory.search import StoreSearch
from remembr_ros.memory.store import MemoryStore
from remembr_ros.timestamps import NS

ALL = 1_000  # more memories than the longest sequence has


@dataclass(frozen=True, slots=True)
class WindowedRecall:
    """Clips every scope to a window, so that a question cannot see what it should not know.

    :param recall: sees everything
    :param window: its time bounds and map id count
    :param relevant: ids of the only memories that are shown, without objects; None: all
    :param hybrid: recall counts words beside meaning; without, the recall has to be a store
    :param trace: takes down what is recalled
    """

    recall: Recall
    window: Scope
    relevant: frozenset[str] | None = None
    hybrid: bool = True
    trace: QuestionTrace | None = None

    def find(self, query: Query) -> list[Hit]:
        began = time.perf_counter()
        hits = self._find(query)
        # What has names is asked before each question, and no evidence.
        if self.trace is not None and query.scope.source != PLACE:
            self.trace.recalled(query, hits, time.perf_counter() - began)
        return hits

    def count(self, scope: Scope = ANYTHING) -> int:
        if self.relevant is not None:
            return len(self._find(Query(scope=scope, limit=ALL)))
        inside = scope.meet(self.window)
        return 0 if inside is None else self.recall.count(inside)

    @property
    def embedder_name(self) -> str:
        return self.recall.embedder_name

    def survey(self, scope: Scope = ANYTHING) -> Survey:
        if self.relevant is not None:
            return survey_of(hit.memory for hit in self._find(Query(scope=scope, limit=ALL)))
        inside = scope.meet(self.window)
        return Survey(0) if inside is None else self.recall.survey(inside)

    def find_objects(self, query: ObjectQuery) -> FoundObjects:
        inside = query.scope.meet(self.window)
        if inside is None or self.relevant is not None:
            return FoundObjects()
        return self.recall.find_objects(replace(query, scope=inside))

    def _find(self, query: Query) -> list[Hit]:
        inside = query.scope.meet(self.window)
        if inside is None:
            return []
        clipped = replace(query, scope=inside)
        if self.relevant is not None:
            hits = self._recalled(replace(clipped, limit=ALL))
            return query.cut([hit for hit in hits if hit.memory.id in self.relevant])
        return self._recalled(clipped)

    def _recalled(self, query: Query) -> list[Hit]:
        if self.hybrid:
            return self.recall.find(query)
        return cast(StoreSearch, self.recall).find(query, hybrid=False)


BATCH = 256  # memories embedded and stored together: neighbouring captions share sentences
RETRIEVED = 15  # memories retrieved with the raw question, before any planner

MakePlanner = Callable[[QuestionTrace, int], Planner | None]
"""Returns what answers one question with a seed, and writes down its talk; None: only retrieval counts."""

OnProgress = Callable[[int, int], None]
"""Called with how many are done and how many there are."""


def remember(
    sequence: Sequence, store: MemoryStore, on_progress: OnProgress = lambda done, total: None
) -> None:
    """Make the store hold the sequence's memories and no others; what it holds already costs nothing.

    :raises StoreUnavailable: the database does not work
    """
    wanted = {memory.id for memory in sequence.memories}
    other = [memory.id for memory in store.all() if memory.id not in wanted]
    if other:
        store.forget(other)
    total = len(sequence.memories)
    for start in range(0, total, BATCH):
        batch = sequence.memories[start : start + BATCH]
        store.add([Observation(memory, sequence.images.get(memory.id, ())) for memory in batch])
        on_progress(start + len(batch), total)


def evaluate(
    sequence: Sequence,
    store: MemoryStore,
    make_planner: MakePlanner,
    config: RunConfig,
    *,
    judge: Judge | None = None,
    timeout_s: float = 60.0,
    parallel: int = 1,
    done: Container[tuple[str, str, int]] = (),
) -> Iterator[tuple[QuestionRecord, QuestionTrace]]:
    """Ask each question with only its window visible; yield what became of it, in the order of completion.

    A question that fails is a result, too. When the iterator is closed, what is under way is cancelled.

    :param store: holds the sequence's memories, see :func:`remember`
    :param judge: of answers in words; None: they are compared word by word
    :param timeout_s: for one question
    :param parallel: questions under way at once
    :param done: keys of questions that are not asked again
    :raises StoreUnavailable: the database does not work
    """
    cancel = threading.Event()
    asked = _Asked(sequence, store, make_planner, config, judge, timeout_s, cancel)
    with ThreadPoolExecutor(parallel, 'question') as pool:
        futures: list[Future[tuple[QuestionRecord, QuestionTrace]]] = [
            pool.submit(asked.ask, sample, seed)
            for sample in sequence.samples
            for seed in config.seeds
            if (sequence.name, sample.id, seed) not in done
        ]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            cancel.set()
            pool.shutdown(wait=False, cancel_futures=True)


@dataclass(frozen=True)
class _Asked:
    """What the questions of one sequence share."""

    sequence: Sequence
    store: MemoryStore
    make_planner: MakePlanner
    config: RunConfig
    judge: Judge | None
    timeout_s: float
    cancel: threading.Event

    def ask(self, sample: Sample, seed: int) -> tuple[QuestionRecord, QuestionTrace]:
        """Ask a question, and score what is answered.

        :raises StoreUnavailable: the database does not work
        """
        question, truth, trial = sample.question, sample.truth, self.sequence.trial
        raw = Query(question.text, scope=sample.scope, limit=RETRIEVED)
        hits = tuple(hit.memory.id for hit in self.store.find(raw, hybrid=self.config.hybrid))
        trace = QuestionTrace()
        planner = trial.planner(self.config.planner.value, sample.id, seed) if trial is not None else None
        planner = planner or self.make_planner(trace, seed)
        answer, failure = self._answer(sample, planner, trace) if planner is not None else (None, '')
        figures: dict[str, float] = {}
        reason = ''
        if planner is None:
            scored = Score(Outcome.UNSCORED)
        elif trial is not None:
            correct, figures, reason = trial.score(sample.id, answer, self.judge)
            scored = replace(score(truth, answer, correct), correct=correct)
        else:
            verdict, reason = self._judged(sample, answer)
            scored = score(truth, answer, verdict)
        words = answer.text if answer is not None and truth.kind is Kind.TEXT else None
        # What failed has cost something, too.
        cost = answer.cost if answer is not None else trace.spent
        record = QuestionRecord(
            sequence=self.sequence.name,
            id=sample.id,
            seed=seed,
            question=question.text,
            length=sample.length,
            history_sec=(question.now_ns - sample.window_ns[0]) / NS,
            window_ns=sample.window_ns,
            memories=sample.memories,
            now_ns=question.now_ns,
            here=question.here.position if question.here else None,
            truth=truth_record(sample),
            answer=answer_record(answer, question.now_ns) if answer is not None else None,
            outcome=scored.outcome,
            correct=scored.correct,
            error=scored.error,
            exact=exact_match(words, truth.text) if words is not None else None,
            token_f1=token_f1(words, truth.text) if words is not None else None,
            verdict=reason,
            relevant=tuple(sorted(sample.relevant)),
            rank=rank(hits, sample.relevant),
            hits=hits,
            failure=failure,
            llm_calls=cost.calls,
            prompt_tokens=cost.prompt_tokens,
            completion_tokens=cost.completion_tokens,
            latency_sec=max(cost.seconds - trace.waited_s, 0.0) if answer is not None else None,
            category=sample.category,
            groups=dict(sample.groups),
            figures=figures,
        )
        return record, trace

    def _answer(self, sample: Sample, planner: Planner, trace: QuestionTrace) -> tuple[Answer | None, str]:
        """Return the answer, or why there is none."""
        # That of a simulated home answers itself.
        oracle = self.config.planner is PlannerName.ORACLE and not self.config.homes
        relevant = sample.relevant if oracle else None
        recall = WindowedRecall(self.store, sample.scope, relevant, self.config.hybrid, trace)
        try:
            return Agent(recall, [planner], self.timeout_s, trace=trace).ask(
                sample.question, cancel=self.cancel
            ), ''
        except StoreUnavailable:  # no question can be answered
            raise
        except RemembrError as error:
            return None, f'{error.kind}: {error}'

    def _judged(self, sample: Sample, answer: Answer | None) -> tuple[bool | None, str]:
        judge, truth = self.judge, sample.truth
        if judge is None or truth.kind is not Kind.TEXT:
            return None, ''
        if answer is None or answer.kind is Kind.NOT_SEEN:
            return False, 'there is no answer to judge'
        return judge.verdict(sample.question.text, truth.text, answer.text)
