"""remembr map: a map was renamed, or made again, and its memories follow."""

import argparse
import sys
from contextlib import ExitStack

from remembr_ros.cli.options import add_json, add_memory, name, open_memory
from remembr_ros.cli.output import print_result, stdout_for_json
from remembr_ros.errors import InvalidRequest, RemembrError
from remembr_ros.geometry import RigidTransform

EXAMPLES = (
    'map rename floor1 ground_floor',
    'map transform floor1 --by 1.5 0 0.1 --new-map floor1_new',
    "map transform '' --by 0 0 0 --new-map floor1",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest='action', metavar='ACTION', required=True)
    rename = actions.add_parser(
        'rename', help='give a map another name', description='Give a map another name.'
    )
    rename.add_argument('map_id', metavar='OLD', help="the map; '' is the one without a name")
    rename.add_argument('new_map_id', metavar='NEW')
    summary = 'place the memories of a map in another one'
    transform = actions.add_parser('transform', help=summary, description=f'{summary.capitalize()}.')
    transform.add_argument('map_id', metavar='ID', help="the map; '' is the one without a name")
    transform.add_argument(
        '--by',
        nargs='+',
        required=True,
        metavar='N',
        help='where the map is in the new one: X Y YAW or X Y Z QX QY QZ QW [m, rad]',
    )
    transform.add_argument(
        '--new-map',
        '--new-map-id',
        dest='new_map_id',
        metavar='ID',
        help='the name of the new one (default: as before)',
    )
    transform.add_argument('--frame-id', type=name, metavar='F', help='its frame (default: as before)')
    for action in (rename, transform):
        add_memory(action)
        add_json(action)


def run(args: argparse.Namespace) -> int:
    renames = args.action == 'rename'
    if renames and args.map_id == args.new_map_id:
        raise InvalidRequest(f'{args.map_id!r} is its name already')
    transform = None if renames else RigidTransform.parse(args.by)
    frame_id = None if renames else args.frame_id
    new_map_id = args.map_id if args.new_map_id is None else args.new_map_id
    with ExitStack() as opened:
        with stdout_for_json(args.json):
            store = opened.enter_context(open_memory(args))
            maps = store.info().maps
            cut_off = store.move_was_cut_off(
                args.map_id, transform, new_map_id=args.new_map_id, frame_id=frame_id
            )
            if args.map_id not in maps and not cut_off:
                known_maps = ', '.join(map(repr, maps)) or 'none'
                raise RemembrError(f'there is no memory of a map {args.map_id!r}; there are: {known_maps}')
            if renames and args.new_map_id in maps and not cut_off:
                # Two maps that became one cannot be taken apart.
                raise InvalidRequest(
                    f'there is a map {args.new_map_id!r} already; to merge them: remembr map transform '
                    f'{args.map_id!r} --by 0 0 0 --new-map {args.new_map_id!r}'
                )
            moved = store.move_map(args.map_id, transform, new_map_id=args.new_map_id, frame_id=frame_id)
        if cut_off:
            print('this had been cut off; now it is finished, and no memory was moved twice', file=sys.stderr)
        result = {'map': args.map_id, 'new_map': new_map_id, 'moved': moved}
        text = f'{moved} memories of map {args.map_id!r} are now in map {new_map_id!r}'
        print_result(args.json, result, text)
        # Said before the store is closed, which forgets what was asked for: who has not heard asks again.
        sys.stdout.flush()
    return 0
