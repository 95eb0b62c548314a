"""A sentence-transformers model's files and what they say, without loading it, which takes seconds."""

import json
import os
import shlex
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from posixpath import join
from typing import Any
from urllib.parse import urlparse

from remembr_ros.errors import EmbedderUnavailable

WEIGHTS = (
    'model.safetensors',
    'model.safetensors.index.json',
    'pytorch_model.bin',
    'pytorch_model.bin.index.json',
)


def known_dimension(source: str, *, local_files_only: bool) -> int | None:
    """Return the length of the vectors that a model will make; None: only loading it tells.

    :param source: name on the hub, or a folder
    :param local_files_only: never go to the network; without a network all files have to be here
    :raises EmbedderUnavailable: it cannot be loaded, as far as that shows: a library or a file is missing or
        damaged
    """
    for library in ('sentence_transformers', 'torch'):
        if find_spec(library) is None:
            raise EmbedderUnavailable(
                f'{library} is not installed; run: pip install "remembr_ros[embedding]", or take the '
                "embedder 'all-MiniLM-L6-v2', which does without"
            )

    def file(name: str) -> Path | None:
        if os.path.isdir(source):
            return path if (path := Path(source, name)).is_file() else None
        return model_file(source, name, local_files_only=local_files_only)

    try:
        if missing := [name for name in FILES if is_mxbai(source) and file(name) is None]:
            raise ValueError(f'it has no {missing[0]}')
        listed = file('modules.json')
        modules = _json(listed) if listed else [{'type': 'Transformer', 'path': ''}]
        kinds = [module['type'].rpartition('.')[2] for module in modules]
        if not set(kinds) <= {'Transformer', 'Pooling', 'Normalize'}:
            return None
        folder = modules[kinds.index('Transformer')]['path']
        config = dict(_json(file(join(folder, 'config.json'))))
        if local_files_only:
            _check_weights(lambda name: file(join(folder, name)))
        if 'Pooling' not in kinds:  # then it is mean pooling
            return int(config['hidden_size']) if 'hidden_size' in config else None
        return _pooled(_json(file(join(modules[kinds.index('Pooling')]['path'], 'config.json'))))
    # Wide on purpose: a damaged file can lead to anything, and the hub's client has errors of its own.
    except Exception as error:
        raise cannot_load(source, error) from error


def cannot_load(source: str, error: Exception) -> EmbedderUnavailable:
    """Return what to raise for a model that is not there, or not whole."""
    fetched = '' if os.path.isdir(source) else f' (fetched whole by: hf download {shlex.quote(source)})'
    return EmbedderUnavailable(
        f'cannot load the embedder {source!r}: {error}. Give the name of a sentence-transformers '
        f"model{fetched}, a folder that holds one, or 'all-MiniLM-L6-v2', which needs no network."
    )


def _json(path: Path | None) -> Any:
    """Return what a file has.

    :raises ValueError: there is none, or it is damaged
    """
    if path is None:
        raise ValueError('it has no config.json, or not all of them')
    return json.loads(path.read_text())


def _pooled(pooling: Any) -> int:
    """Return the length of what a pooling module makes; each of its modes adds as much."""
    width = pooling.get('embedding_dimension') or pooling['word_embedding_dimension']
    modes = pooling.get('pooling_mode')
    if modes is None:
        modes = [key for key, wanted in pooling.items() if key.startswith('pooling_mode_') and wanted]
    return int(width) * (1 if isinstance(modes, str) else max(1, len(modes)))


def _check_weights(file: Callable[[str], Path | None]) -> None:
    """Refuse a model whose weights are missing, or were cut off on the way here.

    :raises ValueError: they are
    """
    path = next(filter(None, map(file, WEIGHTS)), None)
    if path is None:
        raise ValueError(f'it has no weights, such as {WEIGHTS[0]}')
    if path.suffix != '.safetensors':
        return
    with path.open('rb') as weights:
        size = int.from_bytes(weights.read(8), 'little')
        if size > path.stat().st_size:
            raise ValueError(f'{path} is no safetensors file')
        tensors = json.loads(weights.read(size))
    end = max(about['data_offsets'][1] for name, about in tensors.items() if name != '__metadata__')
    if 8 + size + end != path.stat().st_size:
        raise ValueError(f'{path} is cut off; fetch it again')


def is_cached(name: str) -> bool:
    """Return whether a model was downloaded before."""
    try:
        from huggingface_hub import try_to_load_from_cache

        return isinstance(try_to_load_from_cache(name, 'config.json'), str)
    except (ImportError, ValueError):  # not installed, or not a hub name
        return False


def model_file(name: str, file: str, *, local_files_only: bool) -> Path | None:
    """Return a file of a model, from the cache or fetched; None: the model has none of that name.

    :raises Exception: those of huggingface_hub: there is no such model, or the hub does not answer
    """
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError

    try:
        return Path(hf_hub_download(name, file, local_files_only=local_files_only))
    except EntryNotFoundError:
        return None


def hub_reachable(timeout_s: float = 1.5) -> bool:
    """Ask before the hub's own client does: it retries for 20 s, for each of a model's files.

    :param timeout_s: in all, also where a name server does not answer, of which sockets know no timeout
    """
    if os.environ.get('HF_HUB_OFFLINE', '').upper() in ('1', 'TRUE', 'YES', 'ON'):
        return False
    hub = urlparse(os.environ.get('HF_ENDPOINT', 'https://huggingface.co'))
    reached = threading.Event()

    def look() -> None:
        address = (hub.hostname or '', hub.port or 443)
        with suppress(OSError), socket.create_connection(address, timeout=timeout_s):
            reached.set()

    looking = threading.Thread(target=look, name='hub', daemon=True)
    looking.start()
    looking.join(timeout_s)
    return reached.is_set()


NAME = 'mixedbread-ai/mxbai-embed-large-v1'
SHORT_NAME = 'mxbai-embed-large-v1'

QUERY_PROMPT = 'Represent this sentence for searching relevant passages: '
"""Before a question, and not before what is stored (the model's card). Its files say so only since 2025."""

FILES = ('modules.json', 'tokenizer.json')
"""Without one of these it would be loaded all the same, with another pooling or without words."""


def is_mxbai(source: str) -> bool:
    """Return whether that is its name, or the name of a folder that holds it."""
    return Path(source).name == SHORT_NAME
