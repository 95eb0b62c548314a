"""Where one frame is in another, as often as transforms between them become known."""

from collections.abc import Iterator

from remembr_ros.bags.poses import placed
from remembr_ros.bags.transforms import MAX_LATE_NS, TransformTree
from remembr_ros.errors import StalePose
from remembr_ros.geometry import StampedPose


class ChainPoses:
    """Follows a chain of transforms, recorded or live, so that both give the same poses.

    Where several transforms move, a pose is known as soon as all of them are: at each time at which one was
    sampled, the others interpolated. A chain of static transforms only has a pose at any time.

    :param tree: others add to it
    :param parent: the frame that poses refer to
    :param child: the frame that moves in it
    """

    def __init__(self, tree: TransformTree, parent: str, child: str) -> None:
        self._tree = tree
        self._parent = parent
        self._child = child
        self._last_ns: int | None = None

    @property
    def connected(self) -> bool:
        """Whether transforms lead from one frame to the other, at whatever time."""
        return self._tree.connected(self._parent, self._child)

    def new_poses(self) -> Iterator[StampedPose]:
        """Yield the poses that have become known since the last call, in the order of time."""
        newest = self._tree.latest_common(self._parent, self._child)
        if newest is None:
            return
        if self._last_ns is not None and newest < self._last_ns - MAX_LATE_NS:
            # Time jumped back: the links that have not followed yet say where they were before.
            self._last_ns = None
            self._tree.start_over(self._parent, self._child, newest)
        for stamp_ns in self._tree.samples(self._parent, self._child, self._last_ns):
            yield from self._at(stamp_ns)
            self._last_ns = stamp_ns

    def pose_if_static(self, stamp_ns: int) -> Iterator[StampedPose]:
        """Yield the pose at this time if nothing in the chain moves: a camera that is screwed to a wall."""
        if self.connected and not self._tree.moves(self._parent, self._child):
            yield from self._at(stamp_ns)

    def _at(self, stamp_ns: int) -> Iterator[StampedPose]:
        try:
            point, rotation = self._tree.lookup(self._parent, self._child, stamp_ns)
        except StalePose:  # a re-parented frame, or one that is not there yet
            return
        yield StampedPose(stamp_ns, placed(point, rotation, self._child), self._parent)
