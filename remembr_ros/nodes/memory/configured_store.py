"""Opens the memory described by the memory node's parameters."""

from dataclasses import replace

from rclpy.impl.rcutils_logger import RcutilsLogger

from remembr_ros.embedding.behind import EmbedderBehind
from remembr_ros.embedding.embedders import get_embedder
from remembr_ros.memory.model.uri import is_server
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.retention import RetentionPolicy
from remembr_ros.memory.server.connection import Connection
from remembr_ros.memory.store import MemoryStore
from remembr_ros.nodes.memory.parameters import MemoryParameters

GB = 10**9
DAY_S = 86_400.0


def open_memory(p: MemoryParameters) -> MemoryStore:
    """Open the memory; a server may be away, then memories wait on this machine.

    :raises RemembrError: it cannot be opened, or the parameters do not go together
    """
    return open_store(
        p.uri,
        # Looked at here: a name that does not exist shall be noticed even while the server is away.
        get_embedder(p.embedder, behind=True) if p.embedder else None,
        collection=p.collection,
        create=not p.read_only,
        read_only=p.read_only,
        connection=connection_of(p),
        must_connect=not is_server(p.uri),
        behind=True,
        consolidation=p.consolidate and not p.read_only,
        keyframe_quota=round(p.keyframe_quota_gb * GB),
        spool_quota=round(p.spool_quota_gb * GB),
    )


def tell_when_loaded(embedder: EmbedderBehind, log: RcutilsLogger) -> None:
    """Log what became of an embedder, once that is known."""

    def tell() -> None:
        if embedder.problem:
            log.error(f'{embedder.problem}. After that, clean up and configure the node again')
        else:
            log.info(f'the embedder {embedder.name} is loaded')

    log.info(f'the embedder {embedder.name} is loaded meanwhile')
    embedder.then(tell)


def connection_of(p: MemoryParameters) -> Connection | None:
    """Return how the server is reached, with the secrets of the environment; None: there is no server.

    :raises InvalidRequest: the parameters do not go together
    """
    if not is_server(p.uri):
        return None
    connection = Connection.from_environment(
        p.uri,
        db_name=p.db_name,
        ca_pem_path=p.ca_pem_path,
        client_pem_path=p.client_pem_path,
        client_key_path=p.client_key_path,
        server_name=p.server_name,
    )
    # Afterwards: with a user given the environment would not be asked for the password.
    return replace(connection, user=p.user) if p.user else connection


def policy_of(p: MemoryParameters) -> RetentionPolicy | None:
    """Return how much is kept; None: everything."""
    if not (p.max_age_days or p.max_memories or p.max_size_gb):
        return None
    return RetentionPolicy(
        max_age_s=p.max_age_days * DAY_S or None,
        max_memories=p.max_memories or None,
        max_bytes=round(p.max_size_gb * GB) or None,
    )
