"""remembr import: the memories of a file into a memory."""

import argparse
import sys
from dataclasses import asdict
from pathlib import Path

from remembr_ros.cli.options import add_json, add_map, add_memory, name, open_memory
from remembr_ros.cli.output import print_result, progress, stdout_for_json
from remembr_ros.memory.exchange import transfer
from remembr_ros.memory.exchange.transfer import import_memories
from remembr_ros.memory.model.uri import shown

EXAMPLES = (
    'import kitchen.jsonl.gz',
    'import kitchen.jsonl.gz --robot anna --map floor1',
    'import captions.json --memory http://localhost:19530',
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        'file',
        type=Path,
        metavar='FILE',
        help="what remembr exports, or upstream's captions (JSON); told by its content",
    )
    add_memory(parser)
    parser.add_argument('--robot', type=name, metavar='NAME', help='make them memories of this robot')
    add_map(parser, 'make them memories of this map', None)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    # The file first: one that cannot be read leaves no empty memory behind.
    header, _ = transfer.read(args.file)
    with stdout_for_json(args.json), open_memory(args, create=True) as store:
        made = store.engine.stamp.embedder
        if header.vectors and header.embedder != made:
            print(
                f'{args.file} has vectors of {header.embedder}; they are made anew with {made}',
                file=sys.stderr,
            )
        with progress('import', header.count) as show:
            done = import_memories(
                store, args.file, robot=args.robot or '', map_id=args.map, on_progress=show
            )
        memories = store.count()
    memory = shown(args.memory)
    print_result(
        args.json,
        {
            'file': str(args.file),
            'memory': memory,
            'unchanged': done.unchanged,
            **asdict(done),
            'memories': memories,
        },
        f'{done.read} memories read: {done.added} new, {done.replaced} replaced, {done.unchanged} known; '
        f'{memory} holds {memories} memories',
    )
    return 0
