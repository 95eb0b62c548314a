"""remembr recall: search the memory without a planner."""

import argparse

from remembr_ros.cli.options import (
    PLACE,
    add_json,
    add_memory,
    add_scope,
    count,
    metres,
    open_memory,
    point,
    scope_of,
)
from remembr_ros.cli.options import time as time_option
from remembr_ros.cli.output import memory_line, print_result, stdout_for_json
from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.model.codec import hit_json
from remembr_ros.memory.model.recall import query_by
from remembr_ros.memory.search import MAX_LIMIT


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_memory(parser)
    parser.add_argument('--text', metavar='T', help='rank by how well memories fit this text')
    parser.add_argument(
        '--position',
        **PLACE,
        help='rank by distance to this place [m], or with --text and --radius only look around it',
    )
    parser.add_argument('--time', type=time_option, metavar='TIME', help='rank by distance to this time')
    parser.add_argument(
        '--around',
        action='store_true',
        help='with --time: what was right before, at and after it, in the order of time',
    )
    add_scope(parser)
    parser.add_argument(
        '--radius', type=metres, metavar='M', help='only memories this near to --position [m]'
    )
    parser.add_argument('--limit', type=count, metavar='N', default=5, help='(default: %(default)s)')
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    near = point(args.position)
    scope = scope_of(args, near)
    if args.text is not None and not args.text.strip():
        raise InvalidRequest('--text is empty; leave it out for the newest memories')
    if args.limit > MAX_LIMIT:
        raise InvalidRequest(f'--limit {args.limit}: at most {MAX_LIMIT}; remembr export writes any number')
    query = query_by(args.text, near, args.time, around=args.around, scope=scope, limit=args.limit)
    with stdout_for_json(args.json), open_memory(args, read_only=True) as store:
        hits = store.find(query)
    lines = [f'{hit.score:.2f}  {memory_line(hit.memory)}' for hit in hits] or ['nothing found']
    print_result(args.json, {'memories': [hit_json(hit) for hit in hits]}, '\n'.join(lines))
    return 0
