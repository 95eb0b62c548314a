"""Where the page is served, for whom, and its limits."""

import ipaddress
from dataclasses import dataclass
from pathlib import Path

from remembr_ros.errors import InvalidRequest


@dataclass(frozen=True, slots=True)
class Crowd:
    """How much is done at a time, and for how long; 'client' is an address, of IPv6 a /64 network.

    :param connections: in all; the system's bound on open files, often 1,024, is for the store, too
    :param requests_per_minute: of a client; as many may come at once after a pause
    :param streams: answers that go on, such as the events of an open page
    """

    connections: int = 500
    connections_per_client: int = 200
    requests_per_minute: int = 6000  # 100/s; somebody who pans a map makes 20/s
    computed_per_client: int = 2  # answers to looks; others' go on beside them
    waiting_per_client: int = 32  # for that; a browser asks for six at a time
    streams: int = 100
    streams_per_client: int = 40
    head_s: float = 10.0  # [s] for a request's head
    body_s: float = 30.0  # [s] for its body
    idle_s: int = 5  # [s] between two requests on a connection
    unread_s: int = 60  # [s] without progress in reading what is sent, as of a peer that is gone


@dataclass(frozen=True, slots=True)
class Door:
    """Where the page is served, and what is asked of who comes.

    :param host: an address, or a name that has one; 0.0.0.0 and :: are every address of this machine
    :param port: 0: a free one
    :param token_file: see remembr_ros.web.door.access
    :param certificate: PEM, with the chain; None: no TLS
    :param key: PEM; None: it is in the certificate's file
    :param names: further names that this machine is called by in a URL, such as that of a reverse proxy
    :raises InvalidRequest: it makes no sense, or would let everybody in
    """

    host: str = '127.0.0.1'
    port: int = 8765
    token_file: Path | None = None
    certificate: Path | None = None
    key: Path | None = None
    names: tuple[str, ...] = ()
    crowd: Crowd = Crowd()

    def __post_init__(self) -> None:
        if not self.host:
            raise InvalidRequest('no address is given; 0.0.0.0 and :: are every address of this machine')
        if not 0 <= self.port <= 65535:
            raise InvalidRequest(f'there is no port {self.port}; 0 takes a free one')
        if self.key is not None and self.certificate is None:
            raise InvalidRequest('a key is given, and no certificate that it belongs to')
        if self.token_file is None and not is_loopback(self.host):
            raise InvalidRequest(
                f'{self.host} can be reached by others: give a file of tokens (remembr web --new-tokens FILE '
                'writes one), or serve at 127.0.0.1'
            )
        if self.token_file is None and self.names:
            raise InvalidRequest(
                f'{self.names[0]} is a name that others may come by: give a file of tokens, too '
                '(remembr web --new-tokens FILE writes one)'
            )


def is_loopback(host: str) -> bool:
    """Tell whether an address, or the name localhost, is of this machine alone."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == 'localhost'


def client_of(address: str) -> str:
    """Return whom an address belongs to: of IPv6 everybody has 2^64 of them."""
    try:
        ip = ipaddress.ip_address(address.partition('%')[0])
    except ValueError:
        return address
    if ip.version == 4:
        return str(ip)
    if ip.ipv4_mapped is not None:
        return str(ip.ipv4_mapped)
    return str(ip) if ip.is_loopback else str(ipaddress.ip_network((ip, 64), strict=False))
