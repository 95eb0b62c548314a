"""`transformers serve`, a real server that speaks OpenAI's API, with a model that a test made."""

import os
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STARTUP_S = 90.0
"""Importing torch and transformers takes some 10 s, on a busy machine more."""


@contextmanager
def served(model: Path, scratch: Path) -> Iterator[str]:
    """Serve a model in a process of its own.

    :param model: its folder
    :param scratch: an empty folder, for the log and the hub's files
    :return: the URL of the server
    """
    with socket.create_server(('127.0.0.1', 0)) as free:
        port = free.getsockname()[1]
    log = scratch / 'log'
    command = [sys.executable, '-m', 'transformers.cli.transformers', 'serve', str(model)]
    environment = {
        **os.environ,
        'HF_HUB_OFFLINE': '1',
        'HF_HOME': str(scratch),
        'OMP_NUM_THREADS': '1',
        'CUDA_VISIBLE_DEVICES': '',
    }
    with log.open('wb') as output:
        process = subprocess.Popen(
            [*command, '--host', '127.0.0.1', '--port', str(port), '--device', 'cpu'],
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
        )
    try:
        deadline = time.monotonic() + STARTUP_S
        while not _is_up(port):
            assert process.poll() is None, log.read_text()[-3_000:]
            assert time.monotonic() < deadline, f'not up in time:\n{log.read_text()[-3_000:]}'
            threading.Event().wait(0.1)
        yield f'http://127.0.0.1:{port}/v1'
    finally:
        process.kill()
        process.wait(10.0)


def _is_up(port: int) -> bool:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f'http://127.0.0.1:{port}/health', timeout=5.0) as response:
            return bool(response.status == 200)
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
