"""The parameters of the events node."""

import dataclasses

from remembr_ros.events.watch import LEFT_OUT
from remembr_ros.forms.parameter import parameter
from remembr_ros.nodes.base.parameters import NodeParameters, PoseParameters


@dataclasses.dataclass(frozen=True)
class EventsParameters(NodeParameters, PoseParameters):
    """Parameters of the events node."""

    robot: str = parameter('robot', 'name of the robot, kept with each memory')
    left_out: list[str] = parameter(
        list(LEFT_OUT),
        'what is not remembered: patterns of names of actions, services, topics or diagnostics, or of their '
        'last part',
    )
    look_period: float = parameter(1.0, 'look so often for what is new on the graph', '0.1 to 60 s')
    pose_max_age: float = parameter(0.5, 'a pose counts that near to a deed', '0.01 to 60 s')
    pose_hold: float = parameter(
        600.0,
        'a pose stays valid so long when no newer one comes (AMCL is silent while the robot stands); '
        '0: pose_max_age',
        '0 to 86400 s',
    )
