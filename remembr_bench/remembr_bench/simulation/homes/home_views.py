"""What a robot's camera sees in a home: colour, depth, and which thing each pixel shows.

Each flat face is drawn in a colour that is its number; what it looks like is looked up afterwards. So one
rendering gives picture and masks.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from remembr_bench.simulation.homes.home import SHOWN_PX, Home, Visit
from remembr_bench.simulation.homes.rounds import drive
from remembr_bench.simulation.renderer import LENS_BLUR_PX, colours_of, metres_of, off_screen, render
from remembr_bench.simulation.surfaces import surface_of
from remembr_ros.geometry import Point, Pose, Quaternion, Transform, compose, quaternion_from_yaw, rotate
from remembr_ros.images import Bgr
from remembr_ros.objects.camera import Depth, Pinhole

CAMERA = Pinhole(320, 240, 210.0, 210.0, 159.5, 119.5)
"""Colour and depth: 75 degrees wide."""
MOUNT: Point = (0.2, 0.0, 1.2)
"""Of the optical centre, in base_link [m]."""
OPTICAL: Quaternion = (-0.57922797, 0.57922797, -0.40557979, 0.40557979)
"""Of the optical frame (z forward, x right, y down) in base_link: it looks down by 20 degrees."""
RATE_HZ = 2.0


@dataclass(frozen=True, slots=True, eq=False)
class HomeFrame:
    """What the camera takes at one moment.

    :param stamp_ns: nanoseconds since the Unix epoch
    :param base: where the robot is, in the map
    :param depth: of the camera's size
    :param instances: the number of the item at each pixel, 0 for none: uint16 of the camera's size
    """

    stamp_ns: int
    base: Pose
    bgr: Bgr
    depth: Depth
    instances: NDArray[np.uint16]

    def shows(self, items: int) -> NDArray[np.int64]:
        """Return 1 for each of so many items that it shows, by its number, else 0."""
        return (np.bincount(self.instances.ravel(), minlength=items + 1) >= SHOWN_PX).astype(np.int64)


def camera_pose(base: Pose) -> Transform:
    """Return where the optical frame is in the map."""
    return compose((base.position, quaternion_from_yaw(base.yaw)), (MOUNT, OPTICAL))


def frames_of(home: Home, visit: Visit, rate_hz: float = RATE_HZ) -> Iterator[HomeFrame]:
    """Yield what the camera takes during a visit.

    :raises RemembrError: pyvista is not installed
    """
    with _drawn(home, visit) as (plotter, looks, owner):
        for stamp_ns, base in drive(visit, rate_hz):
            number = _faces(plotter, base)
            # No lens is as sharp as a rasteriser.
            bgr: Any = cv2.GaussianBlur(looks.take(number, axis=0), (0, 0), LENS_BLUR_PX)
            yield HomeFrame(stamp_ns, base, bgr, metres_of(plotter).astype(np.float32), owner[number])


@contextmanager
def items_seen(home: Home, visit: Visit) -> Iterator[Callable[[Pose], NDArray[np.uint16]]]:
    """Yield what tells the number of the item at each pixel that the camera sees from where the robot is.

    :raises RemembrError: pyvista is not installed
    """
    with _drawn(home, visit) as (plotter, _, owner):
        yield lambda base: owner[_faces(plotter, base)]


@contextmanager
def _drawn(home: Home, visit: Visit) -> Iterator[tuple[Any, NDArray[np.uint8], NDArray[np.uint16]]]:
    """Yield a plotter of the home as it is during a visit; of each face the colour, and whose it is."""
    # Of each face: what it looks like, blue first, and whose it is; the first one is the sky.
    looks, owner, points, faces, before = [(236, 222, 205)], [0], [], [], 0
    for number, solid in home.solids(visit):
        own, polygons, shades = surface_of(solid)
        for corners in polygons:
            looks.append(tuple(shades[corners[0], ::-1].tolist()))
            owner.append(number)
            points.append(own[corners])
            faces += [len(corners), *range(before, before + len(corners))]
            before += len(corners)
    with off_screen(CAMERA.width, CAMERA.height, CAMERA.fx) as plotter:
        import pyvista

        # No two faces share a corner: colours of corners are drawn faster than those looked up by the face.
        surface = pyvista.PolyData(np.concatenate(points), faces=faces)
        numbers = np.repeat(np.arange(1, len(owner)), [*map(len, points)])
        surface.point_data['number'] = (numbers[:, None] >> np.array([16, 8, 0]) & 255).astype(np.uint8)
        plotter.background_color = (0, 0, 0)
        plotter.add_mesh(surface, scalars='number', rgb=True, lighting=False)
    try:
        yield plotter, np.array(looks, np.uint8), np.array(owner, np.uint16)
    finally:
        plotter.close()


def _faces(plotter: Any, base: Pose) -> NDArray[np.int32]:
    """Return the number of the face at each pixel, 0 for none."""
    eye, rotation = camera_pose(base)
    render(plotter, eye, rotate(rotation, (0.0, 0.0, 1.0)), rotate(rotation, (0.0, -1.0, 0.0)))
    red, green, blue = np.moveaxis(colours_of(plotter).astype(np.int32), -1, 0)
    return np.asarray(red << 16 | green << 8 | blue)
