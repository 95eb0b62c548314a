from pathlib import Path

import numpy as np
import pytest

from remembr_bench.simulation.detector import DetectorErrors, SimulatedDetector
from remembr_ros.errors import DetectorFailed, InvalidRequest
from remembr_ros.images import Bgr
from remembr_ros.objects.detectors.by_name import get_detector
from remembr_ros.timestamps import NS
from test.object_scene import T0
from test.unit.objects.detectors.detector_contract import DetectorContract

LABELS = {1: 'cup', 2: 'book', 3: 'ball', 7: 'cup'}
IMAGE = np.zeros((60, 80, 3), np.uint8)


def masks(_: int = 0) -> np.ndarray:
    found = np.zeros((60, 80), np.uint16)
    found[10:20, 5:15], found[30:50, 20:40], found[5:25, 50:70] = 1, 2, 3
    found[55:57, 70:74] = 7  # too small
    return found


def looked(times: int = 1000, **errors: float) -> list:
    detector = SimulatedDetector(masks, LABELS, DetectorErrors(**errors))
    return [detector.detect(IMAGE, T0 + i) for i in range(times)]


class TestSimulated(DetectorContract):
    @pytest.fixture
    def detector(self) -> SimulatedDetector:
        return SimulatedDetector(masks, LABELS, DetectorErrors(0.1, 0.5, 0.3, 2.0))

    @pytest.fixture
    def image(self) -> Bgr:
        return IMAGE


def test_without_errors_it_finds_what_is_large_enough_as_it_is() -> None:
    [found] = looked(1)
    by_label = {one.label: one for one in found}
    assert set(by_label) == {'cup', 'book', 'ball'}
    assert by_label['cup'].box == (5.0, 10.0, 15.0, 20.0)
    assert np.array_equal(by_label['book'].mask, masks() == 2)


def test_it_errs_as_often_as_it_is_told_to() -> None:
    assert np.mean([len(found) for found in looked(misses=0.4)]) == pytest.approx(3 * 0.6, abs=0.1)
    assert np.mean([len(found) for found in looked(false=0.2)]) == pytest.approx(3 * 1.2, abs=0.1)
    called = [
        one.label for found in looked(flipped=0.3) for one in found if one.box == (5.0, 10.0, 15.0, 20.0)
    ]
    assert called.count('cup') / 1000 == pytest.approx(0.7, abs=0.05)
    boxes = [one.box for found in looked(box_px=2.0) for one in found if one.label == 'cup']
    assert np.std([box[0] for box in boxes]) == pytest.approx(2.0, abs=0.3)


def test_the_same_image_is_mistaken_in_the_same_way() -> None:
    errors = {'misses': 0.3, 'false': 0.3, 'flipped': 0.3, 'box_px': 1.0}
    some, others = looked(20, **errors), looked(20, **errors)
    assert [[(a.box, a.scores) for a in one] for one in some] == [
        [(a.box, a.scores) for a in one] for one in others
    ]
    other_seed = SimulatedDetector(masks, LABELS, DetectorErrors(**errors), seed=1)
    assert [len(other_seed.detect(IMAGE, T0 + i)) for i in range(20)] != [len(found) for found in some]


def test_an_image_without_masks_shows_nothing() -> None:
    assert SimulatedDetector(lambda _: None, LABELS).detect(IMAGE, T0) == []


@pytest.mark.parametrize(
    'errors', [{'misses': 1.5}, {'false': -0.1}, {'flipped': float('nan')}, {'box_px': -1.0}]
)
def test_errors_that_cannot_be_are_refused(errors: dict) -> None:
    with pytest.raises(InvalidRequest, match='give shares from 0 to 1'):
        DetectorErrors(**errors)


def test_by_name_it_reads_a_recorded_home(tmp_path: Path) -> None:
    with pytest.raises(DetectorFailed, match=r'no recorded home, with bag and truth.json.*--bags'):
        get_detector(f'simulation:{tmp_path}')
    with pytest.raises(InvalidRequest, match='give numbers for misses, false, flipped, box_px'):
        get_detector(f'simulation:{tmp_path},missed=0.2')
    with pytest.raises(InvalidRequest, match='there is no detector'):
        get_detector('simulation:')


def test_masks_of_a_recording_are_found_by_their_stamps_in_any_order(tmp_path: Path) -> None:
    from remembr_bench.bag_writer import BagWriter
    from remembr_bench.simulation.detector import INSTANCES

    with BagWriter(tmp_path / 'bag') as bag:
        for i in range(4):
            stamp = T0 + i * NS
            bag.write(stamp, INSTANCES, bag.image(bag.header(stamp, 'camera'), '16UC1', masks() * (i != 2)))
    (tmp_path / 'truth.json').write_text(
        '{"home": {"items": [{"number": 1, "label": "cup"}, {"number": 2, "label": "book"}]}}'
    )
    detector = get_detector(f'simulation:{tmp_path}')
    counts = [len(detector.detect(IMAGE, T0 + i * NS)) for i in (0, 2, 3, 1, 9, 0)]
    assert counts == [2, 0, 2, 2, 0, 2]
    assert detector.detect(IMAGE, T0 + NS // 2) == []
    detector.close()
