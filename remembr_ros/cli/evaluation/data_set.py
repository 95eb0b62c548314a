"""remembr eval navqa, oc-navqa and building: a run over a data set."""

import argparse
import sys
from typing import Any

from remembr_ros.cli.evaluation.execution import add_execution, execution
from remembr_ros.cli.options import add_json, count, seconds, sequence
from remembr_ros.cli.output import print_result, stdout_for_json
from remembr_ros.errors import RemembrError
from remembr_ros.evaluation.datasets.navqa import CAPTIONS, Outside
from remembr_ros.evaluation.records.config import PlannerName, RunConfig, run_config
from remembr_ros.evaluation.records.record import QuestionRecord
from remembr_ros.evaluation.report.page import write_report
from remembr_ros.evaluation.report.tabulation import table_text, tables
from remembr_ros.evaluation.run.execution import carry_out


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--data',
        dest='folder',
        required=True,
        metavar='DIR',
        help='its folder: data.csv or oc_navqa_data.csv and N/qa_unfilled.json; of a building: bag and '
        'truth.json',
    )
    parser.add_argument(
        '--sequences',
        nargs='+',
        type=sequence,
        metavar='N',
        help='only these (default: all that are there)',
    )
    parser.add_argument(
        '--captions', metavar='NAME', default=CAPTIONS, help='captions in N/NAME.json (default: %(default)s)'
    )
    _add_bags(parser)
    _add_planner(parser)
    recall = parser.add_argument_group('recall')
    recall.add_argument('--embedder', metavar='NAME', help='sentence-transformers model, by name or folder')
    recall.add_argument(
        '--no-hybrid', dest='hybrid', action='store_false', help='recall by meaning alone, not by words'
    )
    recall.add_argument('--consolidation', action='store_true', help='merge stays in which nothing changes')
    parser.add_argument(
        '--outside',
        choices=[choice.value for choice in Outside],
        default=Outside.EXCLUDE.value,
        help="questions whose answer time lies outside their window, the data set's errors: leave them out, "
        'ask them unscored, or keep them as they are (default: %(default)s)',
    )
    parser.add_argument('--judge', metavar='MODEL', help='language model that judges answers in words')
    parser.add_argument('--judge-url', metavar='URL', help='its OpenAI-compatible server')
    parser.add_argument(
        '--timeout', type=seconds, metavar='S', default=60.0, help='for one question (default: %(default)s)'
    )
    add_execution(parser)
    add_json(parser)


def _add_bags(parser: argparse.ArgumentParser) -> None:
    bags = parser.add_argument_group('straight from recordings')
    bags.add_argument(
        '--bag',
        dest='bags',
        action='append',
        type=_bag,
        metavar='N=BAG',
        help='remember this recording as sequence N, in place of a captions file; may be repeated',
    )
    bags.add_argument('--captioner', metavar='NAME', default='scene_text', help='(default: %(default)s)')
    bags.add_argument('--vlm', metavar='MODEL', help='model of the captioner openai')
    bags.add_argument('--vlm-url', metavar='URL', help='its server')
    bags.add_argument('--image-topic', metavar='T', help='the camera, if the bag has several')
    bags.add_argument('--pose-topic', metavar='T', help='the pose source, if the bag has several')
    bags.add_argument('--tf', nargs=2, metavar=('PARENT', 'CHILD'), help='take poses from TF')
    bags.add_argument(
        '--segment-length',
        type=seconds,
        metavar='S',
        help='of a memory (default: 3); captions of a file are joined to that length',
    )


def _add_planner(parser: argparse.ArgumentParser) -> None:
    planner = parser.add_argument_group('planner')
    planner.add_argument(
        '--planner',
        choices=[name.value for name in PlannerName],
        default=PlannerName.OFFLINE.value,
        help='what answers; retrieval: only the first recall is measured (default: %(default)s)',
    )
    planner.add_argument('--llm', metavar='MODEL', help='language model (REMEMBR_LLM)')
    planner.add_argument('--llm-url', metavar='URL', help='its OpenAI-compatible server (REMEMBR_LLM_URL)')
    planner.add_argument('--temperature', type=float, metavar='T', help='of the language model (default: 0)')
    planner.add_argument(
        '--seeds', nargs='+', type=int, metavar='N', help='ask each question once per seed (default: once)'
    )
    planner.add_argument('--rounds', type=count, metavar='N', help='of recalling (default: 3)')
    planner.add_argument('--calls-per-round', type=count, metavar='K', help='(default: 3)')
    planner.add_argument('--memories-per-call', type=count, metavar='M', help='(default: 5)')
    planner.add_argument('--frames', type=count, metavar='N', help='of the planner frames (default: 50)')
    planner.add_argument(
        '--context-tokens', type=count, metavar='N', help='of the planner all_captions (default: 100000)'
    )


def run(args: argparse.Namespace) -> int:
    config = configured(args)
    with stdout_for_json(args.json):
        records, summary = carry_out(config, execution(args))
    if args.out is not None:
        try:
            print(write_report(args.out), file=sys.stderr)
        except RemembrError as error:  # the figures are there
            print(f'no report.html: {error}', file=sys.stderr)
    print_result(args.json, summary, _lines(records, summary, config.outside))
    return 0


def configured(args: argparse.Namespace) -> RunConfig:
    """Return the configuration, whose fields the options are; what is not given keeps its default."""
    given = {name: value for name, value in vars(args).items() if value is not None}
    fields = {name: given[name] for name in RunConfig.model_fields if name in given}
    return run_config(**{**fields, 'data': args.name, 'bags': dict(given.get('bags', ()))})


def _lines(records: list[QuestionRecord], summary: dict[str, Any], outside: Outside) -> str:
    lines = [f'{summary["data"]}, planner {summary["planner"]}, embedder {summary["embedder"]}\n']
    lines.append('\n\n'.join(map(table_text, tables(records))))
    for why, rows in (('excluded', summary['excluded']), (outside.value, summary['doubtful'])):
        lines += [f'{why}: {row["id"]} {row["question"]!r}: {row["reason"]}' for row in rows]
    return '\n'.join(lines)


def _bag(text: str) -> tuple[int, str]:
    number, equals, path = text.partition('=')
    if not equals or not path:
        return 0, text
    return sequence(number), path
