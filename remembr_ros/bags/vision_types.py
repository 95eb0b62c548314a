"""Message definitions of vision_msgs (4.0 and newer), for recordings (sqlite3) that bring none."""

_PACKAGE = 'vision_msgs/msg/'
DETECTIONS_2D, DETECTIONS_3D = f'{_PACKAGE}Detection2DArray', f'{_PACKAGE}Detection3DArray'
LABEL_INFO = f'{_PACKAGE}LabelInfo'
_DETECTION = 'std_msgs/Header header\nObjectHypothesisWithPose[] results\n{} bbox\nstring id'
_FIELDS = {
    'Detection2DArray': 'std_msgs/Header header\nDetection2D[] detections',
    'Detection3DArray': 'std_msgs/Header header\nDetection3D[] detections',
    'Detection2D': _DETECTION.format('BoundingBox2D'),
    'Detection3D': _DETECTION.format('BoundingBox3D'),
    'ObjectHypothesisWithPose': 'ObjectHypothesis hypothesis\ngeometry_msgs/PoseWithCovariance pose',
    'ObjectHypothesis': 'string class_id\nfloat64 score',
    'BoundingBox2D': 'Pose2D center\nfloat64 size_x\nfloat64 size_y',
    'BoundingBox3D': 'geometry_msgs/Pose center\ngeometry_msgs/Vector3 size',
    'Pose2D': 'Point2D position\nfloat64 theta',
    'Point2D': 'float64 x\nfloat64 y',
    'LabelInfo': 'std_msgs/Header header\nVisionClass[] class_map\nfloat32 threshold',
    'VisionClass': 'uint16 class_id\nstring class_name',
}


def vision_definition(msgtype: str) -> str:
    """Return the definition of a message and of what it consists of; empty: it is of another package."""
    root = msgtype.removeprefix(_PACKAGE)
    parts = [f'MSG: vision_msgs/{name}\n{fields}' for name, fields in _FIELDS.items() if name != root]
    return f'\n{"=" * 80}\n'.join([_FIELDS[root], *parts]) if root in _FIELDS else ''
