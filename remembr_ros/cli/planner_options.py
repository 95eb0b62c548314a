"""The options of the verbs that answer questions."""

import argparse
from dataclasses import fields

from remembr_ros.agent.build import VARIABLES, AgentConfig
from remembr_ros.cli.options import add_clock, add_parameters

_OPTIONS = (
    *('llm', 'llm_url', 'llm_fallback', 'llm_fallback_url', 'trace', 'timeout', 'call_timeout'),
    *('look_again_url', 'reply_tokens'),
)


def add_planner(parser: argparse.ArgumentParser) -> None:
    """Add --llm, its server and its fallback, --trace, --look-again, --timeout, --now and --time-zone."""
    group = parser.add_argument_group(
        'answers', f'What is not given comes from the environment: {", ".join(VARIABLES.values())}.'
    )
    add_parameters(group, AgentConfig, *_OPTIONS, look_again_model='--look-again')
    add_clock(group)


def agent_config(args: argparse.Namespace) -> AgentConfig:
    """Return how questions are answered, as the options of add_planner say."""
    named = {field.name for field in fields(AgentConfig)}
    return AgentConfig(**{name: value for name, value in vars(args).items() if name in named})
