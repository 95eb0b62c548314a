"""Opening a memory: which engine, which embedder, and where the files beside it are."""

import logging
import os
import re
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from remembr_ros.embedding.embedder import Embedder
from remembr_ros.embedding.embedders import get_embedder
from remembr_ros.errors import StoreUnavailable
from remembr_ros.memory.consolidation.rule import Consolidation, consolidation_for
from remembr_ros.memory.embedded.engine import open_embedded
from remembr_ros.memory.keyframes.folder import QUOTA_BYTES, KeyframeFolder
from remembr_ros.memory.model.engine import VERSION, Engine, NoSuchMemory, Stamp
from remembr_ros.memory.model.uri import database_path, is_lite, is_server
from remembr_ros.memory.pending.change_log import ChangeLog
from remembr_ros.memory.pending.spool import MAX_BYTES, Spool
from remembr_ros.memory.server.connection import Connection
from remembr_ros.memory.server.lite import open_lite
from remembr_ros.memory.server.open_server import open_server
from remembr_ros.memory.store import MemoryStore
from remembr_ros.memory.writable import check_writable, is_there

logger = logging.getLogger(__name__)

NewStamp = Callable[[], Stamp]


@dataclass(frozen=True, slots=True)
class _Location:
    """Where a memory is.

    :param shown: its uri, as it may be shown
    :param files: path of the files beside it, without their ends
    :param log: file where is noted what was begun
    :param connect: opens its engine, and makes a new memory with a stamp unless that is None
    """

    shown: str
    files: Path
    log: Path
    connect: Callable[[NewStamp | None], Engine]


def open_store(
    uri: str,
    embedder: Embedder | str | None = None,
    *,
    collection: str = 'memories',
    create: bool = True,
    read_only: bool = False,
    connection: Connection | None = None,
    must_connect: bool = True,
    behind: bool = False,
    consolidation: bool | Consolidation = False,
    keyframe_quota: int = QUOTA_BYTES,
    spool_quota: int = MAX_BYTES,
) -> MemoryStore:
    """Open the memory at uri; make it if there is none.

    :param uri: path of a file, http(s)://host:port of a Milvus server, or milvus-lite:FILE
    :param embedder: an embedder, or the name of one, loaded when first needed; None: the one that made the
        collection, and for a new collection the default of remembr_ros.embedding.embedders
    :param create: False: refuse to make a new memory
    :param read_only: nothing will be stored: what cannot be written can be opened all the same
    :param connection: credentials and TLS of a server; None: credentials from the environment, if any
    :param must_connect: False: open although the server is away; memories wait on this machine until it comes
    :param behind: do not wait for an embedder that takes long to load; until it is there, what needs it
        raises EmbedderLoading
    :param consolidation: extend the last memory instead of adding a new one where the robot stands and sees
        the same: by this rule, or for True by the one measured for the embedder
    :param keyframe_quota: what the keyframes may take on this machine's disk [bytes]
    :param spool_quota: what may wait on this machine's disk while a server is away [bytes]; 0: nothing,
        so that another process of this machine may have what waits
    :raises StoreUnavailable: it cannot be opened, or there is none and create is False
    :raises StoreMismatch: the collection was made with another embedder, or by another program
    """
    spool = None
    if is_server(uri):
        location = _on_server(connection or Connection.from_environment(uri), collection)
        if spool_quota:
            spool = _spool(Path(f'{location.files}.spool'), spool_quota, wanted=not must_connect)
    else:
        location = _in_file(uri, collection, create=create, read_only=read_only)

    def new_stamp() -> Stamp:
        nonlocal embedder
        if not isinstance(embedder, Embedder):
            embedder = get_embedder(embedder, behind=behind)
            store.adopt(embedder)
        return Stamp(VERSION, embedder.name, embedder.dimension)

    @cache
    def rule() -> Consolidation:
        # Asked when the first memory is stored: until then the embedder need not be loaded.
        if isinstance(consolidation, Consolidation):
            return consolidation
        return consolidation_for(store.embedder)

    store = MemoryStore(
        lambda: location.connect(new_stamp if create else None),
        location.shown,
        collection,
        embedder=embedder,
        behind=behind,
        keyframes=KeyframeFolder(Path(f'{location.files}.keyframes'), quota_bytes=keyframe_quota),
        log=ChangeLog(location.log, collection),
        finishes=not read_only,
        spool=spool,
        rule=rule if consolidation else None,
    )
    with ExitStack() as undo:
        undo.callback(store.close)
        try:
            store.engine  # noqa: B018  connects
        except StoreUnavailable as error:
            if must_connect:
                raise
            if is_server(uri):
                logger.warning('memories wait on this machine: %s', error)
        undo.pop_all()
    return store


def data_folder() -> Path:
    """Return where memories are kept that have no place of their own."""
    return Path(os.environ.get('XDG_DATA_HOME') or Path.home() / '.local' / 'share') / 'remembr'


def _on_server(connection: Connection, collection: str) -> _Location:
    name = re.sub(r'[^A-Za-z0-9.-]+', '_', f'{connection.address}_{connection.database}_{collection}')
    files = data_folder() / 'servers' / name
    return _Location(
        connection.shown,
        files,
        Path(f'{files}.spool'),
        lambda new_stamp: open_server(connection, collection, new_stamp),
    )


def _in_file(uri: str, collection: str, *, create: bool, read_only: bool) -> _Location:
    """Return where the file of a memory is.

    :raises StoreUnavailable: there is none and none shall be made, or it cannot be written and shall be
    """
    path = database_path(uri)
    if not create and not is_there(path):
        raise NoSuchMemory(f'there is no memory at {uri}; make one with: remembr ingest BAG --memory {uri}')
    if is_lite(uri):
        log = Path(f'{path.resolve()}.{collection}.begun')
        return _Location(uri, path, log, partial(open_lite, uri, collection))
    if not read_only:
        check_writable(path)
    connect = partial(open_embedded, uri, collection, read_only=read_only)
    return _Location(uri, path, path.resolve(), connect)


def _spool(path: Path, quota: int, *, wanted: bool) -> Spool | None:
    try:
        return Spool(path, quota)
    except StoreUnavailable as error:
        # Another process on this machine has it, and stores what is in it.
        level = logging.WARNING if wanted else logging.INFO
        remedy = (
            'set XDG_DATA_HOME to a folder of its own for each robot; what an earlier version left there is '
            'stored by starting that one'
        )
        logger.log(level, 'no memory can wait for the server here: %s; %s', error, remedy)
        return None
