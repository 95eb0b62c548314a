"""remembr eval embodied: tasks carried out step by step, in homes or in EmbodiedEval's own simulator."""

import argparse
import json
from contextlib import ExitStack, closing
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from remembr_bench.cli.field_options import add_fields, read_fields
from remembr_bench.evaluation.embodied.original import LegentStage, StageLost, counted, play_tasks, read_tasks
from remembr_bench.evaluation.embodied.players import PLAYERS, model
from remembr_bench.evaluation.embodied.run import FIGURES, play_home, results
from remembr_bench.evaluation.records.config import RunConfig, Seconds, Seeds, option, run_config
from remembr_bench.evaluation.report.figures import figure_table
from remembr_bench.evaluation.run.planners import get_chats
from remembr_ros.cli.options import add_json
from remembr_ros.cli.output import print_result, progress, stdout_for_json, write_text
from remembr_ros.errors import InvalidRequest, RemembrError


class EmbodiedOptions(BaseModel):
    """Tasks of some homes, and who carries them out."""

    homes: Seeds = option((), 'seeds of the homes', 'SEED')
    data: Path | None = option(None, "EmbodiedEval's checkout, for its own tasks in its own simulator", 'DIR')
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
    own = options.planner in ('offline', 'oracle')
    if (options.data is None) == (not options.homes) or (options.data and own):
        raise InvalidRequest('give either --homes, or --data with --planner random or agent')
    player = PLAYERS.get(options.planner)
    chat = None
    if player is None:
        chat = get_chats(run_config(data='findingdory', homes=(0,), planner='agent', **llm))[0]
        player = partial(model, chat=chat)
    rows, episodes = [], options.out / 'episodes.jsonl'
    limits: dict[str, Any] = {'steps': options.steps, 'timeout_s': options.timeout}
    with stdout_for_json(args.json), ExitStack() as stack:
        if options.data is not None:
            tasks = read_tasks(options.data)
            try:
                stage = stack.enter_context(closing(LegentStage(options.data)))
            except RemembrError as error:
                listed = '\n'.join(f'{task["file"]}: {task["task_text"]}' for task in tasks)
                print_result(args.json, found := counted(tasks), listed)
                raise type(error)(f'{len(tasks)} tasks ({found["by_category"]}), but {error}') from error
            total, played = len(tasks), play_tasks(tasks, stage, chat, **limits)
        else:
            total = options.tasks * len(options.homes)
            played = chain.from_iterable(
                play_home(seed, player, options.embedder, tasks=options.tasks, **limits)
                for seed in options.homes
            )
        write_text(episodes, '')
        show = stack.enter_context(progress('tasks', total, unit='task'))
        lost = None
        try:
            for row in played:
                rows.append(row)
                write_text(episodes, json.dumps(row) + '\n', 'a')
                show(len(rows))
        except StageLost as error:  # what was played is told
            lost = error
    figures = {'planner': options.planner, 'homes': options.homes, **results(rows)}
    write_text(options.out / 'results.json', json.dumps(figures, indent=2) + '\n')
    columns = {name: name for name in ('n', *FIGURES)} | {'success_interval': '95 % of success'}
    groups = {**figures['by_category'], 'all': figures['overall']}
    note = f'{figures["thrown_away"]} tasks were thrown away'
    print_result(args.json, figures, figure_table('Tasks', groups, columns, note).text())
    if lost is not None:
        raise lost
    return 0
