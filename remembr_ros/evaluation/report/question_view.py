"""What a report shows of each question, in the order that a person wants to read it: the worst first."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from remembr_ros.agent.model.answer import Kind
from remembr_ros.evaluation.datasets.sample import CORRECT_WITHIN_M, CORRECT_WITHIN_MIN
from remembr_ros.evaluation.metrics.scores import Outcome
from remembr_ros.evaluation.records.reading import Key, TrackPoint, Tracks
from remembr_ros.evaluation.records.record import AnswerRecord, QuestionRecord, TruthRecord
from remembr_ros.evaluation.report.tabulation import UNITS
from remembr_ros.evaluation.report.track_map import Map, draw_map
from remembr_ros.timestamps import MAX_NS, NS, format_clock, format_duration

VERDICTS = ('failed', 'wrong', 'not seen', 'unscored', 'right')
"""The worst first."""

LIMITS = {Kind.POSITION: CORRECT_WITHIN_M, Kind.TIME: CORRECT_WITHIN_MIN, Kind.DURATION: CORRECT_WITHIN_MIN}

LEAD = 150
CAPTION = 1_500
EVIDENCE = 8
TRACE_TEXT = 2_000
TRACE_ITEMS = 40
"""Characters and numbers of what is shown; the run's folder has the rest."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A memory as evidence or as a hit.

    :param lead: how its caption begins
    :param caption: the caption where that is not all of it, bounded
    """

    name: str
    when: str = ''
    place: str = ''
    lead: str = ''
    caption: str = ''


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of a question with one seed."""

    seed: int
    verdict: str
    answer: str
    text: str
    planner: str
    error: str
    judge: str
    text_match: str
    failure: str
    cost: str
    evidence: tuple[Seen, ...]
    uncited: str
    trace: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class QuestionView:
    """A question with what came of it.

    :param verdict: of the worst seed
    :param tally: how many seeds are right; empty: there is one
    :param map: of the worst seed
    """

    sequence: str
    id: str
    question: str
    length: str
    kind: str
    verdict: str
    tally: str
    error: str
    truth: str
    asked: str
    history: str
    rank: str
    hits: tuple[Seen, ...]
    attempts: tuple[Attempt, ...]
    map: Map | None
    map_seed: int


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
    traces: Mapping[Key, dict[str, Any]],
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
        _view(group, tracks.get(group[0].sequence, []), traces, path_ids.get(group[0].sequence, ''))
        for group in ordered
    ]


def _view(
    group: Sequence[QuestionRecord],
    track: Sequence[TrackPoint],
    traces: Mapping[Key, dict[str, Any]],
    path_id: str,
) -> QuestionView:
    worst = min(group, key=badness)
    right = sum(verdict(record) == 'right' for record in group)
    by_id = {point.id: point for point in track}
    history = f'{format_duration(worst.history_sec)}, {worst.memories} memories'
    if worst.rank:
        rank = f'{worst.rank} of {len(worst.hits)} found with the raw question'
    elif worst.relevant:
        rank = f'not among {len(worst.hits)} found with the raw question'
    else:
        rank = 'none: no memory is known to hold the answer'
    return QuestionView(
        sequence=worst.sequence,
        id=worst.id,
        question=worst.question,
        length=worst.length,
        kind='yes/no' if worst.truth.kind is Kind.BINARY else worst.truth.kind.value,
        verdict=verdict(worst),
        tally=f'{right} of {len(group)} seeds right' if len(group) > 1 else '',
        error=_error(worst),
        truth=_truth(worst.truth, worst.now_ns),
        asked=format_clock(worst.now_ns) + (f' at {_place(worst.here)}' if worst.here else ''),
        history=history,
        rank=rank,
        hits=tuple(_seen(name, by_id, worst.now_ns) for name in worst.hits[:EVIDENCE]),
        attempts=tuple(
            _attempt(record, by_id, traces.get(record.key)) for record in sorted(group, key=lambda r: r.seed)
        ),
        map=draw_map(worst, track, path_id),
        map_seed=worst.seed,
    )


