"""A connection to a Milvus server that survives restarts, and fails at once while the server is away."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from remembr_ros.errors import RemembrError, StoreUnavailable
from remembr_ros.memory.server.connection import SECRETS, Connection

logger = logging.getLogger(__name__)

RETRY_S = 1.0
"""While the server is away, one call every so often asks whether it is back [s]; the others fail at once."""

PROBE_S = 0.8  # [s] how long that question may take
CONNECT_S = 5.0  # for the first connection [s]; a TLS handshake over a mobile network takes about one

_CHANNEL = {
    'grpc.max_send_message_length': -1,
    'grpc.max_receive_message_length': -1,
    # A robot that drives out of reach gets no answer and no error: ask the other side while a call waits.
    'grpc.keepalive_time_ms': 10_000,
    'grpc.keepalive_timeout_ms': 3_000,
    'grpc.keepalive_permit_without_calls': 0,
    'grpc.initial_reconnect_backoff_ms': 200,
    'grpc.min_reconnect_backoff_ms': 2_000,
    'grpc.max_reconnect_backoff_ms': 1_000,
    'grpc.use_local_subchannel_pool': 1,  # one with other certificates must not lend its connection
}
# A socket of this machine is never out of reach, and Milvus Lite takes many such questions for an attack.
_LOCAL = {'grpc.keepalive_time_ms': 2**31 - 1}

_REMEDIES = (
    (
        ('ssl', 'certificate', 'handshake', 'tls', 'hostname verification'),
        'the encrypted connection failed: check https or http, ca_pem_path, server_name and the client '
        'certificate',
    ),
    (
        ('unauthenticated', 'auth check failure', 'code=1400', 'authenticated'),
        'it refuses the user, password or token; set ' + ', '.join(SECRETS.values()),
    ),
    (
        ('permission_denied', 'privilege', 'permission deny'),
        'this user may not do that; ask its administrator',
    ),
)


class _Away(Exception):
    """Raised inside pymilvus instead of UNAVAILABLE, which it would go on trying until the timeout."""


class Link:
    """A pymilvus.MilvusClient that is made when first needed. Safe to share between threads."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._lock = threading.Lock()
        self._client: Any = None
        self.problem = ''
        """Why the server is away; empty while it works."""
        self._retry_at = 0.0
        self._closed = False

    @property
    def timeout_s(self) -> float:
        """For one request [s]."""
        return self.connection.timeout_s

    @contextmanager
    def client(self) -> Iterator[Any]:
        """Give the client to the body; errors of pymilvus and gRPC leave it as StoreUnavailable.

        :raises StoreUnavailable: the server does not work; at once if it did not a moment ago
        """
        import grpc
        from pymilvus.exceptions import MilvusException

        try:
            yield self._connected()
        except RemembrError:
            raise
        except _Away as error:
            raise self._away(str(error)) from error
        except (MilvusException, grpc.RpcError, grpc.FutureTimeoutError, ValueError) as error:
            if isinstance(error, ValueError) and 'closed channel' not in str(error):
                raise
            if away := _behind(error, _Away):  # some methods of pymilvus wrap whatever they meet
                raise self._away(str(away)) from error
            if isinstance(error, grpc.RpcError) and error.code() == grpc.StatusCode.DEADLINE_EXCEEDED:
                raise self._away(f'no answer within {self.timeout_s:g} s') from error
            raise self._unusable(error) from error

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            client, self._client, self._closed = self._client, None, True
        if client is not None:
            client.close()

    def _connected(self) -> Any:
        with self._lock:
            if self._closed:
                raise StoreUnavailable(f'the memory at {self.connection.shown} is closed')
            if self.problem:
                if time.monotonic() < self._retry_at:
                    raise StoreUnavailable(self.problem)
                self._retry_at = time.monotonic() + PROBE_S + RETRY_S  # the others need not ask meanwhile
            client = self._client
            if client is None:
                client = self._client = self._connect(PROBE_S if self.problem else CONNECT_S)
        if self.problem:
            self._probe(client)
            logger.info('the memory at %s works again', self.connection.shown)
            self.problem = ''
        return client

    def _connect(self, timeout_s: float) -> Any:
        import grpc
        from pymilvus import MilvusClient

        # pymilvus logs every failed request with its traceback; the error that is raised says the same once.
        logging.getLogger('pymilvus').setLevel(logging.CRITICAL)
        connection = self.connection
        options = list((_CHANNEL | (_LOCAL if connection.address.startswith('unix:') else {})).items())
        if connection.encrypted:
            if connection.server_name:
                options.append(('grpc.ssl_target_name_override', connection.server_name))  # type: ignore[arg-type]
            key, certificate = connection.certificate
            credentials = grpc.ssl_channel_credentials(connection.trusted, key, certificate)
            channel = grpc.secure_channel(connection.address, credentials, options)
        else:
            channel = grpc.insecure_channel(connection.address, options)
        try:
            return MilvusClient(
                uri=f'http://{connection.address}' if ':' in connection.address else connection.uri,
                token=connection.credentials,
                db_name=connection.database,
                timeout=timeout_s,
                dedicated=True,
                channel=grpc.intercept_channel(channel, _fail_fast()),
            )
        except BaseException:
            channel.close()
            raise

    def _probe(self, client: Any) -> None:
        import grpc

        try:
            client.get_server_version(timeout=PROBE_S)
        except grpc.RpcError as error:
            if error.code() == grpc.StatusCode.DEADLINE_EXCEEDED:
                raise _Away(f'no answer within {PROBE_S} s') from error
            if error.code() != grpc.StatusCode.UNIMPLEMENTED:  # Milvus Lite, and it is there
                raise

    def _away(self, details: str) -> StoreUnavailable:
        shown = self.connection.shown
        remedy = _remedy(details) or 'start the server, or check the network and the uri'
        problem = f'the memory at {shown} cannot be reached: {remedy} ({_short(details)})'
        with self._lock:
            self._retry_at = time.monotonic() + RETRY_S
            self.problem = problem
        return StoreUnavailable(problem)

    def _unusable(self, error: Exception) -> StoreUnavailable:
        import grpc

        details = getattr(error, 'message', None) or str(error)
        if hidden := _behind(error, grpc.RpcError):
            details = f'{details}: {hidden.details()}'
        shown, server, database = self.connection.shown, self.connection.server, self.connection.database
        if 'database not found' in str(details) or 'database:' in str(details):
            return StoreUnavailable(
                f'there is no database {database!r} at {server}; make it with: python3 -c "from pymilvus '
                f"import MilvusClient; MilvusClient('{server}', token='...').create_database('{database}')\""
            )
        if remedy := _remedy(f'{details} {error!r}'):
            return StoreUnavailable(f'the memory at {shown} does not work: {remedy} ({_short(str(details))})')
        return StoreUnavailable(f'the memory at {shown} does not work: {_short(str(details))}')


