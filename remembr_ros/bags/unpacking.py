"""Files of a recording that are no use where they lie, made ready in a folder of their own.

A whole file that rosbag2 compressed is unpacked. A database whose recorder was killed has its last messages
beside it, in SQLite's write-ahead log, or a change half made there: rosbags does not look there.
"""

import errno
import logging
import shutil
import sqlite3
from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from remembr_ros.bags.layout import ZSTD_SUFFIX
from remembr_ros.decompression import zstd
from remembr_ros.errors import BagUnreadable

_log = logging.getLogger(__name__)


def ready(file: Path, until: ExitStack) -> Path:
    """Return the file to open: this one, or a copy of it that is gone when the stack is closed.

    :raises BagUnreadable: the disk of temporary files is full
    """
    beside = [b for end in ('-wal', '-journal') if (b := Path(f'{file}{end}')).exists() and b.stat().st_size]
    if file.suffix != ZSTD_SUFFIX and not beside:
        return file
    try:
        folder = Path(until.enter_context(TemporaryDirectory(prefix='remembr-bag-')))
        if not beside:
            unpacked = folder / file.stem
            with zstd().open(file) as packed, unpacked.open('wb') as out:
                shutil.copyfileobj(packed, out, 2**20)
            return unpacked
        return _settled(file, beside, folder)
    except (OSError, sqlite3.OperationalError) as error:
        if getattr(error, 'errno', None) not in {errno.ENOSPC, errno.EDQUOT} and 'is full' not in str(error):
            raise
        where = f'{gettempdir()} has no space for a copy of {file}, without which it cannot be read'
        raise BagUnreadable(f'{where}; name a larger disk with TMPDIR') from error


def _settled(file: Path, beside: list[Path], folder: Path) -> Path:
    for each in (file, *beside):
        shutil.copyfile(each, folder / each.name)
    copy = folder / file.name
    with closing(sqlite3.connect(copy)) as database:
        # As a recorder would on opening it: what was committed is there, what was not is gone.
        database.execute('PRAGMA wal_checkpoint(TRUNCATE)')
        database.execute('PRAGMA journal_mode = DELETE')
    names = ' and '.join(each.name for each in beside)
    _log.warning('%s was not closed by its recorder: read with %s, from a copy', file, names)
    return copy
