"""remembr event: what the robot did becomes a memory."""

import argparse
import json
import logging
import re
import time
from pathlib import Path
from typing import Any

from remembr_ros.cli.options import PLACE, add_json, add_memory, name, open_memory
from remembr_ros.cli.output import print_result, stdout_for_json
from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.deeds.deed import OUTCOMES, Deed, told_deed
from remembr_ros.memory.model.codec import memory_json
from remembr_ros.memory.model.record import Observation
from remembr_ros.told_files import text_of

_BLANK, _DECODER = re.compile(r'\s*'), json.JSONDecoder()

_log = logging.getLogger(__name__)

_TOLD = {
    'kind': 'go, pick, place, open, close, ask, answer, dock, charge, fail, or other words',
    'object': 'what it was done to: a name, or the id of a known object',
    'receptacle': 'what that was taken from or put on: the same',
    'place': 'name of the place, such as of a room',
    'begin': 'when it began: ISO 8601 or Unix seconds (default: the end)',
    'end': 'when it ended (default: the begin, or now)',
    'outcome': f'how it ended: {", ".join(OUTCOMES)}',
    'reason': 'why it ended so',
}
"""Options, and with text, position and travelled [m] the fields of a line of a file."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('text', metavar='TEXT', nargs='?', default='', help='what was done')
    add_memory(parser)
    parser.add_argument(
        '--file',
        metavar='FILE',
        help='many deeds: JSON objects with these fields, a line each or in a list',
    )
    for option, text in _TOLD.items():
        parser.add_argument(f'--{option}', default='', help=text)
    parser.add_argument('--position', **PLACE, help='where the robot was [m] (default: not known)')
    parser.add_argument(
        '--robot',
        type=name,
        metavar='NAME',
        default='robot',
        help='which robot did it (default: %(default)s)',
    )
    parser.add_argument('--map-id', metavar='ID', default='', help='the map that the position is in')
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    form = {key: getattr(args, key) for key in ('text', 'position', *_TOLD)}
    if args.file and any(form.values()):
        raise InvalidRequest('--file has all that is told: give either a file or one deed')
    deeds = _read(args) if args.file else [told_deed(**form, map_id=args.map_id, now_ns=time.time_ns())]
    observations = [Observation(deed.memory(args.robot)) for deed in deeds]
    with stdout_for_json(args.json), open_memory(args, create=True) as store:
        # At once: what a deed was done to must not depend on where a kill cut the file.
        stored = store.add(observations)
    if args.file:
        result = {'file': args.file, 'deeds': len(deeds), 'memories': len({memory.id for memory in stored})}
        print_result(
            args.json, result, f'{result["deeds"]} deeds remembered as {result["memories"]} memories'
        )
    else:
        print_result(args.json, memory_json(stored[0]), stored[0].id)
    return 0


def _read(args: argparse.Namespace) -> list[Deed]:
    """Return the deeds of a file; what is wrong with it is told by its line before anything is stored.

    They are JSON objects one after the other, in a line or in several each, or all in one list.
    """
    deeds: list[Deed] = []
    line, end, where = 1, 0, 'line 1'
    try:
        text = text_of(Path(args.file).read_bytes())
        while (begin := _BLANK.match(text, end).end()) < len(text):  # type: ignore[union-attr]
            line += text.count('\n', end, begin)
            where = f'line {line}'
            value, end = _DECODER.raw_decode(text, begin)
            line += text.count('\n', begin, end)
            listed = value if isinstance(value, list) and value and not deeds else None
            for number, form in enumerate(listed or [value], 1):
                where = f'deed {number}' if listed else where
                deeds.append(_deed(form, args, where))
    except OSError as error:
        raise InvalidRequest(f'{args.file} cannot be read: {error.strerror}') from None
    except json.JSONDecodeError as error:
        raise InvalidRequest(f'{args.file}, {where}: it is no JSON ({error})') from None
    except (ValueError, AttributeError, TypeError, RecursionError, InvalidRequest) as error:
        raise InvalidRequest(f'{args.file}, {where}: {error}') from None
    if not deeds:
        raise InvalidRequest(f'{args.file} has no deeds')
    return deeds


def _deed(form: Any, args: argparse.Namespace, where: str) -> Deed:
    if not isinstance(form, dict):
        raise InvalidRequest(f'{form!r:.99} is no deed; give a JSON object with its fields')
    for unknown in sorted(form.keys() - {'text', 'position', 'travelled', *_TOLD}):
        _log.warning('%s, %s: %r is no field, and left out', args.file, where, unknown)
        del form[unknown]
    told = told_deed(**form, map_id=args.map_id)
    if not told.begin_ns:
        raise InvalidRequest('it needs a begin')
    return told
