"""The real models of `make models`: where they are, a server of llama.cpp, and Piper."""

import os
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from remembr_ros.speech.sound.audio import Audio
from test.patience import holds_within
from test.sound import load_wav

MODELS = Path(__file__).resolve().parents[2] / '.cache/models'
STARTUP_S = 60.0
"""Reading 0.5 GB takes a second, from a slow and busy disk more."""

_SERVER = """
import sys
from xllamacpp import CommonParams, Server
params = CommonParams()
params.model.path = sys.argv[1]
params.port = int(sys.argv[2])
params.hostnames = ['127.0.0.1']
params.n_ctx = 12288
params.n_parallel = 1
params.use_jinja = True
server = Server(params)
sys.stdin.read()
"""


def model_folder(name: str) -> Path:
    """Return the folder of a model, or skip the test where it is not there."""
    folder = MODELS / name
    if not folder.is_dir():
        pytest.skip(f'needs the model {name}: make models fetches it')
    return folder


def _environment() -> dict[str, str]:
    """Return the environment of a process that takes its packages from `make models`, too."""
    # Threads that spin while they wait for each other keep the cores from those that they wait for.
    spinless = {'OMP_WAIT_POLICY': 'passive', 'GOMP_SPINCOUNT': '0'}
    return {**os.environ, **spinless, 'PYTHONPATH': str(model_folder('python'))}


@contextmanager
def llama_server(model: Path, log: Path) -> Iterator[str]:
    """Serve a GGUF file in a process of its own.

    :param log: a file for what the server prints
    :return: the URL of the server
    """
    with socket.create_server(('127.0.0.1', 0)) as free:
        port = free.getsockname()[1]
    with log.open('wb') as output:
        process = subprocess.Popen(
            # Tests of nodes that run beside it have deadlines; it has none.
            ['nice', '-n', '19', sys.executable, '-c', _SERVER, str(model), str(port)],
            stdin=subprocess.PIPE,  # it ends with this process, too
            stdout=output,
            stderr=subprocess.STDOUT,
            env=_environment(),
        )
    try:
        assert holds_within(STARTUP_S, lambda: process.poll() is not None or _is_up(port)), log.read_text()
        assert process.poll() is None, log.read_text()
        yield f'http://127.0.0.1:{port}/v1'
    finally:
        process.kill()
        process.communicate(timeout=10.0)


def _is_up(port: int) -> bool:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f'http://127.0.0.1:{port}/health', timeout=5.0) as response:
            return bool(response.status == 200)
    except (urllib.error.HTTPError, OSError):
        return False


def spoken(texts: Sequence[str], folder: Path) -> list[Audio]:
    """Have Piper speak texts, each time the same.

    :param folder: an empty one, for the recordings
    :return: 16 kHz
    """
    voice = next(model_folder('piper-voice').glob('*.onnx'))
    chanceless = ('--noise-scale', '0', '--noise-w-scale', '0')
    subprocess.run(
        [sys.executable, '-m', 'piper', '--model', voice, '--output-dir', folder, *chanceless],
        input='\n'.join(texts),
        text=True,
        env=_environment(),
        capture_output=True,
        check=True,
        timeout=120.0,
    )
    return [load_wav(path) for path in sorted(folder.glob('*.wav'))]  # named by when they were made
