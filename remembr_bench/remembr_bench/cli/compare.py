"""remembr eval compare: two runs, question by question."""

import argparse
from dataclasses import asdict
from pathlib import Path

from remembr_bench.evaluation.records.reading import RecordedRun, load_run
from remembr_bench.evaluation.report.comparison import compare, comparison_text
from remembr_ros.cli.options import add_json
from remembr_ros.cli.output import print_result, stdout_for_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        'runs',
        nargs=2,
        type=Path,
        metavar='RUN',
        help='folders of two evaluations, A and B; differences are B - A',
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    with stdout_for_json(args.json):
        a, b = (load_run(folder) for folder in args.runs)
        comparison = compare(a.records, b.records)
    text = f'A  {_line(a)}\nB  {_line(b)}\n\n{comparison_text(comparison)}'
    print_result(args.json, {'a': str(a.folder), 'b': str(b.folder), **asdict(comparison)}, text)
    return 0


def _line(run: RecordedRun) -> str:
    parts = [f'{name} {run.results[name]}' for name in ('planner', 'data', 'embedder') if name in run.results]
    return ', '.join([f'{run.folder}: {len(run.records)} answers', *parts])
