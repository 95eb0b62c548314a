"""Opens a store's engine and loads its embedder, each at its first use."""

import threading
from collections.abc import Callable

from remembr_ros.embedding.behind import EmbedderBehind
from remembr_ros.embedding.embedder import Embedder
from remembr_ros.embedding.embedders import checked_name, get_embedder
from remembr_ros.errors import StoreUnavailable
from remembr_ros.memory.model.engine import Engine, check_embedder
from remembr_ros.memory.search import StoreSearch


class ConnectedStore(StoreSearch):
    """Opens the engine, and loads the embedder, at the first use; a server may be away until then.

    :param connect: opens the engine; called until it succeeds
    :param uri: of the database, as it may be shown
    :param embedder: an embedder, or the name of one; None: the one that the collection was made with
    :param behind: of an embedder that takes long, only look at the files; it is loaded meanwhile
    :param on_open: called with the engine before anything is done with it
    """

    def __init__(
        self,
        connect: Callable[[], Engine],
        uri: str,
        collection: str,
        *,
        embedder: Embedder | str | None,
        behind: bool,
        on_open: Callable[[Engine], None],
    ) -> None:
        self._connect = connect
        self._connected: Engine | None = None
        self._uri = uri
        self._collection = collection
        self._embedder = embedder
        self._behind = behind
        self._on_open = on_open
        self._connecting = threading.Lock()
        self._loading = threading.Lock()
        self._closed = False

    @property
    def engine(self) -> Engine:
        """What holds the memories.

        :raises StoreUnavailable: it is closed, or its server is away
        """
        with self._connecting:
            if self._closed:
                raise StoreUnavailable(f'the memory {self._uri} is closed')
            if self._connected is None:
                engine = self._connect()
                try:
                    if self._embedder:
                        check_embedder(engine.stamp, self._embedder, self._collection)
                    self._on_open(engine)
                except BaseException:
                    engine.close()
                    raise
                self._connected = engine
            return self._connected

    @property
    def embedder(self) -> Embedder:
        """The embedder, loaded at first use.

        :raises EmbedderUnavailable: it cannot be loaded, or only the memory's file names it
        :raises StoreMismatch: it does not make the collection's vectors any more
        """
        engine = self.engine
        with self._loading:
            if not isinstance(self._embedder, Embedder):
                name = self._embedder or checked_name(engine.stamp.embedder)
                loaded = get_embedder(name, behind=True) if self._behind else get_embedder(name)
                check_embedder(engine.stamp, loaded, self._collection)
                self._embedder = loaded
            return self._embedder

    def adopt(self, embedder: Embedder) -> None:
        """Use an embedder that was loaded for the stamp of a new collection."""
        self._embedder = embedder

    @property
    def embedder_behind(self) -> EmbedderBehind | None:
        """The embedder, where it is one that is loaded meanwhile; nothing is asked or loaded now."""
        return self._embedder if isinstance(self._embedder, EmbedderBehind) else None

    def _disconnect(self) -> None:
        """Close the engine for good."""
        with self._connecting:
            self._closed = True
            if self._connected is not None:
                self._connected.close()
                self._connected = None
