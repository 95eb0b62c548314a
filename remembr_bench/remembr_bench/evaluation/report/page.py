"""A run as one HTML page that needs nothing but a browser: figures, and every question with its map."""

from pathlib import Path

from remembr_bench.evaluation.records.reading import RecordedRun, load_run, read_traces, read_tracks
from remembr_bench.evaluation.report.pictures import pictures_of
from remembr_bench.evaluation.report.question_view import question_views
from remembr_bench.evaluation.report.results import results_json
from remembr_bench.evaluation.report.run_tables import tables
from remembr_bench.evaluation.report.track_map import LEGEND, polyline
from remembr_ros.errors import InvalidRequest, RemembrError

REPORT = 'report.html'


def write_report(folder: Path) -> Path:
    """Write report.html into the folder of a run, and pictures beside it.

    A run that was cut off is reported as far as it came, without pictures.

    The same folder always gives the same page.

    :return: the page
    :raises InvalidRequest: the folder holds no run, a file in it is damaged, or it cannot be written
    :raises RemembrError: the extra 'evaluation' is not installed
    """
    run = load_run(folder)
    page, pictures = _render(run), pictures_of(run.results)
    path = folder / REPORT
    try:
        # A caption may hold half a character, which JSON allows and UTF-8 does not.
        path.write_bytes(page.encode('utf-8', 'replace'))
        for name, picture in pictures.items():
            path.with_name(name).write_bytes(picture)
    except OSError as error:
        raise InvalidRequest(f'{path} cannot be written: {error}') from error
    return path


def _render(run: RecordedRun) -> str:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise RemembrError(f'a report needs jinja2 ({error}): pip install jinja2') from error
    records, tracks = run.records, read_tracks(run.folder)
    sequences = sorted({record.sequence for record in records})
    results = run.results or results_json(
        records,
        (),
        planner=', '.join(sorted({record.answer.planner for record in records if record.answer})),
        data=', '.join(sequences),
        embedder='',
    )
    environment = Environment(
        loader=PackageLoader('remembr_bench.evaluation.report'),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template('report.html.j2').render(
        results=results,
        cut_off=not run.results,
        tables=tables(records, results),
        questions=question_views(records, tracks, read_traces(run.folder)),
        drives={name: polyline([point.place for point in tracks.get(name, [])]) for name in sequences},
        legend=LEGEND,
    )
