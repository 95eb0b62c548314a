"""What the services of the memory node tell of deeds, and when they were heard."""

import math
import time

from rclpy.clock import ROSClock

from remembr_msgs.msg import Memory as MemoryMsg
from remembr_msgs.srv import FindDeeds
from remembr_ros.memory.deeds.query import FoundDeeds, Occurrence
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.search import MAX_LIMIT
from remembr_ros.nodes.base.managed_node import ManagedNode
from remembr_ros.nodes.base.memory_conversion import memory_to_msg
from remembr_ros.timestamps import NS

LATE_NS = 86_400 * NS  # an outbox holds a thousand captions


def fill_deeds(found: FoundDeeds, response: FindDeeds.Response) -> None:
    """Fill what was found into a response."""
    response.deeds = [_deed_to_msg(occurrence) for occurrence in found.found]
    response.lasted = [occurrence.seconds for occurrence in found.found]
    response.driven = [float(occurrence.metres) for occurrence in found.found]
    response.anchors = [_deed_to_msg(occurrence) for occurrence in found.anchors[:MAX_LIMIT]]
    response.total = len(found.every)
    response.whole = found.whole
    response.seconds = found.seconds
    response.mean_seconds = math.nan if found.mean_seconds is None else found.mean_seconds
    response.metres = found.metres


def _deed_to_msg(occurrence: Occurrence) -> MemoryMsg:
    msg = memory_to_msg(occurrence.as_memory)
    msg.place = occurrence.facts.place
    return msg


def heard_ns(node: ManagedNode, memory: Memory) -> int:
    """Return when something was heard [ns since the Unix epoch]; of what may come late, when it was seen.

    Whoever sends it may have kept it for a day. What is older is played back, and so is simulated time.
    """
    now_ns, clock = time.time_ns(), node.get_clock()
    simulated = isinstance(clock, ROSClock) and clock.ros_time_is_active
    late = not simulated and 0 <= now_ns - memory.end_ns <= LATE_NS
    return memory.end_ns if late else now_ns
