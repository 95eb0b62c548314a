"""What a sentence-transformers model's files say, without loading the model, which takes seconds."""

import json
import os
import shlex
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from posixpath import join
from typing import Any

from remembr_ros.embedding.hub import model_file
from remembr_ros.embedding.mxbai import FILES, is_mxbai
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
