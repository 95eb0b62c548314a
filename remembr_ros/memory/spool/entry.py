"""An observation as bytes, for a file of them."""

import json
from dataclasses import asdict
from typing import Any

from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory, Observation


def encode(observation: Observation) -> bytes:
    """Return an observation as bytes: a line of JSON with the sizes of the images, then the images."""
    head: dict[str, Any] = {**asdict(observation.memory), 'images': [len(i) for i in observation.images]}
    return b'\n'.join((json.dumps(head).encode(), b''.join(observation.images)))


def decode(data: bytes) -> Observation:
    """Return the observation that :func:`encode` made bytes of."""
    line, _, rest = data.partition(b'\n')
    head = json.loads(line)
    images = []
    for size in head.pop('images'):
        images.append(rest[:size])
        rest = rest[size:]
    head['pose'] = Pose(**head['pose']) if head['pose'] else None
    for name in ('scene_text', 'keyframes'):
        head[name] = tuple(head[name])
    return Observation(Memory(**head), tuple(images))
