"""remembr eval embodied: tasks that a robot carries out step by step in a home that it remembers."""

import argparse
import json
from pathlib import Path

from remembr_ros.cli.options import add_json, count, seconds, sequence
from remembr_ros.cli.output import print_result, progress, stdout_for_json
from remembr_ros.errors import InvalidRequest
from remembr_ros.evaluation.embodied.run import FIGURES, PLANNERS, EmbodiedRun, results
from remembr_ros.evaluation.records.config import run_config
from remembr_ros.evaluation.report.tabulation import ReportTable, interval_text, number_text, table_text
from remembr_ros.evaluation.run.planners import get_chats


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add('--homes', nargs='+', type=sequence, required=True, metavar='SEED', help='seeds of the homes')
    add('--planner', choices=PLANNERS, default='offline', help='what chooses (default: %(default)s)')
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
    seeds, rows = tuple(dict.fromkeys(args.homes)), []
    named = {'planner': args.planner, 'llm': args.llm, 'llm_url': args.llm_url}
    chats = get_chats(run_config(data='findingdory', homes=seeds, **named))
    runs = EmbodiedRun(args.planner, args.tasks, args.steps, args.timeout, args.embedder, chats.get(0))
    try:
        args.out.mkdir(parents=True, exist_ok=True)
        with (
            (args.out / 'episodes.jsonl').open('w', encoding='utf-8', buffering=1) as lines,
            stdout_for_json(args.json),
            progress('homes', len(seeds), unit='home') as show,
        ):
            for number, seed in enumerate(seeds, start=1):
                for row in runs.home(seed):
                    rows.append(row)
                    lines.write(json.dumps(row) + '\n')
                show(number)
        told = {'planner': args.planner, 'homes': seeds, **results(rows)}
        (args.out / 'results.json').write_text(json.dumps(told, indent=2) + '\n', encoding='utf-8')
    except OSError as error:
        raise InvalidRequest(f'{args.out} cannot be written: {error}') from error
    header = ('', 'n', *FIGURES, '95 % of success')
    table = tuple(
        (name, str(of['n']), *(number_text(of[f]) for f in FIGURES), interval_text(of['success_interval']))
        for name, of in {**told['by_category'], 'all': told['overall']}.items()
    )
    note = f'{told["thrown_away"]} tasks were thrown away'
    print_result(args.json, told, table_text(ReportTable('Tasks', header, table, note)))
    return 0
