import math
from dataclasses import replace

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: make setup')

from builtin_interfaces.msg import Time
from hypothesis import given
from hypothesis import strategies as st
from rclpy.serialization import deserialize_message, serialize_message

from remembr_msgs.msg import Memory as MemoryMsg
from remembr_ros import errors
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import SOURCES, Memory, Observation, memory_id
from remembr_ros.nodes.base import conversions as c
from remembr_ros.nodes.base import memory_conversion as m
from remembr_ros.timestamps import NS

FINITE = st.floats(-1e6, 1e6)
TEXT = st.text(st.characters(exclude_categories=['Cs'], exclude_characters='\0'), max_size=20)
POSES = st.builds(Pose, FINITE, FINITE, FINITE, st.floats(-math.pi + 1e-6, math.pi))
T = 1_700_000_000 * NS


@st.composite
def memories(draw) -> Memory:
    robot, source, start_ns = (
        draw(TEXT),
        draw(st.sampled_from(SOURCES)),
        draw(st.integers(0, c.MAX_WIRE_NS - NS)),
    )
    pose = draw(st.none() | POSES)
    return Memory(
        id=memory_id(robot, source, start_ns),
        robot=robot,
        start_ns=start_ns,
        end_ns=start_ns + draw(st.integers(0, NS)),
        caption=draw(TEXT),
        pose=pose,
        frame_id=draw(st.sampled_from(['map', 'odom'])) if pose else 'map',
        map_id=draw(TEXT),
        travelled=draw(st.floats(0, 100)),
        scene_text=tuple(draw(st.lists(TEXT, max_size=3))),
        captioner=draw(TEXT),
        source=source,
        keyframes=tuple(draw(st.lists(TEXT, max_size=3))),
        merged=draw(st.integers(1, 2**32 - 1)),
        facts=draw(st.dictionaries(TEXT, FINITE | TEXT | st.lists(TEXT, max_size=2), max_size=3)),
    )


def alike(a: Memory, b: Memory) -> bool:
    """Equal, with the heading to what a quaternion keeps."""
    if a.pose is None or b.pose is None:
        placed_alike = a.pose is b.pose
    else:
        turned = math.remainder(a.pose.yaw - b.pose.yaw, math.tau)
        placed_alike = a.pose.position == b.pose.position and abs(turned) < 1e-9
    names = [name for name in Memory.__slots__ if name != 'pose']
    return placed_alike and all(getattr(a, name) == getattr(b, name) for name in names)


@given(memories())
def test_memory_round_trip(memory):
    assert alike(m.memory_from_msg(m.memory_to_msg(memory)), memory)


@given(memories(), st.lists(st.binary(max_size=30), max_size=3))
def test_observation_round_trip_derives_the_id(memory, images):
    msg = m.observation_to_msg(Observation(memory, tuple(images)))
    assert msg.id == ''
    back = m.observation_from_msg(msg)
    assert back.images == tuple(images)
    assert back.memory.id == memory.id
    assert back.memory.keyframes == ()


@given(memories(), st.floats(0, 1, width=32), st.none() | st.floats(0, 1e3, width=32), st.none() | FINITE)
def test_hit_round_trip(memory, score, distance, offset):
    hit = Hit(memory, score, distance, offset, 'lab', ('A red mug.', 'EXIT'))
    back = m.hit_from_msg(m.hit_to_msg(hit))
    assert alike(back.memory, memory)
    assert replace(back, memory=memory) == hit


def test_whole_metres_are_sent_as_any_others():
    memory = Memory('i', 'r', T, T + NS, 'text', Pose(1, 2, 0, 0), travelled=0, facts={'size': [1, 2]})
    sent = deserialize_message(serialize_message(m.memory_to_msg(memory)), MemoryMsg)
    assert m.memory_from_msg(sent) == memory


def broken(**fields) -> MemoryMsg:
    msg = m.memory_to_msg(Memory('i', 'r', T, T + NS, 'text', Pose(1.0, 2.0)))
    for name, value in fields.items():
        setattr(msg, name, value)
    return msg


def test_memories_without_sense_are_refused():
    nan_pose = broken()
    nan_pose.pose.pose.orientation.z = math.nan
    infinite = broken()
    infinite.pose.pose.position.z = -math.inf
    for msg in (
        nan_pose,
        infinite,
        broken(end=c.time_to_msg(T - 1)),
        broken(start=Time(sec=-5)),
        broken(source='nobody'),
        broken(travelled=math.nan),
        broken(travelled=-1.0),
        *(broken(facts=facts) for facts in ('[1]', '{', 'NaN', '{"a": NaN}', '[' * 100_000)),
    ):
        with pytest.raises(errors.InvalidRequest):
            m.memory_from_msg(msg)


def test_facts_longer_than_any_that_are_kept_are_refused_before_they_are_read():
    with pytest.raises(errors.InvalidRequest, match='facts has 60001 characters'):
        m.observation_from_msg(broken(facts=' ' * 60_001))


@pytest.mark.parametrize('x', [1e300, -2e9])
def test_a_caption_of_a_place_that_is_none_is_kept_without(x):
    msg = broken()
    msg.pose.pose.position.x = x
    memory = m.observation_from_msg(msg).memory
    assert (memory.caption, memory.pose) == ('text', None)


def test_an_unplaced_memory_ignores_what_its_pose_says():
    msg = broken(placed=False)
    msg.pose.pose.position.x = math.nan
    assert m.memory_from_msg(msg).pose is None


def test_empty_fields_of_a_caption_have_a_meaning():
    msg = broken(source='', merged=0)
    msg.pose.header.frame_id = ''
    memory = m.memory_from_msg(msg)
    assert (memory.source, memory.merged, memory.frame_id) == ('captioner', 1, 'map')
