"""The options that narrow down which memories count."""

import argparse

from remembr_ros.cli.options import PLACE, metres, time
from remembr_ros.geometry import Point
from remembr_ros.memory.model.recall import Scope


def add_scope(parser: argparse.ArgumentParser) -> None:
    """Add --after, --before, --robot, --map-id and --source."""
    add_narrowing(parser)
    parser.add_argument('--source', metavar='NAME', help='only memories of this source, such as person')


def add_narrowing(parser: argparse.ArgumentParser, *, map_option: str = '--map-id') -> None:
    """Add --after, --before, --robot, --place and an option for the map."""
    parser.add_argument('--after', type=time, metavar='TIME', help='only memories that end at or after this')
    parser.add_argument(
        '--before', type=time, metavar='TIME', help='only memories that start at or before this'
    )
    add_robots(parser, 'only memories of this robot; several times: of any of these')
    parser.add_argument(map_option, metavar='ID', help='only memories of this map')
    add_place(parser)


def add_place(parser: argparse.ArgumentParser) -> None:
    """Add --place."""
    text = 'only what is in the place of this name, such as a room'
    parser.add_argument('--place', metavar='NAME', help=text)


def add_robots(parser: argparse.ArgumentParser, text: str) -> None:
    """Add --robot, which may be given several times, with this help."""
    parser.add_argument('--robot', metavar='NAME', action='append', default=[], help=text)


def add_near(parser: argparse.ArgumentParser) -> None:
    """Add --near and --radius."""
    parser.add_argument('--near', **PLACE, help='only memories at most --radius from this place [m]')
    parser.add_argument('--radius', type=metres, metavar='M', help='[m]')


def scope_of(args: argparse.Namespace, near: Point | None = None) -> Scope:
    """Return the scope that the options say.

    :param near: the centre of --radius
    :raises InvalidRequest: --radius has no centre
    """
    return Scope(
        after_ns=args.after,
        before_ns=args.before,
        near=near if args.radius is not None else None,
        radius_m=args.radius,
        robots=tuple(args.robot),
        map_id=args.map_id,
        source=getattr(args, 'source', None),
        place=args.place,
    )


def point(numbers: list[float] | None) -> Point | None:
    """Return three coordinates as a point."""
    return (numbers[0], numbers[1], numbers[2]) if numbers else None
