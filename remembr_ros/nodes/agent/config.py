"""The agent node's parameters as the agent's configuration."""

from remembr_ros.agent.build import AgentConfig
from remembr_ros.nodes.agent.parameters import AgentParameters


def agent_config(p: AgentParameters) -> AgentConfig:
    """Return how an agent with these parameters answers."""
    return AgentConfig(
        llm=p.llm,
        llm_url=p.llm_url,
        llm_fallback=p.llm_fallback,
        llm_fallback_url=p.llm_fallback_url,
        rounds=p.rounds,
        calls_per_round=p.calls_per_round,
        memories_per_call=p.memories_per_call,
        token_budget=p.token_budget,
        look_again_model=p.look_again_model,
        look_again_url=p.look_again_url,
        look_again_captioner=p.look_again_captioner,
        follow_up_s=p.follow_up,
        timeout_s=p.timeout,
        call_timeout_s=p.call_timeout,
        trace=p.trace,
        trace_max_mb=p.trace_max_mb,
    )
