"""Where the robot shall drive."""

from collections.abc import Callable
from typing import Annotated

from remembr_ros.errors import InvalidRequest
from remembr_ros.forms.fields import At, OnMap, Yaw, word
from remembr_ros.forms.form import Form
from remembr_ros.geometry import Pose, StampedPose, wrap_angle
from remembr_ros.memory.model.record import Memory


class GoForm(Form):
    """Drive the robot to where a memory was made, or to a position; a person has to confirm first."""

    memory_id: Annotated[
        str | None, word('where that memory was made', '8c1f0d', 'id memory', max_length=200)
    ] = None
    position: At = None
    yaw: Yaw = 0.0
    map: OnMap = ''

    def target(self, memory_of: Callable[[str], Memory], now_ns: int) -> Memory | StampedPose:
        """Return the memory, or the position with its heading as of now.

        :raises InvalidRequest: neither or both are given
        """
        if (self.memory_id is None) == (self.position is None):
            raise InvalidRequest('give either a memory_id or a position')
        if self.position is None:
            return memory_of(self.memory_id or '')
        return StampedPose(now_ns, Pose(*self.position, wrap_angle(self.yaw)))
