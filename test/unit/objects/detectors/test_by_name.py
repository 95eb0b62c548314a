import pytest

from remembr_ros.errors import InvalidRequest
from remembr_ros.objects.detectors.by_name import get_detector
from remembr_ros.objects.detectors.yolox import YoloxDetector


def test_a_detector_is_known_by_its_kind_and_model() -> None:
    assert isinstance(get_detector('onnx:model.onnx'), YoloxDetector)
    for name in ('', 'onnx', 'onnx:', 'yolo:model.onnx'):
        with pytest.raises(InvalidRequest, match=r'onnx:MODEL\.onnx'):
            get_detector(name)
