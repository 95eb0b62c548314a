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

VERDICTS = ('failed', 'wrong', 'not seen', 'unscored', 'right')  # the worst first
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

    record: QuestionRecord
    verdict: str
    answer: str
    error: str
    text_match: str
    cost: str
    evidence: list[Seen]
    uncited: str
    trace: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class QuestionView:
    """A question with what came of it.

    :param worst: the record of the worst seed; verdict, error and map are its
    :param tally: how many seeds are right; empty: there is one
    """

    worst: QuestionRecord
    kind: str
    verdict: str
    tally: str
    error: str
    truth: str
    asked: str
    history: str
    rank: str
    hits: list[Seen]
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
    if worst.rank:
        rank = f'{worst.rank} of {len(worst.hits)} found with the raw question'
    elif worst.relevant:
        rank = f'not among {len(worst.hits)} found with the raw question'
    else:
        rank = 'none: no memory is known to hold the answer'
    return QuestionView(
        worst=worst,
        kind='yes/no' if worst.truth.kind is Kind.BINARY else worst.truth.kind.value,
        verdict=verdict(worst),
        tally=f'{right} of {len(group)} seeds right' if len(group) > 1 else '',
        error=_error(worst),
        truth=_truth(worst.truth, worst.now_ns),
        asked=format_clock(worst.now_ns) + (f' at {_place(worst.here)}' if worst.here else ''),
        history=f'{format_duration(worst.history_sec)}, {worst.memories} memories',
        rank=rank,
        hits=_seen(worst.hits, by_id, worst.now_ns),
        attempts=[
            _attempt(record, by_id, traces.get(record.key, {}))
            for record in sorted(group, key=lambda r: r.seed)
        ],
        map=draw_map(worst, track, path_id),
    )


def _attempt(record: QuestionRecord, by_id: Mapping[str, TrackPoint], trace: Mapping[str, Any]) -> Attempt:
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
        record=record,
        verdict=verdict(record),
        answer=_answer(answer, record.now_ns) if answer else '',
        error=_error(record),
        text_match=', '.join(match),
        cost=', '.join(cost),
        evidence=_seen(cited, by_id, record.now_ns),
        uncited=f'and {len(cited) - EVIDENCE} more' if len(cited) > EVIDENCE else '',
        trace=_trace(trace),
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


def _seen(names: Sequence[str], by_id: Mapping[str, TrackPoint], now_ns: int) -> list[Seen]:
    """Return the first memories of these ids."""
    seen = []
    for name in names[:EVIDENCE]:
        point = by_id.get(name)
        if point is None:
            seen.append(Seen(name[:8]))
            continue
        place = f'({point.x:.1f}, {point.y:.1f})'
        when = f'{format_duration((now_ns - point.end_ns) / NS)} ago'
        lead, caption = ' '.join(point.caption.split()), ''
        if len(lead) > LEAD:
            lead = f'{lead[:LEAD].rsplit(None, 1)[0]} ...'
            lines = [line.strip() for line in point.caption.splitlines() if line.strip()]
            caption = _cut('\n'.join(lines), CAPTION)
        seen.append(Seen(name[:8], when, place, lead, caption))
    return seen


def _trace(trace: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what was recalled and said, as pairs of who and what."""
    items = []
    for part in ('recalls', 'chat'):
        entries = trace.get(part, [])
        for number, entry in enumerate(entries[:TRACE_ITEMS], 1):
            text = entry if isinstance(entry, str) else json.dumps(entry, ensure_ascii=False, indent=1)
            items.append((f'{part.removesuffix("s")} {number}', _cut(text, TRACE_TEXT)))
        if len(entries) > TRACE_ITEMS:
            items.append((part, f'{len(entries) - TRACE_ITEMS} more in traces.jsonl'))
    return items


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f'{text[:most]} ... ({len(text) - most:,} more characters)'
