"""remembr eval haystack: retrieval at scale."""

import argparse
import json
import tempfile
from contextlib import ExitStack
from pathlib import Path

from remembr_ros.cli.options import add_json, count
from remembr_ros.cli.output import print_result, progress, stdout_for_json, write_text
from remembr_ros.embedding.embedders import get_embedder
from remembr_ros.evaluation.datasets.navqa import CAPTIONS
from remembr_ros.evaluation.records.config import run_config
from remembr_ros.evaluation.run import loading as datasets
from remembr_ros.evaluation.run.haystack import answerable, haystack_table, measure
from remembr_ros.memory.exchange.street_view import read_captions
from remembr_ros.memory.opening import open_store


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('--data', required=True, metavar='DIR', help='folder of NaVQA')
    parser.add_argument(
        '--graph', required=True, type=Path, metavar='FILE', help='street-view graph with captions (GML)'
    )
    parser.add_argument('--sequences', nargs='+', type=int, metavar='N', help='(default: all that are there)')
    parser.add_argument('--captions', metavar='NAME', default=CAPTIONS, help='(default: %(default)s)')
    parser.add_argument(
        '--factors',
        nargs='+',
        type=count,
        metavar='N',
        default=[1, 10, 100],
        help='distractors per memory that holds an answer (default: 1 10 100)',
    )
    parser.add_argument('--embedder', metavar='NAME', help='sentence-transformers model, by name or folder')
    parser.add_argument('--out', type=Path, metavar='DIR', help='write haystack.json there')
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    with stdout_for_json(args.json), ExitStack() as stack:
        config = run_config(folder=args.data, sequences=tuple(args.sequences or ()), captions=args.captions)
        captions = read_captions(args.graph)
        embedder = get_embedder(args.embedder)
        drives = datasets.load(config, Path(), embedder)
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix='remembr_haystack_'))
        store = stack.enter_context(open_store(f'{folder}/memory.db', embedder))
        show = stack.enter_context(progress('memories'))
        sizes = list(measure(drives, captions, args.factors, store, show))
        result = {
            'data': f'navqa {args.captions}',
            'embedder': embedder.name,
            'questions': len(answerable(drives)),
            'sizes': sizes,
        }
    if args.out is not None:
        write_text(args.out / 'haystack.json', json.dumps(result, indent=2) + '\n')
    print_result(args.json, result, haystack_table(sizes))
    return 0