def _attempt(
    record: QuestionRecord, by_id: Mapping[str, TrackPoint], trace: Mapping[str, Any] | None
) -> Attempt:
    answer = record.answer
    cost = [f'{record.latency_sec:.2f} s'] if record.latency_sec is not None else []
    if record.llm_calls:
        tokens = f'{record.prompt_tokens:,} + {record.completion_tokens:,} tokens'
        cost += [f'{record.llm_calls} calls', tokens]
    match = []
    if record.exact is not None:
        match.append('word for word' if record.exact else 'not word for word')
    if record.token_f1 is not None:
        match.append(f'token F1 {record.token_f1:.2f}')
    cited = answer.evidence if answer else ()
    return Attempt(
        seed=record.seed,
        verdict=verdict(record),
        answer=_answer(answer, record.now_ns) if answer else '',
        text=answer.text if answer else '',
        planner=answer.planner if answer else '',
        error=_error(record),
        judge=record.verdict,
        text_match=', '.join(match),
        failure=record.failure,
        cost=', '.join(cost),
        evidence=tuple(_seen(name, by_id, record.now_ns) for name in cited[:EVIDENCE]),
        uncited=f'and {len(cited) - EVIDENCE} more' if len(cited) > EVIDENCE else '',
        trace=_trace(trace) if trace else (),
    )


def _truth(truth: TruthRecord, now_ns: int) -> str:
    if truth.kind is Kind.POSITION:
        return ' or '.join(map(_place, truth.positions))
    if truth.kind is Kind.TIME:
        return ' or '.join(_ago(minutes, now_ns) for minutes in truth.minutes_ago)
    if truth.kind is Kind.DURATION:
        return f'{truth.duration_minutes:g} min' if truth.duration_minutes is not None else 'unknown'
    if truth.kind is Kind.BINARY:
        return _yes_no(truth.binary)
    return truth.text


def _answer(answer: AnswerRecord, now_ns: int) -> str:
    if answer.kind is Kind.POSITION and answer.position:
        return _place(answer.position)
    if answer.kind is Kind.TIME and answer.minutes_ago is not None:
        return _ago(answer.minutes_ago, now_ns)
    if answer.kind is Kind.DURATION and answer.duration_minutes is not None:
        return f'{answer.duration_minutes:.1f} min'
    if answer.kind is Kind.BINARY:
        return _yes_no(answer.binary)
    return str(answer.kind.value).replace('_', ' ')


def _place(place: Sequence[float]) -> str:
    # Plus zero: of -0.0 it makes 0.0.
    return f'({", ".join(f"{round(value, 1) + 0.0:.1f}" for value in place)}) m'


def _ago(minutes: float, now_ns: int) -> str:
    then_ns = now_ns - minutes * 60 * NS
    clock = f' ({format_clock(round(then_ns))})' if 0 <= then_ns < MAX_NS else ''
    return f'{minutes:.1f} min ago{clock}'


def _yes_no(value: bool | None) -> str:
    return 'neither yes nor no' if value is None else 'yes' if value else 'no'


def _error(record: QuestionRecord) -> str:
    unit = UNITS.get(record.truth.kind)
    return f'{record.error:.1f} {unit}' if record.error is not None and unit else ''


def _seen(name: str, by_id: Mapping[str, TrackPoint], now_ns: int) -> Seen:
    point = by_id.get(name)
    if point is None:
        return Seen(name[:8])
    place = f'({point.x:.1f}, {point.y:.1f})' if point.x is not None and point.y is not None else 'unplaced'
    words, when = ' '.join(point.caption.split()), f'{format_duration((now_ns - point.end_ns) / NS)} ago'
    if len(words) <= LEAD:
        return Seen(name[:8], when, place, words)
    caption = '\n'.join(line.strip() for line in point.caption.splitlines() if line.strip())
    return Seen(name[:8], when, place, f'{words[:LEAD].rsplit(None, 1)[0]} ...', _cut(caption, CAPTION))


def _trace(trace: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return what was recalled and said, as pairs of who and what."""
    items: list[tuple[str, str]] = []
    for part in ('recalls', 'chat'):
        found = trace.get(part)
        entries = found if isinstance(found, list) else []
        for number, entry in enumerate(entries[:TRACE_ITEMS], 1):
            who, what = f'{part.removesuffix("s")} {number}', entry
            if isinstance(entry, dict) and isinstance(entry.get('role'), str):
                who = f'{who}, {entry["role"]}'
                what = {k: v for k, v in entry.items() if k != 'role' and v not in (None, [], '')}
                if set(what) == {'content'} and isinstance(what['content'], str):
                    what = what['content']
            text: str = what if isinstance(what, str) else json.dumps(what, ensure_ascii=False, indent=1)
            items.append((who, _cut(text, TRACE_TEXT)))
        if len(entries) > TRACE_ITEMS:
            items.append((part, f'{len(entries) - TRACE_ITEMS} more in traces.jsonl'))
    return tuple(items)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f'{text[:most]} ... ({len(text) - most:,} more characters)'
