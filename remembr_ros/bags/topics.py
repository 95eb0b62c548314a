"""Which topics of a recording hold camera images, and which holds the robot's pose."""

import logging
import re
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from typing import Any

from remembr_ros.bags.poses import (
    NAV_SAT_FIX,
    ODOMETRY,
    POSE_STAMPED,
    POSE_WITH_COVARIANCE,
    FixPoses,
    PoseSource,
    TopicPoses,
)
from remembr_ros.bags.recording import DETECTIONS_2D, DETECTIONS_3D, LABEL_INFO, Recording, Topic
from remembr_ros.bags.tf import MAP_FRAME, TF_TYPES, TfPoses, TransformSurvey, asked_chain
from remembr_ros.errors import BagUnreadable, InvalidRequest
from remembr_ros.image_header import announced_size
from remembr_ros.image_transport import MAKE_PICTURES, is_zstd, video_in
from remembr_ros.images import is_measurement

_log = logging.getLogger(__name__)

IMAGE = 'sensor_msgs/msg/Image'
COMPRESSED_IMAGE = 'sensor_msgs/msg/CompressedImage'
IMAGE_TYPES = (IMAGE, COMPRESSED_IMAGE)

CAMERA_INFO = 'sensor_msgs/msg/CameraInfo'
_TRANSPORT = re.compile(r'/(compressed|compressedDepth|zstd)$')
_IMAGE_NAME = re.compile(rf'(/image[^/]*)?({_TRANSPORT.pattern[:-1]})?$')
_VIDEO_TYPES = re.compile(
    r'(FFMPEGPacket|CompressedVideo|theora_image_transport/msg/Packet|h264\w*/msg/\w+)$'
)

_NOT_WHERE_IT_IS = ('goal', 'initialpose')
"""Poses of topics with these words in their name say where the robot shall be, or may be."""


def choose_image_topic(recording: Recording, asked: str | None = None) -> tuple[Topic, str]:
    """Return the camera's topic and the frame of its first image.

    Depth and the like count only if asked for; of a camera's raw and compressed topics the latter is taken.

    :raises BagUnreadable: there is none, the one asked for is none, or several fit
    """
    topics = recording.of_type(*IMAGE_TYPES)
    if asked is not None:
        topic = _asked(recording, asked, 'an image topic', '--image-topic', topics)
    else:
        topic = _only_camera(recording, topics)
    return topic, _frame(recording, topic) or ''


def _only_camera(recording: Recording, topics: list[Topic]) -> Topic:
    first = {topic: _first(recording, topic) for topic in topics}
    measured = [topic for topic, image in first.items() if _is_measurement(image)]
    cameras: dict[str, list[Topic]] = {}
    for topic in topics:
        if topic not in measured and not _is_video(first[topic]):
            cameras.setdefault(_TRANSPORT.sub('', topic.name), []).append(topic)
    video = [topic for topic in topics if _is_video(first[topic])]
    video += [topic for topic in recording.topics.values() if _VIDEO_TYPES.search(topic.msgtype)]
    if not cameras:
        depth = f' (only depth: {_listed(measured)}; --image-topic takes one of them)' if measured else ''
        moving = f'; {_listed(video)} is video: {MAKE_PICTURES}' if video else ''
        raise BagUnreadable(
            f'{recording.path} has no camera images (sensor_msgs Image or CompressedImage){depth}{moving}; '
            f'{recording.describe_topics()}'
        )
    # Of one camera's transports: what is small and decoded quickly, unless it was recorded in part only.
    most = {name: max(topic.count for topic in same) for name, same in cameras.items()}
    pictures = [
        min(same, key=lambda topic: (2 * topic.count < most[name], _rank(first[topic])))
        for name, same in cameras.items()
    ]
    if len(pictures) > 1:
        raise BagUnreadable(
            f'{recording.path} has {len(pictures)} image topics: {_listed(pictures)}; '
            'choose one with --image-topic'
        )
    return pictures[0]


def _rank(image: Any) -> int:
    """Return the place of a transport among those of one camera: compressed, raw, zstd, what is garbage."""
    return 3 if image is None else 1 if not hasattr(image, 'format') else 2 if is_zstd(image.format) else 0


def choose_pose_source(
    recording: Recording,
    image_frame: str,
    pose_topic: str | None = None,
    tf: tuple[str, str] | None = None,
) -> PoseSource | None:
    """Return where the robot's poses come from; None if the recording has none.

    In this order: transforms from 'map', PoseWithCovarianceStamped, PoseStamped, transforms from elsewhere,
    Odometry, NavSatFix.

    :param image_frame: stands in for base_link in a tree that has no such frame
    :param pose_topic: take this topic
    :param tf: take the transforms from this parent to this child
    :raises BagUnreadable: what was asked for is not there, or several topics of a type fit
    :raises InvalidRequest: both a topic and frames were asked for
    """
    if pose_topic is not None and tf is not None:
        raise InvalidRequest('choose either --pose-topic or --tf')
    if tf is not None:
        return asked_chain(recording, tf)
    topic = None
    if pose_topic is not None:
        fitting = recording.of_type(*_MAKERS, *TF_TYPES)
        topic = _asked(recording, pose_topic, 'a pose topic', '--pose-topic', fitting)
    if topic is not None and topic.msgtype in _MAKERS:
        return _MAKERS[topic.msgtype](recording, topic)
    survey = None
    if recording.of_type(*TF_TYPES):
        survey = TransformSurvey(recording, topic=topic.name if topic is not None else None)
    if survey and (chain := survey.chain(image_frame, (MAP_FRAME,))):
        return TfPoses(recording, chain, survey)
    if pose_topic is None:
        for msgtype in (POSE_WITH_COVARIANCE, POSE_STAMPED):
            if source := _only_topic(recording, msgtype):
                return source
    if survey and (chain := survey.chain(image_frame)):
        return TfPoses(recording, chain, survey)
    if survey and pose_topic is not None:
        raise BagUnreadable(
            f'{recording.path}: {pose_topic} does not connect the robot with a map; choose two frames with '
            f'--tf: {", ".join(survey.tree.frames) or "there are none"}'
        )
    source = _only_topic(recording, ODOMETRY) or _only_topic(recording, NAV_SAT_FIX)
    if source is None and survey and survey.tree.frames:
        _log.warning(
            'the transforms connect no map with base_link; if two of their frames are a map and a robot, '
            'choose them with --tf: %s',
            ', '.join(survey.tree.frames),
        )
    return source


