"""Definitions of vision_msgs."""

import pytest
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from remembr_ros.bags.recording import DETECTIONS_2D, DETECTIONS_3D, LABEL_INFO, vision_definition
from test.vision_messages import add_vision_types


@pytest.mark.parametrize('msgtype', [DETECTIONS_2D, DETECTIONS_3D, LABEL_INFO])
def test_messages_are_defined_as_their_package_defines_them(msgtype: str) -> None:
    theirs = get_typestore(Stores.ROS2_HUMBLE)
    add_vision_types(theirs)
    own = get_types_from_msg(vision_definition(msgtype), msgtype)
    assert next(iter(own)) == msgtype
    assert {name: theirs.fielddefs[name] for name in own} == own


def test_others_are_not() -> None:
    for msgtype in ('vision_msgs/msg/Classification', 'std_msgs/msg/String', ''):
        assert vision_definition(msgtype) == ''
