"""A journal of changes to stored rows, applied again when one was interrupted.

Milvus Lite replaces a row by deleting it and inserting it again, and does not do both at once: of 8 processes
killed during updates of 100 rows one lost all of them. Kept in a file beside the database, for one write at a
time.
"""

import base64
import json
import logging
import os
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from remembr_ros.errors import StoreMismatch, StoreUnavailable
from remembr_ros.memory.durable import sync_folder
from remembr_ros.memory.embedded.row_runs import Floats
from remembr_ros.memory.model.codec import checked, to_plain
from remembr_ros.memory.model.engine import Entry
from remembr_ros.memory.model.record import Memory

logger = logging.getLogger(__name__)


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


_START = b'{"of":'  # of every note
Number = Annotated[int, Field(ge=0, lt=2**63)]


class _Note(BaseModel):
    model_config = ConfigDict(strict=True, extra='forbid')
    of: str
    replaced: list[tuple[Number, dict[str, Any], str, Number]]
    updated: list[tuple[Number, dict[str, Any]]]
    deleted: list[tuple[Number, str]]


class Journal:
    """Keeps a change until it is done. Not safe to share between threads.

    :param path: made when first needed
    :param identity: of the memory
    :raises StoreMismatch: the file is something else, of another memory or version; it stays as it is
    """

    def __init__(self, path: Path, identity: str) -> None:
        self._path = path
        self._of = identity
        self.pending = self._read()
        """What was begun and is not known to be done; None: nothing."""

    def begin(self, change: Change) -> None:
        """Note a change, durably.

        :raises StoreUnavailable: the disk is full; nothing must be changed
        """
        rows = {
            'of': self._of,
            'replaced': [
                [n, to_plain(e.memory), _to_text(e.vectors), e.vectors.shape[1]] for n, e in change.replaced
            ],
            'updated': [[number, to_plain(memory)] for number, memory in change.updated],
            'deleted': change.deleted,
        }
        data = json.dumps(rows, separators=(',', ':')).encode()
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
            content = self._path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreUnavailable(f'cannot read {self._path}: {error}') from error
        head, _, data = content.partition(b'\n')
        if data and head == b'%08x' % zlib.crc32(data):
            try:
                note = _Note.model_validate_json(data)
                if note.of != self._of:
                    raise self.mismatch()
                return _from_note(note)
            except (ValidationError, ValueError) as error:
                raise self.mismatch() from error
        if not _is_torn(head, data):
            raise self.mismatch()
        if content:
            self.end()  # nothing was changed; what was noted has texts, too
        return None

    def mismatch(self) -> StoreMismatch:
        """Return the error that the file is of another program, or of another memory."""
        return StoreMismatch(
            f'{self._path} is not a journal of this memory, or is one of another version; open the memory '
            'with that version, or move the file away: what was being written when it ended may be lost then'
        )


def put_aside(path: Path) -> None:
    """Move a journal away whose memory is no longer there; a new one begins in its place.

    :raises StoreUnavailable: the disk does not work
    """
    aside = path.with_name(f'{path.name}.aside')
    try:
        if path.exists() and path.stat().st_size:
            os.replace(path, aside)
            sync_folder(path.parent)
            logger.warning('%s is of a memory that was removed, and lies in %s now', path, aside)
    except OSError as error:
        raise StoreUnavailable(f'cannot move {path} away: {error}') from error


def _is_torn(head: bytes, data: bytes) -> bool:
    """Tell whether these can be of a note that was cut off, or that a power cut made zeros."""
    if head.startswith(b'\0'):
        return True
    data = data.rstrip(b'\0')
    begins = data.startswith(_START) or _START.startswith(data)
    return begins and re.fullmatch(rb'[0-9a-f]{0,8}', head.rstrip(b'\0')) is not None


def _from_note(note: _Note) -> Change:
    return Change(
        replaced=tuple((n, Entry(checked(row), _vectors(text, d))) for n, row, text, d in note.replaced),
        updated=tuple((number, checked(row)) for number, row in note.updated),
        deleted=tuple(note.deleted),
    )


def _to_text(vectors: Floats) -> str:
    return base64.b64encode(np.asarray(vectors, '<f4').tobytes()).decode()


def _vectors(text: str, dimension: int) -> Floats:
    raw = base64.b64decode(text, validate=True)
    return np.frombuffer(raw, '<f4').reshape(-1, dimension).astype(np.float32)
