"""An embedder without a model: similarity of texts is their share of common words.

For tests, and for machines without torch.
"""

import hashlib
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from remembr_ros.errors import EmbedderUnavailable

MAX_DIMENSION = 32_768  # Milvus stores no longer vectors


class HashingEmbedder:
    """Hashes each word and its character trigrams into signed buckets (the hashing trick).

    :raises EmbedderUnavailable: a vector cannot have that length
    """

    def __init__(self, dimension: int = 256) -> None:
        if not 2 <= dimension <= MAX_DIMENSION:
            raise EmbedderUnavailable(
                f'hashing-{dimension}: vectors have 2 to {MAX_DIMENSION} numbers; take hashing-256'
            )
        self.name = f'hashing-{dimension}'
        self.dimension = dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word in re.findall(r'\w+', text.lower()):
                trigrams = [word[i : i + 3] for i in range(len(word) - 2)]
                for feature, weight in [(word, 1.0), *((t, 0.3) for t in trigrams)]:
                    hashed = hashlib.blake2b(feature.encode(errors='replace'), digest_size=8)
                    digest = int.from_bytes(hashed.digest(), 'big')
                    row[digest % self.dimension] += weight if digest >> 63 else -weight
            norm = float(np.linalg.norm(row))
            if norm == 0.0:  # nothing to hash: any unit vector, so that a cosine is defined
                row[0] = norm = 1.0
            np.divide(row, norm, out=row)
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self.embed([text])[0]
        return vector
