"""Deeds from remembr_msgs/Event messages."""

import json
from typing import Any

from remembr_ros.errors import InvalidRequest
from remembr_ros.events.plain import clipped
from remembr_ros.geometry import Pose, is_place, yaw_from_quaternion
from remembr_ros.memory.deeds.deed import Deed, deed
from remembr_ros.timestamps import NS


def deed_of(message: Any, now_ns: int) -> Deed:
    """Return the deed that a remembr_msgs/Event tells.

    :raises InvalidRequest: it makes no sense
    """
    begin_ns, end_ns = (stamp.sec * NS + stamp.nanosec for stamp in (message.begin, message.end))
    begin_ns = begin_ns or end_ns or now_ns
    try:
        details = json.loads(message.details or '{}')
    except (ValueError, RecursionError):
        details = None
    if not isinstance(details, dict):
        raise InvalidRequest('the details of the event are no JSON object; leave them empty')
    location: dict[str, Any] = {'map_id': message.map_id, 'robot': message.robot}
    if message.use_pose:
        at, turned = message.pose.pose.position, message.pose.pose.orientation
        pose = Pose(at.x, at.y, at.z, yaw_from_quaternion(turned.x, turned.y, turned.z, turned.w))
        if not is_place(pose):
            raise InvalidRequest('the pose of the event is no place; leave use_pose false without one')
        location |= {'pose': pose, 'frame_id': message.pose.header.frame_id.lstrip('/') or 'map'}
    names = ('kind', 'text', 'object', 'receptacle', 'place', 'reason')
    fields = {name: getattr(message, name) for name in names}
    outcome = message.outcome or 'unknown'
    return deed(begin_ns, end_ns or None, outcome=outcome, details=clipped(details), **fields, **location)
