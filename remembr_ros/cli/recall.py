"""remembr recall: search the memory without a planner."""

import argparse

from remembr_ros.cli.options import add_json, add_memory, add_scope, coordinate, count, metres
from remembr_ros.cli.options import time as time_option
from remembr_ros.cli.output import hit_json, hit_line, print_json, stdout_for_json
from remembr_ros.memory.recall import Scope, search
from remembr_ros.memory.store import open_store


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_memory(parser)
    parser.add_argument('--text', metavar='T', help='rank by how well memories fit this text')
    parser.add_argument(
        '--position',
        nargs=3,
        type=coordinate,
        metavar=('X', 'Y', 'Z'),
        help='rank by distance to this place [m], or with --text and --radius only look around it',
    )
    parser.add_argument('--time', type=time_option, metavar='TIME', help='rank by distance to this time')
    add_scope(parser)
    parser.add_argument(
        '--radius', type=metres, metavar='M', help='only memories this near to --position [m]'
    )
    parser.add_argument('--limit', type=count, metavar='N', default=5, help='(default: %(default)s)')
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    near = (args.position[0], args.position[1], args.position[2]) if args.position else None
    scope = Scope(
        after_ns=args.after,
        before_ns=args.before,
        near=near if args.radius is not None else None,
        radius_m=args.radius,
        robot=args.robot,
        map_id=args.map_id,
        source=args.source,
    )
    with stdout_for_json(args.json), open_store(args.memory, args.embedder, create=False) as store:
        hits = search(
            store, text=args.text or '', place=near, time_ns=args.time, scope=scope, limit=args.limit
        )
    if args.json:
        print_json({'memories': [hit_json(hit) for hit in hits]})
    else:
        for hit in hits:
            print(f'{hit.score:.2f}  {hit_line(hit)}')
        if not hits:
            print('nothing found')
    return 0
