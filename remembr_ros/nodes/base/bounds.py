"""Limits on the length of received texts and lists, against floods of memory and disk."""

from typing import Any

from remembr_msgs.msg import Memory as MemoryMsg
from remembr_msgs.srv import Recall, Remember
from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.search import MAX_LIMIT

MAX_NAME = 200  # characters of a name: robot, map, camera, captioner, frame, asker, id
MAX_TEXT = 60_000  # characters of a caption, and of all that was read in a scene: what the store keeps
MAX_QUERY = 10_000  # characters of a text that is searched for
MAX_SIGNS = 1_000  # texts read in one scene
MAX_KEYFRAMES = 20  # keyframes that come with a caption; the captioner sends at most 10
MAX_KEYFRAME_BYTES = 50_000_000  # of all keyframes of a caption
MAX_REASON = 500  # characters of why a caption is not stored
MAX_IDS = 10_000  # ids, or robots, named in one request or response

_LONGER = {'text': MAX_QUERY, 'question': MAX_TEXT, 'caption': MAX_TEXT, 'facts': MAX_TEXT}
_OF_KIND = {Recall.Request: {'ids': MAX_LIMIT}, Remember.Request: {'text': MAX_TEXT}}
"""How long a field may be that is more than a name: of any message, and of one kind."""

_NO_NAMES = ('scene_text', 'passages', 'keyframes')
"""Lists of texts of a memory, of which the first is checked as a whole and the others are not stored."""


def check_caption(msg: MemoryMsg) -> None:
    """Raise InvalidRequest if a caption is too long to be remembered."""
    check_texts(msg)
    _check('scene_text', len(msg.scene_text), MAX_SIGNS, 'texts')
    _check('scene_text', sum(map(len, msg.scene_text)), MAX_TEXT, 'characters')
    _check('keyframe_images', len(msg.keyframe_images), MAX_KEYFRAMES, 'images')
    size = sum(len(image.data) for image in msg.keyframe_images)
    _check('keyframe_images', size, MAX_KEYFRAME_BYTES, 'bytes')


def check_texts(message: Any) -> None:
    """Raise InvalidRequest if a text of a message, a list of texts or the name of a frame is too long."""
    most = {**_LONGER, **_OF_KIND.get(type(message), {})}
    for field, kind in message.get_fields_and_field_types().items():
        value = getattr(message, field)
        if kind == 'string':
            _check(field, len(value), most.get(field, MAX_NAME), 'characters')
        elif kind == 'geometry_msgs/PoseStamped':
            _check('frame_id', len(value.header.frame_id), MAX_NAME, 'characters')
        elif kind == 'sequence<string>' and field not in _NO_NAMES:
            _check(field, len(value), most.get(field, MAX_IDS), 'texts')
            for text in value:
                _check(field, len(text), MAX_NAME, 'characters')


def _check(field: str, length: int, most: int, unit: str) -> None:
    if length > most:
        raise InvalidRequest(f'{field} has {length} {unit}; at most {most} are taken')
