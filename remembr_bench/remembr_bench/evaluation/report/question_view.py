"""What a report shows of each question, in the order that a person wants to read it: the worst first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from remembr_bench.evaluation.datasets.sample import CORRECT_WITHIN_M, CORRECT_WITHIN_MIN
from remembr_bench.evaluation.metrics.scores import Outcome
from remembr_bench.evaluation.records.reading import Key, TrackPoint, Tracks
from remembr_bench.evaluation.records.record import AnswerRecord, QuestionRecord, TruthRecord
from remembr_bench.evaluation.report.figures import UNITS
from remembr_bench.evaluation.report.track_map import TrackMap, track_map
from remembr_ros.agent.model.answer import Kind
from remembr_ros.timestamps import MAX_NS, NS, format_clock, format_duration

VERDICTS = ('failed', 'wrong', 'not seen', 'unscored', 'right')  # the worst first
LIMITS = {Kind.POSITION: CORRECT_WITHIN_M, Kind.TIME: CORRECT_WITHIN_MIN, Kind.DURATION: CORRECT_WITHIN_MIN}
EVIDENCE = 8  # memories that are shown
SAID = 300  # characters of a reply of the language model that are shown


Facts = dict[str, str | list[str]]
"""By name; empty ones are not shown."""


@dataclass(frozen=True, slots=True)
class QuestionView:
    """A question with what came of it; verdict, summary and map are those of the worst seed.

    :param facts: of the question
    :param attempts: facts of its answer with each seed
    """

    question: str
    verdict: str
    summary: str
    facts: Facts
    attempts: list[Facts]
    sequence: str
    map: TrackMap | None


def verdict(record: QuestionRecord) -> str:
    """Return one of VERDICTS."""
    if record.outcome is Outcome.FAILED:
        return 'failed'
    if record.correct:
        return 'right'
    if record.outcome is Outcome.NOT_SEEN:
        return 'not seen'
    return 'unscored' if record.correct is None else 'wrong'


def badness(record: QuestionRecord) -> tuple[int, float]:
    """Return what sorts the worst first: verdict, then the error as a multiple of what is allowed.

    An answer without an error (no where yes was right) comes between what is worse than twice too far off and
    the rest.
    """
    limit = LIMITS.get(record.truth.kind, 1.0)
    size = 2.0 if record.error is None else record.error / limit
    return (VERDICTS.index(verdict(record)), -size)


def question_views(
    records: Sequence[QuestionRecord], tracks: Tracks, traces: Mapping[Key, Mapping[str, Any]]
) -> list[QuestionView]:
    """Return every question, the worst first, with its seeds together.

    :param traces: the lines of traces.jsonl, as far as there are any
    """
    groups: dict[tuple[str, str], list[QuestionRecord]] = {}
    for record in sorted(records, key=lambda record: record.seed):
        groups.setdefault((record.sequence, record.id), []).append(record)
    ordered = sorted(groups.values(), key=lambda group: min(map(badness, group)))
    return [_view(group, tracks.get(group[0].sequence, []), traces) for group in ordered]


def _view(
    group: Sequence[QuestionRecord],
    track: Sequence[TrackPoint],
    traces: Mapping[Key, Mapping[str, Any]],
) -> QuestionView:
    worst, by_id = min(group, key=badness), {point.id: point for point in track}
    right = sum(verdict(record) == 'right' for record in group)
    tally = f'{right} of {len(group)} seeds right' if len(group) > 1 else ''
    rank = f'{worst.rank or "none"} of {len(worst.hits)} found with the raw question'
    return QuestionView(
        question=worst.question,
        verdict=verdict(worst),
        summary=' · '.join(filter(None, [tally, _error(worst), worst.category, worst.length.lower()])),
        facts={
            'expected': _expected(worst.truth, worst.now_ns),
            'rank of what holds it': rank if worst.relevant or worst.rank else '',
            'history': f'{format_duration(worst.history_sec)}, {worst.memories} memories',
            'asked': format_clock(worst.now_ns) + (f' at {_place(worst.here)}' if worst.here else ''),
            'id': f'{worst.sequence} {worst.id}',
        },
        attempts=[_attempt(record, by_id, traces.get(record.key, {})) for record in group],
        sequence=worst.sequence,
        map=track_map(worst, track),
    )


def _attempt(record: QuestionRecord, by_id: Mapping[str, TrackPoint], trace: Mapping[str, Any]) -> Facts:
    answer, now_ns = record.answer, record.now_ns
    return {
        'seed': f'{record.seed}: {verdict(record)}',
        'answer': _answered(answer, now_ns) if answer else '',
        'in words': answer.text if answer else '',
        'error': _error(record),
        'failure': record.failure,
        'reference': f'token F1 {record.token_f1:.2f}' if record.token_f1 is not None else '',
        'judge': record.verdict,
        'evidence': [_memory(id_, by_id, now_ns) for id_ in (answer.evidence[:EVIDENCE] if answer else ())],
        'recalls and trace': _trace(trace),
    }


def _expected(truth: TruthRecord, now_ns: int) -> str:
    values = [*map(_place, truth.positions), *(_ago(minutes, now_ns) for minutes in truth.minutes_ago)]
    if truth.duration_minutes is not None:
        values.append(f'{truth.duration_minutes:g} min')
    if truth.kind is Kind.BINARY:
        values.append('yes' if truth.binary else 'no')
    return ' or '.join(filter(None, [*values, truth.text]))


def _answered(answer: AnswerRecord, now_ns: int) -> str:
    if answer.kind is Kind.POSITION and answer.position:
        return _place(answer.position)
    if answer.kind is Kind.TIME and answer.minutes_ago is not None:
        return _ago(answer.minutes_ago, now_ns)
    if answer.kind is Kind.DURATION and answer.duration_minutes is not None:
        return f'{answer.duration_minutes:.1f} min'
    if answer.kind is Kind.BINARY:
        return 'neither yes nor no' if answer.binary is None else ('yes' if answer.binary else 'no')
    return str(answer.kind.value).replace('_', ' ')


def _place(place: Sequence[float]) -> str:
    # Plus zero: of -0.0 it makes 0.0.
    return f'({", ".join(f"{round(value, 1) + 0.0:.1f}" for value in place)}) m'


def _ago(minutes: float, now_ns: int) -> str:
    then_ns = now_ns - minutes * 60 * NS
    clock = f' ({format_clock(round(then_ns))})' if 0 <= then_ns < MAX_NS else ''
    return f'{minutes:.1f} min ago{clock}'


def _error(record: QuestionRecord) -> str:
    unit = UNITS.get(record.truth.kind)
    return f'{record.error:.1f} {unit}' if record.error is not None and unit else ''


def _memory(memory_id: str, by_id: Mapping[str, TrackPoint], now_ns: int) -> str:
    point = by_id.get(memory_id)
    if point is None:
        return f'{memory_id[:8]}, not in the track'
    ago = f'{format_duration((now_ns - point.end_ns) / NS)} ago'
    return f'{memory_id[:8]}, {ago}, ({point.x:.1f}, {point.y:.1f}): {" ".join(point.caption.split())}'


def _trace(trace: Mapping[str, Any]) -> list[str]:
    recalls = [
        f'recalled by {recall["by"]} {recall["asked"] or ""}: {len(recall["hits"])} memories'
        for recall in trace.get('recalls', ())
    ]
    replies = [str(call.get('reply') or call.get('error'))[:SAID] for call in trace.get('chat', ())]
    return recalls + [f'the model: {reply}' for reply in replies]
