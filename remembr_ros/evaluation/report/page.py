"""A run as one HTML page that needs nothing but a browser: figures, charts, every question with its map."""

import json
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

from remembr_ros.agent.model.answer import Kind
from remembr_ros.errors import InvalidRequest, RemembrError
from remembr_ros.evaluation.datasets.sample import LENGTHS
from remembr_ros.evaluation.metrics.scores import found_at
from remembr_ros.evaluation.records.reading import ANSWERS, RecordedRun, load_run, read_traces, read_tracks
from remembr_ros.evaluation.records.record import QuestionRecord
from remembr_ros.evaluation.report import charts
from remembr_ros.evaluation.report.question_view import VERDICTS, question_views
from remembr_ros.evaluation.report.tabulation import (
    KINDS,
    by_group,
    errors_of,
    fraction,
    interval_text,
    number_text,
    retrieved,
    tables,
)
from remembr_ros.evaluation.report.task_figures import tables_told
from remembr_ros.evaluation.report.track_map import drive_path

REPORT = 'report.html'


def write_report(folder: Path) -> Path:
    """Write report.html into the folder of a run; a run that was cut off is reported as far as it came.

    The same folder always gives the same page.

    :return: the page
    :raises InvalidRequest: the folder holds no run, a file in it is damaged, or it cannot be written
    :raises RemembrError: the extra 'evaluation' is not installed
    """
    run = load_run(folder)
    page = _render(run)
    path = folder / REPORT
    try:
        # A caption may hold half a character, which JSON allows and UTF-8 does not.
        path.write_bytes(page.encode('utf-8', 'replace'))
    except OSError as error:
        raise InvalidRequest(f'{path} cannot be written: {error}') from error
    return path


def _render(run: RecordedRun) -> str:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise RemembrError(
            f'a report needs jinja2 ({error}): pip install "remembr_ros[evaluation]"'
        ) from error
    tracks = read_tracks(run.folder)
    asked = {record.sequence for record in run.records}
    path_ids = {name: f'drive-{number}' for number, name in enumerate(sorted(tracks)) if name in asked}
    views = question_views(run.records, tracks, read_traces(run.folder), path_ids)
    environment = Environment(
        loader=PackageLoader('remembr_ros.evaluation.report'),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template('report.html.j2').render(
        title=_title(run),
        headline=_headline(run.records),
        cut_off=not run.results,
        caution=run.results.get('caution', ''),
        tables=tables_told(run.results) if 'by_category' in run.results else tables(run.records),
        charts=_charts(run.records),
        questions=views,
        counts=[(name, sum(view.verdict == name for view in views)) for name in VERDICTS],
        drives=[drive_path(path_id, tracks[name]) for name, path_id in path_ids.items()],
        excluded=run.results.get('excluded', []),
        doubtful=run.results.get('doubtful', []),
        config=json.dumps(run.config, ensure_ascii=False, indent=2) if run.config else '',
        seeds=len({record.seed for record in run.records}),
    )


def _title(run: RecordedRun) -> dict[str, str]:
    """Return planner, data, embedder and date, as far as they are known."""
    planners = {record.answer.planner for record in run.records if record.answer}
    sequences = ', '.join(sorted({record.sequence for record in run.records}))
    written = datetime.fromtimestamp((run.folder / ANSWERS).stat().st_mtime, timezone.utc)
    return {
        'planner': run.results.get('planner') or ', '.join(sorted(planners)) or 'unknown',
        'data': run.results.get('data') or sequences or 'unknown',
        'embedder': run.results.get('embedder') or 'unknown',
        'date': written.strftime('%Y-%m-%d %H:%M UTC'),
    }


def _headline(records: Sequence[QuestionRecord]) -> list[tuple[str, str, str, str]]:
    """Return name, figure, what it is of and its interval."""
    figures = []
    groups = by_group(records)
    for name in ('ALL', *LENGTHS):
        found = fraction(groups[name])
        named = 'overall correctness' if name == 'ALL' else name.lower()
        of = f'{found.correct} of {found.n}' if found.n else 'nothing scored'
        figures.append(
            (named, number_text(found.value), of, interval_text(found.interval) if found.n else '')
        )
    if ranks := [record.rank for record in retrieved(records)]:
        found_5 = found_at(5, ranks)
        of = f'{found_5} of {len(ranks)} by the raw question'
        figures.append(('recall@5', f'{found_5 / len(ranks):.2f}', of, ''))
    return figures


def _charts(records: Sequence[QuestionRecord]) -> list[tuple[str, str]]:
    """Return each chart with its caption."""
    drawn = []
    if chart := charts.correctness_chart(records):
        caption = (
            'Overall correctness over the length of history, as figure 4 of the paper. Whiskers: 95 % Wilson '
            'interval over questions; n: scored answers; dashed: all.'
        )
        drawn.append((chart, caption))
    errors = {
        kind.value: errors_of([r for r in records if r.truth.kind is kind])
        for kind in (Kind.POSITION, Kind.TIME, Kind.DURATION)
    }
    if any(errors.values()):
        asked = {kind.value: sum(r.truth.kind is kind for r in records) for kind in KINDS}
        caption = (
            'Errors, cumulative, as shares of all that was asked: a curve ends below 1 where some had no '
            'answer of the right kind. Dotted: what counts as correct.'
        )
        drawn.append((charts.error_chart(errors.pop('position'), errors, asked), caption))
    return drawn
