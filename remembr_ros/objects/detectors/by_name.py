"""Makes a detector by its name."""

from remembr_ros.errors import InvalidRequest
from remembr_ros.extensions import load_extension
from remembr_ros.objects.detectors.detection import Detector


def get_detector(name: str, labels: str | None = None) -> Detector:
    """Return a detector.

    :param name: its kind and its model: 'onnx:yolox.onnx', 'transformers:google/owlv2-base-patch16-ensemble',
        or a kind that another package adds, see docs/extending.md
    :param labels: path of the list of classes, or of prompts
    :raises InvalidRequest: there is no such detector
    :raises ExtensionFailed: another package adds it, and it cannot be imported
    :raises DetectorFailed: the prompts cannot be read, or are too many
    """
    kind, _, model = name.partition(':')
    if kind == 'onnx' and model:
        from remembr_ros.objects.detectors.yolox import YoloxDetector

        return YoloxDetector(model, labels)
    if kind == 'transformers' and model:
        from remembr_ros.objects.detectors.open_vocabulary import OpenVocabularyDetector
        from remembr_ros.objects.detectors.yolox import read_labels

        return OpenVocabularyDetector(model, read_labels(labels) if labels else ())
    if model and (make := load_extension('detectors', kind)):
        detector: Detector = make(model, labels)
        return detector
    raise InvalidRequest(
        f'there is no detector {name!r}; give onnx:MODEL.onnx, of the YOLOX family, transformers:MODEL, of '
        'OWL-ViT, OWLv2 or Grounding DINO, or, with remembr_bench, simulation:FOLDER, of a recorded home'
    )
