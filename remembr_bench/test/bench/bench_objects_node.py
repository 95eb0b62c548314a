"""The red kitchen of 7-Scenes played at 1x through captioner, objects, memory and agent, as processes."""

import math
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from test.bench.figure import Figure

ON_REQUEST = True
SHARED = Path(__file__).resolve().parents[4] / 'shared/data'
KITCHEN, MODELS = SHARED / 'bags/redkitchen_rgbd', SHARED / 'models'
DOMAIN = '96'
CAMERA = '/camera/color'
IMAGES = {
    'image/compressed': f'{CAMERA}/image_raw/compressed',
    'camera_info': f'{CAMERA}/camera_info',
    'depth': '/camera/depth/image_raw',
    'depth_camera_info': '/camera/depth/camera_info',
}
POSES = {'pose_source': 'tf', 'base_frame': 'camera_color_optical_frame', 'use_sim_time': True}
SETTLE_S = 6.0


def run() -> list[Figure]:
    """Measure how late captions are with the objects node and without it, and what that handles."""
    alone, _ = _played(objects=False)
    with_objects, seen = _played(objects=True)
    return [
        Figure('kitchen at 1x: captions', with_objects['captions'], alone['captions'], ''),
        Figure('kitchen at 1x: a caption is late, median', with_objects['late'], alone['late'], 's'),
        Figure('kitchen at 1x: the latest caption', with_objects['latest'], alone['latest'], 's'),
        Figure('kitchen at 1x: images looked at', seen['looked'], seen['images'], ''),
        Figure('kitchen at 1x: images a second', seen['rate'], None, 'Hz'),
        Figure('kitchen at 1x: detector, an image', 1e3 * seen['detector'], None, 'ms'),
        Figure('kitchen at 1x: all that is done with an image', 1e3 * seen['frame'], None, 'ms'),
        Figure('kitchen at 1x: objects', seen['objects'], None, ''),
        Figure('take me to the cup: the goal faces a cup within', seen['off'], None, 'deg', most=20.0),
        Figure('take me to the cup: that is so far away', seen['away'], None, 'm', most=2.5),
    ]


