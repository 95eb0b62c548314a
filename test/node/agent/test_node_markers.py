"""What RViz shows of an answer: what was recalled, what is cited, and where the robot is sent."""

from dataclasses import replace

import pytest
from visualization_msgs.msg import Marker, MarkerArray

from remembr_msgs.srv import Ask
from remembr_ros.agent.model.answer import Kind
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.recall import Hit
from remembr_ros.nodes.agent.node import AgentNode
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.markers import ramp
from test.node.agent.fake_agent import LIFT, FakeAgent, FakeMemoryNode

OTHER = replace(LIFT, id='door', caption='A door.', pose=Pose(1.0, 1.0), scene_text=())


def by_namespace(msg: MarkerArray) -> dict[str, list[Marker]]:
    assert msg.markers[0].action == Marker.DELETEALL
    found: dict[str, list[Marker]] = {}
    for marker in msg.markers[1:]:
        found.setdefault(marker.ns, []).append(marker)
    return found


def ask(robot, question: str, navigate: bool = False):
    return robot.call(Ask, 'ask', Ask.Request(question=question, navigate=navigate))


def test_an_answer_shows_what_was_recalled_and_what_it_cites(robot):
    robot.add(FakeMemoryNode([LIFT, OTHER]))
    robot.start(AgentNode, pose_source='none')
    answer = ask(robot, 'Where is the lift?').answer
    assert [memory.id for memory in answer.evidence] == ['lift-1']
    seen = robot.listen(MarkerArray, 'answer_markers', qos.MARKERS)  # RViz, which is opened afterwards
    robot.wait(lambda: seen, 'markers')
    shown = by_namespace(seen[-1])
    (hits,), (evidence,), (text,) = shown['hits'], shown['evidence'], shown['evidence_text']
    assert [(point.x, point.y) for point in hits.points] == [(1.0, 1.0)]
    assert [(point.x, point.y) for point in evidence.points] == [(4.0, 2.0)]
    assert evidence.scale.x > hits.scale.x
    assert (text.pose.position.x, text.pose.position.y) == (4.0, 2.0)
    assert text.text.startswith('1. (score ')
    assert 'A sign that says "LIFT".' in text.text
    assert 'goal' not in shown


def test_goals_are_shown_in_the_order_of_the_visit_and_the_next_answer_replaces_them(robot):
    node = robot.start(AgentNode, pose_source='none')
    hits = [Hit(replace(LIFT, id=f'l{x}', pose=Pose(10.0 * x, 2.0)), 0.1 * x) for x in (9, 1, 5)]
    node._agent = agent = FakeAgent(evidence=tuple(hits), every_place=True, pose=hits[0].memory.pose)
    seen = robot.listen(MarkerArray, 'answer_markers', qos.MARKERS)
    ask(robot, 'Visit all lifts', navigate=True)
    robot.wait(lambda: seen and 'goal' in by_namespace(seen[-1]), 'goals')
    shown = by_namespace(seen[-1])
    (line,) = shown['goal_order']
    goals = [round(arrow.pose.position.x) for arrow in shown['goal']]
    assert goals in ([10, 50, 90], [90, 50, 10])
    assert [round(point.x) for point in line.points] == goals
    assert [label.text for label in shown['goal_text']] == ['goal 1', 'goal 2', 'goal 3']
    for colour, x in zip(shown['evidence'][0].colors, (9, 1, 5), strict=True):
        assert colour.r == pytest.approx(ramp(0.1 * x).r)
    agent.answer = replace(agent.answer, kind=Kind.NOT_SEEN, evidence=(), pose=None)
    ask(robot, 'Where is the pool?', navigate=True)
    robot.wait(lambda: len(seen[-1].markers) == 1, 'nothing but what clears the view')


def test_an_agent_that_is_deactivated_shows_nothing_any_more(robot):
    node = robot.start(AgentNode, pose_source='none')
    node._agent = FakeAgent()
    ask(robot, 'Where is the lift?')
    seen = robot.listen(MarkerArray, 'answer_markers', qos.MARKERS)
    robot.wait(lambda: seen and 'evidence' in by_namespace(seen[-1]), 'markers')
    node.trigger_deactivate()
    robot.wait(lambda: len(seen[-1].markers) == 1, 'nothing but what clears the view')


def test_unplaced_evidence_has_no_marker(robot):
    node = robot.start(AgentNode, pose_source='none')
    hit = Hit(replace(LIFT, pose=None), 0.5)
    node._agent = FakeAgent(kind=Kind.TIME, evidence=(hit,), pose=None)
    seen = robot.listen(MarkerArray, 'answer_markers', qos.MARKERS)
    ask(robot, 'When was the lift?')
    robot.wait(lambda: seen, 'a message')
    assert len(seen[-1].markers) == 1
