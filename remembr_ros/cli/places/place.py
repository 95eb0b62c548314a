"""remembr place: names for parts of a map, such as its rooms."""

import argparse
from pathlib import Path
from time import time_ns

from remembr_ros.cli.options import (
    POSITION,
    add_json,
    add_map,
    add_map_file,
    add_memory,
    coordinate,
    metres,
    open_memory,
)
from remembr_ros.cli.output import print_result, stdout_for_json
from remembr_ros.errors import InvalidRequest
from remembr_ros.forms.places import PlacesForm
from remembr_ros.forms.results import places_json
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.places.form import read_places, write_places
from remembr_ros.memory.places.place import NamedPlace, place
from remembr_ros.places.naming import USUAL_RADIUS_M, proposed_rooms, room_around
from remembr_ros.web.map_file import read_map

_ACTIONS = {
    'list': 'list the named places',
    'add': 'give a place a name',
    'remove': 'take away the names of places; what was remembered there stays',
    'import': 'take places from a YAML or GeoJSON file',
    'export': 'write the named places to a YAML or GeoJSON file',
    'rooms': 'find the rooms of a map, and what they may be called',
}


EXAMPLES = (
    'place list --map floor1',
    "place add kitchen --outline 0 0 4 0 4 3 0 3 --also 'tea kitchen'",
    'place rooms --map-file floor1.yaml --save rooms.yaml',
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest='action', metavar='ACTION', required=True)
    parsers = {name: actions.add_parser(name, help=text, description=text) for name, text in _ACTIONS.items()}
    add = parsers['add'].add_argument
    add('name', metavar='NAME')
    add('--also', metavar='NAME', action='append', default=[], help='what it is called besides')
    shape = parsers['add'].add_mutually_exclusive_group(required=True)
    shape.add_argument(
        '--outline', nargs='+', type=coordinate, metavar='X Y', help='its corners, in order [m]'
    )
    shape.add_argument(
        '--position',
        '--at',
        **POSITION,
        help='a point in it: the room of --map-file around it, else a circle [m]',
    )
    add('--radius', type=metres, metavar='M', help=f'of the circle (default: {USUAL_RADIUS_M:g}) [m]')
    parsers['remove'].add_argument('names', metavar='NAME', nargs='+')
    for action in ('import', 'export'):
        parsers[action].add_argument('file', metavar='FILE', type=Path, help='.yaml or .geojson')
    parsers['rooms'].add_argument('--save', metavar='FILE', type=Path, help='to be edited and imported')
    for action, subparser in parsers.items():
        add_memory(subparser)
        add_map(subparser, 'the map that it is about (default: of list, every one)', None)
        if action in ('add', 'rooms'):
            add_map_file(subparser)
        add_json(subparser)


def run(args: argparse.Namespace) -> int:
    if 'map_file' in args and not args.map_file and Path(args.map or '').suffix in ('.yaml', '.yml'):
        args.map_file, args.map = Path(args.map), None  # no map is called so
    with stdout_for_json(args.json):
        if args.action == 'list':
            places = _known(args)
        else:
            places = {'add': _add, 'remove': _remove, 'import': _import, 'export': _export, 'rooms': _rooms}[
                args.action
            ](args)
    none = 'no place has a name'
    if args.action == 'rooms':
        none = (
            f'no room without a name was found in {args.map_file}: no other floor has walls round most of it'
        )
    lines = [_line(known_place) for known_place in places] or [none]
    print_result(args.json, places_json(places), '\n'.join(lines))
    return 0


def _known(args: argparse.Namespace) -> list[NamedPlace]:
    with open_memory(args, read_only=True) as store:
        return PlacesForm(map=args.map).find(store)


def _add(args: argparse.Namespace) -> list[NamedPlace]:
    about = {'other_names': args.also, 'map_id': args.map or '', 'now_ns': time_ns()}
    if args.outline:
        if len(args.outline) % 2:
            raise InvalidRequest('the outline has a corner without y; give x and y of each')
        made = place(args.name, outline=[*zip(args.outline[::2], args.outline[1::2], strict=True)], **about)
    else:
        grid = read_map(args.map_file) if args.map_file and args.radius is None else None
        made = place(args.name, **room_around(args.position, grid, args.radius), **about)
    return _store(args, [made])


def _remove(args: argparse.Namespace) -> list[NamedPlace]:
    with open_memory(args) as store:
        gone = [store.places().named(name, args.map) for name in args.names]
        store.forget([place_gone.memory.id for place_gone in gone], leave_traces=True)
        return [*store.places().all]


def _import(args: argparse.Namespace) -> list[NamedPlace]:
    return _store(
        args, read_places(args.file, now_ns=time_ns(), **({'map_id': args.map} if args.map else {}))
    )


def _export(args: argparse.Namespace) -> list[NamedPlace]:
    known = _known(args)
    write_places(args.file, known)
    return known


def _rooms(args: argparse.Namespace) -> list[NamedPlace]:
    if args.map_file is None:
        raise InvalidRequest('rooms are found in a map: give --map-file FILE')
    grid = read_map(args.map_file)
    with open_memory(args, read_only=True) as store:
        found = proposed_rooms(grid, store.places(), store.matching(scope=Scope(map_id=args.map or '')))
    if args.save:
        write_places(args.save, found)
    return found


def _store(args: argparse.Namespace, places: list[NamedPlace]) -> list[NamedPlace]:
    with open_memory(args, create=True) as store:
        store.name_places(places)
    return places


def _line(spot: NamedPlace) -> str:
    shape = f'radius {spot.facts.radius:g} m' if spot.facts.radius else f'{spot.shape.area:.1f} m2'
    names = ', '.join(spot.names) + (f' (a guess: {spot.facts.guessed})' if spot.facts.guessed else '')
    on = f' on map {spot.memory.map_id}' if spot.memory.map_id else ''
    return f'{names}  around ({spot.pose.x:.2f}, {spot.pose.y:.2f}){on}, {shape}'
