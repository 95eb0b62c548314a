"""remembr forget: deletes memories permanently."""

import argparse
import re
import sys
import time
from collections.abc import Sequence
from typing import Any

from remembr_ros.cli.options import add_json, add_memory, open_memory
from remembr_ros.cli.output import memory_line, print_result, stdout_for_json
from remembr_ros.errors import InvalidRequest
from remembr_ros.forms.faces import add_options, from_options
from remembr_ros.forms.fields import Nanoseconds
from remembr_ros.forms.forget import ForgetForm
from remembr_ros.memory.model.codec import memory_json
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import NS

SHOWN = 10  # memories listed for a person

_UNITS_S = {'s': 1, 'min': 60, 'h': 3600, 'd': 86_400, 'w': 7 * 86_400}
EXAMPLES = (
    'forget --older-than 30d --source captioner --dry-run',
    'forget --text Anna --after 2026-11-23 --before 2026-11-24',
    'forget --near 2 1.5 0 --radius 3 --yes',
)

_DURATION = re.compile(r'(\d+(?:\.\d+)?)(s|min|h|d|w)')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_memory(parser)
    add_options(parser, ForgetForm)
    parser.add_argument(
        '--older-than',
        type=duration_ns,
        metavar='DURATION',
        help='only memories that started longer ago than this: 90min, 12h, 30d, 8w',
    )
    parser.add_argument('--yes', action='store_true', help='do not ask; needed with --json')
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    more: dict[str, Any] = {}
    if args.older_than is not None:
        oldest = Nanoseconds(max(0, time.time_ns() - args.older_than))
        before = from_options(ForgetForm, args).before
        more['before'] = oldest if before is None else Nanoseconds(min(oldest, before))
    form = from_options(ForgetForm, args, **more)
    about = form.conditions()
    asks = not (form.dry_run or args.yes)
    if asks and (args.json or not sys.stdin.isatty()):
        raise InvalidRequest('nobody can be asked here; --dry-run lists what would go, --yes deletes it')
    with stdout_for_json(args.json), open_memory(args, read_only=form.dry_run) as store:
        asked_ns = time.time_ns()
        found = store.doomed(*about)
        unknown = set(form.id) - {memory.id for memory in found}
        if unknown and store.waiting is None:  # else it may be of one that waits for the server
            print(
                f'no memory that is meant has the id {", ".join(sorted(unknown))}; remembr recall shows ids',
                file=sys.stderr,
            )
        if asks and found:
            print('\n'.join(_lines(found)))
            if not _confirmed(len(found)):
                print('nothing was deleted')
                return 1
        # Nothing that came while a person read. Even if none was found: a forgetting may have been cut off,
        # and what it means may wait elsewhere.
        shown = [memory.id for memory in found]
        count = len(found) if form.dry_run else store.forget(*about, among=shown, asked_ns=asked_ns)
    result: dict[str, Any] = {'ids': shown}  # what was forgotten shall not live on in a log
    text = f'{_counted(count)} deleted'
    if form.dry_run:
        result = {'memories': [memory_json(memory) for memory in found]}
        text = '\n'.join([f'{_counted(count)} would be deleted', *_lines(found)])
    print_result(args.json, {'dry_run': form.dry_run, 'count': count, **result}, text)
    return 0


def duration_ns(text: str) -> int:
    """Return a duration such as 30d in nanoseconds."""
    match = _DURATION.fullmatch(text.strip())
    ns = float(match[1]) * _UNITS_S[match[2]] * NS if match else 0.0
    if not 0.0 < ns < float('inf'):
        raise argparse.ArgumentTypeError(
            f'{text!r} is not a duration; give a number above 0 with s, min, h, d or w, such as 30d'
        )
    return round(ns)


def _lines(found: Sequence[Memory]) -> list[str]:
    lines = [memory_line(memory) for memory in found[:SHOWN]]
    if len(found) > SHOWN:
        lines.append(f'... and {len(found) - SHOWN} more')
    return lines


def _counted(count: int) -> str:
    return '1 memory' if count == 1 else f'{count} memories'


def _confirmed(count: int) -> bool:
    print(f'Delete {_counted(count)} for good? [y/N] ', end='', file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ('y', 'yes')
