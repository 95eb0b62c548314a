"""remembr eval embodied: tasks that a robot carries out step by step in a home that it remembers."""

import argparse
import json
from functools import partial
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from remembr_bench.cli.field_options import add_fields, read_fields
from remembr_bench.evaluation.embodied.players import PLAYERS, model
from remembr_bench.evaluation.embodied.run import FIGURES, play_home, results
from remembr_bench.evaluation.records.config import RunConfig, Seconds, Seeds, option, run_config
from remembr_bench.evaluation.report.figures import figure_table
from remembr_bench.evaluation.run.planners import get_chats
from remembr_ros.cli.options import add_json
from remembr_ros.cli.output import print_result, progress, stdout_for_json, write_text


class EmbodiedOptions(BaseModel):
    """Tasks of some homes, and who carries them out."""

    homes: Seeds = option(..., 'seeds of the homes', 'SEED')
    planner: Literal['offline', 'random', 'oracle', 'agent'] = option('offline', 'what carries them out')
    tasks: int = option(6, 'of each home', 'N', ge=1)
    steps: int = option(24, 'for a task', 'N', ge=1)
    timeout: Seconds = option(120.0, 'for a task', 'S')
    embedder: str = option('hashing', 'sentence-transformers model', 'NAME')
    out: Path = option(..., 'results.json, episodes.jsonl', 'DIR')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_fields(parser, EmbodiedOptions)
    add_fields(parser, RunConfig, 'llm', 'llm_url')
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    options = read_fields(args, EmbodiedOptions)
    llm = {name: getattr(args, name, '') for name in ('llm', 'llm_url')}
    player = PLAYERS.get(options.planner)
    if player is None:
        chats = get_chats(run_config(data='findingdory', homes=options.homes, planner='agent', **llm))
        player = partial(model, chat=chats[0])
    rows, episodes = [], options.out / 'episodes.jsonl'
    played = partial(play_home, tasks=options.tasks, steps=options.steps, timeout_s=options.timeout)
    write_text(episodes, '')
    with stdout_for_json(args.json), progress('homes', len(options.homes), unit='home') as show:
        for number, seed in enumerate(options.homes, start=1):
            for row in played(seed, player, options.embedder):
                rows.append(row)
                write_text(episodes, json.dumps(row) + '\n', 'a')
            show(number)
    figures = {'planner': options.planner, 'homes': options.homes, **results(rows)}
    write_text(options.out / 'results.json', json.dumps(figures, indent=2) + '\n')
    columns = {name: name for name in ('n', *FIGURES)} | {'success_interval': '95 % of success'}
    groups = {**figures['by_category'], 'all': figures['overall']}
    note = f'{figures["thrown_away"]} tasks were thrown away'
    print_result(args.json, figures, figure_table('Tasks', groups, columns, note).text())
    return 0
