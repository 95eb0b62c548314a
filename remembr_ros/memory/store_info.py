"""Summary of a store: counts, sizes, time span, problems."""

from dataclasses import dataclass

from remembr_ros.memory.keyframes.folder import KeyframeFolder
from remembr_ros.memory.model.engine import Stamp, Summary
from remembr_ros.memory.pending.writer import SpoolState


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """What a store holds.

    :param embedder: that made the vectors; empty: its server is away
    :param memories: how many the database holds; None: its server is away
    :param placed: how many of them have a pose
    :param first_ns: start of the earliest memory; None if there is none
    :param last_ns: end of the latest one
    :param database_bytes: on this machine's disk; None: on a server
    :param keyframe_bytes: what the keyframes take on this machine's disk
    :param spooled: memories that wait on this machine for the server, acknowledged
    :param spool_bytes: that they take on the disk
    :param problem: what does not work at the moment; empty: everything does
    """

    uri: str
    collection: str
    embedder: str
    dimension: int
    memories: int | None
    placed: int | None
    first_ns: int | None
    last_ns: int | None
    robots: tuple[str, ...]
    maps: tuple[str, ...]
    sources: tuple[str, ...]
    database_bytes: int | None
    keyframes: int
    keyframe_bytes: int
    spooled: int
    spool_bytes: int
    problem: str


def info_of(
    address: tuple[str, str],
    stamp: Stamp | None,
    stored: Summary | None,
    *,
    keyframes: KeyframeFolder,
    waiting: SpoolState | None,
    problem: str,
) -> StoreInfo:
    """Return what a store holds.

    :param address: uri and collection
    :param stamp: of the collection; None: its server is away
    :param stored: in the database; None: its server is away
    :param waiting: what waits for the server; None: nothing can
    """
    count, size_bytes = keyframes.totals()
    return StoreInfo(
        *address,
        embedder=stamp.embedder if stamp else '',
        dimension=stamp.dimension if stamp else 0,
        memories=stored.memories if stored else None,
        placed=stored.placed if stored else None,
        first_ns=stored.first_ns if stored else None,
        last_ns=stored.last_ns if stored else None,
        robots=stored.robots if stored else (),
        maps=stored.maps if stored else (),
        sources=stored.sources if stored else (),
        database_bytes=stored.bytes if stored else None,
        keyframes=count,
        keyframe_bytes=size_bytes,
        spooled=waiting.spooled if waiting else 0,
        spool_bytes=waiting.bytes if waiting else 0,
        problem=problem,
    )
