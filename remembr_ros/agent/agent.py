"""The agent: the language model's planner where there is one, the offline planner where there is none."""

import logging
import os
import threading
import time
from dataclasses import dataclass, replace

from remembr_ros.agent.answer import Answer, Question
from remembr_ros.agent.loop import LoopPlanner
from remembr_ros.agent.offline import OfflinePlanner
from remembr_ros.agent.openai_chat import OpenAIChat
from remembr_ros.agent.planner import OnProgress, Planner, Progress, Run, ignore_progress
from remembr_ros.errors import ChatUnavailable, InvalidRequest
from remembr_ros.memory.recall import Recall

logger = logging.getLogger(__name__)

MAX_QUESTION = 10_000
"""Characters; more is no question."""


@dataclass(frozen=True, slots=True)
class AgentConfig:
    """How questions are answered.

    :param llm: name of the language model; empty: the server's first one
    :param llm_url: any server that speaks OpenAI's chat API, such as http://localhost:11434/v1; empty: OpenAI
        itself if llm is given, else no language model
    :param rounds: of recalling before the model must answer, 1 to 10
    :param calls_per_round: tool calls answered per round, 1 to 10
    :param memories_per_call: 1 to 50
    :param timeout_s: for a question, unless it says otherwise [s]
    :param call_timeout_s: for one call of the model [s]
    """

    llm: str = ''
    llm_url: str = ''
    rounds: int = 3
    calls_per_round: int = 3
    memories_per_call: int = 5
    timeout_s: float = 60.0
    call_timeout_s: float = 30.0


def config_from_environment(config: AgentConfig) -> AgentConfig:
    """Fill in what is not set from REMEMBR_LLM, REMEMBR_LLM_URL and OPENAI_API_KEY."""
    llm = config.llm or os.environ.get('REMEMBR_LLM', '')
    url = config.llm_url or os.environ.get('REMEMBR_LLM_URL', '')
    if not llm and not url and os.environ.get('OPENAI_API_KEY'):
        llm = 'gpt-4o'
    return replace(config, llm=llm, llm_url=url)


def build_agent(recall: Recall, config: AgentConfig | None = None) -> 'Agent':
    """Return an agent that recalls from there.

    :param config: None or empty fields: see :func:`config_from_environment`
    """
    config = config_from_environment(config or AgentConfig())
    if not (config.llm or config.llm_url):
        return Agent(recall, [OfflinePlanner()], config.timeout_s)
    chat = OpenAIChat(config.llm, config.llm_url or None)
    loop = LoopPlanner(
        chat,
        rounds=config.rounds,
        calls_per_round=config.calls_per_round,
        memories_per_call=config.memories_per_call,
        call_timeout_s=config.call_timeout_s,
    )
    return Agent(recall, [loop, OfflinePlanner()], config.timeout_s)


class Agent:
    """Answers questions; several may be under way at once, they share nothing.

    :param planners: tried in this order; the next one steps in when a language model is out of reach
    :param timeout_s: for a question, unless it says otherwise
    """

    def __init__(self, recall: Recall, planners: list[Planner], timeout_s: float = 60.0) -> None:
        self._recall = recall
        self._planners = planners
        self._timeout_s = timeout_s

    @property
    def planner(self) -> str:
        """The name of the planner that is tried first."""
        return self._planners[0].name

    def ask(
        self,
        question: Question,
        *,
        timeout_s: float | None = None,
        on_progress: OnProgress | None = None,
        cancel: threading.Event | None = None,
    ) -> Answer:
        """Answer a question.

        :param timeout_s: None or not positive: the agent's
        :param on_progress: told what is being done; called in this thread
        :param cancel: set from another thread when the answer is not wanted any more
        :raises RemembrError: there is no answer; see remembr_ros.errors
        """
        text = question.text.strip()
        if not text:
            raise InvalidRequest('the question is empty')
        if len(text) > MAX_QUESTION:
            raise InvalidRequest(f'the question has {len(text)} characters; ask with at most {MAX_QUESTION}')
        question = replace(question, text=text)
        began = time.monotonic()
        allowed = timeout_s if timeout_s is not None and timeout_s > 0.0 else self._timeout_s
        run = Run(began + allowed, cancel or threading.Event(), on_progress or ignore_progress)
        for planner, following in zip(self._planners, [*self._planners[1:], None], strict=True):
            run.check()
            try:
                answer = planner.answer(question, self._recall, run)
            except ChatUnavailable as error:
                if following is None:
                    raise
                logger.warning('%s; the %s planner answers instead', error, following.name)
                run.on_progress(Progress('thinking', f'{planner.name} is out of reach: {following.name}'))
                continue
            cost = replace(answer.cost, latency_s=time.monotonic() - began)
            return replace(answer, cost=cost)
        raise ChatUnavailable('no planner is configured')
