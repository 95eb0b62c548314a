"""What lets a node into a server, and what a server says, in the node's log and on its topics."""

import base64

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from rcl_interfaces.msg import ParameterEvent
from rcl_interfaces.srv import GetParameters, SetParameters
from rclpy.parameter import Parameter

from remembr_msgs.srv import Ask
from remembr_ros.captioning.placer import PlacedSegment
from remembr_ros.captioning.segmenter import SampledFrame, Segment
from remembr_ros.nodes.agent.node import AgentNode
from remembr_ros.nodes.captioner.node import CaptionerNode
from remembr_ros.timestamps import NS
from test.node.agent.fake_agent import LIFT, FakeMemoryNode
from test.scripted.server import ScriptedReply, ScriptedServer

PASSWORD = 'Tr0ub4dor'

T0 = 1_700_000_000 * NS


@pytest.fixture
def server(monkeypatch):
    """A server that refuses, and repeats what it got, with what a terminal would obey."""
    for name in ('OPENAI_API_KEY', 'OPENAI_BASE_URL', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'):
        monkeypatch.delenv(name, raising=False)

    def refuse(_) -> ScriptedReply:
        headers = dict(made.requests[-1].headers)
        return ScriptedReply(f'\x1b[31m{headers} http://anna:{PASSWORD}@robot\u202e', status=401)

    with ScriptedServer(refuse) as made:
        yield made


def check(text: str) -> None:
    assert '401' in text
    assert PASSWORD not in text
    assert 'YW5uYT' not in text  # anna: as it is encoded
    assert all(character.isprintable() or character == '\n' for character in text)


def test_the_agent_does_not_tell_the_password_of_its_model(robot, server, caplog, tmp_path):
    robot.add(FakeMemoryNode([LIFT]))
    trace = tmp_path / 'trace.jsonl'
    url = server.url.replace('//', f'//anna:{PASSWORD}@')
    robot.start(AgentNode, pose_source='none', llm='tiny', llm_url=url, trace=str(trace))
    response = robot.call(Ask, 'ask', Ask.Request(question='Where is the lift?'))
    assert response.answer.planner == 'offline'
    assert server.requests[0].headers['authorization'].startswith('Basic ')
    check(caplog.text)
    check(trace.read_text())


def test_no_parameter_shows_a_password(robot, server, monkeypatch):
    monkeypatch.setenv('OPENAI_API_KEY', 'x')
    events = robot.listen(ParameterEvent, '/parameter_events', 100)
    robot.add(FakeMemoryNode([LIFT]))
    url = server.url.replace('//', f'//anna:{PASSWORD}@')
    agent = robot.start(AgentNode, pose_source='none', llm='tiny', llm_url=url)

    def shown() -> str:
        request = GetParameters.Request(names=['llm_url'])
        return robot.call(GetParameters, 'agent/get_parameters', request).values[0].string_value

    assert shown() == server.url.replace('//', '//***@')
    agent.trigger_deactivate()
    agent.trigger_cleanup()
    other = Parameter('llm_url', value=url.replace('anna', 'bert')).to_parameter_msg()
    response = robot.call(SetParameters, 'agent/set_parameters', SetParameters.Request(parameters=[other]))
    assert response.results[0].successful
    assert shown() == server.url.replace('//', '//***@')
    again = Parameter('llm_url', value=shown()).to_parameter_msg()  # as a tool does that saves and loads them
    robot.call(SetParameters, 'agent/set_parameters', SetParameters.Request(parameters=[again]))
    agent.trigger_configure()
    agent.trigger_activate()
    robot.call(Ask, 'ask', Ask.Request(question='Where is the lift?'))
    sent = server.requests[-1].headers['authorization']
    assert base64.b64decode(sent.split()[1]).decode() == f'bert:{PASSWORD}'
    robot.wait(lambda: any(one.changed_parameters for one in events), 'the change is told')
    assert PASSWORD not in str(events)


def test_the_captioner_does_not_tell_the_password_of_its_model(robot, server, caplog):
    heard = robot.listen(DiagnosticArray, '/diagnostics')
    url = server.url.replace('//', f'//anna:{PASSWORD}@')
    node = robot.start(
        CaptionerNode, captioner='openai', captioner_model='tiny', captioner_url=url, pose_source='none'
    )
    frame = SampledFrame(T0, np.zeros((48, 64, 3), np.uint8), 1.0)
    node._worker.put(PlacedSegment(Segment(T0, T0 + NS, (frame,)), None))

    def problems() -> list[str]:
        found = [one for array in heard for one in array.status if one.name == '/remembr/captioner: status']
        return [one.message for one in found if '401' in one.message]

    check(robot.wait(problems, 'the problem')[0])
    check(caplog.text)
