"""Makes an agent from its configuration."""

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from remembr_ros.agent.agent import Agent
from remembr_ros.agent.chat.bounded_call import FailoverChat, allowed_s
from remembr_ros.agent.chat.openai_client import PRESETS, OpenAIChat
from remembr_ros.agent.chat.wire import MAX_TOKENS
from remembr_ros.agent.conversation import EXPIRY_S, Conversations
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.offline.reader.follow_up import in_full
from remembr_ros.agent.offline.request import thing_of
from remembr_ros.agent.planner import TOKEN_BUDGET, Planner
from remembr_ros.agent.trace import Trace
from remembr_ros.errors import InvalidRequest
from remembr_ros.forms.parameter import parameter
from remembr_ros.memory.recall_protocol import Recall

if TYPE_CHECKING:
    from remembr_ros.agent.llm.second_look import Keyframes, SecondLook

VARIABLES = {
    'llm': 'REMEMBR_LLM',
    'llm_url': 'REMEMBR_LLM_URL',
    'llm_fallback': 'REMEMBR_LLM_FALLBACK',
    'llm_fallback_url': 'REMEMBR_LLM_FALLBACK_URL',
    'trace': 'REMEMBR_TRACE',
}
"""The environment variable that counts where a field is empty."""


@dataclass(frozen=True)
class AgentConfig:
    """How questions are answered."""

    llm: str = parameter('', "language model; empty: its server's default, or the offline planner")
    llm_url: str = parameter(
        '',
        'its server: openai, nim, ollama, vllm or llama.cpp, or the URL of any that speaks the OpenAI chat '
        'API; keys come from the environment only',
    )
    llm_fallback: str = parameter('', 'language model to ask when the first is out of reach')
    llm_fallback_url: str = parameter('', 'server of the fallback, as llm_url')
    rounds: int = parameter(3, 'rounds of recall per question', '1 to 10')
    calls_per_round: int = parameter(3, 'recalls per round', '1 to 10')
    memories_per_call: int = parameter(5, 'memories per recall', '1 to 50')
    token_budget: int = parameter(
        TOKEN_BUDGET, 'prompt tokens per question; then the model has to answer', '2000 to 10000000'
    )
    look_again_model: str = parameter(
        '', "vision language model that looks at keyframes again; empty: its server's default"
    )
    look_again_url: str = parameter(
        '', 'its server; with neither model nor server, look_again_captioner looks'
    )
    look_again_captioner: str = parameter(
        '', 'captioner that looks at keyframes again, such as scene_text; empty: none'
    )
    follow_up: float = parameter(
        EXPIRY_S, "so long a follow-up question refers to the asker's last answer", '1 to 86400 s'
    )
    timeout: float = parameter(60.0, 'deadline of a question that names none', '0.1 to 3600 s', live=True)
    call_timeout: float = parameter(
        0.0,
        'wait so long for one reply of the language model, which may have to be loaded first; 0: three '
        'quarters of what the question has left',
        '0 to 3600 s',
    )
    reply_tokens: int = parameter(
        MAX_TOKENS,
        'tokens of one reply, thoughts included; one that is cut off is asked for again with more',
        '1 to 100000',
    )
    trace: str = parameter('', 'file to append what happens to each question to; empty: none')
    trace_max_mb: float = parameter(50.0, 'the trace may take so much of the disk', '0.01 to 100000 MB')


def config_from_environment(config: AgentConfig) -> AgentConfig:
    """Fill in what is not set from VARIABLES; and from OPENAI_API_KEY that OpenAI is asked."""
    named: dict[str, Any] = {
        field: getattr(config, field) or os.environ.get(variable, '') for field, variable in VARIABLES.items()
    }
    config = replace(config, **named)
    if not config.llm and not config.llm_url and os.environ.get('OPENAI_API_KEY'):
        return replace(config, llm=PRESETS['openai'].model)
    return config


def build_agent(
    recall: Recall, config: AgentConfig | None = None, *, keyframes: 'Keyframes | None' = None
) -> Agent:
    """Return an agent that recalls from there.

    :param keyframes: what a second look looks at; None: there is none
    :param config: None or empty fields: see :func:`config_from_environment`
    :raises InvalidRequest: a server is neither a URL nor known by name, or a number is out of range
    """
    config = config_from_environment(config or AgentConfig())
    trace = Trace(config.trace, config.trace_max_mb) if config.trace else None
    servers = [(config.llm, config.llm_url), (config.llm_fallback, config.llm_fallback_url)]
    if config.reply_tokens < 1:
        raise InvalidRequest(f'replies of {config.reply_tokens} tokens say nothing; give 1 or more')
    chats = [
        OpenAIChat(model, url or None, max_tokens=config.reply_tokens)
        for model, url in servers
        if model or url
    ]
    conversations = Conversations(thing_of, in_full, config.follow_up)
    planners: list[Planner] = [OfflinePlanner()]
    if chats:
        from remembr_ros.agent.llm.loop import LoopPlanner  # late: rules alone need none of it

        # 0.9: some time of a question passes before the model is asked.
        patience_s = 0.9 * allowed_s(config.call_timeout, config.timeout)
        loop = LoopPlanner(
            FailoverChat(chats, patience_s=patience_s),
            rounds=config.rounds,
            calls_per_round=config.calls_per_round,
            memories_per_call=config.memories_per_call,
            call_timeout_s=config.call_timeout,
            token_budget=config.token_budget,
            second_look=_second_look(config, keyframes) if keyframes is not None else None,
            rules=planners[0],
        )
        planners.insert(0, loop)
    return Agent(recall, planners, config.timeout, conversations=conversations, trace=trace)


def _second_look(config: AgentConfig, keyframes: 'Keyframes') -> 'SecondLook | None':
    from remembr_ros.agent.llm.second_look import CaptionerLook, ModelLook
    from remembr_ros.captioning.captioners.by_name import get_captioner

    if config.look_again_model or config.look_again_url:
        url = config.look_again_url or None
        chat = OpenAIChat(config.look_again_model, url, max_tokens=config.reply_tokens)
        return ModelLook(chat, keyframes, call_timeout_s=config.call_timeout)
    if config.look_again_captioner:
        return CaptionerLook(get_captioner(config.look_again_captioner), keyframes)
    return None
