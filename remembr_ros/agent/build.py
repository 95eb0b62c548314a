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


@dataclass(frozen=True, slots=True)
class AgentConfig:
    """How questions are answered.

    :param llm: name of the language model; empty: the server's default, or its first one
    :param llm_url: any server that speaks OpenAI's chat API, such as http://localhost:11434/v1, or the name
        of one, see :mod:`remembr_ros.agent.chat.openai_client`; empty: OpenAI itself if llm is given, else no
        language model
    :param llm_fallback: asked when llm is out of reach; empty: the fallback server's default
    :param llm_fallback_url: its server; both empty: there is none
    :param rounds: of recalling before the model must answer, 1 to 10
    :param calls_per_round: tool calls answered per round, 1 to 10
    :param memories_per_call: 1 to 50
    :param token_budget: prompt tokens per question
    :param look_again_model: vision language model that looks at keyframes again; empty: its server's default
    :param look_again_url: its server; both empty: look_again_captioner, if any
    :param look_again_captioner: name of a captioner that looks at keyframes again; empty: nothing does
    :param follow_up_s: so long after an answer the same asker's follow-up questions refer to it [s]
    :param timeout_s: for a question, unless it says otherwise [s]
    :param call_timeout_s: for one call of the model [s]; 0: most of what the question has left
    :param reply_tokens: of one reply, thoughts included, before it is asked for again with more
    :param trace: file that says what happened to each question; empty: none
    :param trace_max_mb: how large it may become, with the one before it [MB]
    """

    llm: str = ''
    llm_url: str = ''
    llm_fallback: str = ''
    llm_fallback_url: str = ''
    rounds: int = 3
    calls_per_round: int = 3
    memories_per_call: int = 5
    token_budget: int = TOKEN_BUDGET
    look_again_model: str = ''
    look_again_url: str = ''
    look_again_captioner: str = ''
    follow_up_s: float = EXPIRY_S
    timeout_s: float = 60.0
    call_timeout_s: float = 0.0
    reply_tokens: int = MAX_TOKENS
    trace: str = ''
    trace_max_mb: float = 50.0


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
    conversations = Conversations(thing_of, in_full, config.follow_up_s)
    planners: list[Planner] = [OfflinePlanner()]
    if chats:
        from remembr_ros.agent.llm.loop import LoopPlanner  # late: rules alone need none of it

        # 0.9: some time of a question passes before the model is asked.
        patience_s = 0.9 * allowed_s(config.call_timeout_s, config.timeout_s)
        loop = LoopPlanner(
            FailoverChat(chats, patience_s=patience_s),
            rounds=config.rounds,
            calls_per_round=config.calls_per_round,
            memories_per_call=config.memories_per_call,
            call_timeout_s=config.call_timeout_s,
            token_budget=config.token_budget,
            second_look=_second_look(config, keyframes) if keyframes is not None else None,
            rules=planners[0],
        )
        planners.insert(0, loop)
    return Agent(recall, planners, config.timeout_s, conversations=conversations, trace=trace)


def _second_look(config: AgentConfig, keyframes: 'Keyframes') -> 'SecondLook | None':
    from remembr_ros.agent.llm.second_look import CaptionerLook, ModelLook
    from remembr_ros.captioning.captioners.by_name import get_captioner

    if config.look_again_model or config.look_again_url:
        url = config.look_again_url or None
        chat = OpenAIChat(config.look_again_model, url, max_tokens=config.reply_tokens)
        return ModelLook(chat, keyframes, call_timeout_s=config.call_timeout_s)
    if config.look_again_captioner:
        return CaptionerLook(get_captioner(config.look_again_captioner), keyframes)
    return None
