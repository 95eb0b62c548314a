"""What is about to become of rows that are there already, so that it can be done again when it was cut off.

Milvus Lite replaces a row by deleting it and inserting it again, and does not do both at once: of 8 processes
killed during updates of 100 rows one lost all of them. Kept in a file beside the database, for one write at a
time.
"""

import base64
import json
import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from remembr_ros.errors import StoreUnavailable
from remembr_ros.memory import schema
from remembr_ros.memory.durable import sync_folder
from remembr_ros.memory.engine import Entry
from remembr_ros.memory.record import Memory


@dataclass(frozen=True, slots=True)
class Change:
    """A write to rows that are there, each with the number of its volume; doing it twice does no harm.

    :param replaced: memories with new texts
    :param updated: memories whose texts stay the same
    :param deleted: ids
    """

    replaced: tuple[tuple[int, Entry], ...] = ()
    updated: tuple[tuple[int, Memory], ...] = ()
    deleted: tuple[tuple[int, str], ...] = ()


class Journal:
    """Keeps a change until it is done. Not safe to share between threads.

    :param path: made when first needed
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.pending = self._read()
        """What was begun and is not known to be done; None: nothing."""

    def begin(self, change: Change) -> None:
        """Note a change, durably.

        :raises StoreUnavailable: the disk is full; nothing must be changed
        """
        data = json.dumps(_to_json(change), separators=(',', ':')).encode()
        try:
            new = not self._path.exists()
            with self._path.open('wb') as file:
                file.write(b'%08x\n' % zlib.crc32(data) + data)
                file.flush()
                os.fsync(file.fileno())
            if new:
                sync_folder(self._path.parent)
        except OSError as error:
            raise StoreUnavailable(f'cannot write {self._path}: {error}; make room') from error
        self.pending = change

    def end(self) -> None:
        """Forget the change: it is done.

        :raises StoreUnavailable: the disk does not work; it will be done again
        """
        try:
            if self._path.exists():
                with self._path.open('wb') as file:
                    os.fsync(file.fileno())
        except OSError as error:
            raise StoreUnavailable(f'cannot write {self._path}: {error}') from error
        self.pending = None

    def _read(self) -> Change | None:
        try:
            head, _, data = self._path.read_bytes().partition(b'\n')
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreUnavailable(f'cannot read {self._path}: {error}') from error
        # One that is not whole was cut off before anything was changed.
        return _from_json(json.loads(data)) if head == b'%08x' % zlib.crc32(data) and data else None


def _to_json(change: Change) -> dict[str, Any]:
    return {
        'replaced': [
            [number, schema.record_row(e.memory, False), _to_text(e), e.vectors.shape[1]]
            for number, e in change.replaced
        ],
        'updated': [[number, schema.record_row(memory, False)] for number, memory in change.updated],
        'deleted': change.deleted,
    }


def _from_json(noted: dict[str, Any]) -> Change:
    return Change(
        replaced=tuple(
            (number, Entry(schema.memory_from_row(row), _vectors(text, dimension)))
            for number, row, text, dimension in noted['replaced']
        ),
        updated=tuple((number, schema.memory_from_row(row)) for number, row in noted['updated']),
        deleted=tuple((number, memory_id) for number, memory_id in noted['deleted']),
    )


def _to_text(entry: Entry) -> str:
    return base64.b64encode(np.asarray(entry.vectors, '<f4').tobytes()).decode()


def _vectors(text: str, dimension: int) -> Any:
    return np.frombuffer(base64.b64decode(text), '<f4').reshape(-1, dimension).astype(np.float32)
