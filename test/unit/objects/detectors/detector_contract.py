"""What every detector does."""

import numpy as np

from remembr_ros.images import Bgr
from remembr_ros.objects.detectors.detection import Detector
from test.object_scene import T0


class DetectorContract:
    """Inherit from this, with the fixtures detector and image: one that shows something."""

    def test_what_it_finds_is_sound_and_lies_in_the_image(self, detector: Detector, image: Bgr) -> None:
        found = detector.detect(image, T0, 'front')
        height, width = image.shape[:2]
        assert found
        for one in found:
            assert one.is_sound()
            assert (one.stamp_ns, one.camera) == (T0, 'front')
            assert one.box[0] >= 0.0
            assert one.box[1] >= 0.0
            assert one.box[2] <= width
            assert one.box[3] <= height
            assert one.mask is None or one.mask.shape == (height, width)

    def test_it_does_not_change_the_image(self, detector: Detector, image: Bgr) -> None:
        before = image.copy()
        detector.detect(image, T0)
        assert np.array_equal(image, before)

    def test_images_of_any_size_are_looked_at(self, detector: Detector) -> None:
        for shape in ((1, 1, 3), (5, 700, 3), (700, 5, 3)):
            for one in detector.detect(np.zeros(shape, np.uint8), T0):
                assert one.is_sound()
                assert one.box[2] <= shape[1]
                assert one.box[3] <= shape[0]

    def test_it_has_a_name_and_can_be_closed_twice(self, detector: Detector) -> None:
        assert detector.name
        detector.close()
        detector.close()
