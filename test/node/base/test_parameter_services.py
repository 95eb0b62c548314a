"""What tools get of parameters: ros2 param dump, rqt and Foxglove ask for all of them in one request."""

import pytest
from rcl_interfaces.msg import Parameter as ParameterMsg
from rcl_interfaces.msg import ParameterType, ParameterValue
from rcl_interfaces.srv import DescribeParameters, GetParameters, ListParameters, SetParameters
from rclpy.parameter import Parameter

from remembr_ros.nodes.agent.node import AgentNode
from remembr_ros.nodes.captioner.node import CaptionerNode
from remembr_ros.nodes.memory.node import MemoryNode
from remembr_ros.nodes.replay.node import BagPlayerNode
from remembr_ros.nodes.speech.node import SpeechNode

LISTS = {
    'keep_out': ParameterType.PARAMETER_STRING_ARRAY,
    'datum': ParameterType.PARAMETER_DOUBLE_ARRAY,
    'topics': ParameterType.PARAMETER_STRING_ARRAY,
}


def dump(robot, name: str) -> dict[str, ParameterValue]:
    """Return every parameter, as ros2 param dump asks for them."""
    names = list(robot.call(ListParameters, f'{name}/list_parameters', ListParameters.Request()).result.names)
    values = robot.call(GetParameters, f'{name}/get_parameters', GetParameters.Request(names=names)).values
    assert len(values) == len(names)
    return dict(zip(names, values, strict=True))


@pytest.mark.parametrize('kind', [CaptionerNode, MemoryNode, AgentNode, SpeechNode, BagPlayerNode])
def test_every_parameter_has_a_value_of_the_type_that_it_is_described_with(robot, kind):
    name = robot.make(kind).get_name()
    values = dump(robot, name)
    request = DescribeParameters.Request(names=list(values))
    described = robot.call(DescribeParameters, f'{name}/describe_parameters', request).descriptors
    assert [one.type for one in described] == [value.type for value in values.values()]
    assert ParameterType.PARAMETER_NOT_SET not in {value.type for value in values.values()}
    found = {one: values[one].type for one in LISTS if one in values}
    assert found == {one: LISTS[one] for one in found}


@pytest.mark.parametrize('name', ['keep_out', 'datum'])
@pytest.mark.parametrize(
    'empty',
    [
        ParameterValue(type=ParameterType.PARAMETER_BOOL_ARRAY),  # ros2 param set NODE NAME '[]'
        ParameterValue(type=ParameterType.PARAMETER_BYTE_ARRAY),  # rclpy's Parameter(name, value=[])
        ParameterValue(type=ParameterType.PARAMETER_STRING_ARRAY),
        ParameterValue(type=ParameterType.PARAMETER_DOUBLE_ARRAY),
    ],
    ids=lambda value: f'type {value.type}',
)
def test_a_list_can_be_emptied(robot, name, empty):
    node = robot.make(AgentNode)
    full = {'keep_out': ['0 0, 1 0, 1 1'], 'datum': [52.0, 11.0, 50.0]}[name]
    assert node.set_parameters([Parameter(name, value=full)])[0].successful
    request = SetParameters.Request(parameters=[ParameterMsg(name=name, value=empty)])
    assert robot.call(SetParameters, 'agent/set_parameters', request).results[0].successful
    assert dump(robot, 'agent')[name].type == LISTS[name]
    assert list(node.get_parameter(name).value) == []


def test_what_is_no_list_and_what_is_no_value_is_refused_for_a_list(robot):
    robot.make(AgentNode)
    wrong = [
        ParameterValue(type=ParameterType.PARAMETER_STRING),
        ParameterValue(type=ParameterType.PARAMETER_NOT_SET),
        ParameterValue(type=ParameterType.PARAMETER_INTEGER_ARRAY, integer_array_value=[1]),
    ]
    request = SetParameters.Request(parameters=[ParameterMsg(name='keep_out', value=one) for one in wrong])
    results = robot.call(SetParameters, 'agent/set_parameters', request).results
    assert [result.successful for result in results] == [False] * len(wrong)
    assert dump(robot, 'agent')['keep_out'].type == ParameterType.PARAMETER_STRING_ARRAY


def test_a_list_that_is_empty_on_the_command_line_or_in_code_is_an_empty_list(robot):
    for made in (
        AgentNode(cli_args=['--ros-args', '-p', 'keep_out:=[]', '-p', 'datum:=[]']),
        AgentNode(parameter_overrides=[Parameter('keep_out', value=[]), Parameter('datum', value=[])]),
    ):
        node = robot.add(made)
        assert (node.parameters.keep_out, node.parameters.datum) == ([], [])
