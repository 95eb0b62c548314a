"""How long what others send may be: whoever can publish shall not fill memory or disk with one message."""

from collections.abc import Sequence

from remembr_msgs.msg import Memory as MemoryMsg
from remembr_msgs.srv import Ask, FindDeeds, FindObjects, Forget, Recall
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


def check_caption(msg: MemoryMsg) -> None:
    """Raise InvalidRequest if a caption is too long to be remembered."""
    check_names(id=msg.id, robot=msg.robot, map_id=msg.map_id, captioner=msg.captioner, camera=msg.camera)
    check_names(source=msg.source, frame_id=msg.pose.header.frame_id)
    _length('caption', len(msg.caption), MAX_TEXT, 'characters')
    _length('facts', len(msg.facts), MAX_TEXT, 'characters')
    _length('scene_text', len(msg.scene_text), MAX_SIGNS, 'texts')
    _length('scene_text', sum(map(len, msg.scene_text)), MAX_TEXT, 'characters')
    _length('keyframe_images', len(msg.keyframe_images), MAX_KEYFRAMES, 'images')
    size = sum(len(image.data) for image in msg.keyframe_images)
    _length('keyframe_images', size, MAX_KEYFRAME_BYTES, 'bytes')


def check_find_objects(request: FindObjects.Request) -> None:
    """Raise InvalidRequest if a text of a request is too long."""
    _length('text', len(request.text), MAX_QUERY, 'characters')
    check_names(called=request.called, anchor=request.anchor, map_id=request.map_id)
    check_names(relation=request.relation, order=request.order, place_name=request.place_name)
    _list('robots', request.robots)


def check_find_deeds(request: FindDeeds.Request) -> None:
    """Raise InvalidRequest if a text of a request is too long."""
    check_names(kind=request.kind, object=request.object, receptacle=request.receptacle, place=request.place)
    check_names(attribute=request.attribute, after_deed=request.after_deed, before_deed=request.before_deed)
    check_names(order=request.order, never=request.never, map_id=request.map_id)
    _list('outcomes', request.outcomes)
    _list('robots', request.robots)


def check_recall(request: Recall.Request) -> None:
    """Raise InvalidRequest if a text of a request is too long."""
    _length('text', len(request.text), MAX_QUERY, 'characters')
    check_names(robot=request.robot, map_id=request.map_id, source=request.source, order=request.order)
    check_names(place_name=request.place_name)
    _list('robots', request.robots)
    _list('ids', request.ids)
    _length('ids', len(request.ids), MAX_LIMIT, 'ids')


def check_asked(request: Ask.Request) -> None:
    """Raise InvalidRequest if a name in a question's request, or in its goal, is too long."""
    check_names(asker=request.asker, map_id=request.map_id)
    _list('robots', request.robots)


def check_forget(request: Forget.Request) -> None:
    """Raise InvalidRequest if a text of a request is too long."""
    _length('text', len(request.text), MAX_QUERY, 'characters')
    check_names(robot=request.robot, map_id=request.map_id, source=request.source)
    check_names(place_name=request.place_name)
    _list('ids', request.ids)


def check_names(**names: str) -> None:
    """Raise InvalidRequest if one of these names is too long."""
    for what, name in names.items():
        _length(what, len(name), MAX_NAME, 'characters')


def _list(what: str, names: Sequence[str]) -> None:
    _length(what, len(names), MAX_IDS, 'names')
    for name in names:
        check_names(**{what: name})


def _length(what: str, length: int, most: int, unit: str) -> None:
    if length > most:
        raise InvalidRequest(f'{what} has {length} {unit}; at most {most} are taken')
