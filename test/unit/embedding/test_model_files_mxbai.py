"""mxbai-embed-large-v1 by a tiny model in its layout: prompt, pooling, names, without a network."""

import shutil
import socket
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

from remembr_ros.embedding.behind import EmbedderBehind
from remembr_ros.embedding.embedders import DEFAULT, checked_name, get_embedder
from remembr_ros.embedding.model_files import is_cached, known_dimension
from remembr_ros.errors import EmbedderUnavailable
from remembr_ros.memory.model.recall import Query
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store
from test.unit.embedding.model_folder import MXBAI_TINY, PROMPT, make_mxbai, put_in_cache

LONG, SHORT = 'mixedbread-ai/mxbai-embed-large-v1', 'mxbai-embed-large-v1'
DOOR = 'where is the red door'


@pytest.fixture(scope='module')
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip('sentence_transformers', reason='sentence-transformers is not installed')
    return make_mxbai(tmp_path_factory.mktemp('mxbai') / SHORT, MXBAI_TINY)


@pytest.fixture
def snapshot(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The model's files in a cache that was copied to a robot without a network."""

    def refused(*_: object, **__: object) -> NoReturn:
        raise AssertionError('the network was asked')

    monkeypatch.setenv('HF_HUB_OFFLINE', '1')
    monkeypatch.setattr(socket, 'create_connection', refused)
    monkeypatch.setattr(socket.socket, 'connect', refused)
    monkeypatch.setattr('huggingface_hub.constants.HF_HUB_CACHE', str(tmp_path / 'hub'))
    return put_in_cache(whole, tmp_path / 'hub', LONG)


@pytest.mark.parametrize('name', [SHORT, LONG, None])
def test_it_is_found_in_the_cache_by_any_of_its_names(snapshot: Path, name: str | None) -> None:
    assert is_cached(LONG)
    embedder = get_embedder(name)
    assert (embedder.name, embedder.dimension) == (LONG, 32)


def test_a_memory_may_name_it_for_short() -> None:
    assert checked_name(SHORT) == LONG == DEFAULT


def test_its_dimension_is_known_before_it_is_loaded(snapshot: Path) -> None:
    assert known_dimension(LONG, local_files_only=True) == 32
    behind = get_embedder(SHORT, behind=True)
    assert isinstance(behind, EmbedderBehind)
    assert (behind.name, behind.dimension, behind.busy) == (LONG, 32, False)


@pytest.mark.parametrize('file', ['', 'config_sentence_transformers.json'])
def test_its_prompt_is_before_a_question_and_not_before_what_is_stored(snapshot: Path, file: str) -> None:
    """Also where the files do not give it."""
    if file:
        (snapshot / file).unlink()
    embedder = get_embedder(SHORT)
    plain, prompted = embedder.embed([DOOR, PROMPT + DOOR])
    np.testing.assert_allclose(embedder.embed_query(DOOR), prompted, atol=1e-6)
    assert abs(float(plain @ prompted)) < 0.9


def test_a_folder_of_its_name_has_its_prompt_too(whole: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(whole, tmp_path / SHORT)
    (folder / 'config_sentence_transformers.json').unlink()
    embedder = get_embedder(str(folder))
    assert embedder.name == str(folder.resolve())
    np.testing.assert_allclose(embedder.embed_query(DOOR), embedder.embed([PROMPT + DOOR])[0], atol=1e-6)


def test_a_vector_is_that_of_the_first_token_in_32_bits(snapshot: Path) -> None:
    import torch
    from sentence_transformers.util import get_device_name
    from transformers import AutoModel, AutoTokenizer

    if get_device_name() != 'cpu':
        pytest.skip('a GPU takes the weights in 16 bits, as they are in the file')
    words = AutoTokenizer.from_pretrained(snapshot)(DOOR, return_tensors='pt')
    with torch.inference_mode():
        tokens = AutoModel.from_pretrained(snapshot, dtype='float32').eval()(**words).last_hidden_state[0]
    first, mean = (x.numpy() / np.linalg.norm(x) for x in (tokens[0], tokens.mean(0)))
    (vector,) = get_embedder(SHORT).embed([DOOR])
    np.testing.assert_allclose(vector, first, atol=1e-6)
    assert vector @ mean < 0.9


@pytest.mark.parametrize(('first', 'then'), [(SHORT, LONG), (LONG, SHORT), (SHORT, None)])
def test_a_memory_made_under_one_name_opens_under_the_other(
    snapshot: Path, tmp_path: Path, first: str, then: str | None
) -> None:
    uri = str(tmp_path / 'memory.db')
    with open_store(uri, first) as store:
        store.add([Observation(Memory('m1', 'anna', 0, 1, 'A red door.'))])
    with open_store(uri, then) as store:
        assert store.embedder_name == LONG
        assert [hit.memory.id for hit in store.find(Query(DOOR))] == ['m1']


@pytest.mark.parametrize('behind', [False, True])
@pytest.mark.parametrize(
    'missing', ['modules.json', 'config.json', '1_Pooling/config.json', 'model.safetensors', 'tokenizer.json']
)
def test_one_that_is_half_copied_is_refused_with_a_remedy(snapshot: Path, missing: str, behind: bool) -> None:
    (snapshot / missing).resolve().unlink()  # the link to it stays
    with pytest.raises(EmbedderUnavailable, match=f'hf download {LONG}'):
        get_embedder(SHORT, behind=behind)
