import math

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: make setup')

from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped, PoseWithCovarianceStamped
from hypothesis import given
from hypothesis import strategies as st
from nav_msgs.msg import Odometry
from sensor_msgs.msg import CompressedImage

from remembr_msgs.msg import Answer as AnswerMsg
from remembr_msgs.msg import Memory as MemoryMsg
from remembr_msgs.srv import Forget, Remember
from remembr_msgs.srv import Recall as RecallSrv
from remembr_ros import errors
from remembr_ros.agent.model.answer import Answer, Cost, Kind
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import SOURCES, Memory, Observation, memory_id
from remembr_ros.nodes.base import conversions as c
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


@given(st.integers(c.MIN_WIRE_NS, c.MAX_WIRE_NS))
def test_time_round_trip_is_exact(ns):
    msg = c.time_to_msg(ns)
    assert 0 <= msg.nanosec < NS
    assert c.time_from_msg(msg) == ns


@given(st.one_of(st.integers(max_value=c.MIN_WIRE_NS - 1), st.integers(min_value=c.MAX_WIRE_NS + 1)))
def test_times_that_do_not_fit_are_refused_or_clamped(ns):
    with pytest.raises(errors.InvalidRequest, match='2038'):
        c.time_to_msg(ns)
    assert c.time_from_msg(c.time_to_msg(ns, clamp=True)) in (c.MIN_WIRE_NS, c.MAX_WIRE_NS)


@pytest.mark.parametrize(
    ('ns', 'sec', 'nanosec'),
    [(-1, -1, NS - 1), (0, 0, 0), (1_700_000_000_123_456_789, 1_700_000_000, 123_456_789), (-NS, -1, 0)],
)
def test_time_is_floored_to_seconds(ns, sec, nanosec):
    assert (c.time_to_msg(ns).sec, c.time_to_msg(ns).nanosec) == (sec, nanosec)


def test_nanoseconds_of_a_second_and_more_are_added_up():
    assert c.time_from_msg(Time(sec=1, nanosec=2_500_000_000)) == 3_500_000_000


@given(st.floats(-1e6, 1e6))
def test_duration_round_trip(seconds):
    assert c.duration_from_msg(c.duration_to_msg(seconds)) == pytest.approx(seconds, abs=1e-8)


@pytest.mark.parametrize('seconds', [math.inf, -math.inf, 1e300])
def test_long_durations_are_cut(seconds):
    assert abs(c.duration_from_msg(c.duration_to_msg(seconds))) == 2**31 - 1


def test_a_duration_that_is_no_number_is_refused():
    with pytest.raises(errors.InvalidRequest):
        c.duration_to_msg(math.nan)


@given(POSES)
def test_pose_round_trip(pose):
    back = c.pose_from_msg(c.pose_to_msg(pose))
    assert back.position == pose.position
    assert math.remainder(back.yaw - pose.yaw, math.tau) == pytest.approx(0.0, abs=1e-9)


@given(memories())
def test_memory_round_trip(memory):
    assert alike(c.memory_from_msg(c.memory_to_msg(memory)), memory)


@given(memories(), st.lists(st.binary(max_size=30), max_size=3))
def test_observation_round_trip_derives_the_id(memory, images):
    msg = c.observation_to_msg(Observation(memory, tuple(images)))
    assert msg.id == ''
    back = c.observation_from_msg(msg)
    assert back.images == tuple(images)
    assert back.memory.id == memory.id
    assert back.memory.keyframes == ()


@given(memories(), st.floats(0, 1, width=32), st.none() | st.floats(0, 1e3, width=32), st.none() | FINITE)
def test_hit_round_trip(memory, score, distance, offset):
    back = c.hit_from_msg(c.hit_to_msg(Hit(memory, score, distance, offset)))
    assert alike(back.memory, memory)
    assert (back.score, back.distance_m, back.offset_s) == (score, distance, offset)


def broken(**fields) -> MemoryMsg:
    msg = c.memory_to_msg(Memory('i', 'r', T, T + NS, 'text', Pose(1.0, 2.0)))
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
    ):
        with pytest.raises(errors.InvalidRequest):
            c.memory_from_msg(msg)


