"""The planners that can be compared, made from a run's configuration."""

from collections.abc import Callable

from remembr_bench.evaluation.baselines.forced_answer import Top1Planner
from remembr_bench.evaluation.baselines.one_call import (
    AllCaptionsPlanner,
    FrameIndicesPlanner,
    FramesPlanner,
    OneCallPlanner,
)
from remembr_bench.evaluation.records.config import PlannerName, RunConfig
from remembr_ros.agent.chat.client import ChatClient
from remembr_ros.agent.chat.openai_client import OpenAIChat
from remembr_ros.agent.llm.loop import LoopPlanner
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.planner import Planner

RETRIES = 4  # of a call that was refused for its rate, or met a server that was starting again


def get_chats(config: RunConfig) -> dict[int, ChatClient]:
    """Return a client of the language model for each seed; none if no language model answers."""
    if not config.uses_llm:
        return {}
    return {
        seed: OpenAIChat(
            config.llm,
            config.llm_url or None,
            max_retries=RETRIES,
            # A single seed of 0 is no wish: some servers refuse what they do not know.
            seed=seed if config.seeds != (0,) else None,
            temperature=config.temperature,
        )
        for seed in config.seeds
    }


def get_planner(
    config: RunConfig,
    chat: ChatClient | None,
    keyframe: Callable[[str, int], bytes],
    call_timeout_s: float,
) -> Planner | None:
    """Return what answers; None: retrieval alone is measured.

    Nothing steps in when a language model is out of reach.

    :param chat: the language model; None: there is none
    :param keyframe: returns the JPEG of a memory's id and an index, of the store that is asked
    :param call_timeout_s: for one call of the language model [s]
    """
    name = config.planner
    if name is PlannerName.RETRIEVAL:
        return None
    if name is PlannerName.TOP1:
        return Top1Planner()
    if chat is None:
        return OneCallPlanner() if name is PlannerName.ONE_CALL else OfflinePlanner()
    if name is PlannerName.ALL_CAPTIONS:
        return AllCaptionsPlanner(chat, call_timeout_s=call_timeout_s, context_tokens=config.context_tokens)
    if name is PlannerName.FRAMES:
        planner = FrameIndicesPlanner if config.data.startswith('findingdory') else FramesPlanner
        return planner(
            chat,
            keyframe,
            frames=config.frames,
            all_or_none=config.frame_rate > 0.0,
            call_timeout_s=call_timeout_s,
        )
    one_call = name is PlannerName.ONE_CALL
    return LoopPlanner(
        chat,
        rounds=1 if one_call else config.rounds,
        calls_per_round=1 if one_call else config.calls_per_round,
        memories_per_call=config.memories_per_call,
        call_timeout_s=call_timeout_s,
        # As the agent is shipped: of the model's answers, not of a server that is out of reach.
        rules=None if one_call else OfflinePlanner(),
        first_recall=not one_call,
    )
