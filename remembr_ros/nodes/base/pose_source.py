"""The robot's pose, from whichever topic publishes it."""

from collections.abc import Callable, Iterable
from typing import Any

from geometry_msgs.msg import PoseStamped, PoseWithCovarianceStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import NavSatFix

from remembr_ros.bags.poses import NO_FIX, FixTrack, stamp_of
from remembr_ros.bags.tf import ChainPoses, add_transforms
from remembr_ros.bags.transforms import TransformTree
from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Lost, StampedPose, distance, position_std
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.conversions import stamped_pose_from_msg
from remembr_ros.nodes.base.managed_node import ManagedNode
from remembr_ros.nodes.base.parameters import PoseParameters
from remembr_ros.printable import printable
from remembr_ros.timestamps import NS

JUMP_M, FASTEST_M_S = 0.5, 10.0  # what moves a robot so far, faster than this, is no drive

_TOPICS: dict[str, tuple[type, str]] = {
    'odometry': (Odometry, 'odom'),
    'pose_with_covariance': (PoseWithCovarianceStamped, 'pose_with_covariance'),
    'pose': (PoseStamped, 'pose'),
    'navsat': (NavSatFix, 'fix'),
}


def check_pose_parameters(parameters: PoseParameters) -> None:
    """Return if a pose source can be made of these.

    :raises InvalidRequest: tf2_msgs is missing, or the datum is not three numbers
    """
    if len(parameters.datum) not in (0, 3):
        raise InvalidRequest('datum has to be latitude, longitude and altitude, or empty')
    if parameters.pose_source == 'tf':
        tf_message()


def tf_message() -> type[Any]:
    """Return the message of TF.

    :raises InvalidRequest: tf2_msgs is missing
    """
    try:
        from tf2_msgs.msg import TFMessage
    except ImportError as error:
        raise InvalidRequest(
            'TF needs tf2_msgs (apt install ros-$ROS_DISTRO-tf2-msgs); or choose another pose_source'
        ) from error
    kind: type[Any] = TFMessage
    return kind


