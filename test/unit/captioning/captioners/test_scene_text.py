import importlib.util
import logging
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest

from remembr_ros.captioning.captioners.captioner import Caption, Clip, caption_clip
from remembr_ros.captioning.captioners.scene_text import (
    NOTHING_READ,
    SceneTextCaptioner,
    sentence,
    sharpest_parts,
)
from remembr_ros.errors import CaptionerFailed
from remembr_ros.images import Bgr

DATA = Path(__file__).resolve().parents[4] / '../shared/data'

needs_ocr = pytest.mark.skipif(
    importlib.util.find_spec('rapidocr') is None, reason='RapidOCR is not installed (extra scene-text)'
)


def wall(*signs: tuple[str, int, int], blur: int = 0) -> Bgr:
    """A grey wall with white plates; each sign is (text, left, baseline)."""
    image = np.full((480, 640, 3), 150, np.uint8)
    for text, left, baseline in signs:
        (width, height), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_DUPLEX, 1.2, 2)
        cv2.rectangle(
            image, (left - 12, baseline - height - 10), (left + width + 12, baseline + 10), (250,) * 3, -1
        )
        cv2.putText(image, text, (left, baseline), cv2.FONT_HERSHEY_DUPLEX, 1.2, (20, 20, 20), 2, cv2.LINE_AA)
    return cv2.GaussianBlur(image, (blur, blur), 0) if blur else image


@pytest.fixture(scope='module')
def captioner() -> SceneTextCaptioner:
    return SceneTextCaptioner()


@needs_ocr
def test_signs_are_read_and_their_lines_joined(captioner: SceneTextCaptioner):
    image = wall(('ROOM', 100, 150), ('101', 112, 192), ('CAFETERIA', 350, 400))
    caption = caption_clip(captioner, Clip([image]))
    assert sorted(caption.scene_text) == ['CAFETERIA', 'ROOM 101']
    assert '"ROOM 101"' in caption.text
    assert '"CAFETERIA"' in caption.text


@needs_ocr
def test_sign_seen_in_every_frame_is_named_once(captioner: SceneTextCaptioner):
    frames = [wall(('PRINTER', 100 + 20 * i, 200)) for i in range(6)]
    assert caption_clip(captioner, Clip(frames)).scene_text == ('PRINTER',)


@needs_ocr
def test_sign_that_is_sharp_in_one_frame_only_is_read(captioner: SceneTextCaptioner):
    frames = [wall(('LIBRARY', 200, 200), blur=0 if i == 3 else 61) for i in range(6)]
    assert caption_clip(captioner, Clip(frames)).scene_text == ('LIBRARY',)


@needs_ocr
@pytest.mark.parametrize('kind', ['plain', 'noise', 'tiny'])
def test_where_nothing_can_be_read_it_says_so(captioner: SceneTextCaptioner, kind: str):
    image = {
        'plain': wall(),
        'noise': np.random.default_rng(1).integers(0, 255, (240, 320, 3), np.uint8),
        'tiny': np.zeros((3, 5, 3), np.uint8),
    }[kind]
    assert caption_clip(captioner, Clip([image, image])) == Caption(NOTHING_READ)


@needs_ocr
@pytest.mark.parametrize(('height', 'width'), [(1, 1), (2, 3000), (3000, 2), (40, 3000), (1, 500)])
def test_pictures_of_any_shape_are_taken(captioner: SceneTextCaptioner, height: int, width: int):
    assert caption_clip(captioner, Clip([np.zeros((height, width, 3), np.uint8)])) == Caption(NOTHING_READ)


def test_no_images_give_no_text(captioner: SceneTextCaptioner):
    assert caption_clip(captioner, Clip([])) == Caption(NOTHING_READ)


@needs_ocr
def test_reading_is_silent_and_leaves_logging_alone(
    captioner: SceneTextCaptioner, capfd: pytest.CaptureFixture[str]
):
    level = logging.getLogger().level
    caption_clip(SceneTextCaptioner(), Clip([wall(('EXIT', 200, 200)), wall()]))
    out, err = capfd.readouterr()
    assert (out, err) == ('', '')
    assert logging.getLogger().level == level


