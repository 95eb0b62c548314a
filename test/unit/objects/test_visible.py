from dataclasses import replace

import numpy as np

from remembr_ros.images import decode_compressed
from remembr_ros.objects.visible import KEPT, SIDE_PX, VisibleObjects, numbered
from remembr_ros.timestamps import NS
from test.object_scene import T0, blind

BOX = (10.0, 20.0, 50.0, 60.0)


def test_the_image_nearest_in_time_that_shows_a_thing():
    visible = VisibleObjects()
    for second, boxes in enumerate(({'mug': BOX}, {'bowl': BOX}, {})):
        visible.take(blind(T0 + second * NS), boxes)
    assert visible.near(T0 + 2 * NS).stamp_ns == T0 + 2 * NS
    assert visible.near(T0 + 2 * NS, ['mug']).stamp_ns == T0
    assert visible.near(T0 + 2 * NS, ['vase']) is None
    assert visible.near(T0 + 60 * NS) is None


def test_few_small_images_are_kept_whatever_the_camera_sends():
    visible, view = VisibleObjects(), blind()
    large = replace(view, image=np.zeros((2160, 3840, 3), np.uint8))
    for number in range(10 * KEPT):
        visible.take(replace(large, stamp_ns=T0 + number * NS // 10), {'mug': (0.0, 0.0, 3840.0, 2160.0)})
    newest = visible.near(T0 + KEPT * NS)
    assert max(newest.image.shape) == SIDE_PX
    assert newest.boxes['mug'] == (0.0, 0.0, 640.0, 360.0)
    assert len(visible._seen) <= KEPT
    assert visible._seen[0].stamp_ns > T0 + NS


def test_without_a_picture_there_is_nothing_to_show():
    visible = VisibleObjects()
    visible.take(replace(blind(), image=None), {'mug': BOX})
    assert visible.near(T0) is None


def test_boxes_are_drawn_with_their_numbers():
    visible = VisibleObjects()
    visible.take(blind(), {'mug': BOX, 'bowl': (100.0, 20.0, 140.0, 60.0)})
    plain, drawn = (
        decode_compressed('jpeg', numbered(visible.near(T0), ids)) for ids in ((), ('mug', 'bowl'))
    )
    changed = np.abs(plain.astype(int) - drawn).max(axis=2) > 60
    assert changed[18:62, 8:52].any()
    assert changed[18:62, 98:142].any()
    assert not changed[80:].any()
