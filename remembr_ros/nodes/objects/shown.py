"""What the objects node shows: a list of objects, the same as detections, and boxes with names."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from geometry_msgs.msg import Pose as PoseMsg
from geometry_msgs.msg import Vector3
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from remembr_msgs.msg import ObjectArray
from remembr_ros.memory.objects.known import KnownObject
from remembr_ros.memory.objects.query import FoundObject, FoundObjects, ObjectQuery, choose_objects
from remembr_ros.memory.objects.wording import described
from remembr_ros.nodes.base import markers, qos
from remembr_ros.nodes.base.conversions import point_to_msg, time_to_msg
from remembr_ros.nodes.base.managed_node import ManagedNode
from remembr_ros.nodes.objects.conversion import object_to_msg

SOLID = ColorRGBA(r=0.1, g=0.6, b=0.6, a=0.6)
FAINT = ColorRGBA(r=0.1, g=0.6, b=0.6, a=0.15)  # of what is missing


class ShownObjects:
    """Publishes objects while the node is configured, for those who come later, too."""

    def __init__(self, node: ManagedNode) -> None:
        self._detections: Any = None
        self._list = node.create_publisher(ObjectArray, 'objects', qos.MARKERS)
        self._markers = node.create_publisher(MarkerArray, 'object_markers', qos.MARKERS)
        publishers = [self._list, self._markers]
        if (kind := detection_array()) is not None:
            self._detections = node.create_publisher(kind, 'object_detections', qos.MARKERS)
            publishers.append(self._detections)
        for publisher in publishers:
            node.while_configured.callback(node.destroy_publisher, publisher)

    def publish(self, known: Sequence[KnownObject], stamp_ns: int, most: int) -> None:
        """Publish objects as they are now.

        :param stamp_ns: of the newest image that was looked at
        :param most: so many at most, those seen last
        """
        found = choose_objects(ObjectQuery(limit=most), known) if most else FoundObjects()
        stamp = time_to_msg(stamp_ns, clamp=True)
        self._list.publish(ObjectArray(stamp=stamp, objects=[_briefly(one) for one in found.objects]))
        self._markers.publish(drawn(found.objects))
        if self._detections is not None:
            self._detections.publish(_detections(found.objects, stamp))


def detection_array() -> Any:
    """Return vision_msgs/Detection3DArray; None: vision_msgs is not installed."""
    try:
        from vision_msgs.msg import Detection3DArray
    except ImportError:
        return None
    return Detection3DArray


def drawn(objects: Sequence[FoundObject]) -> MarkerArray:
    """Return a box and a name for each object; what is missing is drawn faintly."""
    shown = []
    for one in objects:
        memory, missing = one.known.memory, one.known.missing_ns is not None
        if memory.pose is None:
            continue
        box = markers.new_marker(memory.frame_id, 'objects', Marker.CUBE)
        box.pose, box.scale = _middle(one.known), _size(one.known)
        box.color = FAINT if missing else SOLID
        text = described(one.known) + (' (missing)' if missing else '')
        above_m = one.known.size[2] / 2.0 + 0.1
        shown += [box, markers.label(memory.frame_id, 'names', memory.pose, text, above_m=above_m)]
    return markers.clear(shown)


def _briefly(one: FoundObject) -> Any:
    """Return an object without its facts: a list of many would have megabytes of them."""
    return object_to_msg(replace(one, known=replace(one.known, memory=replace(one.known.memory, facts={}))))


def _middle(known: KnownObject) -> PoseMsg:
    pose = PoseMsg(position=point_to_msg(known.position))
    pose.orientation.w = 1.0
    return pose


def _size(known: KnownObject) -> Vector3:
    x, y, z = known.size
    return Vector3(x=x, y=y, z=z)


def _detections(objects: Sequence[FoundObject], stamp: Any) -> Any:
    from vision_msgs.msg import Detection3D, Detection3DArray, ObjectHypothesisWithPose

    array = Detection3DArray()
    array.header.stamp = stamp
    for one in objects:
        known = one.known
        if known.missing_ns is not None:
            continue
        array.header.frame_id = known.memory.frame_id
        detection = Detection3D(id=known.id)
        detection.header.frame_id = known.memory.frame_id
        detection.header.stamp = time_to_msg(known.memory.end_ns, clamp=True)
        detection.bbox.center, detection.bbox.size = _middle(known), _size(known)
        total = sum(known.facts.labels.values())
        for label, score in known.facts.labels.items():
            result = ObjectHypothesisWithPose()
            result.hypothesis.class_id = known.name if label == known.recognised_as else label
            result.hypothesis.score = score / total
            result.pose.pose = detection.bbox.center
            for axis in (0, 7, 14):
                result.pose.covariance[axis] = known.facts.std**2
            detection.results.append(result)
        array.detections.append(detection)
    return array
