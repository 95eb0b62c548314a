"""Things that a camera ahead of them sees, and what a detector says of them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from remembr_ros.geometry import Pose, Transform
from remembr_ros.images import Bgr
from remembr_ros.memory.model.record import OBJECT, Memory
from remembr_ros.memory.objects.known import KnownObject, ObjectFacts, known_objects
from remembr_ros.objects.camera import Pinhole
from remembr_ros.objects.detectors.detection import Detection
from remembr_ros.objects.lifting import CameraView, DepthView
from remembr_ros.timestamps import NS

T0 = 1_700_000_000 * NS
CAMERA = Pinhole(160, 120, 130.0, 130.0, 79.5, 59.5)
AHEAD: Transform = ((0.0, 0.0, 1.0), (-0.5, 0.5, -0.5, 0.5))
"""A camera a metre above the origin that looks along x; optical axes: x right, y down, z ahead."""

PixelRect = tuple[int, int, int, int]


class Scene:
    """Boxes that face the camera, before a wall: each with its pixels, its distance and its colour."""

    def __init__(self, wall_m: float = 4.0) -> None:
        self.metres: NDArray[np.float32] = np.full((CAMERA.height, CAMERA.width), wall_m, np.float32)
        self.bgr: Bgr = np.full((CAMERA.height, CAMERA.width, 3), 200, np.uint8)

    def put(self, box: PixelRect, metres: float, bgr: tuple[int, int, int]) -> None:
        left, top, right, bottom = box
        self.metres[top:bottom, left:right] = metres
        self.bgr[top:bottom, left:right] = bgr

    def view(self, stamp_ns: int = T0, pose: Transform = AHEAD, *, depth: bool = True) -> CameraView:
        deep = DepthView(self.metres.copy(), CAMERA, pose) if depth else None
        return CameraView(stamp_ns, self.bgr.copy(), CAMERA, pose, deep)


def blind(stamp_ns: int = T0, pose: Transform = AHEAD) -> CameraView:
    """Return a view that tells where the camera was, and measures nothing."""
    return Scene().view(stamp_ns, pose, depth=False)


def detection(box: tuple[float, float, float, float], label: str = 'mug', **changes: Any) -> Detection:
    """Return a detection that is quite sure."""
    fields = {'stamp_ns': T0, 'camera': '', 'scores': {label: 0.8}, **changes}
    return Detection(box=box, **fields)


def known_object(number: int = 0, **changes: Any) -> KnownObject:
    """Return an object that was seen three times in a minute."""
    x, y, z = changes.get('position', (1.0 + number, 2.0, 0.8))
    facts: dict[str, Any] = {
        'labels': {'mug': 2.1, 'cup': 0.4},
        'size': (0.1, 0.12, 0.14),
        'std': 0.02,
        'intervals': ((T0, T0 + 60 * NS),),
        'sightings': ((T0, (0, 0, 0), (-x, -y, 1.2 - z)), (T0 + 60 * NS, (0, 0, 0), (-x, 0.5 - y, 1.2 - z))),
        'observations': 3,
        'colour': 'red',
    }
    facts |= {name: value for name, value in changes.items() if name in ObjectFacts.model_fields}
    times = facts['intervals']
    memory = Memory(
        changes.get('id', f'object{number}'),
        changes.get('robot', 'robbie'),
        times[0][0],
        times[-1][1],
        'A red mug.',
        Pose(x, y, z),
        source=OBJECT,
        facts=ObjectFacts(**facts).model_dump(mode='json'),
    )
    [known] = known_objects([memory])
    return known
