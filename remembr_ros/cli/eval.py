"""remembr eval: the questions of a data set, asked and scored."""

import argparse
import json
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tqdm import tqdm

from remembr_ros.agent.agent import AgentConfig
from remembr_ros.cli.options import add_json, count
from remembr_ros.cli.output import print_json, stdout_for_json
from remembr_ros.embedding.embedders import get_embedder
from remembr_ros.errors import InvalidRequest
from remembr_ros.evaluation.navqa import CAPTIONS, find_sequences, load_navqa
from remembr_ros.evaluation.planners import PLANNERS, get_planner
from remembr_ros.evaluation.report import result_json, results_json, table
from remembr_ros.evaluation.runner import Result, evaluate, remember
from remembr_ros.evaluation.sample import Excluded
from remembr_ros.memory.store import open_store


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('name', choices=['navqa'], metavar='NAME', help='data set: navqa')
    parser.add_argument(
        '--data',
        type=Path,
        required=True,
        metavar='DIR',
        help='its folder, with data.csv and N/qa_unfilled.json',
    )
    parser.add_argument(
        '--sequences', nargs='+', type=_sequence, metavar='N', help='only these (default: all that are there)'
    )
    parser.add_argument(
        '--captions', metavar='NAME', default=CAPTIONS, help='captions in N/NAME.json (default: %(default)s)'
    )
    parser.add_argument(
        '--planner', choices=PLANNERS, default='offline', help='what answers (default: %(default)s)'
    )
    parser.add_argument('--llm', metavar='MODEL', default='', help='language model of the planner agent')
    parser.add_argument('--llm-url', metavar='URL', default='', help='its OpenAI-compatible server')
    parser.add_argument('--embedder', metavar='NAME', help='sentence-transformers model, by name or folder')
    parser.add_argument(
        '--timeout',
        type=count,
        metavar='S',
        default=60,
        help='seconds for one question (default: %(default)s)',
    )
    parser.add_argument(
        '--out',
        type=Path,
        metavar='DIR',
        help='write results.json and answers.jsonl there, and keep the memory for the next run',
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    with stdout_for_json(args.json):
        results, summary = _evaluate(args)
    if args.json:
        print_json(summary)
        return 0
    print(f'{summary["data"]}, planner {summary["planner"]}, embedder {summary["embedder"]}\n')
    print(table(results))
    print('\nTexts are not scored. What was not seen or failed is not correct, and has no error.')
    for row in summary['excluded']:
        print(f'excluded: {row["id"]} {row["question"]!r}: {row["reason"]}')
    return 0


def _evaluate(args: argparse.Namespace) -> tuple[list[Result], dict[str, Any]]:
    planner = get_planner(args.planner, AgentConfig(llm=args.llm, llm_url=args.llm_url))
    numbers = sorted(set(args.sequences)) if args.sequences else find_sequences(args.data)
    sequences = [load_navqa(args.data, number, args.captions) for number in numbers]
    results: list[Result] = []
    excluded: list[Excluded] = []
    with ExitStack() as stack:
        folder = args.out or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix='remembr_eval_')))
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidRequest(f'{folder} cannot be made: {error}') from error
        embedder = get_embedder(args.embedder)
        for sequence in sequences:
            # A collection for each: what is in the others would change the weights of words.
            collection = f'{sequence.name}_{args.captions}'
            store = stack.enter_context(
                open_store(str(folder / 'memory.db'), embedder, collection=_collection_name(collection))
            )
            bar: tqdm[Any] = stack.enter_context(tqdm(desc=sequence.name, disable=None, leave=False))
            progress = _Bar(bar)
            remember(sequence, store, progress)
            results += evaluate(sequence, store, planner, timeout_s=float(args.timeout), on_progress=progress)
            excluded += sequence.excluded
    summary = results_json(
        results,
        excluded,
        planner=planner.name,
        data=f'{args.name} {args.captions}, sequences {", ".join(map(str, numbers))}',
        embedder=embedder.name,
    )
    if args.out:
        _write(args.out, results, summary)
    return results, summary


def _write(folder: Path, results: list[Result], summary: dict[str, Any]) -> None:
    lines = [json.dumps(result_json(result), ensure_ascii=False) for result in results]
    (folder / 'answers.jsonl').write_text('\n'.join([*lines, '']), encoding='utf-8')
    (folder / 'results.json').write_text(
        json.dumps(summary, ensure_ascii=False, indent=2) + '\n', encoding='utf-8'
    )
    print(f'{folder}/results.json, {folder}/answers.jsonl', file=sys.stderr)


class _Bar:
    """A progress bar over what a sequence takes: remembering, then asking."""

    def __init__(self, bar: 'tqdm[Any]') -> None:
        self._bar = bar

    def __call__(self, stage: str, done: int, total: int) -> None:
        self._bar.set_postfix_str(stage)
        self._bar.total = total
        self._bar.n = done
        self._bar.refresh()


def _collection_name(text: str) -> str:
    """Return the text with what Milvus allows in a name only."""
    return ''.join(c if c.isascii() and c.isalnum() else '_' for c in text)


def _sequence(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f'{text!r} is not the number of a sequence')
    return int(text)
