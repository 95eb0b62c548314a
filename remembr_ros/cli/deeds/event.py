"""remembr event: what the robot did becomes a memory."""

import argparse
import json
import logging
import time
from pathlib import Path
from typing import Any

from remembr_ros.cli.options import add_json, add_memory, open_memory
from remembr_ros.cli.output import print_result, stdout_for_json
from remembr_ros.errors import InvalidRequest
from remembr_ros.forms.events import EventForm
from remembr_ros.forms.faces import add_options, from_options
from remembr_ros.forms.form import read
from remembr_ros.memory.deeds.deed import Deed
from remembr_ros.memory.model.codec import memory_json
from remembr_ros.memory.model.record import Observation

_log = logging.getLogger(__name__)

EXAMPLES = (
    'event Put the cup on the table. --position 2 1.5 0',
    'event --kind pick --object cup --receptacle shelf --outcome failed --reason slipped',
    'event --file deeds.jsonl --map floor1 --robot anna',
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_memory(parser)
    add_options(parser, EventForm, words='text')
    parser.add_argument(
        '--file',
        metavar='FILE',
        help='many deeds: JSON objects with these fields, a line each or in a list',
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    form = from_options(EventForm, args)
    if args.file and form.model_fields_set - {'map', 'robot'}:
        raise InvalidRequest('--file has all that is told: give either a file or one deed')
    deeds = _read(args.file, form) if args.file else [form.deed(time.time_ns())]
    observations = [Observation(deed.memory('robot')) for deed in deeds]
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


def _read(file: str, usual: EventForm) -> list[Deed]:
    """Return the deeds of a file; what is wrong with it is told by its line before anything is stored.

    :param usual: map and robot of those that name none
    """
    deeds, where = [], 'line 1'
    about = usual.model_dump(include={'map', 'robot'})
    try:
        for where, told in _forms(Path(file).read_bytes()):
            form = json.loads(told) if isinstance(told, str) else told
            if not isinstance(form, dict):
                raise InvalidRequest(f'{form!r:.99} is no deed; give a JSON object with its fields')
            for unknown in sorted(form.keys() - EventForm.model_fields.keys()):
                _log.warning('%s, %s: %r is no field, and left out', file, where, unknown)
                del form[unknown]
            given = {name: value for name, value in form.items() if value != ''}
            deeds.append(read(EventForm, about | given).deed())
            if not deeds[-1].begin_ns:
                raise InvalidRequest('it needs a begin')
    except OSError as error:
        raise InvalidRequest(f'{file} cannot be read: {error.strerror}') from None
    except json.JSONDecodeError as error:
        raise InvalidRequest(f'{file}, {where}: it is no JSON ({error})') from None
    except (ValueError, RecursionError, InvalidRequest) as error:
        raise InvalidRequest(f'{file}, {where}: {error}') from None
    if not deeds:
        raise InvalidRequest(f'{file} has no deeds')
    return deeds


def _forms(data: bytes) -> list[tuple[str, Any]]:
    """Return where each deed of a file stands, and its form or the line that is to be one."""
    text = data.decode(json.detect_encoding(data))  # of a byte order mark, too
    if text.lstrip().startswith('['):
        return [(f'deed {number}', form) for number, form in enumerate(json.loads(text), 1)]
    return [(f'line {number}', line) for number, line in enumerate(text.split('\n'), 1) if line.strip()]
