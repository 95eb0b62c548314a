"""remembr eval grid: ablations."""

import argparse
import json
from dataclasses import replace
from functools import cache
from pathlib import Path

from remembr_ros.cli.evaluation.execution import add_execution, execution
from remembr_ros.cli.options import add_json
from remembr_ros.cli.output import print_result, stdout_for_json, write_text
from remembr_ros.embedding.embedders import get_embedder
from remembr_ros.errors import InvalidRequest, RemembrError
from remembr_ros.evaluation.run.execution import carry_out
from remembr_ros.evaluation.run.grid import grid_markdown, read_grid


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('file', type=Path, metavar='FILE', help="YAML file with 'base' and 'grid' settings")
    parser.add_argument('--data', metavar='DIR', help='folder of the data set, in place of the one in FILE')
    add_execution(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    cells = read_grid(args.file, **({'folder': args.data} if args.data else {}))
    if args.out is None:
        raise InvalidRequest('a grid needs a folder for its runs: give --out DIR')
    # A memory for each embedder, shared by the runs.
    embedders = list(dict.fromkeys(cell.config.embedder for cell in cells))
    loaded = cache(get_embedder)
    runs = []
    with stdout_for_json(args.json):
        for cell in cells:
            each = replace(
                execution(args),
                out=args.out / cell.name,
                embedder=loaded(cell.config.embedder or None),
                memory=args.out / f'memory_{embedders.index(cell.config.embedder)}.db',
            )
            try:
                runs.append(carry_out(cell.config, each))
            except RemembrError as error:
                raise type(error)(
                    f'{cell.name}: {error}; the {len(runs)} runs before it are kept: '
                    'mend that, and go on with --resume'
                ) from error
    table = grid_markdown(cells, [records for records, _ in runs])
    rows = [
        {'run': cell.name, 'settings': cell.settings, **summary}
        for cell, (_, summary) in zip(cells, runs, strict=True)
    ]
    write_text(args.out / 'grid.md', f'{table}\n')
    write_text(args.out / 'grid.json', json.dumps(rows, indent=2, default=str) + '\n')
    print_result(args.json, {'runs': json.loads(json.dumps(rows, default=str))}, table)
    return 0
