"""Times at which no robot saw anything."""

from pathlib import Path

from remembr_msgs.srv import Remember
from remembr_ros.nodes.base.conversions import time_to_msg
from remembr_ros.nodes.memory.node import MemoryNode
from remembr_ros.timestamps import parse_time


def test_a_note_of_a_time_before_any_robot_is_refused(robot, tmp_path: Path):
    robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing')
    request = Remember.Request(text='the key is here')
    request.pose.header.stamp = time_to_msg(parse_time('1980-01-06'))
    response = robot.call(Remember, 'remember', request)
    assert response.error_code == Remember.Response.INVALID_REQUEST
    assert 'check the clock' in response.error_msg
