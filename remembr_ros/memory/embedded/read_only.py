"""A memory on a read-only disk: a copy is read.

Milvus Lite and the index open their files for writing, whatever is done with them. They get a copy, and once
they have read it or have it open its names are deleted: wherever the process ends, nothing of it is left.
Keyframes are read from where they are.
"""

import fcntl
import logging
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from remembr_ros.errors import StoreUnavailable
from remembr_ros.memory.embedded.engine import EmbeddedEngine, size_on_disk
from remembr_ros.memory.milvus.lite_process import in_use
from remembr_ros.memory.model.engine import Entry, Summary
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.writable import RESERVE, check_writable

logger = logging.getLogger(__name__)


class ReadOnlyEngine(EmbeddedEngine):
    """The engine of a copy: it finds what is there when it is opened, and changes nothing.

    :param path: of the database
    :raises StoreUnavailable: there is no room for a copy, another process has it, or there is no collection
    :raises StoreMismatch: another program, or a newer version of this one, made it
    """

    def __init__(self, path: Path, collection: str) -> None:
        self._original = path.resolve()
        with ExitStack() as undo:
            folder = Path(tempfile.mkdtemp(prefix='remembr-'))
            undo.callback(shutil.rmtree, folder, ignore_errors=True)
            self._size = _copy(self._original, collection, folder)
            logger.warning('%s cannot be written: it is read as it is now, and nothing is stored', path)
            try:
                super().__init__(str(folder / self._original.name), collection, None)
            except StoreUnavailable as error:
                raise StoreUnavailable(str(error).replace(str(folder), str(self._original.parent))) from error
            self._disconnect()
            for file in folder.rglob('*'):
                if not file.is_dir():
                    file.unlink()
            self._undo = undo.pop_all()

    def put(self, entries: Sequence[Entry]) -> None:
        self._refuse()

    def update(self, memories: Sequence[Memory]) -> None:
        self._refuse()

    def delete(self, ids: Sequence[str]) -> None:
        self._refuse()

    def vacuum(self) -> None:
        self._refuse()

    def summary(self) -> Summary:
        return replace(super().summary(), bytes=self._size)

    def close(self) -> None:
        super().close()
        self._undo.close()

    def _refuse(self) -> NoReturn:
        check_writable(self._original)
        raise StoreUnavailable(
            f'the memory {self._original} was opened when it could not be written; open it anew'
        )


def _copy(path: Path, collection: str, folder: Path) -> int:
    """Copy what is read of a memory into a folder; return its size [bytes]."""
    index = Path(f'{path}.index') / collection
    paths = [path, *path.parent.glob(f'{path.name}[-.]*'), *index.glob('*')]
    files = [file for file in paths if file.is_file()]
    size = sum(map(size_on_disk, files))
    free = shutil.disk_usage(folder).free
    if free < size + RESERVE:
        raise StoreUnavailable(
            f'{path} cannot be written, and reading it takes a copy of {size / 1e6:.0f} MB in '
            f'{folder.parent}, where {free / 1e6:.0f} MB are free. Make room, or set TMPDIR to another folder'
        )
    try:
        with _unchanged(path):
            for file in files:
                copy = folder / file.relative_to(path.parent)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, copy)
    except OSError as error:
        raise StoreUnavailable(f'{path} cannot be read: {error}') from error
    return size


@contextmanager
def _unchanged(path: Path) -> Iterator[None]:
    """Keep processes from changing a memory meanwhile: what is read-only here may be written elsewhere."""
    lock = path.parent / f'.{path.name}.lock'
    if not lock.exists():
        yield
        return
    with lock.open('rb') as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise StoreUnavailable(in_use(path, lock)) from error
        yield
