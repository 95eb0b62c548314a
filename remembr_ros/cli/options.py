"""Options that several verbs share, and the parsing of their values."""

import argparse
import math
import os
import time as clock
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import tzinfo
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from remembr_ros.errors import InvalidRequest
from remembr_ros.forms.faces import flag
from remembr_ros.forms.parameter import Parameters, default_of, objection
from remembr_ros.memory.model.uri import WHERE, database_path, is_server, shown
from remembr_ros.memory.opening import data_folder, open_store
from remembr_ros.memory.server.connection import SECRETS, Connection
from remembr_ros.memory.store import MemoryStore
from remembr_ros.memory.writable import check_writable
from remembr_ros.nodes.memory.parameters import MemoryParameters
from remembr_ros.timestamps import parse_time, zone_named

_T = TypeVar('_T')
_KINDS = {int: 'whole number', float: 'number'}

_SERVER = {
    **{name: flag(name) for name in ('db_name', 'user', 'server_name')},
    **{f'{name}_path': flag(name) for name in ('ca_pem', 'client_pem', 'client_key')},
}
"""Options of a server by the parameters of the memory node, and of a Connection, that they are."""


def default_memory() -> str:
    """Return the memory used when none is named: REMEMBR_MEMORY, or a file in the user's data folder."""
    return os.environ.get('REMEMBR_MEMORY') or str(data_folder() / 'memory.db')


def add_memory(parser: argparse.ArgumentParser, *, token_file: str = '--token-file') -> None:
    """Add --memory, --embedder and what it takes to reach a server.

    :param token_file: the option for the server's token, where another one has that name
    """
    parser.add_argument(
        '--memory',
        metavar='URI',
        default=default_memory(),
        help=f'{WHERE} (default: {shown(default_memory())})'.replace('%', '%%'),
    )
    parser.add_argument(
        '--embedder',
        metavar='NAME',
        help='sentence-transformers model, by name or folder (default: the one that made the memory; '
        'for a new one mxbai-embed-large-v1, or all-MiniLM-L6-v2 where that is out of reach)',
    )

    parser.add_argument(
        '--help-server', action=_HelpServer, token_file=token_file, help='show the options of a Milvus server'
    )
    _add_server(parser, token_file, shown=False)


class _HelpServer(argparse.Action):
    """Shows the options that only who has a Milvus server needs."""

    def __init__(self, *, token_file: str, **about: Any) -> None:
        super().__init__(**about, nargs=0, default=argparse.SUPPRESS)
        self._token_file = token_file

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        text = f'Token, user and password may come from the environment: {", ".join(SECRETS.values())}.'
        alone = argparse.ArgumentParser(prog=parser.prog, add_help=False, description=text)
        _add_server(alone, self._token_file)
        print(alone.format_help(), end='')
        parser.exit()


def _add_server(parser: argparse.ArgumentParser, token_file: str, *, shown: bool = True) -> None:
    group = parser.add_argument_group('Milvus server')
    add_parameters(group, MemoryParameters, **_SERVER)
    group.add_argument(
        token_file, dest='token', metavar='FILE', help='file that holds an API key or user:password'
    )
    parser.set_defaults(**dict.fromkeys(_SERVER))
    for action in () if shown else group._group_actions:
        action.help = argparse.SUPPRESS


def open_memory(args: argparse.Namespace, *, create: bool = False, **parameters: Any) -> MemoryStore:
    """Open the memory that the options of add_memory say.

    :param parameters: of open_store
    :raises InvalidRequest: the options do not go together
    """
    return open_store(args.memory, args.embedder, connection=_connection(args), create=create, **parameters)


def check_memory(args: argparse.Namespace) -> None:
    """Refuse a memory that cannot be changed, before anything else is done for it.

    :raises StoreUnavailable: it is a file that cannot be written
    """
    if not is_server(args.memory):
        check_writable(database_path(args.memory))


def _connection(args: argparse.Namespace) -> Connection | None:
    flags = {**_SERVER, 'token': '--token-file'}
    given = {name: value for name in flags if (value := getattr(args, name)) is not None}
    if not is_server(args.memory):
        if given:
            raise InvalidRequest(
                f'{flags[min(given)]} is for a Milvus server, and {args.memory} is a file; leave it out, or '
                'give --memory https://host:port'
            )
        return None
    if empty := [name for name, value in given.items() if not value.strip()]:
        raise InvalidRequest(f'{flags[empty[0]]} is empty; leave it out or fill it in')
    if 'user' in given and 'token' in given:
        raise InvalidRequest('--user and --token-file are two ways to log in; give one of them')
    if ('client_pem_path' in given) != ('client_key_path' in given):
        raise InvalidRequest('--client-pem and --client-key go together')
    if 'user' in given:
        given['password'] = os.environ.get(SECRETS['password'], '')
    if 'token' in given:
        given['token'] = _token(Path(given['token']))
    return Connection.from_environment(args.memory, **given)


