"""remembr eval stale: how often answers about things that are moved are stale, in simulated homes."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from remembr_bench.cli.field_options import add_fields, read_fields
from remembr_bench.evaluation.records.config import Seeds, option
from remembr_bench.evaluation.report.figures import figure_table
from remembr_bench.evaluation.stale.life import live_days
from remembr_bench.evaluation.stale.questions import WAYS, WITHOUT, ask_life
from remembr_ros.cli.options import add_json
from remembr_ros.cli.output import print_result, progress, stdout_for_json, write_text

VERDICTS = ('right', 'stale', 'astray', 'silent')
RATES = dict(zip(WAYS, ('stale rate', 'newest wins', 'most similar wins'), strict=True))


class StaleOptions(BaseModel):
    """Homes that are lived in."""

    homes: Seeds = option(..., 'seeds of the homes', 'SEED', min_length=1)
    out: Path | None = option(None, 'results.json, and questions.json: each with its answer', 'DIR')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_fields(parser, StaleOptions)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    options = read_fields(args, StaleOptions)
    rows: list[dict[str, Any]] = []
    with stdout_for_json(args.json), progress('homes', len(options.homes), unit='home') as show:
        for done, seed in enumerate(options.homes, start=1):
            rows += [{'home': seed, **row} for row in ask_life(*live_days(seed))]
            show(done)
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        name = f'{row["memory"]}, {row["case"]}'
        for group in (row['memory'], name.partition(':')[0], name):
            groups.setdefault(group, []).append(row)
    figures = {name: _figures(groups[name]) for name in sorted(groups)}
    results = {'homes': options.homes, 'overall': figures[[*WITHOUT][-1]], 'by_group': figures}
    if options.out is not None:
        write_text(options.out / 'results.json', json.dumps(results, indent=2) + '\n')
        write_text(options.out / 'questions.json', json.dumps(rows, indent=1) + '\n')
    columns = ('asked', *VERDICTS, *RATES.values())
    table = figure_table('memory', figures, dict(zip(columns, columns, strict=True)))
    print_result(args.json, results, table.text())
    return 0


def _figures(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return counts of the planner's answers, and how many of all are stale, by each way."""
    counts = {verdict: sum(row[WAYS[0]] == verdict for row in rows) for verdict in VERDICTS}
    stale = {name: sum(row[way] == 'stale' for row in rows) / len(rows) for way, name in RATES.items()}
    return {'asked': len(rows), **counts, **stale}
