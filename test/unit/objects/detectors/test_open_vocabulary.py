import shutil
import sys
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembr_ros.errors import DetectorFailed
from remembr_ros.images import Bgr
from remembr_ros.objects.detectors.by_name import get_detector
from remembr_ros.objects.detectors.detection import Detector
from remembr_ros.objects.detectors.open_vocabulary import MOST_PROMPTS, OpenVocabularyDetector, prompt_scores
from test.object_scene import T0
from test.unit.objects.detectors.detector_contract import DetectorContract
from test.unit.objects.detectors.tiny_zero_shot import LAYOUTS

for package in ('torch', 'transformers'):
    pytest.importorskip(package, reason=f'{package} is not installed')

PROMPTS = ('red cup', 'chair', 'bowls')


@pytest.fixture(scope='module')
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return what gives the folder of a layout's model, which is made once."""

    @cache
    def made(layout: str) -> Path:
        folder = tmp_path_factory.mktemp(layout)
        LAYOUTS[layout](folder)
        (folder / 'prompts.txt').write_text('\n'.join(PROMPTS))
        return folder

    return made


@pytest.fixture(scope='module', params=sorted(LAYOUTS))
def layout(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope='module')
def loaded(layout: str, folder_of: Callable[[str], Path]) -> OpenVocabularyDetector:
    folder = folder_of(layout)
    detector = get_detector(f'transformers:{folder}', str(folder / 'prompts.txt'))
    assert isinstance(detector, OpenVocabularyDetector)
    return detector


@pytest.fixture
def detector(loaded: OpenVocabularyDetector) -> OpenVocabularyDetector:
    loaded.prompts = PROMPTS
    return loaded


