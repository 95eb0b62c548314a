"""Whether the index is up to date with its database, known without reading the rows.

Each process that opens a database marks it with a token of its own, and SQLite counts what is written to
it; the index notes both. A write is noted before it begins, with the volume from which on rows may be new.
"""

import json
import os
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

from remembr_ros.memory.embedded.index_files import Damaged
from remembr_ros.memory.milvus.lite_process import Mark

FORMAT = 3  # of the index's files; others are made anew
_SIZE = 512  # bytes; within one page, so that a kill leaves it as it was, or as it shall be


class IndexState:
    """The note of an index, in its folder."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / 'state.json'
        self._file: int | None = None
        self._of = ''
        self._boot = Path('/proc/sys/kernel/random/boot_id').read_text().strip()
        self._known = self._read()

    def announce(self, token: int) -> None:
        """Note which token the database is going to be marked with, if there is an index.

        :raises OSError: the disk does not work
        """
        if self._known:
            self._write(self._known | {'next': token})

    @property
    def slots(self) -> int:
        """How many slots the index has at least."""
        return int(self._known.get('slots', 0))

    def in_doubt(self, memory_name: str, found: Mark | None) -> int | None:
        """Return the number of the first volume whose rows may not be in the index; None: all rows are.

        :param memory_name: what the collection says of itself
        :param found: how the database was found
        :raises Damaged: the index is of another database or version and says nothing
        """
        self._of = f'{FORMAT} {memory_name}'
        known = self._known
        if not known or known['of'] != self._of:
            raise Damaged('there is none of this version')
        if found is None or found.token not in (known['token'], known['next']):
            raise Damaged('it is of another database')
        if not known['closed'] and known['boot'] != self._boot:
            return 0  # without power what was written last may be gone
        if known['since'] is not None:
            return int(known['since'])
        return None if known['commits'] == found.commits else 0

    def begin(self, token: int, since: int, slots: int) -> None:
        """Note that rows are about to be written.

        :param since: the volume that new ones go into
        :raises OSError: the disk does not work
        """
        if self._known.get('since') is not None:  # from the last write, which failed
            since = min(since, self._known['since'])
        self._note(token, since, self._known.get('commits', 0), slots)

    def end(self, token: int, commits: int, slots: int, closed: bool = False) -> None:
        """Note that the index has what the database has.

        :param closed: all of it is on the disk
        :raises OSError: the disk does not work
        """
        self._note(token, None, commits, slots, closed)
        if closed and self._file is not None:
            os.fsync(self._file)

    def distrust(self, token: int) -> None:
        """Note that rows of every volume may not be in the index."""
        try:
            self.begin(token, 0, 0)
        except OSError:
            self.close()
            with suppress(OSError):
                self._path.unlink()

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _note(self, token: int, since: int | None, commits: int, slots: int, closed: bool = False) -> None:
        note = {'of': self._of, 'token': token, 'next': token, 'commits': commits, 'slots': slots}
        self._write(note | {'since': since, 'boot': self._boot, 'closed': closed})

    def _write(self, note: dict[str, Any]) -> None:
        self._known = note
        data = json.dumps(note, separators=(',', ':')).encode()
        if self._file is None:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
        os.pwrite(self._file, (b'%08x ' % zlib.crc32(data) + data).ljust(_SIZE) + b'\n', 0)

    def _read(self) -> dict[str, Any]:
        try:
            head, _, data = self._path.read_bytes()[:_SIZE].partition(b' ')
            data = data.rstrip()
            return dict(json.loads(data)) if head == b'%08x' % zlib.crc32(data) else {}
        except (OSError, ValueError, TypeError):
            return {}
