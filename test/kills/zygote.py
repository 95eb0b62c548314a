"""A process that has everything imported and no thread of its own: it forks those that are to be killed.

    python -m test.kills.zygote

Reads a job per line (JSON), answers with its process id, and when it has ended with how.
"""

import faulthandler
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

from remembr_ros.cli import main
from remembr_ros.cli.verbs import ingest
from remembr_ros.memory import whole_changes
from remembr_ros.memory.embedded import passage_index
from remembr_ros.memory.exchange import transfer
from test.integration.durable_writer import make_small
from test.kills.recordings import VERBS
from test.kills.state import state_of
from test.kills.steps import Steps
from test.kills.verbs import prepare

REPOSITORY = Path(__file__).resolve().parents[2]
HANGS_S = 60.0
"""Longer than any job takes; it ends with the traceback of what it does."""


class Zygote:
    """Runs jobs in new processes, one after the other. Without a thread: jobs end, or are killed."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, '-m', 'test.kills.zygote'],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1'},
        )

    def __enter__(self) -> 'Zygote':
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate('')

    def start(self, **job: Any) -> int:
        """Begin a job; return the id of its process."""
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
    _warm_up()
    for line in sys.stdin:
        job = json.loads(line)
        pid = os.fork()
        if pid == 0:
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
        _tell(code=os.waitstatus_to_exitcode(status))


def _tell(**answer: object) -> None:
    sys.stdout.write(f'{json.dumps(answer)}\n')
    sys.stdout.flush()


def _warm_up() -> None:
    """Import what a job would; make batches so small that a few memories fill several."""
    import faiss  # noqa: F401

    make_small()
    passage_index.FEW = 40
    whole_changes.BATCH, transfer.BATCH, ingest.BATCH = 6, 6, 1
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
    verb = VERBS.get(job.get('verb', ''))
    if do == 'prepare':
        (verb.prepare if verb and verb.prepare else prepare)(root)
        return 0
    assert verb is not None
    if do == 'state':
        (results / 'state.json').write_text(json.dumps(state_of(root / 'm' / 'memory.db', verb.live)))
        return 0
    steps = Steps(root / 'm', job.get('at', 0), job.get('how', ''))
    steps.watch()
    code = verb.act(root / 'm', Path(job['inputs']))
    (results / 'steps.json').write_text(json.dumps(steps.labels))
    return code


if __name__ == '__main__':
    serve()