def patches(height: int, width: int, seed: int = 0) -> Bgr:
    """Return bright colours: what random weights tell apart."""
    patch = np.random.default_rng(seed).choice(np.array([0, 255], np.uint8), (3, 3, 3))
    return np.kron(patch, np.ones((-(-height // 3), -(-width // 3), 1), np.uint8))[:height, :width]


class TestOpenVocabulary(DetectorContract):
    @pytest.fixture
    def image(self) -> Bgr:
        return patches(90, 120)


@pytest.mark.parametrize('size', [(90, 160), (211, 101), (32, 32), (3, 300), (77, 53)])
def test_boxes_lie_in_images_of_any_shape_and_labels_are_prompts(
    detector: Detector, size: tuple[int, int]
) -> None:
    found = detector.detect(patches(*size), T0)
    assert found or size == (3, 300)
    for one in found:
        assert one.is_sound()
        assert 0.0 <= one.box[0] < one.box[2] <= size[1]
        assert 0.0 <= one.box[1] < one.box[3] <= size[0]
        assert set(one.scores) <= set(PROMPTS)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def library_says(folder: Path, image: Bgr, prompts: tuple[str, ...], text_threshold: float) -> dict[str, Any]:
    """Return what the functions of transformers that are meant for this make of an image."""
    import torch
    from PIL import Image
    from transformers import AutoModelForZeroShotObjectDetection, AutoProcessor

    auto: Any = AutoProcessor
    processor = auto.from_pretrained(folder)
    model: Any = AutoModelForZeroShotObjectDetection.from_pretrained(folder)
    picture = Image.fromarray(image[..., ::-1])
    inputs = processor(images=picture, text=[list(prompts)], return_tensors='pt')
    with torch.inference_mode():
        outputs = model.eval()(**inputs)
    more: dict[str, Any] = {'text_labels': [list(prompts)]}
    if 'dino' in model.config.model_type:
        more = {'input_ids': inputs['input_ids'], 'text_threshold': text_threshold}
    found = processor.post_process_grounded_object_detection(
        outputs, threshold=0.0, target_sizes=[image.shape[:2]], **more
    )
    return dict(found[0])


@pytest.mark.parametrize('size', [(60, 100), (100, 60)])
def test_what_it_finds_is_what_the_library_finds(
    detector: OpenVocabularyDetector, layout: str, folder_of: Callable[[str], Path], size: tuple[int, int]
) -> None:
    image = patches(*size, seed=5)
    found = detector.detect(image, T0)
    assert found
    for one in found[:3]:
        said = library_says(folder_of(layout), image, PROMPTS, one.score - 1e-4)
        edges = np.clip(said['boxes'].numpy(), 0.0, (size[1], size[0]) * 2)
        rows = np.flatnonzero(np.abs(edges - np.array(one.box)).max(axis=1) < 0.01)
        texts = [said['text_labels'][row] for row in rows]
        best = float(said['scores'].numpy()[rows].max(initial=0.0))
        if layout == 'grounding-dino':
            # The best score may be a dot's; the texts are of all tokens that score as high as the prompt.
            assert best >= one.score - 1e-4
            assert set(one.label.removesuffix('s').split()) & set(' '.join(texts).replace('.', ' ').split())
        else:
            assert one.score in {one.scores.get(text) for text in texts}, (
                'random weights score 1 more than once'
            )
            assert best == pytest.approx(one.score, abs=1e-4)


def test_new_prompts_hold_from_the_next_image_on(detector: OpenVocabularyDetector) -> None:
    image = patches(64, 96)
    assert {one.label for one in detector.detect(image, T0)} <= set(PROMPTS)
    setter = threading.Thread(target=setattr, args=(detector, 'prompts', ('table',)))
    setter.start()
    setter.join()
    found = detector.detect(image, T0)
    assert found
    assert all(dict(one.scores).keys() == {'table'} for one in found)


def test_prompts_set_while_an_image_is_looked_at_are_of_the_next_one(
    detector: OpenVocabularyDetector, monkeypatch: pytest.MonkeyPatch
) -> None:
    detector.detect(patches(64, 96), T0)
    model = detector._model

    def meanwhile(**inputs: Any) -> Any:
        detector.prompts = ('door', 'table', 'cup', 'bowl')
        return model(**inputs)

    meanwhile.config, meanwhile.device = model.config, model.device  # type: ignore[attr-defined]
    with monkeypatch.context() as patched:
        patched.setattr(detector, '_model', meanwhile)
        assert {label for one in detector.detect(patches(64, 96), T0) for label in one.scores} <= set(PROMPTS)
    assert {one.label for one in detector.detect(patches(64, 96), T0)} <= set(detector.prompts)


def test_without_a_picture_nothing_is_found(detector: Detector) -> None:
    assert detector.detect(None, T0) == []


def test_it_is_loaded_again_after_it_was_closed(detector: OpenVocabularyDetector) -> None:
    before = [one.box for one in detector.detect(patches(64, 96), T0)]
    detector.close()
    assert [one.box for one in detector.detect(patches(64, 96), T0)] == before


def test_a_higher_least_score_leaves_fewer(layout: str, folder_of: Callable[[str], Path]) -> None:
    few, many = (
        OpenVocabularyDetector(str(folder_of(layout)), PROMPTS, min_score=least).detect(patches(64, 96), T0)
        for least in (0.9, 0.1)
    )
    assert len(few) < len(many)
    assert all(one.score >= 0.9 for one in few)


def test_prompts_are_cleaned() -> None:
    detector = OpenVocabularyDetector(
        'model', [' Red  Cup. ', 'bowl', '', '.', 'red cup', 'BOWL.', 'st. louis']
    )
    assert detector.prompts == ('red cup', 'bowl', 'st louis')
    detector.prompts = ()
    assert detector.prompts == ()


def test_too_many_prompts_are_refused_and_change_nothing() -> None:
    detector = OpenVocabularyDetector('model', PROMPTS)
    with pytest.raises(DetectorFailed, match=rf'81 prompts are too many; give {MOST_PROMPTS}'):
        detector.prompts = tuple(f'cup {number}' for number in range(MOST_PROMPTS + 1))
    assert detector.prompts == PROMPTS
    detector.prompts = ('cup',) * 1000


def test_prompts_longer_than_the_model_reads_are_told(layout: str, detector: OpenVocabularyDetector) -> None:
    long = [f'{number} red green cup' for number in range(MOST_PROMPTS)]
    detector.prompts = long if layout == 'grounding-dino' else ['cup', 'a chair that has no back']
    with pytest.raises(DetectorFailed, match=r'it reads (256|16) tokens; give .*shorter prompts'):
        detector.detect(patches(32, 32), T0)


def test_most_prompts_of_a_word_are_read(detector: OpenVocabularyDetector) -> None:
    detector.prompts = [chr(ord('a') + number % 26) * (1 + number // 26) for number in range(MOST_PROMPTS)]
    assert len(detector.prompts) == MOST_PROMPTS
    assert all(one.is_sound() for one in detector.detect(patches(32, 32), T0))


def test_without_prompts_it_says_what_to_do(folder_of: Callable[[str], Path], tmp_path: Path) -> None:
    with pytest.raises(DetectorFailed, match='no prompts; give labels, a file of one a line'):
        get_detector(f'transformers:{folder_of("owlv2")}').detect(patches(32, 32), T0)
    with pytest.raises(DetectorFailed, match='cannot be read'):
        get_detector('transformers:model', str(tmp_path / 'none.txt'))


def test_what_is_no_zero_shot_detector_is_told(
    folder_of: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformers import BertConfig

    monkeypatch.setenv('HF_HUB_OFFLINE', '1')
    empty, bert, damaged = (tmp_path / name for name in ('empty', 'bert', 'damaged'))
    empty.mkdir()
    BertConfig().save_pretrained(bert)
    shutil.copytree(folder_of('owlv2'), damaged)
    (damaged / 'model.safetensors').write_bytes(b'no weights at all')
    for model in (tmp_path / 'none', empty, bert, damaged, 'nobody/nothing'):
        detector = OpenVocabularyDetector(str(model), PROMPTS)
        with pytest.raises(DetectorFailed, match=r'cannot be loaded: .*; give an OWLv2, .* hub name'):
            detector.detect(patches(32, 32), T0)


def test_what_is_not_installed_is_told(
    folder_of: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, 'torch', None)
    with pytest.raises(DetectorFailed, match=r'pip install "remembr_ros\[vlm\]"'):
        OpenVocabularyDetector(str(folder_of('owlv2')), PROMPTS).detect(patches(32, 32), T0)


@given(st.data(), st.lists(st.integers(0, 4), min_size=1, max_size=6), st.integers(0, 3), st.integers(0, 5))
def test_the_score_of_a_prompt_is_that_of_its_best_token(
    data: st.DataObject, lengths: list[int], rest: int, boxes: int
) -> None:
    tokens: list[int | None] = [None]
    for prompt, length in enumerate(lengths):
        tokens += [prompt] * length + [-1]
    tokens += [None] * rest
    values = st.lists(st.floats(0.0, 1.0, width=32), min_size=len(tokens) + 2, max_size=len(tokens) + 2)
    scores = np.array([data.draw(values) for _ in range(boxes)], np.float32).reshape(boxes, len(tokens) + 2)
    expected = [
        [
            max((row[i] for i, owner in enumerate(tokens) if owner == prompt), default=0.0)
            for prompt in range(len(lengths))
        ]
        for row in scores.tolist()
    ]
    dots = np.array([owner == -1 for owner in tokens])
    assert prompt_scores(scores, dots).tolist() == expected


@settings(deadline=None)
@given(st.lists(st.text(max_size=12) | st.sampled_from(['red cup.', 'a.b', '[SEP]', '…', '?']), max_size=8))
def test_each_prompt_ends_with_the_only_dot_in_it_whatever_is_asked(prompts: list[str]) -> None:
    words = grounding_dino_words()
    cleaned = OpenVocabularyDetector('model', prompts).prompts
    if cleaned:
        ids = words('. '.join(cleaned) + '.')['input_ids']
        assert ids.count(words.convert_tokens_to_ids('.')) == len(cleaned)
        assert ids[-2] == words.convert_tokens_to_ids('.')


@cache
def grounding_dino_words() -> Any:
    from transformers import BertTokenizer

    return BertTokenizer(
        vocab={t: i for i, t in enumerate(['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]', '.'])}
    )
