"""A camera, and what hears it, each in a process: python -m test.bench.camera_process ROLE KIND SECONDS.

camera publishes images of 1280 x 720 at 30 Hz; listener does nothing with them; captioner is the captioner
node without a model. The last two print the CPU time that they took from the first image on, how many images
came, and in how many seconds.
"""

import sys
import time
import warnings

import numpy as np

WIDTH, HEIGHT, RATE_HZ = 1280, 720, 30
TOPICS = {'raw': 'image', 'jpeg': 'image/compressed'}


def main(role: str, kind: str, seconds: float) -> None:
    """Play a role."""
    warnings.simplefilter('ignore')
    import rclpy
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.node import Node
    from rclpy.parameter import Parameter
    from rclpy.qos import QoSProfile, ReliabilityPolicy
    from sensor_msgs.msg import CompressedImage, Image

    from remembr_ros.nodes.captioner.node import CaptionerNode

    reliable = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
    rclpy.init()
    executor = SingleThreadedExecutor()
    message = Image if kind == 'raw' else CompressedImage
    if role == 'camera':
        node = Node('camera', namespace='/remembr')
        publisher = node.create_publisher(message, TOPICS[kind], reliable)
        frames = _frames(kind)
        due = time.monotonic()
        for number in range(round(seconds * RATE_HZ)):
            frame = frames[number % len(frames)]
            frame.header.stamp = node.get_clock().now().to_msg()
            publisher.publish(frame)
            due += 1.0 / RATE_HZ
            time.sleep(max(0.0, due - time.monotonic()))
        return
    count = [0]

    def counted(_: object) -> None:
        count[0] += 1

    if role == 'listener':
        node = Node('listener', namespace='/remembr')
        node.create_subscription(message, TOPICS[kind], counted, reliable)
        received = lambda: count[0]  # noqa: E731
    else:
        settings = {
            'captioner': 'none',
            'pose_source': 'none',
            'image_transport': 'raw' if kind == 'raw' else 'compressed',
        }
        overrides = [Parameter(name, value=value) for name, value in settings.items()]
        node = CaptionerNode(parameter_overrides=overrides)
        node.trigger_configure()
        node.trigger_activate()
        received = lambda: node._frames  # noqa: E731
    executor.add_node(node)
    while not received():
        executor.spin_once(0.1)
    began, cpu_s, first = time.monotonic(), time.process_time(), received()
    while time.monotonic() - began < seconds:
        executor.spin_once(0.1)
    print(time.process_time() - cpu_s, received() - first, time.monotonic() - began)


def _frames(kind: str) -> list:
    """Return ten images of a wall with noise, as messages."""
    import cv2
    from sensor_msgs.msg import CompressedImage, Image

    generator = np.random.default_rng(0)
    blobs = generator.integers(40, 220, (9, 16, 3), np.uint8)
    scene = cv2.resize(blobs, (WIDTH, HEIGHT), interpolation=cv2.INTER_CUBIC)
    messages = []
    for _ in range(10):
        pixels = np.clip(scene + generator.normal(0.0, 4.0, scene.shape), 0, 255).astype(np.uint8)
        if kind == 'raw':
            message = Image(height=HEIGHT, width=WIDTH, encoding='bgr8', step=3 * WIDTH)
            message.data = pixels.tobytes()
        else:
            message = CompressedImage(format='jpeg')
            message.data = cv2.imencode('.jpg', pixels, [cv2.IMWRITE_JPEG_QUALITY, 85])[1].tobytes()
        messages.append(message)
    return messages


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
