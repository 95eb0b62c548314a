"""remembr event: what the robot did becomes a memory."""

import argparse
import json
import logging
import time
from pathlib import Path
from typing import Any

from remembr_ros.cli.options import PLACE, add_json, add_memory, name, open_memory
from remembr_ros.cli.output import print_result, stdout_for_json
from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.deeds.deed import OUTCOMES, Deed, told_deed
from remembr_ros.memory.model.codec import memory_json
from remembr_ros.memory.model.record import Observation

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
    """Return the deeds of a file; what is wrong with it is told by its line before anything is stored."""
    deeds, where = [], 'line 1'
    try:
        for where, told in _forms(Path(args.file).read_bytes()):
            form = json.loads(told) if isinstance(told, str) else told
            if not isinstance(form, dict):
                raise InvalidRequest(f'{form!r:.99} is no deed; give a JSON object with its fields')
            for unknown in sorted(form.keys() - {'text', 'position', 'travelled', *_TOLD}):
                _log.warning('%s, %s: %r is no field, and left out', args.file, where, unknown)
                del form[unknown]
            deeds.append(told_deed(**form, map_id=args.map_id))
            if not deeds[-1].begin_ns:
                raise InvalidRequest('it needs a begin')
    except OSError as error:
        raise InvalidRequest(f'{args.file} cannot be read: {error.strerror}') from None
    except json.JSONDecodeError as error:
        raise InvalidRequest(f'{args.file}, {where}: it is no JSON ({error})') from None
    except (ValueError, AttributeError, TypeError, RecursionError, InvalidRequest) as error:
        raise InvalidRequest(f'{args.file}, {where}: {error}') from None
    if not deeds:
        raise InvalidRequest(f'{args.file} has no deeds')
    return deeds


def _forms(data: bytes) -> list[tuple[str, Any]]:
    """Return where each deed of a file stands, and its form or the line that is to be one."""
    text = data.decode(json.detect_encoding(data))  # of a byte order mark, too
    if text.lstrip().startswith('['):
        return [(f'deed {number}', form) for number, form in enumerate(json.loads(text), 1)]
    return [(f'line {number}', line) for number, line in enumerate(text.split('\n'), 1) if line.strip()]
