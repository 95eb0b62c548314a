"""What may be shown of addresses and of what servers say: nothing that lets others in."""

import json
import re
from collections.abc import Iterable
from urllib.parse import parse_qsl, quote, unquote, urlsplit

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
    where, *query = re.split(r'[?#]', url[start:], maxsplit=1)
    if query and '@' in query[0]:
        where = MASK  # a question mark in a password, perhaps
    hidden = f'?{MASK}' if query and where != MASK else ''
    return f'{url[:start]}{where.rpartition("@")[2]}{hidden}'


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
