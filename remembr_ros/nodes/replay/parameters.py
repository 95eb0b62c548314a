"""The parameters of the bag player node."""

import dataclasses

from remembr_ros.nodes.base.parameter_field import about_list, parameter


@dataclasses.dataclass(frozen=True)
class BagPlayerParameters:
    """Parameters of the bag player node."""

    bag: str = parameter('', 'rosbag2 folder or file, or ROS 1 bag', read_only=True)
    rate: float = parameter(1.0, 'times real speed', low=0.01, high=1000.0, read_only=True)
    topics: list[str] = dataclasses.field(
        default_factory=list, metadata=about_list('play only these topics; empty: all', read_only=True)
    )
    loop: bool = parameter(False, 'start again at the end', read_only=True)
    start_delay: float = parameter(
        0.0,
        'wait so long before the first message (wall time)',
        unit='s',
        low=0.0,
        high=3600.0,
        read_only=True,
    )
    wait_for_subscribers: float = parameter(
        0.0,
        'wait at most so long (wall time) until an image topic is subscribed',
        unit='s',
        low=0.0,
        high=3600.0,
        read_only=True,
    )
