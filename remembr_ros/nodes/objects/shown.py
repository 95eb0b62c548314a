"""Publishes objects as a list, as detections, and as labelled boxes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from remembr_msgs.msg import Object as ObjectMsg
from remembr_msgs.msg import ObjectArray
from remembr_ros.geometry import Pose
from remembr_ros.memory.objects.known import KnownObject
from remembr_ros.memory.objects.query import ObjectQuery, choose_objects
from remembr_ros.memory.objects.wording import described, spelled
from remembr_ros.nodes.base import markers, qos
from remembr_ros.nodes.base.conversions import time_to_msg
from remembr_ros.nodes.base.managed_node import ManagedNode
from remembr_ros.nodes.objects.conversion import object_to_msg

SOLID = ColorRGBA(r=0.1, g=0.6, b=0.6, a=0.6)
FAINT = ColorRGBA(r=0.1, g=0.6, b=0.6, a=0.15)  # of what is missing


class ShownObjects:
    """Publishes objects while the node is configured, for those who come later, too."""

    def __init__(self, node: ManagedNode) -> None:
        self._detections: Any = None
        self._list = node.advertise(ObjectArray, 'objects', qos.MARKERS)
        self._markers = node.advertise(MarkerArray, 'object_markers', qos.MARKERS)
        if (kind := detection_array()) is not None:
            self._detections = node.advertise(kind, 'object_detections', qos.MARKERS)

    def publish(self, known: Sequence[KnownObject], stamp_ns: int, most: int) -> None:
        """Publish objects as they are now.

        :param stamp_ns: of the newest image that was looked at
        :param most: so many at most, those seen last
        """
        found = choose_objects(ObjectQuery(limit=most), known).objects if most else ()
        # Without facts: a list of many would have megabytes of them.
        bare = [replace(thing.known, memory=replace(thing.known.memory, facts={})) for thing in found]
        messages = [object_to_msg(replace(thing, known=b)) for thing, b in zip(found, bare, strict=True)]
        array = ObjectArray(stamp=time_to_msg(stamp_ns, clamp=True), objects=messages)
        self._list.publish(array)
        self._markers.publish(drawn(bare, messages))
        if self._detections is not None:
            self._detections.publish(_detections(bare, array))


def detection_array() -> Any:
    """Return vision_msgs/Detection3DArray; None: vision_msgs is not installed."""
    try:
        from vision_msgs.msg import Detection3DArray
    except ImportError:
        return None
    return Detection3DArray


def drawn(known: Sequence[KnownObject], messages: Sequence[ObjectMsg]) -> MarkerArray:
    """Return a box and a name for each object; what is missing is drawn faintly.

    :param messages: the same objects as messages
    """
    shown = []
    for thing, msg in zip(known, messages, strict=True):
        missing = msg.presence == ObjectMsg.MISSING
        box = markers.new_marker(msg.memory.pose.header.frame_id, 'objects', Marker.CUBE)
        box.pose, box.scale, box.color = msg.memory.pose.pose, msg.size, FAINT if missing else SOLID
        name = described(thing) + (' (missing)' if missing else '')
        pose = thing.memory.pose or Pose(0.0, 0.0)
        above_m = msg.size.z / 2.0 + 0.1
        shown += [box, markers.label(thing.memory.frame_id, 'names', pose, name, above_m=above_m)]
    return markers.clear(shown)


def _detections(known: Sequence[KnownObject], shown: ObjectArray) -> Any:
    """Return what is there now as others' programs understand it: each label with its share."""
    from vision_msgs.msg import Detection3D, Detection3DArray, ObjectHypothesisWithPose

    array = Detection3DArray()
    array.header.stamp = shown.stamp
    for thing, msg in zip(known, shown.objects, strict=True):
        if msg.presence == ObjectMsg.MISSING:
            continue
        array.header.frame_id = msg.memory.pose.header.frame_id
        detection = Detection3D(id=thing.id)
        detection.header.frame_id, detection.header.stamp = array.header.frame_id, msg.memory.end
        detection.bbox.center, detection.bbox.size = msg.memory.pose.pose, msg.size
        total = sum(thing.facts.labels.values())
        for label, score in thing.facts.labels.items():
            result = ObjectHypothesisWithPose()
            called = spelled(label)
            result.hypothesis.class_id = thing.name if called == thing.recognised_as else called
            result.hypothesis.score = score / total
            result.pose.pose = detection.bbox.center
            for axis in (0, 7, 14):
                result.pose.covariance[axis] = thing.facts.std**2
            detection.results.append(result)
        array.detections.append(detection)
    return array
