"""remembr objects: the things that the robot knows, and where they are."""

import argparse
from time import time_ns

from remembr_ros.cli.options import add_json, add_memory, open_memory
from remembr_ros.cli.output import print_result, stdout_for_json
from remembr_ros.errors import InvalidRequest
from remembr_ros.forms.faces import add_options, from_options
from remembr_ros.forms.objects import ObjectsForm
from remembr_ros.forms.results import objects_json
from remembr_ros.memory.objects.corrections import ObjectCorrection
from remembr_ros.memory.objects.query import FoundObject, object_json
from remembr_ros.memory.places.place import said_name
from remembr_ros.timestamps import format_clock, parse_time

EXAMPLES = (
    'objects red cup',
    'objects --relation on --anchor table --missing',
    'objects --changed-since 2026-11-23T09:00 --place kitchen --json',
)

_CORRECTIONS = {
    'rename': (('ID', 'NAME'), "call an object so; '' takes that back"),
    'gone': (('ID',), 'it is not there any more, whatever is seen there'),
    'there': (('ID',), 'it is there; takes back --gone and --delete'),
    'merge': (('ID', 'OTHER'), 'both are one thing'),
    'split': (('ID', 'TIME'), 'since then it is another thing, with an id of its own'),
    'delete': (('ID',), 'there is no such thing, whatever is seen there'),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_memory(parser)
    add_options(parser, ObjectsForm, words='called')
    group = parser.add_argument_group('corrections', 'What a person says outranks what a detector sees.')
    for action, (names, text) in _CORRECTIONS.items():
        group.add_argument(f'--{action}', nargs=len(names), metavar=names, help=text)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    given = {action: getattr(args, action) for action in _CORRECTIONS if getattr(args, action)}
    if given:
        return _correct(args, given)
    query = from_options(ObjectsForm, args).query()
    with stdout_for_json(args.json), open_memory(args, read_only=True) as store:
        found = store.find_objects(query)
    lines = [_line(thing) for thing in found.objects] or ['no such object is known']
    print_result(args.json, objects_json(found), '\n'.join(lines))
    return 0


def _correct(args: argparse.Namespace, given: dict[str, list[str]]) -> int:
    if len(given) > 1 or args.words:
        raise InvalidRequest('give one correction at a time, and no words beside it')
    [(action, (name, *values))] = given.items()
    field = {'rename': 'name', 'merge': 'other', 'split': 'time_ns'}.get(action)
    about = {field: parse_time(values[0]) if action == 'split' else values[0]} if field else {}
    correction = ObjectCorrection(action, name, map_id=getattr(args, 'map', None), **about)  # type: ignore[arg-type]
    with stdout_for_json(args.json), open_memory(args) as store:
        known = store.correct(correction, time_ns())
    told_json = {'object': object_json(known) if known else None}
    print_result(args.json, told_json, _line(FoundObject(known)) if known else f'{name} is deleted')
    return 0


def _line(found: FoundObject) -> str:
    known = found.known
    x, y, z = known.position
    place = f'({x:.2f}, {y:.2f}, {z:.2f}) +-{known.facts.std:.2f} m'
    if not known.facts.measured:
        place = f'within sight of ({x:.1f}, {y:.1f}, {z:.1f})'
    when = f'seen {known.facts.observations} times, last at {format_clock(known.memory.end_ns)}'
    if known.moves:
        left_ns, came_ns, (x, y, z), _ = known.moves[-1]
        when += f', moved from ({x:.2f}, {y:.2f}, {z:.2f}) after {format_clock(left_ns)}'
        when += f', here since {format_clock(came_ns)}'
    if known.missing_ns is not None:
        when += f', gone at {format_clock(known.missing_ns)}'
    state, since_ns = known.state
    when += f', {state} since {format_clock(since_ns)}' if state else ''
    when += ''.join(f', {relation.words}' for relation in found.relations if relation.name != 'next to')
    place += f' in {said_name(found.place)}' if found.place else ''
    return f'{known.id}  {known.memory.caption}  {place}  {when}'
