"""Whether the robot knows where it is: after a jump of its pose nothing is placed until the map agrees.

A localisation that jumps was wrong before or is wrong now. What is seen at a wrong place would be a ghost.
"""

from collections.abc import Sequence

from remembr_ros.geometry import Transform, compose, inverse
from remembr_ros.memory.objects.known import Interval
from remembr_ros.objects.camera import rotation_matrix
from remembr_ros.timestamps import NS

JUMP_M, FASTEST_M_S = 0.5, 3.0  # a camera that went further, and faster, was not driven there
JUMP_COSINE, FASTEST_RAD_S = 0.7, 6.0  # of a turn by 45 degrees; the same
AGREED = 4  # things that were recognised after a jump, and not fewer than others, settle it
PATIENCE_NS = 60 * NS  # after which the place is one that nobody has seen before


class PoseWatch:
    """Watches the poses of a camera, image by image.

    :ivar unsettled: the pose jumped, and nothing has shown yet that it is right now
    :ivar since_ns: when it jumped last, or was known first
    :ivar wrong: from when to when it was wrong, as far as that is known [ns]: it jumped to where older things
        are recognised from where none was
    """

    def __init__(self) -> None:
        self.unsettled = False
        self.since_ns = 0
        self.wrong: Interval | None = None
        self._doubtful: Interval | None = None
        self._recognised = 0
        self._last: tuple[int, Transform] | None = None
        self._seen = self._known = self._older = 0

    def jumped(self, stamp_ns: int, pose: Transform) -> bool:
        """Take where the camera was in the map; tell whether it cannot have got there since the last time."""
        last, self._last = self._last, (stamp_ns, pose)
        if last is None:
            self.since_ns = stamp_ns
            return False
        step = compose(inverse(last[1]), pose)
        seconds = max(abs(stamp_ns - last[0]) / NS, 0.02)
        way_m = sum(along**2 for along in step[0]) ** 0.5
        # The trace of a rotation by an angle is 1 + 2 cos(angle).
        cosine = (float(rotation_matrix(step).trace()) - 1.0) / 2.0
        turned = cosine < JUMP_COSINE and seconds * FASTEST_RAD_S < 0.8
        if not (turned or (way_m > JUMP_M and way_m > seconds * FASTEST_M_S)):
            return False
        if not self.unsettled:
            self._doubtful = (self.since_ns, last[0]) if self._recognised < AGREED else None
        self.unsettled, self.since_ns = True, stamp_ns
        self._seen = self._known = self._older = self._recognised = 0
        return True

    def recognise(self, count: int) -> None:
        """Take how many things an image shows that were known before the pose was."""
        self._recognised += count

    def compare(self, stamp_ns: int, seen: int, known: Sequence[int]) -> None:
        """Take what an image shows after a jump.

        :param seen: how many things
        :param known: of those that are known to be there, when each was seen first [ns]
        """
        self._seen += seen
        self._known += len(known)
        if self._doubtful is not None:
            self._older += sum(first_ns < self._doubtful[0] for first_ns in known)
        agreed = self._known >= AGREED and 2 * self._known >= self._seen
        if agreed:
            self.wrong = self._doubtful if self._older >= AGREED else None
            self._recognised = self._known
        if agreed or not 0 <= stamp_ns - self.since_ns <= PATIENCE_NS:
            self.settle()

    def settle(self) -> None:
        """Take the pose for right."""
        self.unsettled, self._doubtful = False, None
