"""The interface of an embedder, and a cache of its vectors by text."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into unit vectors whose dot product tells how alike their meanings are."""

    @property
    def name(self) -> str:
        """Which model this is; a collection remembers it and refuses another."""

    @property
    def dimension(self) -> int:
        """Length of a vector."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector per text to be stored: shape (len(texts), dimension)."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the unit vector of a question or search text: shape (dimension,)."""


MOST_BYTES = 2**24
"""Of vectors that are kept: 9,000 texts of 384 numbers, what a VLM says in an hour; a node has 260 MB."""

BULK_BYTES = 2**28
"""The same for a file that is stored at once, whose texts may come again only much later: 147,000 of 384."""

_ENTRY_BYTES = 288  # of Python around a vector


class RememberedEmbedder:
    """Keeps the vectors of the texts that came last. Safe to share between threads; one at a time embeds.

    What a memory forgets must not stay readable here: a text is known again by its digest, and is not kept.

    :param most_bytes: of what is kept
    """

    def __init__(self, embedder: Embedder, most_bytes: int = MOST_BYTES) -> None:
        self._embedder = embedder
        self.name, self.dimension = embedder.name, embedder.dimension
        self._most = most_bytes // (4 * self.dimension + _ENTRY_BYTES)
        self._vectors: OrderedDict[bytes, NDArray[np.float32]] = OrderedDict()  # what came last is last
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        digests = [blake2b(text.encode('utf-8', 'surrogatepass'), digest_size=16).digest() for text in texts]
        by_digest = dict(zip(digests, texts, strict=True))
        with self._lock:
            found = {digest: self._vectors.pop(digest) for digest in by_digest if digest in self._vectors}
            self._vectors.update(found)
            if new := [digest for digest in by_digest if digest not in found]:
                made = self._embedder.embed([by_digest[digest] for digest in new])
                # Copied: a row would keep all that were made with it.
                found.update(zip(new, map(np.copy, made), strict=True))
                self._vectors.update((digest, found[digest]) for digest in new)
            while len(self._vectors) > self._most:
                self._vectors.popitem(last=False)
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        return np.stack([found[digest] for digest in digests])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._embedder.embed_query(text)
