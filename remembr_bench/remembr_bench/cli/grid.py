"""remembr eval grid: ablations."""

import argparse
import json
from functools import cache
from pathlib import Path

from remembr_bench.cli.data_set import ProgressBar
from remembr_bench.cli.field_options import add_fields, read_fields
from remembr_bench.evaluation.records.config import RunConfig
from remembr_bench.evaluation.report.pictures import history_picture
from remembr_bench.evaluation.run.execution import Execution, carry_out
from remembr_bench.evaluation.run.grid import grid_markdown, read_grid
from remembr_ros.cli.options import add_json
from remembr_ros.cli.output import print_result, stdout_for_json, write_text
from remembr_ros.embedding.embedders import get_embedder
from remembr_ros.errors import InvalidRequest, RemembrError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('file', type=Path, metavar='FILE', help="YAML file with 'base' and 'grid' settings")
    add_fields(parser, RunConfig, 'folder')
    add_fields(parser, Execution)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    cells = read_grid(args.file, **({'folder': args.folder} if 'folder' in args else {}))
    execution = read_fields(args, Execution)
    out = execution.out
    if out is None:
        raise InvalidRequest('a grid needs a folder for its runs: give --out DIR')
    loaded = cache(get_embedder)
    runs = []
    with stdout_for_json(args.json):
        for cell in cells:
            try:
                runs.append(
                    carry_out(
                        cell.config,
                        execution.model_copy(update={'out': out / cell.name}),
                        ProgressBar(),
                        memories=out / 'memories',
                        embedder=loaded(cell.config.embedder or None),
                    )
                )
            except RemembrError as error:
                raise type(error)(
                    f'{cell.name}: {error}; the {len(runs)} runs before it are kept: '
                    'mend that, and go on with --resume'
                ) from error
    table = grid_markdown(cells, [results for _, results in runs])
    rows = [
        {'run': cell.name, 'settings': cell.settings, **results}
        for cell, (_, results) in zip(cells, runs, strict=True)
    ]
    text = json.dumps(rows, indent=2, default=str)
    write_text(out / 'grid.md', f'{table}\n')
    write_text(out / 'grid.json', f'{text}\n')
    titled = {cell.title: results for cell, (_, results) in zip(cells, runs, strict=True)}
    if not any('by_category' in results for results in titled.values()):
        picture = history_picture(titled)
        try:
            (out / 'history.png').write_bytes(picture)
        except OSError as error:
            raise InvalidRequest(f'{out} cannot be written: {error}') from error
    print_result(args.json, {'runs': json.loads(text)}, table)
    return 0
