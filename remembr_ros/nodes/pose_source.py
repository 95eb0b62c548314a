"""The robot's pose, from whichever topic publishes it."""

from collections.abc import Callable
from typing import Any

from geometry_msgs.msg import PoseStamped, PoseWithCovarianceStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from sensor_msgs.msg import NavSatFix

from remembr_ros.bags.poses import FixTrack, placed
from remembr_ros.bags.transforms import TransformTree
from remembr_ros.errors import InvalidRequest, StalePose
from remembr_ros.geometry import StampedPose
from remembr_ros.nodes import qos
from remembr_ros.nodes.conversions import stamped_pose_from_msg, time_from_msg
from remembr_ros.nodes.parameters import PoseParameters

MIN_STEP_NS = 50_000_000
"""Poses from TF are taken at most this often; between them one interpolates."""

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
    if parameters.datum and len(parameters.datum) != 3:
        raise InvalidRequest('datum has to be latitude, longitude and altitude, or empty')
    if parameters.pose_source == 'tf':
        _tf_message()


def _tf_message() -> Any:
    try:
        from tf2_msgs.msg import TFMessage
    except ImportError as error:
        raise InvalidRequest(
            'pose_source tf needs tf2_msgs (apt install ros-$ROS_DISTRO-tf2-msgs); or choose another one'
        ) from error
    return TFMessage


class PoseSource:
    """Subscribes to what pose_source names and hands on every pose.

    :param node: its time stands in for stamps of zero
    :param on_pose: called in the executor's thread
    :raises InvalidRequest: tf2_msgs is missing, or the datum is not three numbers
    """

    def __init__(
        self, node: Node, parameters: PoseParameters, on_pose: Callable[[StampedPose], None]
    ) -> None:
        self._node = node
        self._parameters = parameters
        self._on_pose = on_pose
        self._subscriptions: list[Any] = []
        self._tree: Any = None
        self._newest_ns = -1
        self._fixes = FixTrack(tuple(parameters.datum) or None)
        check_pose_parameters(parameters)
        source = parameters.pose_source
        if source == 'tf':
            self._listen_to_tf()
        elif source != 'none':
            kind, topic = _TOPICS[source]
            callback = self._on_fix if source == 'navsat' else self._on_message
            self._subscribe(kind, topic, callback, qos.POSES)
            if source == 'pose_with_covariance':
                # AMCL's last pose before we came; one that comes twice does no harm.
                self._subscribe(kind, topic, callback, qos.LATCHED_POSE)

    def close(self) -> None:
        """End the subscriptions."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        self._subscriptions = []

    def _subscribe(self, kind: Any, topic: str, callback: Callable[[Any], None], profile: Any) -> None:
        self._subscriptions.append(self._node.create_subscription(kind, topic, callback, profile))

    def _now_ns(self) -> int:
        return int(self._node.get_clock().now().nanoseconds)

    def _on_message(self, msg: PoseStamped | PoseWithCovarianceStamped | Odometry) -> None:
        self._on_pose(stamped_pose_from_msg(msg, self._now_ns()))

    def _on_fix(self, msg: NavSatFix) -> None:
        stamp_ns = time_from_msg(msg.header.stamp) or self._now_ns()
        pose = self._fixes.pose(msg)
        if pose is not None:
            # East, north and up of the datum are the map's axes.
            self._on_pose(StampedPose(stamp_ns, pose, self._parameters.map_frame))

    # TF

    def _listen_to_tf(self) -> None:
        self._tree = TransformTree()
        self._subscribe(_tf_message(), '/tf', self._on_tf, qos.TF)
        self._subscribe(_tf_message(), '/tf_static', self._on_static_tf, qos.TF_STATIC)

    def fill(self, stamp_ns: int) -> None:
        """Hand on the pose at this time where TF knows it at any time: a camera that is screwed to a wall."""
        base, root = self._parameters.base_frame, self._parameters.map_frame
        if self._tree is not None and self._tree.connected(root, base) and not self._tree.moves(root, base):
            self._hand_on(stamp_ns)

    def _on_static_tf(self, msg: Any) -> None:
        self._add_transforms(msg, static=True)
        self._hand_on_newest()

    def _on_tf(self, msg: Any) -> None:
        self._add_transforms(msg, static=False)
        self._hand_on_newest()

    def _hand_on_newest(self) -> None:
        base, root = self._parameters.base_frame, self._parameters.map_frame
        stamp_ns = self._tree.latest_common(root, base)
        if stamp_ns is None:
            if self._tree.connected(root, base):
                return
            self._node.get_logger().warning(
                f'/tf does not connect {root} with {base} yet', throttle_duration_sec=10.0
            )
            return
        # Backwards beyond the step: a bag starts again.
        if 0 <= stamp_ns - self._newest_ns < MIN_STEP_NS:
            return
        self._hand_on(stamp_ns)

    def _hand_on(self, stamp_ns: int) -> None:
        base, root = self._parameters.base_frame, self._parameters.map_frame
        try:
            point, rotation = self._tree.lookup(root, base, stamp_ns)
        except StalePose:
            return
        self._newest_ns = stamp_ns
        self._on_pose(StampedPose(stamp_ns, placed(point, rotation, base), root))

    def _add_transforms(self, msg: Any, *, static: bool) -> None:
        for transform in msg.transforms:
            t, q = transform.transform.translation, transform.transform.rotation
            self._tree.add(
                transform.header.frame_id.lstrip('/'),
                transform.child_frame_id.lstrip('/'),
                time_from_msg(transform.header.stamp),
                (t.x, t.y, t.z),
                (q.x, q.y, q.z, q.w),
                static=static,
            )
