"""Whether a request comes from the page itself, and not from another one that a person looks at.

A name that an attacker owns can be pointed at this machine after his page was loaded (DNS rebinding): then
Host is that name. A page of his can send requests here (CSRF): then Origin is his, or Sec-Fetch-Site says so.
"""

import ipaddress
import re
import socket
from collections.abc import Iterable

from starlette.datastructures import Headers

from remembr_ros.web.door.refusal import Refusal

_HOST = re.compile(r'(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?')
_ORIGIN = re.compile(r'(?P<scheme>https?)://(?P<host>.+)')
_DEFAULT_PORTS = {'http': 80, 'https': 443}


def own_names(host: str, names: Iterable[str] = ()) -> frozenset[str]:
    """Return the names that this machine may be called by, besides its addresses.

    :param host: where it serves
    :param names: further ones
    """
    own = socket.gethostname().partition('.')[0]
    return frozenset(
        name.casefold().rstrip('.')
        for name in ('localhost', own, f'{own}.local', socket.gethostname(), host, *names)
    )


def check_origin(method: str, path: str, headers: Headers, names: frozenset[str]) -> None:
    """Return if a request may come from the page, or from no page at all.

    :raises Refusal: it comes by another name, or from another page
    """
    hosts = headers.getlist('host')
    host = hosts[0] if len(hosts) == 1 else ''
    if not _is_own(host, names):
        raise Refusal(403, 'this server is not called so: use its address, or start it with --name NAME')
    origin = headers.get('origin')
    if origin is not None and not _is_same(origin, host):
        raise Refusal(403, 'this comes from another page than that of this server')
    if headers.get('sec-fetch-site', 'none') not in ('same-origin', 'none') and not (
        # a link to the page, on another one; the page then asks by itself
        method in ('GET', 'HEAD')
        and headers.get('sec-fetch-mode') == 'navigate'
        and headers.get('sec-fetch-dest') == 'document'
        and not path.startswith(('/api', '/mcp'))
    ):
        raise Refusal(403, 'this comes from another page than that of this server')


def is_of_page(headers: Headers) -> bool:
    """Tell whether a browser says where a request comes from; then it was checked."""
    return 'origin' in headers or 'sec-fetch-site' in headers


def _is_own(host: str, names: frozenset[str]) -> bool:
    parts = _HOST.fullmatch(host)
    if parts is None:
        return False
    name = parts['name'].casefold().rstrip('.')
    if name in names:
        return True
    try:
        ipaddress.ip_address(name.strip('[]'))
    except ValueError:
        return False
    return True  # nobody can point an address elsewhere


def _is_same(origin: str, host: str) -> bool:
    page = _ORIGIN.fullmatch(origin)
    if page is None:  # 'null', too: a sandboxed frame, or a file
        return False
    there, here = _HOST.fullmatch(page['host']), _HOST.fullmatch(host)
    if there is None or here is None:
        return False
    # Behind a proxy that speaks TLS the scheme here is another one than the page's.
    default = _DEFAULT_PORTS[page['scheme']]
    return (there['name'].casefold(), int(there['port'] or default)) == (
        here['name'].casefold(),
        int(here['port'] or default),
    )
