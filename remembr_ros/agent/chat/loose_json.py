"""A tolerant parser for JSON as models write it: single quotes, Python constants, stray commas."""

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

MAX_BRACES = 100  # Places in a text where an object may begin
MAX_REPAIRS = 20  # Places in a text where something that is nearly an object may begin
MAX_CALL = 4_000  # Characters of a call in Python's form
MAX_DEPTH = 30  # Brackets in brackets in what is repaired
_DECODER = json.JSONDecoder(strict=False)  # a line break inside a string is one
_TOKEN = re.compile(
    r'(?P<space>\s+)'
    r'|(?P<text>"(?:[^"\\]|\\.)*"'
    # An apostrophe ends a text in single quotes only where something could follow it.
    r"|'(?:[^'\\]|\\.|'(?!\s*(?:[,:\]}]|$)))*')"
    r'|(?P<open>[{\[])|(?P<close>[}\]])|(?P<mark>[,:])|(?P<word>[\w.+-]+)',
    re.DOTALL,
)
_ESCAPE = re.compile(r'\\(.)|"', re.DOTALL)
_FENCE = re.compile(r'\A\s*(?:```\w*)?\s*|\s*(?:```)?\s*\Z')
_NUMBER = re.compile(r'-?(?:0|[1-9]\d{0,999})(?:\.\d{1,30})?(?:[eE][+-]?\d{1,4})?')
_CONSTANTS = {'true': 'true', 'false': 'false', 'null': 'null', 'none': 'null'}
_PYTHON = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|[()=]', re.DOTALL)
_AS_JSON = {'(': '{', ')': '}', '=': ':'}
_UNNAMED = re.compile(r'\A\{\s*(?=["\'])')
_CLOSING = {'{': '}', '[': ']'}


def objects_in(text: str) -> Iterator[tuple[dict[str, Any], int, int]]:
    """Yield the objects in a text, each before those inside it, with where it begins and ends."""
    repairs = MAX_REPAIRS
    for brace in islice(re.finditer('{', text), MAX_BRACES):
        try:
            data, end = _DECODER.raw_decode(text, brace.start())
        except (ValueError, RecursionError):
            if not repairs:
                continue
            repairs -= 1
            repaired = _repaired(text, brace.start())
            if repaired is None:
                continue
            data, end = repaired
        yield data, brace.start(), end


def read_object(text: str) -> dict[str, Any] | None:
    """Return the object that a text consists of, in a fence or not, perhaps encoded twice; None: it is none.

    Of several, one after the other, the first one.
    """
    data: Any = text
    for _ in range(2):
        try:
            data = _DECODER.decode(data)
        except (ValueError, RecursionError):
            data = _FENCE.sub('', data)
            repaired = _repaired(data, 0) if data.startswith('{') else None
            is_all = repaired is not None and data[repaired[1] :].lstrip('}] \n')[:1] in ('', '{')
            data = repaired[0] if repaired is not None and is_all else None
        if not isinstance(data, str):
            break
    return data if isinstance(data, dict) else None


def read_keywords(text: str, begin: int, first: str = '') -> tuple[dict[str, Any], int] | None:
    """Return the arguments of a call as Python writes it, and where it ends; None: it is none.

    :param begin: of its bracket
    :param first: the name of a text that has none
    """
    written = _PYTHON.sub(lambda found: _AS_JSON.get(found[0], found[0]), text[begin : begin + MAX_CALL])
    named = _UNNAMED.sub(f'{{{first}:', written) if first else written
    read = _repaired(named, 0)
    return None if read is None else (read[0], begin + read[1] - len(named) + len(written))


def _repaired(text: str, begin: int) -> tuple[dict[str, Any], int] | None:
    """Return the object that begins there and where it ends, as far as it can be guessed.

    What cannot follow ends it: then the brackets that are missing are added. A text without its end is none.
    """
    read: list[str] = []
    depth: list[str] = []
    position = begin
    while position < len(text):
        found = _TOKEN.match(text, position)
        kind = found.lastgroup if found else None
        if found is None and text[position] in '"\'':
            return None
        # A value after a value: what follows does not belong to it.
        if found is None or (
            kind in ('text', 'open', 'word') and read and read[-1] not in ('{', '[', ',', ':')
        ):
            break
        position = found.end()
        if kind == 'close':
            if not _close(read, depth, found[0]):
                return None
            if not depth:
                break
        elif kind != 'space':
            if kind == 'open':
                depth.append(found[0])
                if len(depth) > MAX_DEPTH:
                    return None
            read.append(_standard(kind, found[0]))
    while depth:
        _close(read, depth, _CLOSING[depth[-1]])
    try:
        data = _DECODER.decode(''.join(read))
    except (ValueError, RecursionError):
        return None
    return (data, position) if isinstance(data, dict) else None


def _close(read: list[str], depth: list[str], bracket: str) -> bool:
    """Close the innermost bracket of this kind, and those inside it; tell whether there was one."""
    if bracket not in (_CLOSING[opened] for opened in depth):
        return False
    while True:
        if read[-1] == ',':
            read.pop()
        read.append(_CLOSING[depth.pop()])
        if read[-1] == bracket:
            return True


def _standard(kind: str | None, token: str) -> str:
    """Return a token as JSON has it."""
    if kind == 'text':
        return f'"{_ESCAPE.sub(_escaped, token[1:-1])}"'
    if kind == 'word' and not _NUMBER.fullmatch(token):
        return _CONSTANTS.get(token.lower()) or json.dumps(token)
    return token


def _escaped(found: re.Match[str]) -> str:
    character: str | None = found[1]
    if character is None:
        return '\\"'
    return found[0] if character in '"\\/bfnrtu' else character
