"""Moves memories from one map to another: remade, merged or renamed."""

import math
from dataclasses import replace

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import RigidTransform
from remembr_ros.memory.model.record import Memory


def moved(
    memory: Memory,
    transform: RigidTransform | None = None,
    *,
    map_id: str | None = None,
    frame_id: str | None = None,
) -> Memory:
    """Return a memory as it is placed in another map.

    Its id stays, as do the texts, and so its vectors.

    :param transform: where the memory's map is in the other one; None: in the same place
    :param map_id: the other map's name; None: as before
    :param frame_id: the other map's frame; None: as before
    :raises InvalidRequest: the frame has no name, or the place would be out of range
    """
    if frame_id is not None and not frame_id:
        raise InvalidRequest("a frame needs a name, such as 'map'")
    pose = memory.pose
    if pose is not None and transform is not None:
        pose = transform.pose(pose)
        if not all(map(math.isfinite, (*pose.position, pose.yaw))):
            raise InvalidRequest(
                f'memory {memory.id} at {memory.pose} would be at {pose}; check the transform, in metres'
            )
    return replace(
        memory,
        pose=pose,
        map_id=memory.map_id if map_id is None else map_id,
        frame_id=memory.frame_id if frame_id is None else frame_id,
    )
