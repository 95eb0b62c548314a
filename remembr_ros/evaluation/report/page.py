"""A run as one HTML page that needs nothing but a browser: figures, and every question with its map."""

from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

from remembr_ros.errors import InvalidRequest, RemembrError
from remembr_ros.evaluation.metrics.scores import found_at
from remembr_ros.evaluation.records.reading import ANSWERS, RecordedRun, load_run, read_tracks
from remembr_ros.evaluation.records.record import QuestionRecord
from remembr_ros.evaluation.report.figures import by_group, fraction, retrieved, shown
from remembr_ros.evaluation.report.question_view import VERDICTS, question_views
from remembr_ros.evaluation.report.run_tables import tables
from remembr_ros.evaluation.report.task_figures import task_tables
from remembr_ros.evaluation.report.track_map import LEGEND, drive_path

REPORT = 'report.html'


def write_report(folder: Path) -> Path:
    """Write report.html into the folder of a run; a run that was cut off is reported as far as it came.

    The same folder always gives the same page.

    :return: the page
    :raises InvalidRequest: the folder holds no run, a file in it is damaged, or it cannot be written
    :raises RemembrError: the extra 'evaluation' is not installed
    """
    page = _render(load_run(folder))
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
    records, results, tracks = run.records, run.results, read_tracks(run.folder)
    asked = {record.sequence for record in records}
    path_ids = {name: f'drive-{number}' for number, name in enumerate(sorted(tracks)) if name in asked}
    views = question_views(records, tracks, path_ids)
    planners = {record.answer.planner for record in records if record.answer}
    written = datetime.fromtimestamp((run.folder / ANSWERS).stat().st_mtime, timezone.utc)
    environment = Environment(
        loader=PackageLoader('remembr_ros.evaluation.report'),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template('report.html.j2').render(
        planner=results.get('planner') or ', '.join(sorted(planners)) or 'unknown',
        data=results.get('data') or ', '.join(sorted(asked)) or 'unknown',
        embedder=results.get('embedder') or 'unknown',
        date=written.strftime('%Y-%m-%d %H:%M UTC'),
        headline=_headline(records),
        cut_off=not results,
        caution=results.get('caution', ''),
        tables=task_tables(results) if 'by_category' in results else tables(records),
        questions=views,
        counts=', '.join(f'{sum(view.verdict == name for view in views)} {name}' for name in VERDICTS),
        drives=[drive_path(path_id, tracks[name]) for name, path_id in path_ids.items()],
        legend=LEGEND,
        excluded=results.get('excluded', []),
        seeds=len({record.seed for record in records}),
    )


def _headline(records: Sequence[QuestionRecord]) -> list[tuple[str, str, str]]:
    """Return name, figure, and its denominator with its interval."""
    figures = []
    for name, group in reversed(by_group(records).items()):
        found = fraction(group)
        basis = (
            f'{found.correct} of {found.n}, 95 %: {shown(found.interval)}' if found.n else 'nothing scored'
        )
        title = 'overall correctness' if name == 'ALL' else name.lower()
        figures.append((title, shown(found.value), basis if found.n else 'nothing scored'))
    if ranks := [record.rank for record in retrieved(records)]:
        found_5 = found_at(5, ranks)
        basis = f'{found_5} of {len(ranks)} by the raw question'
        figures.append(('recall@5', f'{found_5 / len(ranks):.2f}', basis))
    return figures
