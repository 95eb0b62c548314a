"""The options of the verbs that answer questions."""

import argparse
from dataclasses import fields

from remembr_ros.agent.build import AgentConfig
from remembr_ros.agent.chat.openai_client import PRESETS
from remembr_ros.cli.options import add_clock, count, seconds


def add_planner(parser: argparse.ArgumentParser) -> None:
    """Add --llm, its server and its fallback, --trace, --look-again, --timeout, --now and --time-zone."""
    group = parser.add_argument_group('answers', argument_default='')
    group.add_argument('--llm', metavar='MODEL', help="language model; default: the server's (REMEMBR_LLM)")
    group.add_argument(
        '--llm-url',
        metavar='URL',
        help=f'its server: {", ".join(PRESETS)}, or the URL of any that speaks the OpenAI chat API, such as '
        'http://host:8000/v1 (REMEMBR_LLM_URL); with neither a model nor a server nor OPENAI_API_KEY, the '
        'offline planner answers',
    )
    group.add_argument(
        '--llm-fallback',
        metavar='MODEL',
        help='language model to ask when the first is out of reach (REMEMBR_LLM_FALLBACK)',
    )
    group.add_argument('--llm-fallback-url', metavar='URL', help='its server (REMEMBR_LLM_FALLBACK_URL)')
    group.add_argument(
        '--trace',
        metavar='FILE',
        help='append what happens to the questions to this file; see remembr trace (REMEMBR_TRACE)',
    )
    group.add_argument(
        '--look-again',
        dest='look_again_model',
        metavar='MODEL',
        help='vision language model that looks at keyframes again when the language model wants it to',
    )
    group.add_argument('--look-again-url', metavar='URL', help='its OpenAI-compatible server')
    group.add_argument(
        '--timeout',
        dest='timeout_s',
        type=seconds,
        metavar='S',
        default=60.0,
        help='for a question, in seconds (default: %(default)g)',
    )
    group.add_argument(
        '--call-timeout',
        dest='call_timeout_s',
        type=seconds,
        metavar='S',
        default=0.0,
        help='for one call of the language model (default: most of what the question has left)',
    )
    group.add_argument(
        '--reply-tokens',
        type=count,
        metavar='N',
        default=AgentConfig().reply_tokens,
        help='of one reply, thoughts included; one that is cut off is asked for again with more '
        '(default: %(default)s)',
    )
    add_clock(group)


def agent_config(args: argparse.Namespace) -> AgentConfig:
    """Return how questions are answered, as the options of add_planner say."""
    given = {field.name: getattr(args, field.name, None) for field in fields(AgentConfig)}
    return AgentConfig(**{name: value for name, value in given.items() if value is not None})
