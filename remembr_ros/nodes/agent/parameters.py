"""The parameters of the agent node."""

import dataclasses

from remembr_ros.agent.model.same_place import SAME_PLACE_M
from remembr_ros.nodes.base.parameters import NodeParameters, PoseParameters, parameter
from remembr_ros.nodes.nav2.parameters import NavigationParameters


@dataclasses.dataclass(frozen=True)
class AgentParameters(NodeParameters, PoseParameters, NavigationParameters):
    """Parameters of the agent node."""

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
        32000, 'prompt tokens per question; then the model has to answer', '2000 to 10000000'
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
    same_place: float = parameter(
        SAME_PLACE_M,
        'sights of a thing from this near to each other, with no wall of the map between, are of one thing',
        '0 to 100 m',
        live=True,
    )
    follow_up: float = parameter(
        300.0, "so long a follow-up question refers to the asker's last answer", '1 to 86400 s'
    )
    time_zone: str = parameter(
        '',
        "whose clock 'yesterday' and '3 pm' are on, such as Europe/Berlin; empty: this machine's",
        live=True,
    )
    timeout: float = parameter(60.0, 'deadline of a question that names none', '0.1 to 3600 s', live=True)
    call_timeout: float = parameter(
        0.0,
        'wait so long for one reply of the language model, which may have to be loaded first; 0: three '
        'quarters of what the question has left',
        '0 to 3600 s',
    )
    reply_tokens: int = parameter(
        1000,
        'tokens of one reply, thoughts included; one that is cut off is asked for again with more',
        '1 to 100000',
    )
    recall_timeout: float = parameter(5.0, 'wait so long for the memory node', '0.05 to 600 s', live=True)
    parallel_questions: int = parameter(4, 'questions answered at the same time', '1 to 64')
    navigate_on_topic: bool = parameter(
        False, 'true: a place in the answer to a question by topic becomes a goal, too', live=True
    )
    remember_own: bool = parameter(
        True, 'questions with their answers, and drives that were asked for, are remembered, too', live=True
    )
    trace: str = parameter('', 'file to append what happens to each question to; empty: none')
    trace_max_mb: float = parameter(50.0, 'the trace may take so much of the disk', '0.01 to 100000 MB')
