"""The process of an embedded database (Milvus Lite)."""

import shutil
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

        def stop(self) -> None:
            super().stop()
            if self.home:
                shutil.rmtree(self.home, ignore_errors=True)

    return ServerWithHome(str(path))
