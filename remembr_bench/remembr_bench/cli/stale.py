"""remembr eval stale: how often answers about things that are moved are stale, in simulated homes."""

import argparse
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from remembr_bench.cli.field_options import add_fields, read_fields
from remembr_bench.evaluation.records.config import Seeds, option
from remembr_bench.evaluation.report.figures import figure_table
from remembr_bench.evaluation.stale.life import live_days
from remembr_bench.evaluation.stale.questions import VERDICTS, WAYS, ask_life
from remembr_ros.cli.options import add_json
from remembr_ros.cli.output import print_result, progress, stdout_for_json, write_text


class StaleOptions(BaseModel):
    """Homes that are lived in."""

    homes: Seeds = option(..., 'seeds of the homes', 'SEED', min_length=1)
    out: Path | None = option(None, 'results.json, and questions.json: each with its answer', 'DIR')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_fields(parser, StaleOptions)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    options, groups = read_fields(args, StaleOptions), defaultdict(list)
    with stdout_for_json(args.json), progress('homes', len(options.homes), unit='home') as show:
        for done, seed in enumerate(options.homes, start=1):
            for row in ask_life(*live_days(seed)):
                name = f'{row["memory"]}, {row["case"]}'
                for group in ('', row['memory'], name.partition(':')[0], name):
                    groups[group].append({'home': seed, **row})
            show(done)
    rows = groups.pop('', [])
    figures: dict[str, dict[str, Any]] = {}
    for name, some in sorted(groups.items()):
        figures[name] = {'asked': len(some)}
        figures[name] |= {verdict: sum(row[WAYS[0]] == verdict for row in some) for verdict in VERDICTS}
        figures[name] |= {f'{w} stale rate': sum(row[w] == 'stale' for row in some) / len(some) for w in WAYS}
    results = {'homes': options.homes, 'overall': figures.get('everything'), 'by_group': figures}
    if options.out is not None:
        write_text(options.out / 'results.json', json.dumps(results, indent=2) + '\n')
        write_text(options.out / 'questions.json', json.dumps(rows, indent=1) + '\n')
    columns = {column: column for some in figures.values() for column in some}
    print_result(args.json, results, figure_table('memory', figures, columns).text())
    return 0
