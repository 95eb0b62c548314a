"""Reads and writes files of memories: exports, backups, imports.

What is read is told by its content, not by its name: JSON Lines, plain or compressed, Parquet, and captions
that others made: upstream's captions files and graphs of street views.
"""

import gzip
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from remembr_ros.errors import BagUnreadable, InvalidRequest, RemembrError
from remembr_ros.memory.exchange.captions_file import read_captions
from remembr_ros.memory.exchange.json_lines import BOM, opened, read_lines, write_lines
from remembr_ros.memory.exchange.parquet import MAGIC, read_parquet, write_parquet
from remembr_ros.memory.exchange.portable_memory import Header, PortableMemory
from remembr_ros.memory.exchange.street_view import read_views

OnProgress = Callable[[int], None]

_GRAPH = re.compile(rb'(?:#[^\n]*\n\s*)*(?:graph\s*\[|Creator\b|Version\b)')


def write(
    path: Path, header: Header, items: Iterable[PortableMemory], on_progress: OnProgress = lambda count: None
) -> int:
    """Write memories to a file; it appears when it is whole, in place of an older one of that name.

    Holds some memories at a time, however many there are.

    :param path: Parquet if its name ends in .parquet, else JSON Lines, compressed if it ends in .gz
    :param header: vectors and images are written if it says so
    :param on_progress: called with the number of memories written so far
    :return: how many memories were written
    :raises InvalidRequest: a memory does not fit the header, or what Parquet needs is not installed
    :raises RemembrError: the file cannot be written
    """
    if header.vectors and not (header.dimension > 0 and header.embedder):
        raise InvalidRequest('vectors need the name and the dimension of the embedder that made them')
    part = path.with_name(f'{path.name}.{os.getpid()}.part')
    count = 0
    try:
        with part.open('wb') as file:
            if path.name.endswith('.parquet'):
                written = write_parquet(file, header, items)
            else:
                written = write_lines(file, header, items, compress=path.name.endswith('.gz'))
            for count in written:
                on_progress(count)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise RemembrError(f'{path} cannot be written: {error}; make room or choose another place') from error
    finally:
        with suppress(OSError):
            part.unlink()
    return count


def read(path: Path) -> tuple[Header, Iterator[PortableMemory]]:
    """Return what a file says of itself, and its memories one by one, in the order of the file.

    :raises BagUnreadable: it is missing, damaged, of another version or no file of memories; the iterator
        raises it where a file is cut off or damaged further on: the memories before are whole
    :raises InvalidRequest: what Parquet needs is not installed
    """
    try:
        with opened(path) as file:
            head, compressed = file.read1(4096), isinstance(file, gzip.GzipFile)
    except (OSError, EOFError, zlib.error) as error:
        raise BagUnreadable(f'{path} cannot be read: {error}') from error
    start = head.removeprefix(BOM).lstrip()
    if not start:
        raise BagUnreadable(f'{path} is empty; nothing can be read from it')
    if start.startswith(MAGIC) and not compressed:
        return read_parquet(path)
    if start.startswith(b'{'):
        return read_lines(path)
    captions = start.startswith(b'[')
    if not captions and not _GRAPH.match(start):
        raise BagUnreadable(
            f'{path} is no file of memories; these can be read: what remembr exports (JSON Lines or '
            "Parquet), upstream's captions (JSON) and street views (GML). A recording is remembered with: "
            'remembr ingest'
        )
    if compressed:
        raise BagUnreadable(f'{path} is compressed; decompress it first, with: gunzip {path}')
    memories = [s.memory for s in read_captions(path, path.stem)] if captions else read_views(path)
    return Header(count=len(memories)), map(PortableMemory, memories)
