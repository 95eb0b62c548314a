"""How a Milvus server is reached: address, credentials, encryption."""

import os
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from remembr_ros.errors import InvalidRequest
from remembr_ros.printable import shown_url

PORT = 19530  # where a Milvus server listens, unless its uri says otherwise

SECRETS = {
    'token': 'REMEMBR_MILVUS_TOKEN',
    'user': 'REMEMBR_MILVUS_USER',
    'password': 'REMEMBR_MILVUS_PASSWORD',
}
"""The environment variables that stand in for what a parameter or a command line should not hold."""

_SCHEMES = ('http', 'https', 'tcp', 'unix')


@dataclass(frozen=True, slots=True)
class Connection:
    """What it takes to reach a Milvus server. Secrets are neither printed nor logged.

    :param uri: http(s)://host:port; https means encrypted
    :param token: an API key, or 'user:password'; it comes before user and password
    :param db_name: the database on the server; empty: its default one
    :param secure: encrypt even where the uri says http
    :param ca_pem_path: certificates to trust instead of the system's
    :param server_pem_path: the same under the name that pymilvus gives it: the server's own certificate
    :param client_pem_path: certificate that this client shows (two-way TLS), with client_key_path
    :param server_name: name in the server's certificate where it is not the host's
    :param timeout_s: for one request [s]
    :param known_as: how the uri is shown, where that of a socket says nothing; empty: as it is
    :raises InvalidRequest: the parts do not go together
    """

    uri: str = field(repr=False)
    user: str = ''
    password: str = field(default='', repr=False)
    token: str = field(default='', repr=False)
    db_name: str = ''
    secure: bool = False
    ca_pem_path: str = ''
    server_pem_path: str = ''
    client_pem_path: str = ''
    client_key_path: str = field(default='', repr=False)
    server_name: str = ''
    timeout_s: float = 30.0
    known_as: str = ''

    def __post_init__(self) -> None:
        parts = self._parts
        if parts.scheme not in _SCHEMES or not (parts.hostname or parts.scheme == 'unix'):
            raise InvalidRequest(f'{self.shown!r} is no server; give http://host:port or https://host:port')
        if bool(self.client_pem_path) != bool(self.client_key_path):
            raise InvalidRequest('client_pem_path and client_key_path go together')
        if self.ca_pem_path and self.server_pem_path:
            raise InvalidRequest('give ca_pem_path or server_pem_path, not both')
        if not 0.0 < self.timeout_s <= 3_600.0:
            raise InvalidRequest(f'the timeout of a server is {self.timeout_s} s; give 0 to 3600')

    @classmethod
    def from_environment(cls, uri: str, **given: object) -> 'Connection':
        """Return a connection whose secrets, where not given, come from the environment (see SECRETS)."""
        known = {option.name for option in fields(cls)}
        if unknown := sorted(set(given) - known):
            raise InvalidRequest(
                f'{", ".join(unknown)}: no option of a connection; there are {sorted(known)}'
            )
        connection = replace(cls(uri), **given)  # type: ignore[arg-type]
        if connection.credentials:
            return connection
        secrets = {name: os.environ.get(key, '') for name, key in SECRETS.items()}
        return replace(connection, **secrets)  # type: ignore[arg-type]

    @property
    def shown(self) -> str:
        """The uri as it may be shown: without a password."""
        return self.known_as or shown_url(self.uri)

    @property
    def server(self) -> str:
        """The uri as it may be shown, without the database."""
        return self.shown if self._parts.scheme == 'unix' else f'{self._parts.scheme}://{self.address}'

    @property
    def encrypted(self) -> bool:
        """Whether the connection uses TLS."""
        return self.secure or self._parts.scheme == 'https'

    @property
    def address(self) -> str:
        """Host and port, or the path of a socket, as gRPC takes them."""
        parts = self._parts
        if parts.scheme == 'unix':
            return self.uri
        host = f'[{parts.hostname}]' if ':' in (parts.hostname or '') else parts.hostname
        return f'{host}:{self._port or (443 if parts.scheme == "https" else PORT)}'

    @property
    def credentials(self) -> str:
        """The token, or 'user:password'; empty if there are none."""
        if self.token:
            return self.token
        if self.user or self.password:
            return f'{self.user}:{self.password}'
        parts = self._parts
        return f'{parts.username}:{parts.password or ""}' if parts.username else ''

    @property
    def database(self) -> str:
        """The database on the server; empty: its default one."""
        path = '' if self._parts.scheme == 'unix' else self._parts.path
        return self.db_name or path.strip('/').split('/')[0]

    @property
    def trusted(self) -> bytes | None:
        """The certificates to trust; None: the system's."""
        return _read(self.ca_pem_path or self.server_pem_path)

    @property
    def certificate(self) -> tuple[bytes | None, bytes | None]:
        """The key and the certificate that this client shows; None: it shows none."""
        return _read(self.client_key_path), _read(self.client_pem_path)

    @property
    def _parts(self) -> SplitResult:
        try:
            return urlsplit(self.uri)
        except ValueError as error:
            raise InvalidRequest(f'{self.shown!r} is no server: {error}') from error

    @property
    def _port(self) -> int | None:
        try:
            return self._parts.port
        except ValueError as error:
            raise InvalidRequest(f'{self.shown!r} has no port of a server: {error}') from error


def _read(path: str) -> bytes | None:
    """Return what a PEM file holds.

    :raises InvalidRequest: it cannot be read, or is none
    """
    if not path:
        return None
    try:
        data = Path(path).expanduser().read_bytes()
    except OSError as error:
        raise InvalidRequest(f'the TLS file {path} cannot be read: {error.strerror}') from error
    if b'-----BEGIN ' not in data:
        raise InvalidRequest(f'the TLS file {path} is no PEM file (it lacks -----BEGIN ...-----)')
    return data
