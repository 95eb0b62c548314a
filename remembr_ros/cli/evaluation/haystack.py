"""remembr eval haystack: retrieval at scale."""

import argparse
import json
import tempfile
from pathlib import Path

from pydantic import BaseModel, PositiveInt

from remembr_ros.cli.evaluation.field_options import add_fields, read_fields
from remembr_ros.cli.options import add_json
from remembr_ros.cli.output import print_result, progress, stdout_for_json, write_text
from remembr_ros.embedding.embedders import get_embedder
from remembr_ros.evaluation.records.config import RunConfig, option
from remembr_ros.evaluation.run import loading as datasets
from remembr_ros.evaluation.run.haystack import answerable, haystack_table, measure
from remembr_ros.memory.exchange.street_view import read_captions
from remembr_ros.memory.opening import open_store


class HaystackOptions(BaseModel):
    """What the memories that hold answers are hidden among."""

    graph: Path = option(..., 'street-view graph with captions (GML)', 'FILE')
    factors: tuple[PositiveInt, ...] = option((1, 10, 100), 'distractors per memory with an answer', 'N')
    out: Path | None = option(None, 'write haystack.json there', 'DIR')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_fields(parser, RunConfig, 'folder', 'sequences', 'captions', 'embedder', required=('folder',))
    add_fields(parser, HaystackOptions)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    options, config = read_fields(args, HaystackOptions), read_fields(args, RunConfig)
    with stdout_for_json(args.json), tempfile.TemporaryDirectory(prefix='remembr_haystack_') as folder:
        captions = read_captions(options.graph)
        embedder = get_embedder(config.embedder or None)
        drives = datasets.load(config, Path(), embedder)
        with open_store(f'{folder}/memory.db', embedder) as store, progress('memories') as show:
            sizes = list(measure(drives, captions, options.factors, store, show))
    result = {
        'data': f'navqa {config.captions}',
        'embedder': embedder.name,
        'questions': len(answerable(drives)),
        'sizes': sizes,
    }
    if options.out is not None:
        write_text(options.out / 'haystack.json', json.dumps(result, indent=2) + '\n')
    print_result(args.json, result, haystack_table(sizes))
    return 0