def _token(path: Path) -> str:
    try:
        token = path.expanduser().read_text(encoding='utf-8-sig').strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, 'strerror', None) or 'it is no text'
        raise InvalidRequest(f'the token file {path} cannot be read: {reason}') from error
    if not token or len(token.split()) != 1:
        raise InvalidRequest(f'the token file {path} does not hold one token; write nothing but the token')
    return token


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add --json."""
    parser.add_argument(
        '--json', action='store_true', help='print one JSON object on standard output and nothing else'
    )


def add_map_file(parser: argparse.ArgumentParser) -> None:
    """Add --map-file, of which --map is short where there is no other one."""
    parser.add_argument(
        '--map-file', metavar='FILE', type=Path, help='the map: a YAML file as nav2_map_server has it'
    )


def add_map(parser: argparse._ActionsContainer, text: str, default: str | None = '') -> None:
    """Add --map, the name of one, with this help; --map-id is understood, too."""
    parser.add_argument('--map', '--map-id', dest='map', metavar='MAP', default=default, help=text)


def add_clock(parser: argparse._ActionsContainer) -> None:
    """Add --now and --time-zone."""
    parser.add_argument(
        '--now', type=time, metavar='TIME', default=None, help="the asker's now (default: the clock)"
    )
    parser.add_argument(
        '--time-zone',
        type=time_zone,
        metavar='NAME',
        default='',
        help="whose clock 'yesterday' and '3 pm' are on, such as Europe/Berlin (default: this machine's)",
    )


def add_parameters(
    parser: argparse._ActionsContainer, cls: type[Parameters], *names: str, **flags: str
) -> None:
    """Add an option for each of these parameters, which are called alike.

    :param flags: the options of those that are called otherwise
    """
    for field in fields(cls):
        name, about, default = field.name, field.metadata, default_of(field)
        if name not in names and name not in flags:
            continue
        option: dict[str, Any] = {'dest': name, 'default': default}
        if default is False:
            option['action'] = 'store_true'
        elif about['choices']:
            option['choices'] = about['choices']
        elif isinstance(default, list):
            option |= {'action': 'append', 'metavar': name.upper()}
        else:
            counted = 'N' if isinstance(default, int) else name.rpartition('_')[2].upper()
            option['metavar'] = about['unit'].upper() or counted
            option['type'] = partial(_of_parameter, about, type(default))
        text = about['text'] + ('' if default in ('', [], 0) else f' (default: {default})')
        parser.add_argument(flags.get(name, flag(name)), **option, help=text.replace('%', '%%'))


def _of_parameter(about: Mapping[str, Any], kind: type[Any], text: str) -> Any:
    try:
        value = kind(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f'{text!r} is no {_KINDS[kind]}') from None
    if why := objection('it', about, value):
        raise argparse.ArgumentTypeError(why)
    return value


def now_ns(args: argparse.Namespace) -> int:
    """Return the time that --now says [ns], else that of the clock."""
    return args.now if args.now is not None else clock.time_ns()


def _parsed(parse: Callable[[str], _T], text: str) -> _T:
    try:
        return parse(text)
    except InvalidRequest as error:
        raise argparse.ArgumentTypeError(str(error)) from error


time: Callable[[str], int] = partial(_parsed, parse_time)
"""Returns a TIME in nanoseconds: ISO 8601 (UTC where it names no zone) or Unix seconds."""

time_zone: Callable[[str], tzinfo] = partial(_parsed, zone_named)
"""Returns the time zone of an IANA name; empty: this machine's."""


def count(text: str) -> int:
    """Return a number of at least one."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f'{text!r} is not a whole number of at least 1')
    return number


def sequence(text: str) -> int:
    """Return the number of a sequence of a data set."""
    if not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f'{text!r} is not the number of a sequence')
    return int(text)


def name(text: str) -> str:
    """Return a name that is not empty."""
    if not text.strip():
        raise argparse.ArgumentTypeError('the name is empty')
    return text.strip()


def _number(wanted: str, fits: Callable[[float], bool], text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and fits(number)):
        raise argparse.ArgumentTypeError(f'{text!r} is not {wanted}')
    return number


seconds_or_none = partial(_number, 'a number of seconds, 0 or more', lambda number: number >= 0.0)
hertz = partial(_number, 'a number of times in a second, above 0', lambda number: number > 0.0)
metres = partial(_number, 'a length in metres', lambda number: number >= 0.0)
coordinate = partial(_number, 'a coordinate in metres', math.isfinite)

POSITION: dict[str, Any] = {'nargs': 3, 'type': coordinate, 'metavar': ('X', 'Y', 'Z')}
"""How an option takes a position in the map frame [m]."""
