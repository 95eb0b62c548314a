import dataclasses

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: make setup')

from remembr_ros.nodes.agent.node import agent_config
from remembr_ros.nodes.agent.parameters import AgentParameters

RENAMED = {'follow_up_s': 'follow_up', 'timeout_s': 'timeout', 'call_timeout_s': 'call_timeout'}


def test_every_setting_of_the_agent_comes_from_a_parameter() -> None:
    # Each parameter with a value of its own.
    values = {
        field.name: type(field.default)(n)
        for n, field in enumerate(dataclasses.fields(AgentParameters), 1)
        if isinstance(field.default, str | int | float) and not isinstance(field.default, bool)
    }
    config = agent_config(dataclasses.replace(AgentParameters(), **values))
    for name, value in dataclasses.asdict(config).items():
        assert value == values[RENAMED.get(name, name)]