def _remedy(details: str) -> str:
    """Return what to do about an error; empty if that is not known."""
    text = details.lower()
    return next((remedy for words, remedy in _REMEDIES if any(word in text for word in words)), '')


def _behind(error: BaseException, kind: type[BaseException]) -> Any:
    """Return the error of a kind that an error was raised from; None if there is none."""
    seen: list[BaseException] = []
    waiting: list[BaseException | None] = [error.__cause__, error.__context__]
    while waiting:
        behind = waiting.pop()
        if isinstance(behind, kind):
            return behind
        if behind is not None and behind not in seen:
            seen.append(behind)
            waiting += [behind.__cause__, behind.__context__]
    return None


def _short(details: str) -> str:
    return ' '.join(details.split())[:300]


def _fail_fast() -> Any:
    """Return a gRPC interceptor that ends pymilvus's retries where the server is away."""
    import grpc

    class FailFast(grpc.UnaryUnaryClientInterceptor):  # type: ignore[misc]
        def intercept_unary_unary(self, continuation: Any, details: Any, request: Any) -> Any:
            call = continuation(details, request)
            lost = call.code() == grpc.StatusCode.UNKNOWN and 'Stream removed' in (call.details() or '')
            if lost or call.code() == grpc.StatusCode.UNAVAILABLE:
                raise _Away(call.details() or 'no connection')
            return call

    return FailFast()
