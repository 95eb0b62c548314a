"""What the robot's camera sees of a building: where things appear, which signs it can read.

The camera is level, looks the way the robot faces, and has no distortion. Its depth image has a
quarter of the resolution: divide the intrinsics by DEPTH_DIVISOR.
"""

import math

import numpy as np
from numpy.typing import NDArray

from remembr_bench.simulation.building import Building, SignPanel, Solid, Thing
from remembr_ros.geometry import Pose

WIDTH, HEIGHT = 640, 480
FOCAL_PX = 525.0  # fx and fy; the horizontal field of view is 63 degrees
CENTRE_PX = ((WIDTH - 1) / 2, (HEIGHT - 1) / 2)  # cx and cy
DEPTH_DIVISOR = 4
FORWARD_M, UP_M = 0.2, 1.2
"""Where the camera sits on the robot: before and above base_link."""

READABLE_LETTER_PX = 7.0
READABLE_ANGLE = math.radians(60.0)
RECOGNISABLE_RANGE_M = 7.0
RECOGNISABLE_HEIGHT_PX = 25.0

_MARGIN_PX = 3.0

Array = NDArray[np.float64]


def optical_centre(pose: Pose) -> Array:
    """Return where the camera is in the map frame when the robot is at a pose; shape (3,)."""
    return np.array(
        [pose.x + FORWARD_M * math.cos(pose.yaw), pose.y + FORWARD_M * math.sin(pose.yaw), pose.z + UP_M]
    )


def project(pose: Pose, points: Array) -> Array:
    """Return where points of the map frame appear in the image.

    :param pose: of the robot's base_link in the map frame
    :param points: shape (n, 3) [m]
    :return: shape (n, 3): column and row [px], and depth along the optical axis [m], which is not positive
        for what is behind the camera (column and row then mean nothing)
    """
    offset = np.asarray(points, dtype=np.float64) - optical_centre(pose)
    cosine, sine = math.cos(pose.yaw), math.sin(pose.yaw)
    depth = offset[:, 0] * cosine + offset[:, 1] * sine
    right = offset[:, 0] * sine - offset[:, 1] * cosine
    safe = np.where(np.abs(depth) < 1e-6, 1e-6, depth)
    return np.column_stack(
        [CENTRE_PX[0] + FOCAL_PX * right / safe, CENTRE_PX[1] - FOCAL_PX * offset[:, 2] / safe, depth]
    )


def inside_image(pixels: Array) -> bool:
    """Return whether all projected points are before the camera and in the image."""
    column, row, depth = pixels.T
    across = (column >= _MARGIN_PX) & (column <= WIDTH - 1 - _MARGIN_PX)
    down = (row >= _MARGIN_PX) & (row <= HEIGHT - 1 - _MARGIN_PX)
    return bool((across & down & (depth > 0.1)).all())


class Sight:
    """Tells what is visible from where in one building: rays against the boxes around all solids."""

    def __init__(self, building: Building) -> None:
        self._building = building
        solids = list(building.solids())
        self._low = np.array([solid.low for solid in solids])
        self._high = np.array([solid.high for solid in solids])
        self._index: dict[Solid, list[int]] = {}
        for number, solid in enumerate(solids):
            self._index.setdefault(solid, []).append(number)

    def is_clear(self, origin: Array, target: Array, ignored: tuple[Solid, ...] = ()) -> bool:
        """Return whether nothing but the ignored solids lies between two points."""
        direction = target - origin
        direction = np.where(np.abs(direction) < 1e-12, 1e-12, direction)
        first, second = (self._low - origin) / direction, (self._high - origin) / direction
        enter = np.minimum(first, second).max(axis=1)
        leave = np.maximum(first, second).min(axis=1)
        blocks = (enter <= leave) & (leave > 0.0) & (enter < 1.0 - 1e-6)
        for solid in ignored:
            blocks[self._index[solid]] = False
        return not bool(blocks.any())

    def can_read(self, pose: Pose, sign: SignPanel) -> bool:
        """Return whether a sign is readable from a pose of the robot.

        Readable means: the whole panel is in the image; it is seen at most 60 degrees from its normal; its
        capitals are at least 7 px high; its middle and the ends of its text are not hidden.
        """
        centre = np.array(sign.centre)
        eye = optical_centre(pose)
        to_eye = eye - centre
        frontal = float(to_eye[0] * sign.normal[0] + to_eye[1] * sign.normal[1])
        if sign.two_sided:
            frontal = abs(frontal)
        range_m = math.hypot(to_eye[0], to_eye[1])
        if frontal < range_m * math.cos(READABLE_ANGLE):
            return False
        corners = np.array([sign.point(across, up) for across in (-0.5, 0.5) for up in (-0.5, 0.5)])
        pixels = project(pose, corners)
        if (
            not inside_image(pixels)
            or FOCAL_PX * sign.letter_height_m / pixels[:, 2].max() < READABLE_LETTER_PX
        ):
            return False
        ends = [np.array(sign.point(across, 0.0)) for across in (-0.42, 0.0, 0.42)]
        return all(self.is_clear(eye, end, (sign.panel,)) for end in ends)

    def can_recognise(self, pose: Pose, thing: Thing) -> bool:
        """Return whether a thing can be told from a pose.

        That is: its middle is in the image, at most 7 m away and not hidden, and it is at least 25 px high.
        """
        centre = np.array(thing.centre)
        eye = optical_centre(pose)
        if float(np.hypot(*(centre - eye)[:2])) > RECOGNISABLE_RANGE_M:
            return False
        pixels = project(pose, centre[None, :])
        if not inside_image(pixels) or FOCAL_PX * thing.height_m / pixels[0, 2] < RECOGNISABLE_HEIGHT_PX:
            return False
        return self.is_clear(eye, centre, thing.solids)

    def signs(self, pose: Pose) -> list[SignPanel]:
        """Return the signs that are readable from a pose."""
        return [sign for sign in self._building.signs if self.can_read(pose, sign)]

    def things(self, pose: Pose) -> list[Thing]:
        """Return the things that are recognisable from a pose."""
        return [thing for thing in self._building.things if self.can_recognise(pose, thing)]
