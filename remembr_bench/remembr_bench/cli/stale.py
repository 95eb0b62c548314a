"""remembr eval stale: how often answers about things that are moved are stale, in simulated homes."""

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from remembr_bench.cli.field_options import add_fields, read_fields
from remembr_bench.evaluation.records.config import Seeds, option
from remembr_bench.evaluation.report.figures import figure_table
from remembr_bench.evaluation.stale.life import live_days
from remembr_bench.evaluation.stale.questions import KINDS, WAYS, StaleAnswer, ask_life
from remembr_bench.simulation.homes.home import name_of
from remembr_ros.cli.options import add_json
from remembr_ros.cli.output import print_result, progress, stdout_for_json, write_text

VERDICTS = ('right', 'stale', 'astray', 'silent')


class StaleOptions(BaseModel):
    """Homes that are lived in."""

    homes: Seeds = option(..., 'seeds of the homes', 'SEED')
    out: Path | None = option(None, 'results.json, and questions.json: each with its answers', 'DIR')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_fields(parser, StaleOptions)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    options, asked = read_fields(args, StaleOptions), []
    with stdout_for_json(args.json), progress('homes', len(options.homes), unit='home') as show:
        for seed in options.homes:
            asked += [(seed, answer) for answer in ask_life(live_days(seed))]
            show(len({home for home, _ in asked}))
    groups = _groups([answer for _, answer in asked])
    figures = {'homes': list(options.homes), 'by_group': groups, 'overall': groups['everything']}
    if options.out is not None:
        write_text(options.out / 'results.json', json.dumps(figures, indent=2) + '\n')
        rows = [_row(home, answer) for home, answer in asked]
        write_text(options.out / 'questions.json', json.dumps(rows, indent=1) + '\n')
    columns = ('asked', *VERDICTS, 'stale rate', *(f'stale rate, {way}' for way in WAYS[1:]))
    table = figure_table('memory', groups, dict(zip(columns, columns, strict=True)))
    print_result(args.json, figures, table.text())
    return 0


def _groups(answers: Sequence[StaleAnswer]) -> dict[str, dict[str, Any]]:
    """Return the figures of each kind of memory: overall, of now and of then, and of each case."""
    groups = {}
    for kind in KINDS:
        some = [answer for answer in answers if answer.memory == kind]
        groups[kind] = _figures(some)
        for then in (False, True):
            of_time = [answer for answer in some if answer.question.then == then]
            when = f'{kind}, {"then" if then else "now"}'
            groups[when] = _figures(of_time)
            for case in sorted({answer.question.case for answer in of_time}):
                groups[f'{when}: {case}'] = _figures(a for a in of_time if a.question.case == case)
    return groups


def _figures(answers: Iterable[StaleAnswer]) -> dict[str, Any]:
    """Return counts and rates of the planner, and the rates of what is simpler."""
    by_way: dict[str, list[str]] = {way: [] for way in WAYS}
    for answer in answers:
        by_way[answer.way].append(answer.verdict)
    planner, *others = (
        {verdict: found.count(verdict) for verdict in VERDICTS} | {'asked': len(found)}
        for found in by_way.values()
    )
    rates = [one['stale'] / one['asked'] if one['asked'] else None for one in (planner, *others)]
    names = ('stale rate', *(f'stale rate, {way}' for way in WAYS[1:]))
    return {
        **planner,
        **dict(zip(names, rates, strict=True)),
        'others': dict(zip(WAYS[1:], others, strict=True)),
    }


def _row(home: int, answer: StaleAnswer) -> dict[str, Any]:
    asked = answer.question
    return {
        'home': home,
        'memory': answer.memory,
        'by': answer.way,
        'thing': name_of(asked.item),
        'case': asked.case,
        'then': asked.then,
        'question': asked.text,
        'answer': answer.text,
        'verdict': answer.verdict,
        'right': asked.right.place,
    }
