import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: make setup')

from sensor_msgs.msg import CompressedImage

from remembr_msgs.msg import Memory as MemoryMsg
from remembr_msgs.srv import FindDeeds, Forget, Recall
from remembr_ros.errors import InvalidRequest
from remembr_ros.nodes.base import conversions


@pytest.mark.parametrize(
    ('fields', 'named'),
    [
        ({'caption': 'x' * 60_001}, 'caption'),
        ({'scene_text': ['x'] * 1_001}, 'scene_text'),
        ({'scene_text': ['x' * 30_001] * 2}, 'scene_text'),
        ({'robot': 'x' * 201}, 'robot'),
        ({'camera': 'x' * 201}, 'camera'),
        ({'keyframe_images': [CompressedImage()] * 21}, 'keyframe_images'),
        ({'keyframe_images': [CompressedImage(data=bytes(25_000_001))] * 2}, 'keyframe_images'),
    ],
    ids=['caption', 'signs', 'sign', 'robot', 'camera', 'images', 'bytes'],
)
def test_a_caption_that_is_too_long_is_refused_with_what_is(fields, named):
    with pytest.raises(InvalidRequest, match=f'^{named} has .* at most'):
        conversions.check_caption(MemoryMsg(**fields))


@pytest.mark.parametrize(
    ('request_', 'named'),
    [
        (Recall.Request(text='x' * 10_001), 'text'),
        (Recall.Request(place='x' * 201), 'place'),
        (Recall.Request(robot=['x'] * 1_001), 'robot'),
        (Recall.Request(id=['x'] * 1_001), 'id'),
        (Forget.Request(id=['x'] * 1_001), 'id'),
        (Forget.Request(id=['x' * 201]), 'id'),
        (Forget.Request(text='x' * 10_001), 'text'),
        *(
            (FindDeeds.Request(**{name: 'x' * 10_000}), name)
            for name in (
                'kind',
                'object',
                'receptacle',
                'place',
                'attribute',
                'after_deed',
                'before_deed',
                'during',
            )
        ),
        *((FindDeeds.Request(**{name: 'x' * 201}), name) for name in ('order', 'never', 'map')),
        (FindDeeds.Request(outcome=['x'] * 1_001), 'outcome'),
        (FindDeeds.Request(robot=['x' * 201]), 'robot'),
    ],
    ids=lambda value: value if isinstance(value, str) else '',
)
def test_a_request_that_is_too_long_is_refused_with_what_is(request_, named):
    with pytest.raises(InvalidRequest, match=f'^{named} has .* at most'):
        conversions.check_texts(request_)


def test_what_fits_is_taken():
    images = [CompressedImage(data=bytes(2_500_000))] * 20
    conversions.check_caption(
        MemoryMsg(
            caption='x' * 60_000, scene_text=['x' * 60] * 1_000, robot='x' * 200, keyframe_images=images
        )
    )
    conversions.check_texts(FindDeeds.Request(after_deed='x' * 200, robot=['x' * 200] * 1_000))
    conversions.check_texts(Recall.Request(text='x' * 10_000, robot=['x' * 200] * 1_000))
    conversions.check_texts(Forget.Request(text='x' * 10_000, id=['x' * 200] * 1_000))
