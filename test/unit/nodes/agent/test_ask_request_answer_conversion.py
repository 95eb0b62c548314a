import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip('rclpy', reason='needs ROS 2: make setup')

from remembr_msgs.msg import Answer as AnswerMsg
from remembr_ros.agent.model.answer import Answer, Kind, Usage
from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import Memory
from remembr_ros.nodes.agent.ask_request import answer_from_msg, answer_to_msg
from remembr_ros.nodes.base.conversions import duration_from_msg, time_from_msg
from remembr_ros.timestamps import NS
from test.unit.nodes.base.test_memory_conversion import memories

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


SHARE = st.floats(0.0, 1.0, width=32)


@st.composite
def answers(draw) -> Answer:
    kind = draw(st.sampled_from(Kind))
    evidence = tuple(Hit(memory, draw(SHARE)) for memory in draw(st.lists(memories(), max_size=3)))
    placed = next((hit.memory for hit in evidence if hit.memory.pose is not None), None)
    counts = st.integers(0, 2**32 - 1)
    cost = Usage(draw(counts), draw(counts), draw(counts), draw(st.floats(0.0, 1e6)))
    answer = Answer(
        kind, draw(st.text()), draw(st.text()), evidence=evidence, confidence=draw(SHARE), cost=cost
    )
    if placed is not None:
        answer = replace(answer, pose=placed.pose, frame_id=placed.frame_id, map_id=placed.map_id)
    if kind is Kind.BINARY:
        return replace(answer, binary=draw(st.booleans()))
    if kind is Kind.TIME:
        return replace(answer, time_ns=draw(st.integers(0, 2**31 * NS - 1)))
    if kind is Kind.DURATION:
        return replace(answer, duration_s=draw(st.floats(0.0, 1e6)))
    return answer


@given(answers(), st.text(), st.text())
def test_an_answer_comes_back_as_it_was(answer, question, asker):
    msg = answer_to_msg(answer, question=question, asker=asker)
    assert (msg.question, msg.asker) == (question, asker)
    found = answer_from_msg(msg)
    # A quaternion is an angle but for rounding, and nanoseconds are what a duration has.
    if answer.pose is not None:
        assert found.pose.position == answer.pose.position
        assert math.isclose(math.cos(found.pose.yaw - answer.pose.yaw), 1.0, abs_tol=1e-12)
    if answer.duration_s is not None:
        assert found.duration_s == pytest.approx(answer.duration_s, abs=1e-9)
    same = {'pose': answer.pose, 'duration_s': answer.duration_s, 'evidence': answer.evidence}
    assert (found.pose is None) == (answer.pose is None)
    assert [(hit.memory.id, hit.score) for hit in found.evidence] == [
        (hit.memory.id, hit.score) for hit in answer.evidence
    ]
    if answer.pose is None:
        same['frame_id'] = answer.frame_id  # of a pose that is not there
    assert replace(found, **same) == answer


def test_an_answer_of_a_kind_that_is_none_is_refused():
    with pytest.raises(InvalidRequest, match='kind 77'):
        answer_from_msg(AnswerMsg(kind=77))


@pytest.mark.parametrize('field', ['confidence', 'latency'])
def test_an_answer_without_numbers_is_refused(field):
    with pytest.raises(InvalidRequest, match='no numbers'):
        answer_from_msg(AnswerMsg(**{field: math.nan}))