_MAKERS: dict[str, Callable[[Recording, Topic], PoseSource]] = {
    POSE_WITH_COVARIANCE: TopicPoses,
    POSE_STAMPED: TopicPoses,
    ODOMETRY: TopicPoses,
    NAV_SAT_FIX: FixPoses,
}


def depth_topic(recording: Recording, asked: str) -> Topic:
    """Return the topic of depth images that was asked for.

    :raises BagUnreadable: it is none
    """
    images = recording.of_type(*IMAGE_TYPES)
    fitting = [topic for topic in images if _is_measurement(_first(recording, topic))]
    return _asked(recording, asked, 'a topic of depth images (16UC1 or 32FC1)', '--depth-topic', fitting)


def detections_topics(recording: Recording, asked: str) -> tuple[Topic, str | None]:
    """Return the topic of detections that was asked for, and that of what its classes are called.

    The latter is the one in the same namespace, or the only one; None: there is none.

    :raises BagUnreadable: it is none, or cannot be read
    """
    fitting = recording.of_type(DETECTIONS_2D, DETECTIONS_3D)
    topic = _asked(recording, asked, 'an array of detections', '--detections', fitting)
    if not recording.readable([topic.name]):
        raise BagUnreadable(f'{recording.path}: {topic.name} cannot be read: its definition is damaged')
    names = recording.readable(info.name for info in recording.of_type(LABEL_INFO))
    beside = [name for name in names if name.rpartition('/')[0] == topic.name.rpartition('/')[0]]
    return topic, next((only[0] for only in (beside, names) if len(only) == 1), None)


def camera_info_topic(recording: Recording, images: str) -> str | None:
    """Return the topic with the intrinsics of an image topic; None: there is none.

    It lies beside the images (/camera/color/camera_info), or is the only one of their frame.
    """
    infos = recording.of_type(CAMERA_INFO)
    beside = f'{_IMAGE_NAME.sub("", images)}/camera_info'
    if any(info.name == beside for info in infos):
        return beside
    frame = _frame(recording, recording.topics[images])
    own = [info.name for info in infos if frame is not None and _frame(recording, info) == frame]
    return own[0] if len(own) == 1 else None


def _asked(recording: Recording, name: str, wanted: str, option: str, fitting: list[Topic]) -> Topic:
    """Return the topic that was asked for, also where it was typed with a slash more or less at its ends.

    :raises BagUnreadable: it is none of the fitting ones
    """
    bare = name.strip().strip('/')
    topic = next((recording.topics[n] for n in (name, f'/{bare}', bare) if n in recording.topics), None)
    if topic is None:
        why = f'there is no topic {name!r}'
    elif not topic.count:
        why = f'{topic.name} has no messages'
    elif topic not in fitting:
        why = f'{topic.name} is not {wanted} but {topic.msgtype}'
    else:
        return topic
    choices = f'{option} can be {_listed(fitting)}' if fitting else f'it has no topic for {option}'
    raise BagUnreadable(f'{recording.path}: {why}; {choices}; {recording.describe_topics()}')


def _only_topic(recording: Recording, msgtype: str) -> PoseSource | None:
    topics = [
        topic
        for topic in recording.of_type(msgtype)
        if not any(word in topic.name.lower() for word in _NOT_WHERE_IT_IS)
    ]
    if len(topics) > 1:
        raise BagUnreadable(
            f'{recording.path} has {len(topics)} topics that may be the pose: {_listed(topics)}; '
            'choose one with --pose-topic'
        )
    return _MAKERS[msgtype](recording, topics[0]) if topics else None


def _first(recording: Recording, topic: Topic) -> Any:
    """Return the topic's first message that can be read; None if none of the first few can."""
    for message in islice(recording.messages({topic.name}), 10):
        with suppress(ValueError):
            return recording.deserialize(message)
    return None


def _frame(recording: Recording, topic: Topic) -> str | None:
    first = _first(recording, topic)
    return first.header.frame_id.lstrip('/') if first else None


def _is_measurement(image: Any) -> bool:
    if image is None or not hasattr(image, 'format'):
        return image is not None and is_measurement(image.encoding)
    return is_measurement(image.format, image.data)


def _is_video(image: Any) -> bool:
    if image is None or not hasattr(image, 'format'):
        return False
    data = bytes(image.data)
    return announced_size(data) is None and bool(video_in(image.format, data))


def _listed(topics: list[Topic]) -> str:
    return ', '.join(f'{topic.name} ({topic.msgtype})' for topic in topics)
