"""The interface of an embedder."""

from collections.abc import Sequence
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
