from pathlib import Path
from types import SimpleNamespace

import cv2
import numpy as np
import pytest

from remembr_ros.errors import DetectorFailed
from remembr_ros.images import Bgr
from remembr_ros.objects.detectors.yolox import YoloxDetector, read_labels
from test.object_scene import T0
from test.unit.objects.detectors.detector_contract import DetectorContract

SHARED = Path(__file__).resolve().parents[4] / '../shared/data'
MODEL = SHARED / 'models/yolox_nano.onnx'
pytest.importorskip('onnxruntime', reason='onnxruntime is not installed')
needs_model = pytest.mark.skipif(not MODEL.is_file(), reason='needs yolox_nano.onnx of ../shared/data/models')
LABELS = SHARED / 'models/coco_labels.txt'


@needs_model
class TestYolox(DetectorContract):
    @pytest.fixture
    def detector(self) -> YoloxDetector:
        return YoloxDetector(str(MODEL), str(LABELS), min_score=0.005)

    @pytest.fixture
    def image(self) -> Bgr:
        rng = np.random.default_rng(3)
        blob = rng.integers(0, 255, (24, 32, 3), np.uint8)
        return np.asarray(cv2.resize(blob, (640, 480), interpolation=cv2.INTER_CUBIC), np.uint8)

    def test_a_better_score_leaves_fewer(self, image: Bgr) -> None:
        few = YoloxDetector(str(MODEL), str(LABELS), min_score=0.3).detect(image, T0)
        many = YoloxDetector(str(MODEL), str(LABELS), min_score=0.03).detect(image, T0)
        assert len(few) <= len(many)
        assert all(one.score >= 0.3 for one in few)
        assert [one.score for one in many] == sorted((one.score for one in many), reverse=True)

    def test_without_labels_the_classes_have_numbers(self, image: Bgr) -> None:
        found = YoloxDetector(str(MODEL), min_score=0.005).detect(image, T0)
        assert found
        assert all(one.label.startswith('class ') for one in found)

    def test_a_list_of_another_length_is_refused_with_both_lengths(self, tmp_path: Path, image: Bgr) -> None:
        labels = tmp_path / 'labels.txt'
        labels.write_text('mug\nbowl\n')
        with pytest.raises(DetectorFailed, match=r'2 labels.*80 classes'):
            YoloxDetector(str(MODEL), str(labels)).detect(image, T0)


def test_what_is_no_model_is_told(tmp_path: Path) -> None:
    garbage = tmp_path / 'model.onnx'
    garbage.write_bytes(b'no model at all')
    with pytest.raises(DetectorFailed, match='cannot be loaded'):
        YoloxDetector(str(garbage)).detect(np.zeros((9, 9, 3), np.uint8), T0)


def test_labels_that_cannot_be_read_or_are_empty_are_told(tmp_path: Path) -> None:
    with pytest.raises(DetectorFailed, match='cannot be read'):
        read_labels(str(tmp_path / 'none.txt'))
    (tmp_path / 'empty.txt').write_text('\n \n')
    with pytest.raises(DetectorFailed, match='empty'):
        read_labels(str(tmp_path / 'empty.txt'))
    (tmp_path / 'two.txt').write_text(' mug \n\nbowl\n')
    assert read_labels(str(tmp_path / 'two.txt')) == ['mug', 'bowl']


@needs_model
def test_boxes_of_one_class_that_overlap_are_one_and_of_two_classes_two(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    detector = YoloxDetector(str(MODEL), str(LABELS))
    detector.detect(np.zeros((416, 416, 3), np.uint8), T0)
    rows = np.full((3549, 85), 0.0, np.float32)
    rows[:, 2:4] = np.log(40.0 / 8.0)  # 40 pixels, on the finest grid
    cup, bowl = 41, 45
    for anchor, score, number in ((0, 0.9, cup), (1, 0.8, cup), (52, 0.7, bowl), (30, 0.6, cup)):
        rows[anchor, 4], rows[anchor, 5 + number] = 1.0, score
    rows[60] = np.nan
    monkeypatch.setattr(detector, '_session', SimpleNamespace(run=lambda outputs, inputs: [rows[None]]))
    found = detector.detect(np.zeros((416, 416, 3), np.uint8), T0)
    assert [(one.label, round(one.score, 2)) for one in found] == [('cup', 0.9), ('bowl', 0.7), ('cup', 0.6)]
