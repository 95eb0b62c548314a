"""Options that several verbs share, and how their values are read."""

import argparse
import os
from pathlib import Path

from remembr_ros.errors import InvalidRequest
from remembr_ros.timestamps import parse_time


def default_memory() -> str:
    """Return the memory used when none is named: REMEMBR_MEMORY, or a file in the user's data folder."""
    data = os.environ.get('XDG_DATA_HOME') or str(Path.home() / '.local' / 'share')
    return os.environ.get('REMEMBR_MEMORY') or str(Path(data) / 'remembr' / 'memory.db')


def add_memory(parser: argparse.ArgumentParser) -> None:
    """Add --memory and --embedder."""
    parser.add_argument(
        '--memory',
        metavar='URI',
        default=default_memory(),
        help='file of the embedded database, or http(s)://host:port of a Milvus server '
        '(default: %(default)s)',
    )
    parser.add_argument(
        '--embedder',
        metavar='NAME',
        help='sentence-transformers model, by name or folder (default: the one that made the memory; '
        'for a new one mxbai-embed-large-v1, or all-MiniLM-L6-v2 where that is out of reach)',
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add --json."""
    parser.add_argument(
        '--json', action='store_true', help='print one JSON object on standard output and nothing else'
    )


def add_scope(parser: argparse.ArgumentParser) -> None:
    """Add the options that narrow down which memories count."""
    parser.add_argument('--after', type=time, metavar='TIME', help='only memories that end at or after this')
    parser.add_argument(
        '--before', type=time, metavar='TIME', help='only memories that start at or before this'
    )
    parser.add_argument('--robot', metavar='NAME', help='only memories of this robot')
    parser.add_argument('--map-id', metavar='ID', help='only memories of this map')
    parser.add_argument('--source', metavar='NAME', help='only memories of this source, such as person')


def time(text: str) -> int:
    """Return a TIME in nanoseconds: ISO 8601 (UTC where it names no zone) or Unix seconds."""
    try:
        return parse_time(text)
    except InvalidRequest as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def count(text: str) -> int:
    """Return a number of at least one."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f'{text!r} is not a whole number of at least 1')
    return number


def name(text: str) -> str:
    """Return a name that is not empty."""
    if not text.strip():
        raise argparse.ArgumentTypeError('the name is empty')
    return text.strip()


def seconds(text: str) -> float:
    """Return a duration above zero."""
    return _positive(text, 'number of seconds')


def per_minute(text: str) -> float:
    """Return a rate above zero."""
    return _positive(text, 'number of calls per minute')


def _positive(text: str, what: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0.0 < number < float('inf'):
        raise argparse.ArgumentTypeError(f'{text!r} is not a {what} above 0')
    return number


def metres(text: str) -> float:
    """Return a length of at least zero."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0.0 <= number < float('inf'):
        raise argparse.ArgumentTypeError(f'{text!r} is not a length in metres')
    return number


def coordinate(text: str) -> float:
    """Return a finite number."""
    try:
        number = float(text)
    except ValueError:
        number = float('nan')
    if not abs(number) < float('inf'):
        raise argparse.ArgumentTypeError(f'{text!r} is not a coordinate in metres')
    return number
