"""The process of an embedded database (Milvus Lite)."""

import fcntl
import os
import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path
from typing import Any


def lite_server(path: Path) -> Any:
    """Return a milvus_lite.server.Server of a file, with a home of its own while it runs.

    Milvus Lite makes and removes ~/.cache/milvus, whoever else uses it: where one database is closed while
    another is opened, the other fails.
    """
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')  # it imports pkg_resources, which is deprecated
        from milvus_lite.server import Server

    class ServerWithHome(Server):  # type: ignore[misc]  # it has no types
        home = ''

        @property
        def args(self) -> list[Any]:
            # Asked for once, when it has the file's lock.
            self.home = tempfile.mkdtemp(prefix='milvus-lite-')
            return ['env', f'HOME={self.home}', *super().args]

        def start(self) -> bool:
            # As its own, which then waits for half a second: who starts it looks at once, and again.
            self._lock_fd = open(self._lock_path, 'a')  # noqa: SIM115  held until stop
            try:
                fcntl.lockf(self._lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            libraries = os.pathsep.join((str(self._bin_path), os.environ.get('LD_LIBRARY_PATH', '')))
            environment = os.environ | {'LD_LIBRARY_PATH': libraries}
            self._p = subprocess.Popen(self.args, env=environment, cwd=self._work_dir)
            return True

        def stop(self) -> None:
            super().stop()
            if self.home:
                shutil.rmtree(self.home, ignore_errors=True)

    return ServerWithHome(str(path))
