"""An observation as bytes, for a file of them."""

import json

from remembr_ros.memory.model.codec import from_plain, to_plain
from remembr_ros.memory.model.record import Observation


def encode(observation: Observation) -> bytes:
    """Return an observation as bytes: a line of JSON with the sizes of the images, then the images."""
    head = {**to_plain(observation.memory), 'images': [len(image) for image in observation.images]}
    return b'\n'.join((json.dumps(head).encode(), b''.join(observation.images)))


def decode(data: bytes) -> Observation:
    """Return the observation that :func:`encode` made bytes of."""
    line, _, rest = data.partition(b'\n')
    head = json.loads(line)
    images = []
    for size in head['images']:
        images.append(rest[:size])
        rest = rest[size:]
    return Observation(from_plain(head), tuple(images))
