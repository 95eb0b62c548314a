"""remembr event: what the robot did becomes a memory."""

import argparse
import json
import time
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError
from tqdm import tqdm

from remembr_ros.cli.options import PLACE, add_json, add_memory, name, open_memory
from remembr_ros.cli.options import time as time_option
from remembr_ros.cli.output import print_result, stdout_for_json
from remembr_ros.cli.scope import point
from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Point, Pose, check_point
from remembr_ros.memory.deeds.deed import OUTCOMES, Deed, deed
from remembr_ros.memory.deeds.wording import kind_said
from remembr_ros.memory.model.json_form import memory_json
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.timestamps import parse_time

BATCH = 100  # deeds embedded and stored together
_TOLD = ('kind', 'object', 'receptacle', 'place', 'reason')


class _Line(BaseModel):
    """A deed as a line of a file; what is not known is empty."""

    model_config = ConfigDict(extra='forbid')
    kind: str = ''
    object: str = ''
    receptacle: str = ''
    place: str = ''
    begin: str
    end: str = ''
    position: Point | None = None
    outcome: str = ''
    reason: str = ''
    text: str = ''


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('text', metavar='TEXT', nargs='?', default='', help='what was done')
    add_memory(parser)
    parser.add_argument(
        '--file', metavar='FILE', help='many deeds: a JSON object with these options per line'
    )
    parser.add_argument(
        '--kind',
        default='',
        help='go, pick, place, open, close, ask, answer, dock, charge, fail, or other words',
    )
    parser.add_argument(
        '--object', default='', help='what it was done to: a name, or the id of a known object'
    )
    parser.add_argument('--receptacle', default='', help='what that was taken from or put on: the same')
    parser.add_argument('--place', default='', help='name of the place, such as of a room')
    parser.add_argument('--begin', type=time_option, metavar='TIME', help='when it began (default: the end)')
    parser.add_argument('--end', type=time_option, metavar='TIME', help='when it ended (default: now)')
    parser.add_argument(
        '--outcome', choices=OUTCOMES, default='unknown', help='how it ended (default: %(default)s)'
    )
    parser.add_argument('--reason', default='', help='why it ended so')
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
    told = [args.text, *(getattr(args, key) for key in _TOLD), args.begin, args.end, args.position]
    if args.file and any(told):
        raise InvalidRequest('--file has all that is told: give either a file or one deed')
    deeds = _read(args) if args.file else [_told(args)]
    memories = [one.memory(args.robot) for one in deeds]
    with stdout_for_json(args.json):
        stored = _store(args, memories) if memories else []
    if args.file:
        count = len({memory.id for memory in stored})
        result = {'file': args.file, 'deeds': len(memories), 'memories': count}
        print_result(args.json, result, f'{len(memories)} deeds remembered as {count} memories')
    else:
        print_result(args.json, memory_json(stored[0]), stored[0].id)
    return 0


def _store(args: argparse.Namespace, memories: list[Memory]) -> list[Memory]:
    stored: list[Memory] = []
    with (
        open_memory(args, create=True) as store,
        tqdm(total=len(memories), unit='deed', desc='event', disable=None if args.file else True) as bar,
    ):
        for first in range(0, len(memories), BATCH):
            batch = memories[first : first + BATCH]
            stored += store.add([Observation(memory) for memory in batch])
            bar.update(len(batch))
    return stored


def _told(args: argparse.Namespace) -> Deed:
    end_ns = args.end if args.end is not None else args.begin if args.begin is not None else time.time_ns()
    about: dict[str, Any] = {key: getattr(args, key) for key in _TOLD}
    about['kind'] = about['kind'] or kind_said(args.text)
    where = _pose(point(args.position))
    begin_ns = end_ns if args.begin is None else args.begin
    return deed(
        begin_ns, end_ns, text=args.text, outcome=args.outcome, pose=where, map_id=args.map_id, **about
    )


def _read(args: argparse.Namespace) -> list[Deed]:
    """Return the deeds of a file; what is wrong with it is told by its line before anything is stored."""
    try:
        lines = Path(args.file).read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequest(f'{args.file} cannot be read: {error}') from None
    deeds = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            told = _Line.model_validate(json.loads(line)).model_dump()
            begin_ns, end = parse_time(told.pop('begin')), told.pop('end')
            where = _pose(told.pop('position'))
            told['outcome'] = told['outcome'] or 'unknown'
            told['kind'] = told['kind'] or kind_said(told['text'])
            end_ns = parse_time(end) if end else None
            deeds.append(deed(begin_ns, end_ns, pose=where, map_id=args.map_id, **told))
        except ValidationError as error:
            wrong = error.errors()[0]
            where_wrong = '.'.join(map(str, wrong['loc']))
            raise InvalidRequest(f'{args.file}, line {number}: {where_wrong}: {wrong["msg"]}') from None
        except (ValueError, RecursionError, InvalidRequest) as error:
            raise InvalidRequest(f'{args.file}, line {number}: {error}') from None
    return deeds


def _pose(position: Point | None) -> Pose | None:
    return None if position is None else Pose(*check_point(position))
