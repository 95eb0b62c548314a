"""Exports memories to a file and imports them, a batch at a time; backups are exports, too."""

import gzip
import logging
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from remembr_ros.errors import BagUnreadable, InvalidRequest, RemembrError
from remembr_ros.memory.exchange.captions_file import read_captions
from remembr_ros.memory.exchange.json_lines import (
    BOM,
    Header,
    PortableMemory,
    opened,
    read_lines,
    write_lines,
)
from remembr_ros.memory.keyframes.files import keyframe_name
from remembr_ros.memory.matching.ranking import passages
from remembr_ros.memory.model.engine import Entry
from remembr_ros.memory.model.recall import ANYTHING, Scope
from remembr_ros.memory.model.record import Memory, Observation, memory_id
from remembr_ros.memory.model.storable import storable
from remembr_ros.memory.store import MemoryStore

OnProgress = Callable[[int], None]

_log = logging.getLogger(__name__)


def write(
    path: Path, header: Header, items: Iterable[PortableMemory], on_progress: OnProgress = lambda count: None
) -> int:
    """Write memories to a file; it appears when it is whole, in place of an older one of that name.

    Holds some memories at a time, however many there are.

    :param path: JSON Lines, compressed if its name ends in .gz
    :param header: vectors and images are written if it says so
    :param on_progress: called with the number of memories written so far
    :return: how many memories were written
    :raises InvalidRequest: a memory does not fit the header
    :raises RemembrError: the file cannot be written
    """
    if header.vectors and not (header.dimension > 0 and header.embedder):
        raise InvalidRequest('vectors need the name and the dimension of the embedder that made them')
    part = path.with_name(f'{path.name}.{os.getpid()}.part')
    count = 0
    try:
        with part.open('wb') as file:
            for count in write_lines(file, header, items, compress=path.name.endswith('.gz')):
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
    """
    try:
        with opened(path) as file:
            head, compressed = file.read1(4096), isinstance(file, gzip.GzipFile)
    except (OSError, EOFError, zlib.error) as error:
        raise BagUnreadable(f'{path} cannot be read: {error}') from error
    start = head.removeprefix(BOM).lstrip()
    if not start:
        raise BagUnreadable(f'{path} is empty; nothing can be read from it')
    if start.startswith(b'{'):
        return read_lines(path)
    if start.startswith((b'\xff\xfe', b'\xfe\xff')):
        raise BagUnreadable(f'{path} is in UTF-16, as PowerShell writes it; save it in UTF-8')
    if not start.startswith(b'['):
        raise BagUnreadable(
            f'{path} is no file of memories; these can be read: what remembr exports (JSON Lines) '
            "and upstream's captions (JSON). A recording is remembered with: remembr ingest"
        )
    if compressed:
        raise BagUnreadable(f'{path} is compressed; decompress it first, with: gunzip {path}')
    segments = read_captions(path, path.stem)
    return Header(count=len(segments)), (PortableMemory(segment.memory) for segment in segments)


BATCH = 64  # memories that are held at once, with their images


@dataclass(slots=True)
class Imported:
    """What became of the memories of a file.

    :param read: how many there were
    :param added: new ones
    :param replaced: those that the store had, but otherwise
    :param embedded: those whose vectors were made anew
    """

    read: int = 0
    added: int = 0
    replaced: int = 0
    embedded: int = 0

    @property
    def unchanged(self) -> int:
        return self.read - self.added - self.replaced


def export_memories(
    store: MemoryStore,
    path: Path,
    scope: Scope = ANYTHING,
    *,
    vectors: bool = True,
    keyframes: bool = True,
    on_progress: OnProgress = lambda count: None,
    on_damaged: Callable[[str, str], object] = lambda memory_id, name: None,
) -> int:
    """Write memories to a file, oldest first; the same memories make the same file.

    Images that are not here, such as of another robot, and damaged ones are left out; the latter are logged.

    :param path: its name says the format, see :func:`write`
    :param vectors: write the vectors, too: a store with the same embedder need not make them again
    :param keyframes: write the images, too
    :param on_progress: called with the number of memories written so far
    :param on_damaged: called with the id of a memory and the name of a keyframe of it that is damaged
    :return: how many memories were written
    :raises InvalidRequest: the scope makes no sense
    :raises StoreUnavailable: the database does not work
    :raises RemembrError: the file cannot be written
    """
    # The ids alone are held: a hundred thousand memories with their texts would take much room.
    chosen = store.engine.select(store.resolved(scope))
    ids = [memory_id for _, memory_id in sorted((m.start_ns, m.id) for m in chosen)]
    stamp = store.engine.stamp
    made_by = (stamp.embedder, stamp.dimension) if vectors else ('', 0)
    header = Header(*made_by, vectors=vectors, keyframes=keyframes, count=len(ids))
    return write(path, header, _items(store, ids, header, on_damaged), on_progress)


def import_memories(
    store: MemoryStore,
    path: Path,
    *,
    robot: str = '',
    map_id: str | None = None,
    on_progress: OnProgress = lambda count: None,
) -> Imported:
    """Store the memories of a file. Doing it again changes nothing, and goes on where it was interrupted.

    Vectors are taken from the file where they are of the store's embedder, else they are made.

    :param robot: whose memories these become, with ids of their own; empty: as in the file
    :param map_id: the map that they become memories of; None: as in the file
    :param on_progress: called with the number of memories dealt with so far
    :raises BagUnreadable: the file is missing, damaged or no file of memories; the memories before the damage
        are stored. Or some of them make no sense; all others are stored
    :raises StoreUnavailable: the database does not work
    """
    header, items = read(path)
    store.expect_bulk()
    stamp = store.engine.stamp
    fits = header.vectors and (header.embedder, header.dimension) == (stamp.embedder, stamp.dimension)
    done = Imported()
    refused: list[str] = []
    batch: list[PortableMemory] = []

    def flush() -> None:
        _import_batch(store, batch, fits, done)
        batch.clear()
        on_progress(done.read)

    try:
        for item in items:
            try:
                batch.append(replace(item, memory=storable(_renamed(item.memory, robot, map_id))))
            except InvalidRequest as error:  # the others are good
                refused.append(str(error))
            if len(batch) == BATCH:
                flush()
    except BagUnreadable as error:
        flush()
        raise BagUnreadable(f'{error}; they are stored') from error
    flush()
    if refused:
        raise BagUnreadable(
            f'{path}: {len(refused)} memories are left out, the first because {refused[0]}. The other '
            f'{done.read} are stored'
        )
    return done


def _items(
    store: MemoryStore, ids: list[str], header: Header, on_damaged: Callable[[str, str], object]
) -> Iterator[PortableMemory]:
    for start in range(0, len(ids), BATCH):
        batch = ids[start : start + BATCH]
        vectors = store.engine.vectors(batch) if header.vectors else {}
        for memory in store.get(batch):
            names = memory.keyframes if header.keyframes else ()
            images = {keyframe_name(image): image for image in store.keyframes.those_of(names)}
            for name in store.keyframes.present(set(names) - set(images)):
                _log.warning(
                    'memory %s: keyframe %s in %s is damaged, and left out; put it back from a backup',
                    *(memory.id, name, store.keyframes.folder),
                )
                on_damaged(memory.id, name)
            whole = tuple(images[name] for name in names if name in images)
            yield PortableMemory(memory, vectors.get(memory.id), whole)


def _import_batch(store: MemoryStore, batch: list[PortableMemory], fits: bool, done: Imported) -> None:
    latest = {item.memory.id: item for item in batch}  # of two with one id the last counts
    known = {memory.id: memory for memory in store.get(list(latest))}
    entries: list[Entry] = []
    unembedded: list[Observation] = []
    for item in latest.values():
        stored = known.get(item.memory.id)
        names = stored.keyframes if stored else ()
        if item.images:
            names = store.keyframes.put(item.images)
        memory = replace(item.memory, keyframes=names)
        if memory == stored:
            continue
        done.added += stored is None
        done.replaced += stored is not None
        if fits and item.vectors is not None and len(item.vectors) == max(1, len(passages(memory))):
            entries.append(Entry(memory, item.vectors))
        else:
            unembedded.append(Observation(memory))
    if entries:
        store.put(entries)
    if unembedded:
        store.add(unembedded)
    done.embedded += len(unembedded)
    done.read += len(batch)


def _renamed(memory: Memory, robot: str, map_id: str | None) -> Memory:
    if map_id is not None:
        memory = replace(memory, map_id=map_id)
    if robot and robot != memory.robot:
        # From the old id: two robots' memories of one moment stay two.
        new_id = memory_id(f'{robot}/{memory.id}', memory.source, memory.start_ns)
        memory = replace(memory, id=new_id, robot=robot)
    return memory
