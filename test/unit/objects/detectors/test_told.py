"""Detections of others: messages of a recording and of ROS."""

import math
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembr_ros.geometry import quaternion_from_yaw
from remembr_ros.images import Bgr
from remembr_ros.objects.detectors.detection import LABELS, MOST
from remembr_ros.objects.detectors.told import STAMPS, USUAL_STD_M, ToldDetections
from remembr_ros.timestamps import NS
from test.object_scene import T0
from test.unit.objects.detectors.detector_contract import DetectorContract
from test.vision_messages import UPRIGHT, VisionMessages

BOX = (10.0, 20.0, 40.0, 60.0)
CUP = {'cup': 0.8}
AT = ((0.5, 0.2, 2.0), UPRIGHT)
SIZE = (0.1, 0.2, 0.3)
VISION = VisionMessages()


def of_ros() -> VisionMessages:
    geometry = pytest.importorskip('geometry_msgs.msg')
    vision = pytest.importorskip('vision_msgs.msg', reason='vision_msgs is not installed')
    std, builtin = pytest.importorskip('std_msgs.msg'), pytest.importorskip('builtin_interfaces.msg')
    packages = {'vision_msgs': vision, 'geometry_msgs': geometry, 'std_msgs': std}
    packages['builtin_interfaces'] = builtin

    class Types(dict[str, Any]):
        def __missing__(self, name: str) -> Any:
            package, _, kind = name.split('/')
            return getattr(packages[package], kind)

    return VisionMessages(Types())


def told(*detections: Any, kind: str = '2D', frame_id: str = 'cam', **names: Any) -> list[Any]:
    """Return what becomes of detections of one array."""
    detector = ToldDetections()
    detector.take(VISION.array(T0, frame_id, detections, kind), 'map', T0)
    return detector.detect(None, T0)


def left_out(*detections: Any, kind: str = '2D') -> int:
    detector = ToldDetections()
    detector.take(VISION.array(T0, 'cam', detections, kind), 'map', T0)
    assert not detector.detect(None, T0)
    assert +detector.dropped == {'detections without a label, or a sound box': len(detections)}
    return len(detections)


class TestTold(DetectorContract):
    @pytest.fixture
    def detector(self) -> ToldDetections:
        found = ToldDetections()
        found.take(VISION.array(T0, 'cam', [VISION.flat(BOX, CUP)]), 'map', T0)
        return found

    @pytest.fixture
    def image(self) -> Bgr:
        return np.zeros((80, 60, 3), np.uint8)

    def test_images_of_any_size_are_looked_at(self, detector: Any) -> None:
        """It does not look at them: whoever told of boxes knew their size."""


@pytest.mark.parametrize('messages', [VisionMessages, of_ros])
def test_what_was_told_is_found_by_its_stamp(messages: Any) -> None:
    vision, detector = messages(), ToldDetections()
    array = vision.array(T0, '/cam', [vision.flat(BOX, {'cup': 0.6, 'mug': 0.9}, name='track 7')])
    assert detector.take(array, 'map', T0 + 5) == (T0, 'cam', False)
    [one] = detector.detect(None, T0, 'front')
    assert (one.stamp_ns, one.camera, one.box) == (T0, 'front', BOX)
    assert (dict(one.scores), one.label) == ({'cup': 0.6, 'mug': 0.9}, 'mug')
    assert (one.extent, one.mask, one.embedding) == (None, None, None)
    assert detector.detect(None, T0 + 1) == []
    solid = vision.array(T0 + NS, 'lidar', [vision.solid(AT, SIZE, CUP, 0.04)], '3D')
    assert detector.take(solid, 'map', 0) == (T0 + NS, 'lidar', True)
    [one] = detector.detect(None, T0 + NS)
    assert one.extent is not None
    assert (one.extent.pose, one.extent.size, one.extent.in_map) == (AT, SIZE, False)
    assert one.extent.std_m == pytest.approx(0.2)
    detector.close()
    assert detector.detect(None, T0) == []


