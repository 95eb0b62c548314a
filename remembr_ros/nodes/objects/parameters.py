"""The parameters of the objects node."""

import dataclasses

from remembr_ros.forms.parameter import parameter
from remembr_ros.nodes.base.parameters import NodeParameters, PoseParameters

TOLD = ('detections', 'detections_3d')
"""In place of a detector's name: the topic on which the robot tells what it detects."""


@dataclasses.dataclass(frozen=True)
class ObjectsParameters(NodeParameters, PoseParameters):
    """Parameters of the objects node."""

    robot: str = parameter('robot', 'name of the robot, kept with each object')
    camera: str = parameter('', 'name of the camera; empty if there is only one')
    detector: str = parameter(
        'detections',
        'what finds things: onnx:MODEL.onnx, transformers:MODEL, or the topic of what another program '
        'detects: detections, detections_3d',
    )
    labels: str = parameter('', 'file of what the detector can find, one on each line')
    prompts: list[str] = parameter(
        [], 'what a detector of transformers looks for, in words; empty: what labels says', live=True
    )
    depth: bool = parameter(True, 'there is a depth camera; without one the distance of things is not known')
    image_transport: str = parameter(
        'auto', 'which images are looked at', choices=('auto', 'raw', 'compressed')
    )
    look_model: str = parameter(
        '', "vision language model that tells which object a deed was done to; empty: its server's default"
    )
    look_url: str = parameter('', 'its server; with neither model nor server, name, sight and distance tell')
    gripper_frame: str = parameter('', 'frame of the gripper, which is near what is picked; empty: none')
    shown: int = parameter(
        500, 'objects that are published, with markers, those seen last', '0 to 10000', live=True
    )
    publish_period: float = parameter(1.0, 'between two publications of objects', '0.1 to 60 s', live=True)
