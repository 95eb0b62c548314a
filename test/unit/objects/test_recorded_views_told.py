"""Detections of others in recordings."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from remembr_ros.errors import BagUnreadable
from remembr_ros.geometry import Transform, compose, inverse
from remembr_ros.objects.recorded_views import RecordedViews
from remembr_ros.timestamps import NS
from test.object_bag import DEPTH_INFO, DEPTHS, INFO, SQUARE, Drive, RedThings, picture
from test.object_scene import AHEAD, CAMERA, T0
from test.unit.bags.conftest import BagBuilder
from test.vision_messages import FOUND, LABELS, UPRIGHT, VisionMessages, add_vision_types

SIZE = (0.02, 0.5, 0.5)


@dataclass
class ToldDrive(Drive):
    """A drive whose square somebody detects.

    :param told: boxes in the image, '2D', or in space, '3D'
    :param frame: in which these are, and of which all are said to be
    :param names: topics of what class 7 is called; the number of the image with which it is told, and how
    :param every_ns: between the messages of one image, so often there is one
    """

    told: str = '2D'
    frame: str = 'color_optical'
    names: Sequence[tuple[str, int, str]] = field(default_factory=list)
    times: int = 1

    def _write_one(self, bag: BagBuilder, number: int) -> None:
        if number == 0:
            add_vision_types(bag.store)
        super()._write_one(bag, number)
        vision, ns = VisionMessages(bag.store.types), T0 + number * NS // 5
        base = self.base(number * NS // 5)
        with self._later(bag):
            for topic, when, name in self.names:
                if when == number:
                    bag.add(topic, vision.labels({7: name}), ns)
            for again in range(self.times):
                of = [self._one(vision, base)]
                array = vision.array(ns + again * NS // 100, self.frame, of, self.told)
                bag.add(FOUND, array, ns)

    def _one(self, vision: VisionMessages, base: Transform) -> Any:
        if self.told == '2D':
            [seen] = RedThings().detect(picture(CAMERA, compose(base, AHEAD)), T0)
            return vision.flat(seen.box, {'7': 0.9})
        frame = {'map': ((0.0, 0.0, 0.0), UPRIGHT), 'base_link': base, 'color_optical': compose(base, AHEAD)}
        return vision.solid(compose(inverse(frame[self.frame]), (SQUARE, UPRIGHT)), SIZE, {'7': 0.9})


def views_of(bag: Path, depth: str | None = DEPTHS, topic: str = FOUND) -> tuple[list[Any], RecordedViews]:
    views = RecordedViews(bag, None, depth, detections=topic)
    try:
        return [(view, views.told.detect(view.image, view.stamp_ns)) for view in views], views
    finally:
        views.close()


def labels(bag: Path) -> list[str]:
    return [one.label for _, found in views_of(bag)[0] for one in found]


@pytest.mark.parametrize('kind', ['mcap', 'sqlite3'])
def test_what_was_told_comes_with_image_and_depth(kind: str, tmp_path: Path) -> None:
    found, views = views_of(ToldDrive(kind=kind).write(tmp_path))
    assert len(found) == views.frame_count == 8
    for view, [one] in found:
        assert (view.image is not None, view.depth is not None) == (True, True)
        assert one.box == RedThings().detect(view.image, view.stamp_ns)[0].box
    assert not +(views.pairing.dropped + views.told.dropped)


@pytest.mark.parametrize('frame', ['map', 'base_link', 'color_optical'])
@pytest.mark.parametrize('missing', [[], [INFO, DEPTH_INFO, DEPTHS]])
def test_boxes_in_space_need_neither_camera_info_nor_depth(
    frame: str, missing: list[str], tmp_path: Path
) -> None:
    drive = ToldDrive(told='3D', frame=frame, missing=missing)
    found, _ = views_of(drive.write(tmp_path), None)
    assert len(found) == 8
    for number, (view, [one]) in enumerate(found):
        base = drive.base(number * NS // 5)
        assert view.pose[0] == pytest.approx((compose(base, AHEAD) if 'color' in frame else base)[0])
        place = one.extent.pose if one.extent.in_map else compose(view.pose, one.extent.pose)
        assert place[0] == pytest.approx(SQUARE)
        assert (view.image is not None) == (frame == 'color_optical' and not missing)


def test_names_hold_from_the_start_and_until_others_come(tmp_path: Path) -> None:
    assert labels(ToldDrive().write(tmp_path)) == ['class 7'] * 8
    drive = ToldDrive(names=[(LABELS, 3, 'cup'), (LABELS, 6, 'mug')], kind='sqlite3')
    assert labels(drive.write(tmp_path)) == ['cup'] * 6 + ['mug'] * 2


def test_names_are_those_beside_the_detections_or_the_only_ones(tmp_path: Path) -> None:
    other, third = '/other/label_info', '/third/names'
    for number, (names, expected) in enumerate(
        (
            ([(other, 0, 'mug')], 'mug'),
            ([(other, 0, 'mug'), (LABELS, 2, 'cup')], 'cup'),
            ([(other, 0, 'mug'), (third, 0, 'cup')], 'class 7'),
        )
    ):
        (tmp_path / str(number)).mkdir()
        assert set(labels(ToldDrive(names=names).write(tmp_path / str(number)))) == {expected}


def test_definitions_that_the_recording_lacks_are_known(tmp_path: Path) -> None:
    drive = ToldDrive(kind='sqlite3', told='3D', names=[(LABELS, 0, 'cup')])
    bag = drive.write(tmp_path)
    [file] = bag.glob('*.db3')
    with sqlite3.connect(file) as database:
        assert database.execute('DELETE FROM message_definitions').rowcount > 0
    database.close()
    assert labels(bag) == ['cup'] * 8


def test_what_was_told_before_a_damage_is_delivered_first(tmp_path: Path) -> None:
    bag = ToldDrive(names=[(LABELS, 0, 'cup')]).write(tmp_path)
    (bag / 'metadata.yaml').unlink()
    [first] = bag.iterdir()
    first.rename(bag / 'bag_0.mcap')
    (bag / 'bag_1.mcap').write_bytes((bag / 'bag_0.mcap').read_bytes()[:-100])
    views = RecordedViews(bag, None, DEPTHS, detections=FOUND)
    found: list[str] = []
    with pytest.raises(BagUnreadable, match='cut off'):
        found.extend(views.told.detect(None, view.stamp_ns)[0].label for view in views)
    views.close()
    assert len(found) >= 7  # localisation of the last one may be beyond
    assert set(found) == {'cup'}


def test_of_arrays_that_are_near_to_each_other_one_is_taken(tmp_path: Path) -> None:
    found, views = views_of(ToldDrive(times=3).write(tmp_path))
    assert (len(found), views.frame_count) == (8, 24)


def test_other_topics_are_refused_and_told(tmp_path: Path) -> None:
    bag = ToldDrive().write(tmp_path)
    for topic in ('/nothing', DEPTHS):
        with pytest.raises(BagUnreadable, match=rf'--detections can be {FOUND}.*its topics: .*{DEPTHS}'):
            views_of(bag, topic=topic)
    (tmp_path / 'flat').mkdir()
    with pytest.raises(BagUnreadable, match='no sensor_msgs/msg/CameraInfo'):
        views_of(replace(ToldDrive(), missing=[INFO], registered=False).write(tmp_path / 'flat'))
    (tmp_path / 'none').mkdir()
    with pytest.raises(BagUnreadable, match='no topic for --detections'):
        views_of(Drive().write(tmp_path / 'none'))
