import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: make setup')

from remembr_msgs.msg import Answer as AnswerMsg
from remembr_ros.agent.model.answer import Answer, Kind
from remembr_ros.agent.model.usage import Usage
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import Memory
from remembr_ros.nodes.agent.answer_conversion import answer_from_msg, answer_to_msg
from remembr_ros.nodes.base.conversions import duration_from_msg, time_from_msg
from remembr_ros.timestamps import NS

T = 1_700_000_000 * NS


@pytest.mark.parametrize('kind', list(Kind))
def test_every_kind_of_answer_has_its_constant(kind):
    msg = answer_to_msg(Answer(kind, 'text', 'offline'))
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
        cost=Usage(2, 100, 20, 1.5),
    )
    msg = answer_to_msg(answer)
    assert (msg.binary, msg.map_id, time_from_msg(msg.time), duration_from_msg(msg.duration)) == (
        True,
        'cellar',
        T + 5,
        2.5,
    )
    assert (msg.pose.header.frame_id, msg.pose.pose.position.z) == ('map', 0.5)
    assert (msg.llm_calls, msg.prompt_tokens, msg.completion_tokens, msg.latency) == (2, 100, 20, 1.5)
    assert [evidence.id for evidence in msg.evidence] == ['i']


def test_an_answer_comes_back_as_it_was():
    memory = Memory('i', 'r', T, T + NS, 'text', Pose(1.0, 2.0, 0.5, 0.3), frame_id='map')
    for kind, fields in (
        (Kind.POSITION, {'pose': memory.pose, 'frame_id': 'map', 'evidence': (Hit(memory, 0.5),)}),
        (Kind.TIME, {'time_ns': T + 5}),
        (Kind.DURATION, {'duration_s': 2.5}),
        (Kind.BINARY, {'binary': False}),
    ):
        given = Answer(kind, 'text', 'offline', cost=Usage(2, 100, 20, 1.5), **fields)
        found = answer_from_msg(answer_to_msg(given))
        assert (found.kind, found.text, found.planner, found.cost) == (kind, 'text', 'offline', given.cost)
        assert (found.binary, found.time_ns, found.duration_s) == (
            given.binary,
            given.time_ns,
            given.duration_s,
        )
        assert [hit.memory.id for hit in found.evidence] == [hit.memory.id for hit in given.evidence]
        assert (found.pose is None) == (given.pose is None)
