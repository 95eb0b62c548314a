"""A real Milvus server for tests and benchmarks; `make setup` makes .venv-milvus, which has it."""

import fcntl
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from remembr_ros.errors import StoreUnavailable

REPOSITORY = Path(__file__).resolve().parents[1]
PYTHON = REPOSITORY / '.venv-milvus' / 'bin' / 'python'

LOCK = Path(tempfile.gettempdir()) / 'remembr-test-milvus.lock'
"""Held while a server runs: two of its ports cannot be chosen, and tests run beside each other."""

START_S = 60.0
"""For a server to answer, and to be gone [s]."""

SERVER = """
import socket, sys
from milvus import MilvusServer, MilvusServerConfig

class Config(MilvusServerConfig):
    def try_bind_port(self, port):  # also where connections of the killed one are still being closed
        probe = socket.socket()
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(('127.0.0.1', port))
            probe.listen()
            return probe
        except OSError:
            probe.close()

config = Config()
config.set('common.session.ttl', '5')  # after a kill it waits so long for itself
for option in sys.argv[3:]:
    key, _, value = option.partition('=')
    config.set(key, value)
server = MilvusServer(config, data_dir=sys.argv[1], proxy_port=int(sys.argv[2]))
server.webservice_port = int(sys.argv[2]) + 1
server.start()
print(server.server_proc.pid, flush=True)
sys.stdin.read()
"""


def obstacle() -> str:
    """Return why no Milvus server can be started; empty if one can."""
    if not PYTHON.exists():
        return 'no Milvus server here: make setup makes .venv-milvus'
    for port in (2380, 13333):  # these cannot be chosen
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(('127.0.0.1', port))
            except OSError:
                return f'port {port} is taken: another Milvus server runs on this machine'
    return ''


class MilvusProcess:
    """A Milvus server that can be killed and started again at the same port.

    :param options: of its configuration, such as 'common.security.authorizationEnabled=true'
    """

    def __init__(self, folder: Path, *options: str) -> None:
        with socket.socket() as probe:
            probe.bind(('127.0.0.1', 0))
            self.port = probe.getsockname()[1]
        self._folder = folder
        self._options = options
        self._starter: subprocess.Popen[str] | None = None
        self._server: int = 0
        self._lock = -1

    @property
    def uri(self) -> str:
        return f'http://127.0.0.1:{self.port}'

    def start(self) -> None:
        """Start it as soon as no other one runs; it answers some seconds later."""
        self._lock = os.open(LOCK, os.O_CREAT | os.O_RDWR, 0o666)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self._starter = subprocess.Popen(
            [str(PYTHON), '-c', SERVER, str(self._folder), str(self.port), *self._options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        assert self._starter.stdout is not None
        line = self._starter.stdout.readline()
        if not line:
            os.close(self._lock)
            raise RuntimeError('the Milvus server did not start')
        self._server = int(line)

    def cpu_s(self) -> float:
        """Return how long it has computed so far [s]."""
        fields = Path(f'/proc/{self._server}/stat').read_text().rsplit(')', 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')

    def kill(self) -> None:
        """Kill -9 it and who started it."""
        if self._starter is not None:
            with suppress(ProcessLookupError):
                os.kill(self._server, signal.SIGKILL)
            self._starter.kill()
            self._starter.communicate()
            self._starter = None
            deadline = time.monotonic() + START_S
            while Path(f'/proc/{self._server}/exe').exists():  # gone for those who want its ports
                assert time.monotonic() < deadline
            os.close(self._lock)


def when_ready(do: Callable[[], object], deadline_s: float = START_S) -> object:
    """Do something as soon as the server can; return what it returns."""
    deadline = time.monotonic() + deadline_s
    while True:
        try:
            return do()
        except StoreUnavailable:
            if time.monotonic() > deadline:
                raise
