"""remembr export: memories into a file that can be taken along."""

import argparse
from pathlib import Path

from remembr_ros.cli.options import add_json, add_memory, open_memory
from remembr_ros.cli.output import print_result, progress, stdout_for_json
from remembr_ros.errors import InvalidRequest
from remembr_ros.forms.faces import add_options, from_options
from remembr_ros.forms.scope import SourceForm
from remembr_ros.memory.exchange.transfer import export_memories
from remembr_ros.memory.model.uri import database_path, is_server

SUFFIXES = ('.jsonl', '.jsonl.gz')
EXAMPLES = (
    'export kitchen.jsonl.gz',
    'export notes.jsonl --source person --no-keyframes',
    'export monday.jsonl.gz --after 2026-11-23 --before 2026-11-24 --map floor1',
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        'file', type=Path, metavar='FILE', help='.jsonl or .jsonl.gz; see docs/memory-format.md'
    )
    add_memory(parser)
    add_options(parser, SourceForm)
    parser.add_argument(
        '--no-vectors', action='store_true', help='smaller, but importing has to embed the captions again'
    )
    parser.add_argument('--no-keyframes', action='store_true', help='without the images')
    parser.add_argument('--force', action='store_true', help='replace FILE if it is there already')
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    scope = from_options(SourceForm, args).scope()
    path: Path = args.file
    if not path.name.endswith(SUFFIXES):
        raise InvalidRequest(f'{path}: the name has to end with one of {", ".join(SUFFIXES)}')
    held = None if is_server(args.memory) else database_path(args.memory).resolve()
    if path.exists() and (not args.force or path.resolve() == held):
        raise InvalidRequest(f'{path}: there already; choose another name, or --force to replace an export')
    damaged: list[tuple[str, str]] = []
    with (
        stdout_for_json(args.json),
        open_memory(args, read_only=True) as store,
        progress('export', store.count(scope)) as show,
    ):
        count = export_memories(
            store,
            path,
            scope,
            vectors=not args.no_vectors,
            keyframes=not args.no_keyframes,
            on_progress=show,
            on_damaged=lambda *which: damaged.append(which),
        )
    size = path.stat().st_size
    result = {'file': str(path), 'memories': count, 'bytes': size, 'damaged_keyframes': len(damaged)}
    without = f', without {len(damaged)} damaged keyframes' if damaged else ''
    print_result(args.json, result, f'{count} memories in {path}, {size / 1e6:.1f} MB{without}')
    return 0