@needs_ocr
@pytest.mark.skipif(not (DATA / 'bags/redkitchen_6hz').exists(), reason='the kitchen recording is not there')
def test_titles_in_a_kitchen_are_read(captioner: SceneTextCaptioner):
    from remembr_ros.bags.reader import open_bag
    from remembr_ros.captioning.segmenter import Segmenter
    from remembr_ros.images import Frame

    segmenter = Segmenter()
    with open_bag(str(DATA / 'bags/redkitchen_6hz')) as bag:
        frames = (event for event in bag.events() if isinstance(event, Frame))
        segments = [segment for frame in frames if (segment := segmenter.add(frame)) is not None]
    read = [
        caption_clip(captioner, Clip([frame.image for frame in s.frames])).scene_text for s in segments[2:5]
    ]
    assert any('Computer' in text for texts in read for text in texts)
    assert any('Mobile' in text for texts in read for text in texts)
    assert max(len(texts) for texts in read) <= 3, 'no noise'


@needs_ocr
@pytest.mark.skipif(not (DATA / 'images/icdar15_toy').exists(), reason='the street images are not there')
@pytest.mark.parametrize(
    ('name', 'text'), [('img_1.jpg', 'Carpark'), ('img_8.jpg', 'WHY PAY FOR NOTHING?'), ('img_9.jpg', 'EXIT')]
)
def test_street_signs_are_read(captioner: SceneTextCaptioner, name: str, text: str):
    path = next((DATA / 'images/icdar15_toy').rglob(name))
    image = cv2.imread(str(path))
    assert any(text in read for read in caption_clip(captioner, Clip([image])).scene_text)


@needs_ocr
@pytest.mark.skipif(
    not (DATA / 'images/corridor_sherbrooke').exists(), reason='the corridor images are not there'
)
def test_bare_corridors_are_not_read_into(captioner: SceneTextCaptioner):
    images = [cv2.imread(str(DATA / f'images/corridor_sherbrooke/{i}.jpg')) for i in (4, 12, 15, 20, 37, 56)]
    assert caption_clip(captioner, Clip(images)).scene_text == ()


def test_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch):
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        'find_spec',
        lambda name, *rest: None if name == 'rapidocr' else find_spec(name, *rest),
    )
    with pytest.raises(CaptionerFailed, match='scene-text'):
        SceneTextCaptioner()


@needs_ocr
def test_package_that_cannot_be_imported_is_a_failure(monkeypatch: pytest.MonkeyPatch):
    captioner = SceneTextCaptioner()
    monkeypatch.setitem(sys.modules, 'rapidocr', None)
    with pytest.raises(CaptionerFailed, match='scene-text'):
        caption_clip(captioner, Clip([wall()]))


@needs_ocr
def test_model_that_fails_is_a_failure(monkeypatch: pytest.MonkeyPatch):
    def fail(_: Bgr) -> None:
        raise RuntimeError('out of memory')

    monkeypatch.setattr('remembr_ros.captioning.captioners.scene_text._load', lambda side: fail)
    with pytest.raises(CaptionerFailed, match='out of memory'):
        caption_clip(SceneTextCaptioner(), Clip([wall()]))


def test_sharpest_of_each_part_is_taken():
    blurred, sharp = wall(('EXIT', 200, 200), blur=31), wall(('EXIT', 200, 200))
    images = [blurred, sharp, blurred, blurred, blurred, sharp]
    chosen = sharpest_parts(images, 2)
    assert [image is sharp for image in chosen] == [True, True]
    assert len(sharpest_parts(images, 9)) == 6
    assert sharpest_parts([], 2) == []


def test_caption_is_a_sentence():
    assert sentence(['Computer', 'Mobile']) == 'Signs and labels that can be read: "Computer", "Mobile".'
    assert sentence([]) == NOTHING_READ