def test_times_and_frames_are_those_of_the_array_else_what_there_is() -> None:
    detector, one = ToldDetections('base_footprint'), VISION.flat(BOX, CUP, frame_id='/left')
    assert detector.take(VISION.array(0, '', [one]), 'map', T0) == (T0, 'left', False)
    assert detector.take(VISION.array(T0 + 1, '', []), 'map', T0) == (T0 + 1, '', False)
    solid = VISION.solid(AT, SIZE, CUP)
    assert detector.take(VISION.array(T0 + 2, 'map', [solid], '3D'), 'map', 0) == (
        T0 + 2,
        'base_footprint',
        True,
    )
    assert detector.detect(None, T0 + 2)[0].extent.in_map
    # A box in an image is never in the map.
    assert detector.take(VISION.array(T0 + 3, 'map', []), 'map', 0) == (T0 + 3, 'map', False)


def test_the_same_time_told_again_counts_once_and_the_oldest_times_go() -> None:
    detector = ToldDetections()
    array = VISION.array(T0, 'cam', [VISION.flat(BOX, CUP)])
    assert detector.take(array, 'map', T0) is not None
    assert detector.take(array, 'map', T0) is None
    assert +detector.dropped == {'arrays of a time that was told of before': 1}
    for number in range(1, STAMPS + 1):
        detector.take(VISION.array(T0 + number, 'cam', [VISION.flat(BOX, CUP)]), 'map', T0)
    assert [len(detector.detect(None, T0 + number)) for number in (0, 1, STAMPS)] == [0, 1, 1]


def test_numbers_are_called_what_the_latest_names_say() -> None:
    detector = ToldDetections()

    def labels(stamp_ns: int) -> list[str]:
        names = ('47', ' 3 ', 'mug', '007', '-1', '1234567890123')
        array = VISION.array(stamp_ns, 'cam', [VISION.flat(BOX, {name: 0.5}) for name in names])
        detector.take(array, 'map', T0)
        return [one.label for one in detector.detect(None, stamp_ns)]

    assert labels(T0) == ['class 47', 'class 3', 'mug', 'class 7', '-1', '1234567890123']
    detector.take_labels(VISION.labels({47: ' cup ', 3: '  ', 7: 'bowl'}))
    assert labels(T0 + 1) == ['cup', 'class 3', 'mug', 'bowl', '-1', '1234567890123']
    detector.take_labels(VISION.labels({3: 'vase'}))
    assert labels(T0 + 2)[:2] == ['class 47', 'vase']


def test_the_best_hypotheses_become_scores() -> None:
    scores = [(f'thing {number}', 0.01 + number / 100.0) for number in range(50)]
    wrong = [('nan', math.nan), ('none', 0.0), ('much', 1.5), ('less', -1.0), (' ', 0.9), ('', 0.9)]
    [one] = told(VISION.flat(BOX, [*wrong, *scores, ('thing 49', 0.1)]))
    assert len(one.scores) == LABELS
    assert (one.label, one.score) == ('thing 49', 0.5)
    [one] = told(VISION.flat(BOX, {'x' * 10_000: 1.0}))
    assert len(one.label) == 200


def test_a_turned_box_becomes_the_one_around_it() -> None:
    [quarter, eighth] = told(
        VISION.flat(BOX, {'a': 0.9}, math.pi / 2.0), VISION.flat((0.0, 0.0, 10.0, 10.0), CUP, math.pi / 4.0)
    )
    assert quarter.box == pytest.approx((5.0, 25.0, 45.0, 55.0))
    assert eighth.box == pytest.approx((5 - 50**0.5, 5 - 50**0.5, 5 + 50**0.5, 5 + 50**0.5))


