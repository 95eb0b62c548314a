"""The planners that can be compared, by name."""

from remembr_ros.agent.agent import AgentConfig, config_from_environment
from remembr_ros.agent.loop import LoopPlanner
from remembr_ros.agent.offline import OfflinePlanner
from remembr_ros.agent.openai_chat import OpenAIChat
from remembr_ros.agent.planner import Planner
from remembr_ros.errors import InvalidRequest

PLANNERS = ('offline', 'agent')


def get_planner(name: str, config: AgentConfig | None = None) -> Planner:
    """Return a planner; nothing steps in when its language model is out of reach.

    :param name: one of PLANNERS
    :param config: of agent; empty fields: see remembr_ros.agent.agent.config_from_environment
    :raises InvalidRequest: there is no such planner, or no language model is named
    """
    if name == 'offline':
        return OfflinePlanner()
    if name != 'agent':
        raise InvalidRequest(f'there is no planner {name!r}; choose one of {", ".join(PLANNERS)}')
    config = config_from_environment(config or AgentConfig())
    if not (config.llm or config.llm_url):
        raise InvalidRequest(
            'the planner agent needs a language model: give --llm or --llm-url, or set OPENAI_API_KEY'
        )
    return LoopPlanner(
        OpenAIChat(config.llm, config.llm_url or None),
        rounds=config.rounds,
        calls_per_round=config.calls_per_round,
        memories_per_call=config.memories_per_call,
        call_timeout_s=config.call_timeout_s,
    )
