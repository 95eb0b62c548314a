"""Embedders of the sentence-transformers package, by name or path."""

import threading
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from remembr_ros.embedding.model_files import cannot_load
from remembr_ros.embedding.mxbai import QUERY_PROMPT, is_mxbai
from remembr_ros.errors import EmbedderUnavailable

# Older ones import whatever class a model's modules.json names, from its own folder, too.
LEAST_VERSION = 6


class SentenceTransformerEmbedder:
    """A sentence-transformers model.

    :param name: on the Hugging Face hub, or a folder; what a collection remembers as its embedder
    :param local_files_only: never go to the network; the model is in the folder or in the local cache
    :raises EmbedderUnavailable: the package is not installed or the model cannot be loaded
    """

    def __init__(self, name: str, *, local_files_only: bool = False) -> None:
        try:
            from sentence_transformers import SentenceTransformer, __version__
            from sentence_transformers.util import get_device_name
            from transformers.utils.logging import disable_progress_bar
        except ImportError as error:
            raise EmbedderUnavailable(
                'sentence-transformers is not installed; run: pip install "remembr_ros[embedding]"'
            ) from error
        if int(__version__.split('.', maxsplit=1)[0]) < LEAST_VERSION:
            raise EmbedderUnavailable(
                f"sentence-transformers {__version__} runs code that lies in a model's folder; run: "
                f'pip install "sentence-transformers>={LEAST_VERSION}"'
            )
        disable_progress_bar()  # type: ignore[no-untyped-call]  # of reading the weights, a second's work; a download still shows its own
        try:
            self._model = SentenceTransformer(
                name,
                local_files_only=local_files_only,
                # Weights of 16 bits make a processor several times slower.
                model_kwargs={'dtype': 'float32'} if get_device_name() == 'cpu' else None,
            )
        # Wide on purpose: with damaged files tokenizers raises Exception itself, safetensors a child of it.
        except Exception as error:
            raise cannot_load(name, error) from error
        self.name = name
        known = QUERY_PROMPT if is_mxbai(name) else None
        self._query_prompt = self._model.prompts.get('query') or known
        self._lock = threading.Lock()  # tokenizers are not safe to share between threads
        # Asked of a vector: the method that tells has another name in every few versions.
        self.dimension = int(self._encode(['dimension'], None).shape[1])

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        return self._encode(list(texts), None)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self._encode([text], self._query_prompt)[0]
        return vector

    def _encode(self, texts: list[str], prompt: str | None) -> NDArray[np.float32]:
        with self._lock:
            # tokenizers take no lone surrogates
            vectors = self._model.encode(
                [text.encode('utf-8', 'replace').decode() for text in texts],
                prompt=prompt,
                normalize_embeddings=True,
                show_progress_bar=False,
            )
        return np.asarray(vectors, np.float32)
