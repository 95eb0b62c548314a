"""A process that has everything imported and no thread of its own: it forks those that are to be killed.

    python -m test.kills.zygote

Reads a job per line (JSON), answers with its process id, and when it and its database have ended with how.
"""

import ctypes
import faulthandler
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from remembr_ros.cli import main
from remembr_ros.cli.verbs import ingest
from remembr_ros.memory import whole_changes
from remembr_ros.memory.embedded import passage_index, volumes
from remembr_ros.memory.exchange import transfer
from test.integration.durable_writer import make_small
from test.kills.state import state_of
from test.kills.steps import Steps
from test.kills.verbs import VERBS, prepare

REPOSITORY = Path(__file__).resolve().parents[2]
ENDS_S = 30.0
"""For the database of a killed process to end by itself."""

HANGS_S = 60.0
"""Longer than any job takes; it ends with the traceback of what it does."""

_PR_SET_CHILD_SUBREAPER = 36


class Zygote:
    """Runs jobs in new processes, one after the other. Without a thread: jobs end, or are killed."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, '-m', 'test.kills.zygote'],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1', 'GRPC_VERBOSITY': 'NONE'},
        )

    def __enter__(self) -> 'Zygote':
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate('')

    def start(self, **job: Any) -> int:
        """Begin a job; return the id of its process and of the group that its database is in, too."""
        assert self._process.stdin is not None
        self._process.stdin.write(f'{json.dumps(job)}\n')
        self._process.stdin.flush()
        return int(self._answer()['pid'])

    def wait(self) -> int:
        """Return how the job ended: its exit code, or minus the signal."""
        return int(self._answer()['code'])

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, 'the zygote has ended'
        answer: dict[str, Any] = json.loads(line)
        assert 'problem' not in answer, answer
        return answer


def serve() -> None:
    """Do jobs until there are no more."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    _warm_up()
    for line in sys.stdin:
        job = json.loads(line)
        pid = os.fork()
        if pid == 0:
            os.setpgid(0, 0)
            code = 70
            try:
                code = _do(**job)
            except BaseException:  # noqa: BLE001  a process ends here
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        _tell(pid=pid)
        _, status = os.waitpid(pid, 0)
        if job.get('patient', True) and not _all_ended():
            _tell(problem=f'the database has not ended after {ENDS_S:.0f} s')
        else:
            _tell(code=os.waitstatus_to_exitcode(status))


def _tell(**answer: object) -> None:
    sys.stdout.write(f'{json.dumps(answer)}\n')
    sys.stdout.flush()


def _all_ended() -> bool:
    deadline = time.monotonic() + ENDS_S
    while time.monotonic() < deadline:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return True
        if pid == 0:
            signal.sigtimedwait([signal.SIGCHLD], 0.01)
    return False


def _warm_up() -> None:
    """Import what a job would; make volumes and batches so small that a few memories fill several."""
    import faiss  # noqa: F401
    import pymilvus  # noqa: F401

    with warnings.catch_warnings():
        warnings.simplefilter('ignore')  # as in remembr_ros.memory.milvus.lite_process
        import milvus_lite.server

    class Popen(subprocess.Popen):  # type: ignore[type-arg]
        def wait(self, timeout: float | None = None) -> int:
            # Milvus Lite takes half a second to see that a process has not failed; who opens it looks again.
            return super().wait(0.01 if timeout == 0.5 else timeout)

    milvus_lite.server.subprocess = SimpleNamespace(Popen=Popen, TimeoutExpired=subprocess.TimeoutExpired)
    make_small()
    volumes.FULL, passage_index.FEW = 20, 40
    volumes.BATCH, whole_changes.BATCH, transfer.BATCH, ingest.BATCH = 6, 6, 6, 1
    for verb in main.VERBS:
        importlib.import_module(main._module(verb))


def _do(do: str, folder: str, said: str, **job: Any) -> int:
    """Do a job in its folder, with m, inputs and tmp; what is printed or found goes to files in said."""
    root, results = Path(folder), Path(said)
    for stream, name in ((1, 'out'), (2, 'err')):
        os.dup2(os.open(results / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    faulthandler.dump_traceback_later(HANGS_S, exit=True)
    (root / 'tmp').mkdir(exist_ok=True)
    tempfile.tempdir = os.environ['TMPDIR'] = str(root / 'tmp')
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    if do == 'prepare':
        prepare(root)
        return 0
    if do == 'state':
        (results / 'state.json').write_text(json.dumps(state_of(root / 'm' / 'memory.db')))
        return 0
    steps = Steps(root / 'm', job.get('at', 0), job.get('how', ''))
    steps.watch()
    code = VERBS[job['verb']].act(root / 'm', Path(job['inputs']))
    (results / 'steps.json').write_text(json.dumps(steps.labels))
    return code


if __name__ == '__main__':
    serve()
