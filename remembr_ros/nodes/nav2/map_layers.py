"""The map and the costmap that goals are checked with, as they are published."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from nav_msgs.msg import OccupancyGrid
from rclpy.qos import QoSProfile

from remembr_ros.errors import InvalidRequest
from remembr_ros.navigation.grid import COSTMAP_OCCUPIED
from remembr_ros.navigation.terrain import KeepOut, Terrain
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.conversions import grid_from_msg
from remembr_ros.nodes.base.managed_node import ManagedNode

MAP, COSTMAP = 'map', 'global_costmap/costmap'


class MapLayers:
    """Subscribes to map and costmap, until the node is out of service.

    Nav2 publishes a costmap as a whole when it moves or changes its size, and then what has changed in it:
    without map_msgs that is not understood, and an obstacle that is new is missed.

    :param terrain: what is known without them
    :param frame_id: the frame that the robot navigates in; a grid in another one is not used
    :param occupied_from: from this value on a cell of the map is occupied
    """

    def __init__(self, node: ManagedNode, terrain: Terrain, frame_id: str, occupied_from: int) -> None:
        self._node = node
        self.terrain = terrain
        """What is known by now; never changed, but replaced."""

        def use_map(msg: OccupancyGrid) -> None:
            found = grid_from_msg(msg, frame_id=frame_id, occupied_from=occupied_from)
            self.terrain = replace(self.terrain, map=found)

        def use_costmap(msg: OccupancyGrid) -> None:
            found = grid_from_msg(msg, frame_id=frame_id, occupied_from=COSTMAP_OCCUPIED)
            self.terrain = replace(self.terrain, costmap=found)

        self._subscribe(OccupancyGrid, MAP, use_map, qos.MAPS)
        self._subscribe(OccupancyGrid, COSTMAP, use_costmap, qos.MAPS)
        kind = _update_message()
        if kind is not None:
            self._subscribe(kind, f'{COSTMAP}_updates', self._on_update, qos.MAP_UPDATES)

    def adapt(self, keep_out: tuple[KeepOut, ...], clearance_m: float) -> None:
        """Have the next goals keep out of other areas, and other distances."""
        self.terrain = replace(self.terrain, keep_out=keep_out, clearance_m=clearance_m)

    def _subscribe(
        self, kind: type[Any], topic: str, use: Callable[[Any], None], profile: QoSProfile
    ) -> None:
        def on_message(msg: Any) -> None:
            try:
                use(msg)
            except InvalidRequest as error:
                self._node.get_logger().error(
                    f'topic {topic} is not used: {error}', throttle_duration_sec=10.0
                )

        self._node.topics.subscribe(kind, topic, on_message, profile)

    def _on_update(self, msg: Any) -> None:
        costmap = self.terrain.costmap
        if costmap is not None:  # else the whole is still to come
            patched = costmap.patched(msg.data, x=msg.x, y=msg.y, width=msg.width, height=msg.height)
            self.terrain = replace(self.terrain, costmap=patched)


def _update_message() -> type[Any] | None:
    """Return the type of Nav2's updates of a costmap; None where it is not installed."""
    try:
        from map_msgs.msg import OccupancyGridUpdate
    except ImportError:
        return None
    kind: type[Any] = OccupancyGridUpdate
    return kind