@pytest.mark.parametrize('x', [1e300, -2e9])
def test_a_caption_of_a_place_that_is_none_is_kept_without(x):
    msg = broken()
    msg.pose.pose.position.x = x
    memory = c.observation_from_msg(msg).memory
    assert (memory.caption, memory.pose) == ('text', None)


@pytest.mark.parametrize(
    'stamp', [Time(), Time(sec=-5), Time(sec=315_964_800), Time(sec=2**31 - 1, nanosec=2**32 - 1)]
)
def test_what_no_clock_stamped_is_of_when_it_arrived(stamp):
    image, pose = CompressedImage(), Odometry()
    image.header.stamp = pose.header.stamp = stamp
    assert c.frame_from_image(image, T).stamp_ns == c.stamped_pose_from_msg(pose, T).stamp_ns == T


def test_an_unplaced_memory_ignores_what_its_pose_says():
    msg = broken(placed=False)
    msg.pose.pose.position.x = math.nan
    assert c.memory_from_msg(msg).pose is None


def test_empty_fields_of_a_caption_have_a_meaning():
    msg = broken(source='', merged=0)
    msg.pose.header.frame_id = ''
    memory = c.memory_from_msg(msg)
    assert (memory.source, memory.merged, memory.frame_id) == ('captioner', 1, 'map')


@pytest.mark.parametrize('kind', list(Kind))
def test_every_kind_of_answer_has_its_constant(kind):
    msg = c.answer_to_msg(Answer(kind, 'text', 'offline'))
    assert msg.kind == getattr(AnswerMsg, kind.name)


def test_an_answer_carries_everything():
    memory = Memory('i', 'r', T, T + NS, 'text', Pose(1.0, 2.0, 0.5, 0.3), frame_id='map')
    answer = Answer(
        Kind.DURATION,
        'Two seconds.',
        'a model',
        binary=True,
        pose=memory.pose,
        map_id='cellar',
        time_ns=T + 5,
        duration_s=2.5,
        evidence=(Hit(memory, 0.5),),
        cost=Cost(2, 100, 20, 1.5),
    )
    msg = c.answer_to_msg(answer)
    assert (msg.binary, msg.map_id, c.time_from_msg(msg.time), c.duration_from_msg(msg.duration)) == (
        True,
        'cellar',
        T + 5,
        2.5,
    )
    assert (msg.pose.header.frame_id, msg.pose.pose.position.z) == ('map', 0.5)
    assert (msg.llm_calls, msg.prompt_tokens, msg.completion_tokens, msg.latency) == (2, 100, 20, 1.5)
    assert [evidence.id for evidence in msg.evidence] == ['i']


@pytest.mark.parametrize('kind', [PoseStamped, PoseWithCovarianceStamped, Odometry])
def test_poses_of_every_message_keep_stamp_and_frame(kind):
    msg = kind()
    pose = msg.pose if kind is PoseStamped else msg.pose.pose
    pose.position.x, pose.orientation.z, pose.orientation.w = 2.0, math.sin(0.25), math.cos(0.25)
    msg.header.frame_id = '/odom'
    stamped = c.stamped_pose_from_msg(msg, T)
    assert (stamped.stamp_ns, stamped.frame_id, stamped.pose.x) == (T, 'odom', 2.0)
    assert stamped.pose.yaw == pytest.approx(0.5)
    msg.header.stamp = c.time_to_msg(T + 7)
    assert c.stamped_pose_from_msg(msg, T).stamp_ns == T + 7


def test_images_are_decoded_only_when_asked_for():
    msg = CompressedImage(format='jpeg', data=b'garbage')
    msg.header.stamp = c.time_to_msg(T)
    frame = c.frame_from_image(msg, 0)
    assert frame.stamp_ns == T
    with pytest.raises(ValueError, match=r'image|picture|JPEG|decode'):
        frame.decode()


def test_codes_of_the_services_agree():
    for kind in (Remember, Forget):
        assert kind.Response.STORE_UNAVAILABLE == RecallSrv.Response.STORE_UNAVAILABLE
        assert kind.Response.INVALID_REQUEST == RecallSrv.Response.INVALID_REQUEST
