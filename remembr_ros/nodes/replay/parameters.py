"""The parameters of the bag player node."""

import dataclasses

from remembr_ros.forms.parameter import parameter


@dataclasses.dataclass(frozen=True)
class BagPlayerParameters:
    """Parameters of the bag player node."""

    bag: str = parameter('', 'rosbag2 folder or file, or ROS 1 bag', read_only=True)
    rate: float = parameter(1.0, 'times real speed', '0.01 to 1000', read_only=True)
    topics: list[str] = parameter([], 'play only these topics; empty: all', read_only=True)
    loop: bool = parameter(False, 'start again at the end', read_only=True)
    wait_for_subscribers: float = parameter(
        0.0,
        'wait at most so long (wall time) until an image topic is subscribed',
        '0 to 3600 s',
        read_only=True,
    )
