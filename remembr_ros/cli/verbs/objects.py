"""remembr objects: the things that the robot knows, and where they are."""

import argparse

from remembr_ros.cli.options import PLACE, add_json, add_memory, count, open_memory
from remembr_ros.cli.output import print_result, stdout_for_json
from remembr_ros.cli.scope import add_robots, point
from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import distance
from remembr_ros.memory.model.recall import Query, Scope
from remembr_ros.memory.model.record import OBJECT
from remembr_ros.memory.objects import KnownObject, is_called, known_objects, object_json
from remembr_ros.memory.search import MAX_LIMIT
from remembr_ros.timestamps import format_clock


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_memory(parser)
    parser.add_argument(
        '--class', dest='called', metavar='C', help="only what is called so, such as 'cup' or 'red cup'"
    )
    parser.add_argument('--text', metavar='T', help='what fits a text best first, whatever it is called')
    parser.add_argument('--near', **PLACE, help='what is nearest first [m]')
    parser.add_argument('--missing', action='store_true', help='only what was not there at the last look')
    parser.add_argument('--moved', action='store_true', help='only what was found elsewhere than before')
    add_robots(parser, 'only what this robot has seen')
    parser.add_argument('--map-id', metavar='ID', help='only what is in this map')
    parser.add_argument('--limit', type=count, metavar='N', help='so many (default: all; by --text 5)')
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    if args.text is not None and (args.near or not args.text.strip()):
        raise InvalidRequest('--text ranks by what fits a text, --near by distance; give one of them')
    scope = Scope(robots=tuple(args.robot), map_id=args.map_id, source=OBJECT)
    near = point(args.near)
    with stdout_for_json(args.json), open_memory(args, read_only=True) as store:
        if args.text is not None:
            hits = store.find(Query(args.text, scope=scope, limit=MAX_LIMIT))
            known = {one.id: one for one in known_objects(hit.memory for hit in hits)}
            found = [known[hit.memory.id] for hit in hits if hit.memory.id in known]
        else:
            found = known_objects(store.matching(scope=scope))
    if args.called is not None:
        found = [one for one in found if is_called(one, args.called)]
    found = [one for one in found if not args.missing or one.missing_ns is not None]
    found = [one for one in found if not args.moved or one.moves]
    if near is not None:
        found.sort(key=lambda one: distance(one.position, near))
    found = found[: args.limit or (5 if args.text is not None else None)]
    lines = [_line(one) for one in found] or ['no such object is known']
    print_result(args.json, {'objects': [object_json(one) for one in found]}, '\n'.join(lines))
    return 0


def _line(known: KnownObject) -> str:
    x, y, z = known.position
    where = f'({x:.2f}, {y:.2f}, {z:.2f}) +-{known.facts.std:.2f} m'
    if not known.facts.measured:
        where = f'within sight of ({x:.1f}, {y:.1f}, {z:.1f})'
    when = f'seen {known.facts.observations} times, last at {format_clock(known.memory.end_ns)}'
    if known.moves:
        left_ns, came_ns, (x, y, z), _ = known.moves[-1]
        when += f', moved from ({x:.2f}, {y:.2f}, {z:.2f}) after {format_clock(left_ns)}'
        when += f', here since {format_clock(came_ns)}'
    if known.missing_ns is not None:
        when += f', gone at {format_clock(known.missing_ns)}'
    return f'{known.id}  {known.memory.caption}  {where}  {when}'
