"""A camera with depth, and TF, on real topics: what an objects node sees, frame by frame."""

from typing import Any

from geometry_msgs.msg import TransformStamped
from sensor_msgs.msg import CameraInfo, Image
from tf2_msgs.msg import TFMessage

from remembr_ros.geometry import Transform
from remembr_ros.nodes.base.conversions import time_to_msg
from remembr_ros.objects.camera import Pinhole
from remembr_ros.timestamps import NS
from test.object_scene import AHEAD, CAMERA, T0, Scene

OPTICAL = 'camera_optical_frame'


def mug_scene(left: int = 70) -> Scene:
    """Return a red thing 1.5 m ahead of the camera, before a wall."""
    scene = Scene()
    scene.put((left, 50, left + 20, 75), 1.5, (30, 30, 200))
    return scene


class Eyes:
    """Publishes what a camera sees, five images a second by their stamps, each when the last one is taken."""

    def __init__(self, robot: Any, node: Any, *, depth: bool = True) -> None:
        self._robot, self._node = robot, node
        self.now_ns = T0
        self._tf = robot.talk(TFMessage, '/tf')
        self._image, self._info = robot.talk(Image, 'image', 10), robot.talk(CameraInfo, 'camera_info', 10)
        self._depth = robot.talk(Image, 'depth', 10) if depth else None
        self._depth_info = robot.talk(CameraInfo, 'depth_camera_info', 10) if depth else None

    def show(
        self,
        scene: Scene,
        times: int = 1,
        pose: Transform = AHEAD,
        *,
        camera: Pinhole = CAMERA,
        every_ns: int = NS // 5,
        placed: bool = True,
        deep: bool = True,
    ) -> None:
        """Publish some images, each with its depth and its place."""
        for _ in range(times):
            self.now_ns += every_ns
            if placed:
                self.place(self.now_ns, pose)
            self.publish(camera, scene.bgr, CAMERA, scene.metres if deep else None)

    def publish(self, camera: Pinhole, bgr: Any, depth_camera: Pinhole, metres: Any = None) -> None:
        """Publish an image, and its depth if it is given, and wait until they are taken."""
        self._info.publish(self._camera(camera))
        if self._depth is not None and metres is not None:
            self._depth_info.publish(self._camera(depth_camera))
            self._depth.publish(self._pixels(metres, '32FC1'))
        before = self._node._frames
        self._image.publish(self._pixels(bgr, 'bgr8'))
        self._robot.wait(lambda: self._node._frames > before, 'an image')
        self._robot.wait(lambda: not self._node._worker._waiting['image'], 'an image')

    def place(self, stamp_ns: int, pose: Transform, frame: str = OPTICAL) -> None:
        """Publish where the camera is, or another frame."""
        told = TransformStamped(child_frame_id=frame)
        told.header.frame_id, told.header.stamp = 'map', time_to_msg(stamp_ns)
        at, turn = told.transform.translation, told.transform.rotation
        at.x, at.y, at.z = pose[0]
        turn.x, turn.y, turn.z, turn.w = pose[1]
        self._tf.publish(TFMessage(transforms=[told]))

    def _header(self, msg: Any) -> Any:
        msg.header.frame_id, msg.header.stamp = OPTICAL, time_to_msg(self.now_ns)
        return msg

    def _camera(self, camera: Pinhole) -> CameraInfo:
        k = [camera.fx, 0.0, camera.cx, 0.0, camera.fy, camera.cy, 0.0, 0.0, 1.0]
        return self._header(CameraInfo(width=camera.width, height=camera.height, k=k))

    def _pixels(self, pixels: Any, encoding: str) -> Image:
        height, width = pixels.shape[:2]
        msg = Image(width=width, height=height, encoding=encoding, step=pixels.nbytes // height)
        msg.data.frombytes(pixels.tobytes())
        return self._header(msg)
