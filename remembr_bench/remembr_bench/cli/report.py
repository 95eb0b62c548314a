"""remembr eval report: a run as one HTML page."""

import argparse
from pathlib import Path

from remembr_bench.evaluation.report.page import write_report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        'folder', type=Path, metavar='RUN', help='folder of an evaluation; report.html goes there'
    )


def run(args: argparse.Namespace) -> int:
    print(write_report(args.folder))
    return 0
