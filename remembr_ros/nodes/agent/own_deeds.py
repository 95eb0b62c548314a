"""What the agent itself does, as memories: the questions it was asked, its answers, and where it drove."""

from collections.abc import Callable

from remembr_msgs.action import Ask
from remembr_ros.errors import RemembrError
from remembr_ros.geometry import StampedPose
from remembr_ros.memory.deeds.deed import TALK, deed
from remembr_ros.nodes.agent.ask_request import AskOutcome, Inquiry
from remembr_ros.nodes.agent.parameters import AgentParameters
from remembr_ros.nodes.base.managed_node import ManagedNode
from remembr_ros.nodes.base.memory_conversion import memory_to_msg
from remembr_ros.nodes.base.outbox import Outbox

MOST_LETTERS = 1000  # of a question, and of its answer
_ANSWERED = (Ask.Result.NONE, Ask.Result.NO_PLACE)


class OwnDeeds:
    """Remembers what became of questions and drives, while the node is configured.

    :param parameters: those of now
    :param here: where the robot is now; None: not known
    """

    def __init__(
        self,
        node: ManagedNode,
        parameters: Callable[[], AgentParameters],
        here: Callable[[], StampedPose | None],
    ) -> None:
        self._node = node
        self._parameters = parameters
        self._here = here
        self._outbox = Outbox(node)

    def tell(self, inquiry: Inquiry, outcome: AskOutcome) -> None:
        """Remember what became of a question, or of a drive without one."""
        p, here, end_ns = self._parameters(), self._here(), self._node.now_ns()
        if not (p.remember_own and inquiry.begin_ns):
            return
        answered = outcome.error_code in _ANSWERED and not (inquiry.target and outcome.error_code)
        said = outcome.answer.text if answered else outcome.error_msg
        who = f'{inquiry.asker[:100]} asked' if inquiry.asker else 'was asked'
        what = f'"{inquiry.text[:MOST_LETTERS]}"' if inquiry.target is None else f'to drive to {inquiry.text}'
        drove = ', and was driven there' if inquiry.sent and inquiry.target is None else ''
        cancelled = outcome.error_code in (Ask.Result.CANCELLED, Ask.Result.NAV_CANCELLED)
        try:
            made = deed(
                min(inquiry.begin_ns, end_ns),
                end_ns,
                kind='answer' if inquiry.target is None else 'ask',
                text=f'{who} {what}{drove}'
                + (f'; answered: {said[:MOST_LETTERS]}' if answered and said else ''),
                outcome='succeeded' if answered else 'cancelled' if cancelled else 'failed',
                reason='' if answered else said[:MOST_LETTERS],
                pose=here.pose if here is not None else None,
                frame_id=here.frame_id if here is not None else p.map_frame,
                map_id=p.map_id,
            )
        except RemembrError as error:  # the question has its answer all the same
            self._node.get_logger().warning(f'a question is not remembered: {error}')
            return
        self._outbox.publish(memory_to_msg(made.memory(p.robot, TALK)))
