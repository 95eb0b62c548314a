"""remembr eval findingdory: instructions about yesterday, in simulated homes."""

import argparse
import sys
from typing import Any

from remembr_ros.cli.evaluation.data_set import configured
from remembr_ros.cli.evaluation.execution import add_execution, execution
from remembr_ros.cli.options import add_json, count, seconds, sequence
from remembr_ros.cli.output import print_result, stdout_for_json
from remembr_ros.errors import RemembrError
from remembr_ros.evaluation.objects.run import LEVELS
from remembr_ros.evaluation.records.config import OF_TASKS, PlannerName
from remembr_ros.evaluation.report.page import write_report
from remembr_ros.evaluation.report.tabulation import table_text
from remembr_ros.evaluation.report.task_figures import tables_told
from remembr_ros.evaluation.run.execution import carry_out


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    levels = [level.name for level in LEVELS]
    text = "detect objects in the frames with these errors (default: the simulator's objects)"
    add('--detections', choices=levels, metavar='LEVEL', help=f'{text}: {", ".join(levels)}')
    add('--pictures', action='store_true', help='nothing tells of interactions but what is seen')
    add('--fillings', type=count, metavar='N', help='tasks of a template in a home, at most (default: 2)')
    add_planner(parser)


def add_planner(parser: argparse.ArgumentParser) -> None:
    """Add the homes, what answers, and how the run is carried out."""
    add = parser.add_argument
    planners = [name.value for name in PlannerName if name in OF_TASKS]
    add('--homes', nargs='+', type=sequence, required=True, metavar='SEED', help='seeds of the homes')
    add('--planner', choices=planners, default='offline', help='what chooses (default: %(default)s)')
    add('--llm', metavar='MODEL', help='language model (REMEMBR_LLM)')
    add('--llm-url', metavar='URL', help='its OpenAI-compatible server (REMEMBR_LLM_URL)')
    add('--context-tokens', type=count, metavar='N', help='of the planner all_captions (default: 100000)')
    add(
        '--embedder',
        metavar='NAME',
        default='hashing',
        help='sentence-transformers model (default: %(default)s)',
    )
    add('--seeds', nargs='+', type=int, metavar='N', help='give each task once per seed (default: once)')
    add('--timeout', type=seconds, metavar='S', help='for one task (default: 60)')
    add_execution(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    carried_out(args)
    return 0


def carried_out(args: argparse.Namespace) -> dict[str, Any]:
    """Carry out a run in homes, write its report, and print its figures; return these."""
    args.homes = list(dict.fromkeys(args.homes))
    with stdout_for_json(args.json):
        _, told = carry_out(configured(args), execution(args))
    if args.out is not None:
        try:
            print(write_report(args.out), file=sys.stderr)
        except RemembrError as error:  # the figures are there
            print(f'no report.html: {error}', file=sys.stderr)
    print_result(args.json, told, _lines(told))
    return told


def _lines(told: dict[str, Any]) -> str:
    first = f'{told["caution"]}\n{told["data"]}, planner {told["planner"]}\n'
    return '\n\n'.join([first, *map(table_text, tables_told(told))])
