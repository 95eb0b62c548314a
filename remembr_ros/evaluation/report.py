"""Results as JSON and as a table."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from remembr_ros.agent.answer import Kind
from remembr_ros.evaluation import metrics
from remembr_ros.evaluation.metrics import Mean, Outcome, Score
from remembr_ros.evaluation.runner import RETRIEVED, Result
from remembr_ros.evaluation.sample import LENGTHS, Excluded
from remembr_ros.timestamps import NS, format_iso

KINDS = (Kind.POSITION, Kind.TIME, Kind.DURATION, Kind.BINARY, Kind.TEXT)
UNITS = {Kind.POSITION: 'm', Kind.TIME: 'min', Kind.DURATION: 'min'}
CUTOFFS = tuple(k for k in (1, 5, 10, 15) if k <= RETRIEVED)


def results_json(
    results: list[Result], excluded: Iterable[Excluded], *, planner: str, data: str, embedder: str
) -> dict[str, Any]:
    """Return the figures of a run: fractions from 0 to 1, errors in metres or minutes, None over nothing."""
    scores = [result.score for result in results]
    groups = {'ALL': scores, **{length: _of_length(scores, length) for length in LENGTHS}}
    fractions = {name: metrics.correctness(group) for name, group in groups.items()}
    outcomes = Counter(s.outcome for s in scores)
    ranks = [result.rank for result in results]
    latencies = sorted(r.answer.cost.latency_s for r in results if r.answer is not None)
    costs = [r.answer.cost for r in results if r.answer is not None]
    return {
        'planner': planner,
        'data': data,
        'embedder': embedder,
        'questions': len(results),
        'overall': {
            **{name: fraction.value for name, fraction in fractions.items()},
            'scored': fractions['ALL'].n,
            'scored_by_length': {length: fractions[length].n for length in LENGTHS},
        },
        'by_kind': {kind.value: _kind_json([s for s in scores if s.kind is kind]) for kind in KINDS},
        'outcomes': {outcome.value: outcomes[outcome] for outcome in Outcome},
        'retrieval': {
            **{f'recall@{k}': metrics.recall_at(k, ranks).value for k in CUTOFFS},
            'mrr': metrics.mean_reciprocal_rank(ranks).value,
        },
        'cost': {
            'llm_calls': sum(cost.llm_calls for cost in costs),
            'prompt_tokens': sum(cost.prompt_tokens for cost in costs),
            'completion_tokens': sum(cost.completion_tokens for cost in costs),
            'latency_p50_sec': _quantile(latencies, 0.5),
            'latency_p95_sec': _quantile(latencies, 0.95),
        },
        'excluded': [{'id': row.id, 'question': row.question, 'reason': row.reason} for row in excluded],
    }


def result_json(result: Result) -> dict[str, Any]:
    """Return what became of one question: the truth, the answer, the score."""
    sample, truth, answer = result.sample, result.sample.truth, result.answer
    now_ns = sample.question.now_ns
    return {
        'id': sample.id,
        'question': sample.question.text,
        'length': sample.length,
        'memories': sample.memories,
        'now': format_iso(now_ns),
        'truth': {
            'kind': truth.kind.value,
            'positions': [list(position) for position in truth.positions],
            'minutes_ago': [(now_ns - time_ns) / (60 * NS) for time_ns in truth.times_ns],
            'duration_minutes': truth.duration_min,
            'binary': truth.binary,
            'text': truth.text,
        },
        'answer': None
        if answer is None
        else {
            'kind': answer.kind.value,
            'text': answer.text,
            'binary': answer.binary,
            'position': list(answer.pose.position) if answer.pose else None,
            'minutes_ago': (now_ns - answer.time_ns) / (60 * NS) if answer.time_ns is not None else None,
            'duration_minutes': answer.duration_s / 60.0 if answer.duration_s is not None else None,
            'evidence': [hit.memory.id for hit in answer.evidence],
        },
        'outcome': result.score.outcome.value,
        'correct': result.score.correct,
        'error': result.score.error,
        'rank': result.rank,
        'failure': result.failure,
    }


def table(results: list[Result]) -> str:
    """Return the table for a person: correct answers and errors per length, each with its denominator."""
    scores = [result.score for result in results]
    lengths = (*LENGTHS, 'ALL')
    rows = [['', *lengths]]

    def add(name: str, cells: list[str]) -> None:
        rows.append([name, *cells])

    groups = [scores if length == 'ALL' else _of_length(scores, length) for length in lengths]
    add('correct', [_fraction(metrics.correctness(group)) for group in groups])
    add('correct of answered', [_fraction(metrics.correctness_answered(group)) for group in groups])
    for kind in KINDS[:-1]:
        of_kind = [[s for s in group if s.kind is kind] for group in groups]
        add(f'{kind.value} correct', [_fraction(metrics.correctness(group)) for group in of_kind])
        if unit := UNITS.get(kind):
            errors = [_error(metrics.errors(group)) for group in of_kind]
            add(f'{kind.value} error [{unit}]', errors)
    for outcome in Outcome:
        add(outcome.value.replace('_', ' '), [str(sum(s.outcome is outcome for s in g)) for g in groups])
    by_length = [[r.rank for r in results if length in ('ALL', r.sample.length)] for length in lengths]
    for k in CUTOFFS:
        add(f'recall@{k}', [_fraction(metrics.recall_at(k, ranks)) for ranks in by_length])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return '\n'.join(
        '  '.join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))])
        for row in rows
    )


def _of_length(scores: list[Score], length: str) -> list[Score]:
    return [s for s in scores if s.length == length]


def _kind_json(scores: list[Score]) -> dict[str, Any]:
    correct, error = metrics.correctness(scores), metrics.errors(scores)
    return {
        'n': len(scores),
        'scored': correct.n,
        'correct': correct.value,
        'answered': sum(s.outcome in (Outcome.ANSWERED, Outcome.UNSCORED) for s in scores),
        'error_mean': error.value,
        'error_std': error.std,
    }


def _fraction(fraction: Mean) -> str:
    if fraction.value is None:
        return '-'
    return f'{fraction.value:.2f} ({round(fraction.value * fraction.n)}/{fraction.n})'


def _error(error: Mean) -> str:
    return '-' if error.value is None else f'{error.value:.1f} (n={error.n})'


def _quantile(ordered: list[float], fraction: float) -> float | None:
    """Return the value that this fraction of the values does not exceed."""
    return ordered[min(int(fraction * len(ordered)), len(ordered) - 1)] if ordered else None
