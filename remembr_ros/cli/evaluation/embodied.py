"""remembr eval embodied: tasks that a robot carries out step by step in a home that it remembers."""

import argparse
import json
from functools import partial
from pathlib import Path

from remembr_ros.cli.options import add_json, count, seconds, sequence
from remembr_ros.cli.output import print_result, progress, stdout_for_json, write_text
from remembr_ros.evaluation.embodied.players import PLAYERS, model
from remembr_ros.evaluation.embodied.run import FIGURES, play_home, results
from remembr_ros.evaluation.records.config import run_config
from remembr_ros.evaluation.report.tabulation import ReportTable, interval_text, number_text, table_text
from remembr_ros.evaluation.run.planners import get_chats


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add('--homes', nargs='+', type=sequence, required=True, metavar='SEED', help='seeds of the homes')
    add('--planner', choices=(*PLAYERS, 'agent'), default='offline', help='(default: %(default)s)')
    add('--tasks', type=count, default=6, metavar='N', help='of each home (default: %(default)s)')
    add('--steps', type=count, default=24, metavar='N', help='for a task (default: %(default)s)')
    add('--timeout', type=seconds, default=120.0, metavar='S', help='for a task (default: %(default)s)')
    add('--llm', default='', metavar='MODEL', help='language model (REMEMBR_LLM)')
    add('--llm-url', default='', metavar='URL', help='its OpenAI-compatible server (REMEMBR_LLM_URL)')
    text = 'sentence-transformers model (default: %(default)s)'
    add('--embedder', metavar='NAME', default='hashing', help=text)
    add('--out', type=Path, required=True, metavar='DIR', help='results.json, episodes.jsonl')
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    seeds, rows, out = tuple(dict.fromkeys(args.homes)), [], args.out / 'episodes.jsonl'
    named = {'planner': args.planner, 'llm': args.llm, 'llm_url': args.llm_url}
    chats = get_chats(run_config(data='findingdory', homes=seeds, **named))
    player = partial(model, chat=chats[0]) if args.planner == 'agent' else PLAYERS[args.planner]
    limits = {'tasks': args.tasks, 'steps': args.steps, 'timeout_s': args.timeout}
    write_text(out, '')
    with stdout_for_json(args.json), progress('homes', len(seeds), unit='home') as show:
        for number, seed in enumerate(seeds, start=1):
            for row in play_home(seed, player, args.embedder, **limits):
                rows.append(row)
                write_text(out, json.dumps(row) + '\n', 'a')
            show(number)
    told = {'planner': args.planner, 'homes': seeds, **results(rows)}
    write_text(args.out / 'results.json', json.dumps(told, indent=2) + '\n')
    header = ('', 'n', *FIGURES, '95 % of success')
    table = tuple(
        (name, str(of['n']), *(number_text(of[f]) for f in FIGURES), interval_text(of['success_interval']))
        for name, of in {**told['by_category'], 'all': told['overall']}.items()
    )
    note = f'{told["thrown_away"]} tasks were thrown away'
    print_result(args.json, told, table_text(ReportTable('Tasks', header, table, note)))
    return 0
