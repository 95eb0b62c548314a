"""remembr eval compare: two runs, question by question."""

import argparse
from pathlib import Path

from remembr_ros.cli.options import add_json
from remembr_ros.cli.output import print_json, stdout_for_json
from remembr_ros.evaluation.metrics.comparison import compare, comparison_json, comparison_table
from remembr_ros.evaluation.run.reading import Run, load_run


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
    if args.json:
        print_json({'a': str(a.folder), 'b': str(b.folder), **comparison_json(comparison)})
        return 0
    print(f'A  {_line(a)}\nB  {_line(b)}\n')
    print(comparison_table(comparison))
    return 0


def _line(run: Run) -> str:
    parts = [f'{name} {run.results[name]}' for name in ('planner', 'data', 'embedder') if name in run.results]
    return ', '.join([f'{run.folder}: {len(run.records)} answers', *parts])
