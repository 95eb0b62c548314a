"""The error of a camera's pose, estimated from the objects it sees; and when no pose is to be trusted.

All detections of a frame are off in the same way: a shift in the plane and a turn about the camera take them
to where the objects are known to be. So alike things beside each other are told apart, and rays go where they
should, while localisation is further off than things are from each other.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from remembr_ros.geometry import Transform, compose, inverse, quaternion_from_yaw
from remembr_ros.memory.objects.known import Interval
from remembr_ros.objects.camera import rotation_matrix
from remembr_ros.timestamps import NS

LEAST_STD = np.array([0.02, 0.02, math.radians(0.3)])
"""Of x and y [m] and yaw [rad]: no localisation is better."""
MOST_STD = np.array([0.3, 0.3, math.radians(8.0)])
FIRST_STD = np.array([0.04, 0.04, math.radians(0.8)])
LEARNED = 0.05  # of what is known of the errors, what each frame changes
FAR_STDS = 2.0  # a pair that is further off counts less: a thing that moved, or another one
PLACE_STD_M = 0.04  # of the middles of things, seen from one side

_Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Correction:
    """By what a pose is moved.

    :param eye: where the camera was thought to be [m], shape (3,)
    :param move: of the camera along x and y [m], and turn [rad] counter-clockwise, shape (3,)
    :param covariance: of the move, shape (3, 3)
    """

    eye: _Numbers
    move: _Numbers
    covariance: _Numbers

    def shift(self, points: _Numbers) -> _Numbers:
        """Return by what points are moved [m], shape (n, 3)."""
        return np.pad(_levers(points, self.eye) @ self.move, ((0, 0), (0, 1)))

    def variance(self, points: _Numbers) -> _Numbers:
        """Return how uncertain that is along each axis [m2], shape (n, 3)."""
        levers = _levers(points, self.eye)
        return np.pad(np.einsum('nij,jk,nik->ni', levers, self.covariance, levers), ((0, 0), (0, 1)))

    def told_by(self, seen: _Numbers, known: _Numbers, variance: _Numbers) -> 'Correction':
        """Return the most likely correction, of which this one is what was known before.

        :param seen: middles of detections, shape (n, 3)
        :param known: of the objects that they are
        :param variance: of the difference [m2], beside the error of the pose, shape (n,)
        """
        if not len(seen):
            return self
        levers, off = _levers(seen, self.eye), (known - seen)[:, :2]
        move, prior, covariance = self.move, np.linalg.inv(self.covariance), self.covariance
        for _ in range(3):
            left = np.linalg.norm(off - levers @ move, axis=1)
            weight = np.minimum(1.0, FAR_STDS * np.sqrt(variance) / np.maximum(left, 1e-9)) / variance
            covariance = np.linalg.inv(prior + np.einsum('nij,n,nik->jk', levers, weight, levers))
            move = covariance @ np.einsum('nij,n,ni->j', levers, weight, off)
        return Correction(self.eye, move, covariance)

    @property
    def is_small(self) -> bool:
        """Tell whether there is little to correct."""
        return bool(np.all(np.diag(self.covariance) <= (1.5 * LEAST_STD) ** 2))

    def pose(self, pose: Transform) -> Transform:
        """Return a pose of the same camera, or of one beside it, as it is."""
        x, y, _ = self.eye.tolist()
        dx, dy, turn = self.move.tolist()
        moved = compose(
            ((x + dx, y + dy, 0.0), quaternion_from_yaw(turn)), ((-x, -y, 0.0), (0.0, 0.0, 0.0, 1.0))
        )
        return compose(moved, pose)


def learned(variance: _Numbers, correction: Correction) -> _Numbers:
    """Return how wrong poses are [m2, m2, rad2], after what a frame's correction tells of that."""
    squared = correction.move**2 + np.diag(correction.covariance)
    return np.clip((1.0 - LEARNED) * variance + LEARNED * squared, LEAST_STD**2, MOST_STD**2)


def _levers(points: _Numbers, eye: _Numbers) -> _Numbers:
    """Return how x and y of points change with a move: shape (n, 2, 3)."""
    x, y = (points - eye).T[:2]
    ones, zeros = np.ones_like(x), np.zeros_like(x)
    return np.stack([np.stack([ones, zeros, -y], axis=1), np.stack([zeros, ones, x], axis=1)], axis=1)


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
