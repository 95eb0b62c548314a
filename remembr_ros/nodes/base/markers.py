"""Markers for RViz and Foxglove, and their colours."""

import math
import textwrap
from collections.abc import Iterable, Iterator, Sequence

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory
from remembr_ros.nodes.base.conversions import pose_to_msg
from remembr_ros.timestamps import NS, format_clock

WHITE = ColorRGBA(r=1.0, g=1.0, b=1.0, a=1.0)
GREEN = ColorRGBA(r=0.0, g=0.75, b=0.25, a=1.0)

# Dark blue, teal, yellow: told apart by people who see no red or green, too.
_RAMP = ((0.15, 0.20, 0.55), (0.10, 0.60, 0.60), (1.00, 0.90, 0.15))

# [s] ages that are drawn in the first and the last colour; between them their logarithm counts
YOUNG_S, OLD_S = 60.0, 30 * 86400.0

CAPTION_WIDTH = 48
CAPTION_LINES = 6


def clear(markers: Iterable[Marker] = ()) -> MarkerArray:
    """Return a message that shows these markers, with ids of their own, in place of all shown before."""
    shown = list(markers)
    for index, marker in enumerate(shown):
        marker.id = index
    return MarkerArray(markers=[Marker(action=Marker.DELETEALL), *shown])


def ramp(value: float) -> ColorRGBA:
    """Return the colour of a value from 0 (dark blue) to 1 (yellow); NaN counts as 0."""
    at = 2.0 * min(1.0, max(0.0, value if not math.isnan(value) else 0.0))
    low, high = _RAMP[:2] if at <= 1.0 else _RAMP[1:]
    part = at if at <= 1.0 else at - 1.0
    red, green, blue = (a + part * (b - a) for a, b in zip(low, high, strict=True))
    return ColorRGBA(r=red, g=green, b=blue, a=0.9)


def age_colour(age_ns: int) -> ColorRGBA:
    """Return the colour of something so old: yellow for a minute, dark blue for a month."""
    age_s = min(OLD_S, max(YOUNG_S, age_ns / NS))
    return ramp(1.0 - math.log(age_s / YOUNG_S) / math.log(OLD_S / YOUNG_S))


def balls(
    namespace: str, coloured: Iterable[tuple[Memory, ColorRGBA]], diameter_m: float
) -> Iterator[Marker]:
    """Yield a ball for each memory with a place, as one marker a frame: cheap to draw by the thousand."""
    placed = [(seen.frame_id, seen.pose, colour) for seen, colour in coloured if seen.pose is not None]
    for frame_id in sorted({frame for frame, _, _ in placed}):
        marker = new_marker(frame_id, namespace, Marker.SPHERE_LIST)
        marker.scale.x = marker.scale.y = marker.scale.z = diameter_m
        marker.color = WHITE
        marker.points = [_point(pose) for frame, pose, _ in placed if frame == frame_id]
        marker.colors = [colour for frame, _, colour in placed if frame == frame_id]
        yield marker


def label(frame_id: str, namespace: str, pose: Pose, text: str, *, above_m: float = 0.5) -> Marker:
    """Return a text above a pose that faces whoever looks."""
    marker = new_marker(frame_id, namespace, Marker.TEXT_VIEW_FACING)
    marker.pose.position = _point(pose, above_m)
    marker.scale.z = 0.25  # [m] the height of a capital
    marker.color = WHITE
    marker.text = text
    return marker


def arrow(frame_id: str, namespace: str, pose: Pose, colour: ColorRGBA) -> Marker:
    """Return an arrow of a metre from a pose to where it faces."""
    marker = new_marker(frame_id, namespace, Marker.ARROW)
    marker.scale.x, marker.scale.y, marker.scale.z = 1.0, 0.15, 0.15
    marker.pose = pose_to_msg(pose)
    marker.color = colour
    return marker


def path(frame_id: str, namespace: str, poses: Sequence[Pose], colour: ColorRGBA) -> Marker:
    """Return a line through poses."""
    marker = new_marker(frame_id, namespace, Marker.LINE_STRIP)
    marker.scale.x = 0.05
    marker.points = [_point(pose) for pose in poses]
    marker.color = colour
    return marker


def described(memory: Memory) -> str:
    """Return what a memory is about, for a label: when, whose, and what was seen, in a few lines."""
    lines = textwrap.wrap(memory.caption, CAPTION_WIDTH, max_lines=CAPTION_LINES, placeholder=' ...')
    return '\n'.join([f'{format_clock(memory.start_ns)}  {memory.robot}'.rstrip(), *lines])


def new_marker(frame_id: str, namespace: str, kind: int) -> Marker:
    """Return a marker of nothing yet, shown wherever its frame is."""
    # A stamp of zero: shown wherever the frame is now.
    marker = Marker(ns=namespace, type=kind, action=Marker.ADD)
    marker.header.frame_id = frame_id
    marker.header.stamp = Time()
    marker.pose.orientation.w = 1.0
    return marker


def _point(pose: Pose, above_m: float = 0.0) -> Point:
    return Point(x=pose.x, y=pose.y, z=pose.z + above_m)
