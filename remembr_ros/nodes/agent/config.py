"""The agent node's parameters as the agent's configuration."""

from dataclasses import fields

from remembr_ros.agent.build import AgentConfig
from remembr_ros.nodes.agent.parameters import AgentParameters


def agent_config(p: AgentParameters) -> AgentConfig:
    """Return how an agent with these parameters answers: they are called alike, but for the unit seconds."""
    return AgentConfig(
        **{field.name: getattr(p, field.name.removesuffix('_s')) for field in fields(AgentConfig)}
    )
