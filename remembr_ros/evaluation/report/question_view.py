"""What a report shows of each question, in the order that a person wants to read it: the worst first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from remembr_ros.agent.model.answer import Kind
from remembr_ros.evaluation.datasets.sample import CORRECT_WITHIN_M, CORRECT_WITHIN_MIN
from remembr_ros.evaluation.metrics.scores import Outcome
from remembr_ros.evaluation.records.reading import TrackPoint, Tracks
from remembr_ros.evaluation.records.record import AnswerRecord, QuestionRecord, TruthRecord
from remembr_ros.evaluation.report.figures import UNITS
from remembr_ros.evaluation.report.track_map import Map, draw_map
from remembr_ros.timestamps import MAX_NS, NS, format_clock, format_duration

VERDICTS = ('failed', 'wrong', 'not seen', 'unscored', 'right')  # the worst first
LIMITS = {Kind.POSITION: CORRECT_WITHIN_M, Kind.TIME: CORRECT_WITHIN_MIN, Kind.DURATION: CORRECT_WITHIN_MIN}

EVIDENCE = 8  # memories that are shown

Memories = list[tuple[str, str]]
"""Of each memory its id, time and place; and its caption."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of a question with one seed.

    :param facts: by name; empty ones are not shown
    """

    seed: int
    verdict: str
    facts: dict[str, str]
    evidence: Memories


@dataclass(frozen=True, slots=True)
class QuestionView:
    """A question with what came of it; verdict, summary and map are those of the worst seed."""

    question: str
    verdict: str
    summary: str
    facts: dict[str, str]
    attempts: list[Attempt]
    map: Map | None


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
    records: Sequence[QuestionRecord],
    tracks: Tracks,
    path_ids: Mapping[str, str],
) -> list[QuestionView]:
    """Return every question, the worst first, with its seeds together.

    :param path_ids: of the drives' paths in the page, by sequence
    """
    groups: dict[tuple[str, str], list[QuestionRecord]] = {}
    for record in records:
        groups.setdefault((record.sequence, record.id), []).append(record)
    ordered = sorted(groups.values(), key=lambda group: min(map(badness, group)))
    return [
        _view(group, tracks.get(group[0].sequence, []), path_ids.get(group[0].sequence, ''))
        for group in ordered
    ]


def _view(
    group: Sequence[QuestionRecord],
    track: Sequence[TrackPoint],
    path_id: str,
) -> QuestionView:
    worst = min(group, key=badness)
    right = sum(verdict(record) == 'right' for record in group)
    by_id = {point.id: point for point in track}
    if worst.rank:
        rank = f'{worst.rank} of {len(worst.hits)} found with the raw question'
    elif worst.relevant:
        rank = f'not among {len(worst.hits)} found with the raw question'
    else:
        rank = 'none: no memory is known to hold the answer'
    tally = f'{right} of {len(group)} seeds right' if len(group) > 1 else ''
    kind = 'yes/no' if worst.truth.kind is Kind.BINARY else worst.truth.kind.value
    return QuestionView(
        question=worst.question,
        verdict=verdict(worst),
        summary=' · '.join(filter(None, [tally, _error(worst), kind, worst.length.lower()])),
        facts={
            'truth': _truth(worst.truth, worst.now_ns),
            'rank': rank,
            'history': f'{format_duration(worst.history_sec)}, {worst.memories} memories',
            'asked': format_clock(worst.now_ns) + (f' at {_place(worst.here)}' if worst.here else ''),
            'id': f'{worst.sequence} {worst.id}',
        },
        attempts=[_attempt(record, by_id) for record in sorted(group, key=lambda r: r.seed)],
        map=draw_map(worst, track, path_id),
    )


def _attempt(record: QuestionRecord, by_id: Mapping[str, TrackPoint]) -> Attempt:
    answer = record.answer
    cost = [answer.planner] if answer else []
    cost += [f'{record.latency_sec:.2f} s'] if record.latency_sec is not None else []
    if record.llm_calls:
        tokens = f'{record.prompt_tokens:,} + {record.completion_tokens:,} tokens'
        cost += [f'{record.llm_calls} calls', tokens]
    match = []
    if record.exact is not None:
        match.append('word for word' if record.exact else 'not word for word')
    if record.token_f1 is not None:
        match.append(f'token F1 {record.token_f1:.2f}')
    facts = {
        'answer': _answer(answer, record.now_ns) if answer else '',
        'in words': answer.text if answer else '',
        'error': _error(record),
        'failure': record.failure,
        'reference': ', '.join(match),
        'judge': record.verdict,
        'cost': ', '.join(cost),
    }
    evidence = _memories(answer.evidence if answer else (), by_id, record.now_ns)
    return Attempt(record.seed, verdict(record), facts, evidence)


def _truth(truth: TruthRecord, now_ns: int) -> str:
    return ' or '.join(
        [
            *map(_place, truth.positions),
            *(_ago(minutes, now_ns) for minutes in truth.minutes_ago),
            *([f'{truth.duration_minutes:g} min'] if truth.duration_minutes is not None else []),
            *([_yes_no(truth.binary)] if truth.kind is Kind.BINARY else []),
            *filter(None, [truth.text]),
        ]
    )


def _answer(answer: AnswerRecord, now_ns: int) -> str:
    if answer.kind is Kind.POSITION and answer.position:
        return _place(answer.position)
    if answer.kind is Kind.TIME and answer.minutes_ago is not None:
        return _ago(answer.minutes_ago, now_ns)
    if answer.kind is Kind.DURATION and answer.duration_minutes is not None:
        return f'{answer.duration_minutes:.1f} min'
    return _yes_no(answer.binary) if answer.kind is Kind.BINARY else answer.kind.value.replace('_', ' ')


def _place(place: Sequence[float]) -> str:
    # Plus zero: of -0.0 it makes 0.0.
    return f'({", ".join(f"{round(value, 1) + 0.0:.1f}" for value in place)}) m'


def _ago(minutes: float, now_ns: int) -> str:
    then_ns = now_ns - minutes * 60 * NS
    clock = f' ({format_clock(round(then_ns))})' if 0 <= then_ns < MAX_NS else ''
    return f'{minutes:.1f} min ago{clock}'


def _yes_no(value: bool | None) -> str:
    return {None: 'neither yes nor no', True: 'yes', False: 'no'}[value]


def _error(record: QuestionRecord) -> str:
    unit = UNITS.get(record.truth.kind)
    return f'{record.error:.1f} {unit}' if record.error is not None and unit else ''


def _memories(ids: Sequence[str], by_id: Mapping[str, TrackPoint], now_ns: int) -> Memories:
    """Return the first memories of these ids."""
    memories = []
    for memory_id in ids[:EVIDENCE]:
        point = by_id.get(memory_id)
        if point is None:
            memories.append((f'{memory_id[:8]}, not in the track', ''))
        else:
            ago = f'{format_duration((now_ns - point.end_ns) / NS)} ago'
            heading = f'{memory_id[:8]}, {ago}, ({point.x:.1f}, {point.y:.1f})'
            memories.append((heading, ' '.join(point.caption.split())))
    if len(ids) > EVIDENCE:
        memories.append((f'and {len(ids) - EVIDENCE} more', ''))
    return memories
