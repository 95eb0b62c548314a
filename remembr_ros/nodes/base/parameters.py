"""The parameters that several nodes share."""

import dataclasses

from remembr_ros.forms.parameter import parameter
from remembr_ros.geometry import MAX_POSITION_STD_M


@dataclasses.dataclass(frozen=True)
class NodeParameters:
    """What the parameters of every lifecycle node have."""

    autostart: bool = parameter(False, 'configure and activate without a lifecycle manager', read_only=True)
    robot: str = parameter('robot', 'name of the robot, as diagnostics show it')


POSE_SOURCES = ('tf', 'odometry', 'pose_with_covariance', 'pose', 'navsat', 'none')


@dataclasses.dataclass(frozen=True)
class PoseParameters:
    """Where a node takes the robot's pose from."""

    pose_source: str = parameter('pose_with_covariance', 'what the pose is taken from', choices=POSE_SOURCES)
    map_frame: str = parameter('map', 'frame that positions refer to (pose_source tf: its root)')
    base_frame: str = parameter('base_link', 'frame of the robot (pose_source tf)')
    map_id: str = parameter('', 'name of the map that the robot is on; empty if there is only one')
    datum: list[float] = parameter(
        [],
        'latitude, longitude and altitude of the map origin (pose_source navsat); '
        'empty: the first fix, which differs at every start',
        unit='deg, deg, m',
    )
    max_position_std: float = parameter(
        MAX_POSITION_STD_M,
        'a pose (of pose_with_covariance or odometry) that is less certain is none: the memory has no place; '
        '0: every pose counts',
        '0 to 1000 m',
        live=True,
    )