class PoseSubscription:
    """Subscribes to what pose_source names and hands on every pose, until the node is out of service.

    A pose that its own covariance calls less certain than max_position_std is none: from its stamp on it is
    not known where the robot is, until a better one comes.

    :param node: its time stands in for stamps of zero
    :param parameters: checked by :func:`check_pose_parameters`
    :param on_pose: called in the executor's thread, with Lost for a pose that is too uncertain
    """

    def __init__(
        self,
        node: ManagedNode,
        parameters: PoseParameters,
        on_pose: Callable[[StampedPose | Lost], None],
    ) -> None:
        self._node = node
        self._parameters = parameters
        self._on_pose = on_pose
        self.max_position_std_m = parameters.max_position_std
        """Less certain poses are none from now on; 0: every pose counts [m]."""
        self.uncertain = 0
        """How many poses were too uncertain."""
        self.problem = ''
        """Why there is no pose now; empty: there is one, or nothing has come that could be one."""
        self._reason = ''
        self._since_ns = 0
        self._until_ns: int | None = None
        self._last: StampedPose | None = None
        self._tree = TransformTree()
        self._chain: ChainPoses | None = None
        datum = parameters.datum
        self._fixes = FixTrack((datum[0], datum[1], datum[2]) if datum else None)
        source = parameters.pose_source
        if source == 'tf':
            self._chain = ChainPoses(self._tree, parameters.map_frame, parameters.base_frame)
            subscribe, kind = node.topics.subscribe, tf_message()
            subscribe(kind, '/tf', lambda msg: self._on_tf(msg, static=False), qos.TF, yields=True)
            subscribe(kind, '/tf_static', lambda msg: self._on_tf(msg, static=True), qos.TF_STATIC)
        elif source != 'none':
            kind, topic = _TOPICS[source]
            callback = self._on_fix if source == 'navsat' else self._on_message
            node.topics.subscribe(kind, topic, callback, qos.POSES)
            if source in ('pose_with_covariance', 'pose'):
                # AMCL's last pose before we came; one that comes twice does no harm.
                node.topics.subscribe(kind, topic, callback, qos.LATCHED_POSE, spare=True)

    def why_none(self, start_ns: int, end_ns: int) -> str:
        """Return why there was no pose in a time; empty: as far as is known here, there may have been one."""
        over = self._until_ns is not None and self._until_ns <= start_ns
        return '' if over or end_ns < self._since_ns else self._reason

    def _on_message(self, msg: PoseStamped | PoseWithCovarianceStamped | Odometry) -> None:
        pose = stamped_pose_from_msg(msg, self._node.now_ns())
        std_m = 0.0 if isinstance(msg, PoseStamped) else position_std(msg.pose.covariance)
        most_m = self.max_position_std_m
        if not most_m or std_m <= most_m:
            self._hand_on([pose])
            return
        self.uncertain += 1
        self._warn(
            pose.stamp_ns,
            f'localisation is poor: the position has a standard deviation of {std_m:.3g} m, at most '
            f'{most_m:.3g} m counts (max_position_std)',
        )
        self._on_pose(Lost(pose.stamp_ns))

    def _warn(self, stamp_ns: int, problem: str, *, early: bool = False) -> None:
        """Take down why there is no pose from this time on, until there is one."""
        problem = printable(problem)  # names of frames are anybody's
        if not self.problem or stamp_ns < self._since_ns:  # earlier: the clock jumped back
            self._since_ns, self._until_ns = stamp_ns, None
        self.problem = self._reason = problem
        log = self._node.get_logger()
        if early:
            log.info(problem, throttle_duration_sec=10.0)
        else:
            log.warning(problem, throttle_duration_sec=10.0)

    def _on_fix(self, msg: NavSatFix) -> None:
        stamp_ns = stamp_of(msg.header, self._node.now_ns())
        pose = self._fixes.pose(msg, stamp_ns)
        if pose is None and msg.status.status == NO_FIX:
            self._warn(stamp_ns, 'the satellite receiver has no fix')
        elif pose is None:
            self._warn(stamp_ns, f'the satellite receiver has a fix {self._fixes.why_none}')
        else:
            # East, north and up of the datum are the map's axes.
            self._hand_on([StampedPose(stamp_ns, pose, self._parameters.map_frame)])

    # TF

    def fill(self, stamp_ns: int) -> None:
        """Hand on the pose at this time where TF knows it at any time."""
        if self._chain is not None:
            self._hand_on(self._chain.pose_if_static(stamp_ns))

    def _on_tf(self, msg: Any, *, static: bool) -> None:
        assert self._chain is not None
        add_transforms(self._tree, msg, self._node.now_ns(), static=static)
        if not self._chain.connected:
            p, frames = self._parameters, self._tree.frames
            more = f' and {len(frames) - 20} more' if len(frames) > 20 else ''
            self._warn(
                0,
                f'/tf does not connect {p.map_frame} with {p.base_frame} yet; its frames are '
                f'{", ".join(frames[:20]) or "none"}{more}; check map_frame, base_frame and /tf_static',
                early=self._node.starting,
            )
        self._hand_on(self._chain.new_poses())

    def _hand_on(self, poses: Iterable[StampedPose]) -> None:
        for pose in poses:
            if self.problem:
                self.problem, self._until_ns = '', pose.stamp_ns
            last, self._last = self._last, pose
            way_m = distance(last.pose.position, pose.pose.position) if last is not None else 0.0
            seconds = (pose.stamp_ns - last.stamp_ns) / NS if last is not None else 0.0
            if way_m > JUMP_M and 0.0 <= seconds < way_m / FASTEST_M_S:
                self._node.get_logger().warning(
                    f'the robot is {way_m:.1f} m from where it was {seconds:.1f} s ago: where that corrected '
                    'the map and not the robot, as a closed loop does, what was remembered lies off by '
                    'it; with slam_toolbox set follow_pose_graph, else see remembr map transform',
                    throttle_duration_sec=10.0,
                )
            self._on_pose(pose)
