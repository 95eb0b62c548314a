"""Text and addresses from elsewhere as they may be shown: no control characters, no secrets."""

import json
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO
from urllib.parse import parse_qsl, quote, unquote, urlsplit

_OBEYED = re.compile('[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]')
"""Control characters but for tab and new line, other line ends, and what turns the direction of writing."""

_BAR = re.compile(r'\r|(\x1b\[A)+\Z')
"""How a progress bar begins what it writes: with the line's begin, or lines up alone."""


def printable(text: str) -> str:
    r"""Return a text with what a terminal would obey as an escape, such as \u001b; it stays JSON if it is."""
    return _OBEYED.sub(lambda found: f'\\u{ord(found[0]):04x}', text)


class _Plain:
    """A stream to a terminal on which nothing that was read anywhere is obeyed: see :func:`printable`.

    :param bars: progress bars may draw themselves; nothing else that is written there begins as they do
    """

    def __init__(self, stream: TextIO, *, bars: bool = False) -> None:
        self._stream = stream
        self._bars = bars

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        drawn = _BAR.match(text) if self._bars else None
        head = drawn[0] if drawn else ''
        self._stream.write(head + printable(text[len(head) :]))
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)


@contextmanager
def plain_output() -> Iterator[None]:
    """Show captions, file names and servers' words on a terminal, whatever they contain.

    All that is printed, logged or refused goes through here. What is JSON stays JSON with the same meaning.
    """
    with ExitStack() as stack:
        stack.enter_context(redirect_stdout(_Plain(sys.stdout)))
        stack.enter_context(redirect_stderr(_Plain(sys.stderr, bars=True)))
        yield


MASK = '***'

SHORTEST = 3  # characters of a secret that is looked for in texts; a shorter one would be found everywhere

_SCHEME = re.compile(r'([A-Za-z][A-Za-z0-9+.-]*:)?//')

_VALUE = r'[^\s"\'\\,;&<>(){}\[\]]+'

_CREDENTIALS = (
    # Whatever is named by what it is: authorization: Bearer ..., 'x-api-key': '...', api_key=...
    re.compile(
        r'(\b(?:proxy-)?authorization|api[-_ ]?key|(?:access|auth|bearer|id)[-_]?token|secret|passw(?:or)?d)'
        rf'([\\"\']*\s*(?:[:=]|%3d)\s*[\\"\'\[(]*)(?:(?:bearer|basic|digest|token)\s+)?{_VALUE}',
        re.IGNORECASE,
    ),
    # "the bearer token is missing" is plain English, too.
    re.compile(rf'\b(bearer)(\s+|%20)(?!(?:or|and|tokens?|auth\w*|is|was|scheme)\b){_VALUE}', re.IGNORECASE),
    # "Basic information" is plain English; what is encoded is not all in small letters.
    re.compile(r'\b((?i:basic))(\s+|%20)(?![a-z]+\b)[A-Za-z0-9+/_-]{6,}={0,2}'),
    re.compile(r'\b(sk|pk|rk|nvapi|hf|gsk|xai|ghp)([-_])(?=[\w*-]*[0-9A-Z*])[\w*-]{6,}'),
)


def shown_url(url: str) -> str:
    """Return a URL, or what is meant to be one, without user, password and the values of its query."""
    scheme = _SCHEME.match(url)
    start = scheme.end() if scheme else 0
    address, *query = re.split(r'[?#]', url[start:], maxsplit=1)
    if query and '@' in query[0]:
        address = MASK  # a question mark in a password, perhaps
    hidden = f'?{MASK}' if query and address != MASK else ''
    return f'{url[:start]}{address.rpartition("@")[2]}{hidden}'


def url_secrets(url: str) -> set[str]:
    """Return what in a URL lets somebody in: the password, or else the user, and the values of its query."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return set()
    login = parts.netloc.rpartition('@')[0]
    password = login.partition(':')[2] or login.partition(':')[0]
    values = [value for _, value in parse_qsl(parts.query)]
    return {secret for secret in (password, unquote(password), *values) if secret}


def redacted(text: str, secrets: Iterable[str] = ()) -> str:
    """Return a text without secrets, however they are escaped, and without what looks like somebody's key."""
    forms = {
        form
        for secret in secrets
        if len(secret) >= SHORTEST
        for form in (secret, quote(secret, safe=''), json.dumps(secret)[1:-1], repr(secret)[1:-1])
    }
    for form in sorted(forms, key=len, reverse=True):
        text = text.replace(form, MASK)
    for pattern in _CREDENTIALS:
        text = pattern.sub(rf'\g<1>\g<2>{MASK}', text)
    return text
