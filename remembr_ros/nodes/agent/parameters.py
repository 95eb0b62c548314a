"""The parameters of the agent node."""

import dataclasses

from remembr_ros.agent.build import AgentConfig
from remembr_ros.agent.model.same_place import SAME_PLACE_M
from remembr_ros.forms.parameter import parameter
from remembr_ros.nodes.base.parameters import NodeParameters, PoseParameters
from remembr_ros.nodes.nav2.parameters import NavigationParameters


@dataclasses.dataclass(frozen=True)
class AgentParameters(NodeParameters, PoseParameters, NavigationParameters, AgentConfig):
    """Parameters of the agent node."""

    same_place: float = parameter(
        SAME_PLACE_M,
        'sights of a thing from this near to each other, with no wall of the map between, are of one thing',
        '0 to 100 m',
        live=True,
    )
    time_zone: str = parameter(
        '',
        "whose clock 'yesterday' and '3 pm' are on, such as Europe/Berlin; empty: this machine's",
        live=True,
    )
    recall_timeout: float = parameter(5.0, 'wait so long for the memory node', '0.05 to 600 s', live=True)
    parallel_questions: int = parameter(4, 'questions answered at the same time', '1 to 64')
    navigate_on_topic: bool = parameter(
        False, 'true: a place in the answer to a question by topic becomes a goal, too', live=True
    )
    remember_own: bool = parameter(
        True, 'questions with their answers, and drives that were asked for, are remembered, too', live=True
    )