def _played(*, objects: bool) -> tuple[dict[str, float], dict[str, float]]:
    """Play the recording once; return what is known of captions, and of objects."""
    os.environ |= {'ROS_DOMAIN_ID': DOMAIN, 'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}
    import rclpy

    with tempfile.TemporaryDirectory() as folder, _processes() as start:
        rclpy.init()
        try:
            return _measured(Path(folder), start, objects=objects)
        finally:
            rclpy.shutdown()


def _measured(folder: Path, start: Any, *, objects: bool) -> tuple[dict[str, float], dict[str, float]]:
    from diagnostic_msgs.msg import DiagnosticArray
    from geometry_msgs.msg import PoseStamped
    from rclpy.node import Node
    from rosgraph_msgs.msg import Clock

    from remembr_msgs.msg import Memory
    from remembr_msgs.srv import FindObjects
    from remembr_ros.nodes.base import qos
    from remembr_ros.nodes.base.conversions import time_from_msg
    from remembr_ros.nodes.base.lifecycle import call, spinning

    node = Node('listener', namespace='/remembr')
    late, status, goals, clock = list[float](), dict[str, str](), list[Any](), list[tuple[float, int]]()

    def on_memory(msg: Memory) -> None:
        if msg.source == 'captioner' and clock:
            wall, stamp = clock[0]
            late.append(time.monotonic() - wall - (time_from_msg(msg.end) - stamp) / 1e9)

    def on_clock(msg: Clock) -> None:
        if not clock:
            clock.append((time.monotonic(), time_from_msg(msg.clock)))

    def on_status(msg: DiagnosticArray) -> None:
        for one in msg.status:
            if one.name.endswith('objects: status'):
                status.update({value.key: value.value for value in one.values}, message=one.message)

    node.create_subscription(Memory, 'memories', on_memory, qos.CAPTIONS)
    node.create_subscription(DiagnosticArray, '/diagnostics', on_status, qos.DIAGNOSTICS)
    node.create_subscription(PoseStamped, 'goal_pose', goals.append, 10)
    node.create_subscription(Clock, '/clock', on_clock, qos.CLOCK)
    start('memory', uri=folder / 'm.db', use_sim_time=True, embedder='all-MiniLM-L6-v2')
    start('captioner', IMAGES, captioner='scene_text', **POSES)
    start('agent', **POSES, llm='offline', navigation='goal_pose')
    if objects:
        detector = f'onnx:{MODELS / "yolox_nano.onnx"}'
        start('objects', IMAGES, detector=detector, labels=MODELS / 'coco_labels.txt', **POSES)
    with spinning(node):
        _wait(lambda: node.count_subscribers(f'{CAMERA}/image_raw/compressed') >= 1 + objects, 60.0)
        time.sleep(SETTLE_S)
        player = start('replay', bag=KITCHEN)
        began = time.monotonic()
        player.wait(120.0)
        seconds = time.monotonic() - began
        time.sleep(SETTLE_S)
        captions = {'captions': float(len(late)), 'late': float(np.median(late)), 'latest': max(late)}
        if not objects:
            return captions, {}
        found = call(node, FindObjects, '/remembr/find_objects', FindObjects.Request(), time.monotonic() + 9)
        cups = [one.memory.pose.pose.position for one in found.objects if one.name == 'cup']
        result = _asked(node)
        if not goals:
            raise RuntimeError(f'no goal: {result}, {status}')
    pose = goals[-1].pose
    yaw = 2.0 * math.atan2(pose.orientation.z, pose.orientation.w)
    facing = [
        (abs(math.remainder(math.atan2(c.y - pose.position.y, c.x - pose.position.x) - yaw, math.tau)), c)
        for c in cups
    ]
    off, cup = min(facing, key=lambda pair: pair[0])
    return captions, {
        'looked': float(status['images looked at']),
        'images': float(status['images']),
        'rate': float(status['images looked at']) / seconds,
        'detector': float(status['detector [s per image]']),
        'frame': float(status['in all [s per image]']),
        'objects': float(len(found.objects)),
        'off': math.degrees(off),
        'away': math.dist((cup.x, cup.y), (pose.position.x, pose.position.y)),
    }


def _asked(node: Any) -> Any:
    """Have the robot drive to the cup; return what comes of that."""
    from remembr_msgs.action import Ask
    from test.node.action_client import ActionClient

    client = ActionClient(node, Ask, '/remembr/ask')
    _wait(lambda: client.wait_for_server(1.0), 10.0)
    sent = client.send_goal_async(Ask.Goal(question='Take me to the cup', navigate=True))
    _wait(sent.done, 10.0)
    result = sent.result().get_result_async()
    _wait(result.done, 30.0)
    return result.result().result


def _wait(condition: Any, seconds: float) -> None:
    deadline, pause = time.monotonic() + seconds, threading.Event()
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f'not within {seconds} s')
        pause.wait(0.05)


@contextmanager
def _processes() -> Iterator[Any]:
    """Yield what starts a node as a process; all of them are ended."""
    started: list[subprocess.Popen[bytes]] = []

    def start(name: str, moved: Any = (), **parameters: Any) -> 'subprocess.Popen[bytes]':
        if name != 'replay':
            parameters['autostart'] = True
        told = [part for topic, to in dict(moved).items() for part in ('-r', f'{topic}:={to}')]
        told += [part for key, value in parameters.items() for part in ('-p', f'{key}:={_yaml(value)}')]
        command = [sys.executable, '-m', f'remembr_ros.nodes.{name}.node', '--ros-args', *told]
        started.append(subprocess.Popen(command, stdout=sys.stderr))
        return started[-1]

    try:
        yield start
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            process.wait(30.0)


def _yaml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"'{value}'" if isinstance(value, Path) else str(value)