def test_what_makes_no_sense_is_counted() -> None:
    for box in (
        (5.0, 5.0, 5.0, 9.0),
        (9.0, 5.0, 5.0, 9.0),
        (math.nan, 0.0, 1.0, 1.0),
        (0.0, 0.0, 1.0, math.inf),
    ):
        assert left_out(VISION.flat(box, CUP))
    for theta in (math.nan, math.inf):
        assert left_out(VISION.flat(BOX, CUP, theta))
    assert left_out(VISION.flat(BOX, {}), VISION.flat(BOX, {'': 0.9}), VISION.flat(BOX, {'cup': math.nan}))
    for place, size in (
        (((math.nan, 0.0, 1.0), UPRIGHT), SIZE),
        (((1e12, 0.0, 1.0), UPRIGHT), SIZE),
        (((0.0, 0.0, 1.0), (0.0, 0.0, 0.0, 0.0)), SIZE),
        (((0.0, 0.0, 1.0), (math.nan, 0.0, 0.0, 1.0)), SIZE),
        (((0.0, 0.0, 1.0), (math.inf, 0.0, 0.0, 1.0)), SIZE),
        (AT, (0.1, -0.1, 0.1)),
        (AT, (0.0, 0.0, 0.1)),
        (AT, (0.1, 1e12, 0.1)),
        (AT, (0.1, math.nan, 0.1)),
    ):
        assert left_out(VISION.solid(place, size, CUP), kind='3D')


def test_rotations_of_any_length_count_and_pictures_are_flat() -> None:
    z, w = quaternion_from_yaw(1.0)[2:]
    [one] = told(
        VISION.solid(((0.0, 0.0, 1.0), (0.0, 0.0, 5.0 * z, 5.0 * w)), (0.0, 1.0, 1.0), CUP), kind='3D'
    )
    assert one.extent.pose[1] == pytest.approx((0.0, 0.0, z, w))


@pytest.mark.parametrize('variance', [0.0, -1.0, math.nan, math.inf, 1e12, 1e-12])
def test_a_covariance_that_says_nothing_is_replaced(variance: float) -> None:
    [one] = told(VISION.solid(AT, SIZE, CUP, variance), kind='3D')
    assert one.extent.std_m == USUAL_STD_M


def test_of_many_the_most_certain_are_looked_at_and_that_is_quick() -> None:
    detections = [VISION.flat(BOX, {'cup': (1 + number % 9_973) / 10_000.0}) for number in range(10_000)]
    detector, began = ToldDetections(), time.process_time()
    detector.take(VISION.array(T0, 'cam', detections), 'map', T0)
    assert time.process_time() - began < 0.5
    found = detector.detect(None, T0)
    assert len(found) == MOST
    assert [found[0].score, found[-1].score] == pytest.approx([0.9973, 0.9973 - 0.0001 * (MOST - 1)])
    assert +detector.dropped == {'detections beyond the number that fits a frame': 10_000 - MOST}


def test_messages_of_an_older_layout_are_left_out() -> None:
    one = VISION.flat(BOX, CUP)
    one.results[0] = VISION.make('geometry_msgs/msg/Point', x=1.0, y=2.0, z=3.0)
    detector = ToldDetections()
    assert detector.take(VISION.array(T0, 'cam', [one]), 'map', T0) is None
    assert detector.dropped == {'arrays of vision_msgs from before 4.0': 1}


ANY = st.floats()
FOUR = st.tuples(ANY, ANY, ANY, ANY)
SCORES = st.lists(st.tuples(st.text(max_size=5), ANY), max_size=3)


@settings(max_examples=300)
@given(
    st.lists(st.tuples(FOUR, ANY, SCORES), max_size=3),
    st.lists(st.tuples(FOUR, FOUR, ANY, SCORES), max_size=3),
)
def test_whatever_is_told_what_is_found_is_sound(flats: list[Any], solids: list[Any]) -> None:
    for kind, detections in (
        ('2D', [VISION.flat(box, scores, theta) for box, theta, scores in flats]),
        ('3D', [VISION.solid((a[:3], b), (*b[:2], a[3]), scores, v) for a, b, v, scores in solids]),
    ):
        detector = ToldDetections()
        detector.take_labels(VISION.labels({1: 'one', 2: ''}))
        assert detector.take(VISION.array(T0, 'cam', detections, kind), 'map', T0) is not None
        found = detector.detect(None, T0)
        assert all(one.is_sound() for one in found)
        assert len(found) + detector.dropped.total() == len(detections)
