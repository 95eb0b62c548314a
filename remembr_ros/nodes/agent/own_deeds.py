"""Stores the agent's own deeds: questions, answers, drives."""

from collections.abc import Callable
from datetime import tzinfo

from remembr_msgs.action import Ask
from remembr_ros.agent.arrival import Errand, Finding, Look
from remembr_ros.geometry import StampedPose
from remembr_ros.memory.deeds.deed import LOOK, TALK, Outcome, deed
from remembr_ros.nodes.agent.ask_request import AskOutcome, Inquiry
from remembr_ros.nodes.agent.parameters import AgentParameters
from remembr_ros.nodes.base.managed_node import ManagedNode
from remembr_ros.nodes.base.memory_conversion import memory_to_msg
from remembr_ros.nodes.base.outbox import Outbox
from remembr_ros.timestamps import zone_named

MOST_LETTERS = 1000  # of a question, and of its answer
MOST_EVIDENCE = 100  # memories that an answer rests on
_FOUND: dict[Look, tuple[Outcome, str]] = {
    Look.SEEN: ('succeeded', 'and saw it'),
    Look.GONE: ('failed', 'which was not there any more'),
    Look.UNSURE: ('unknown', 'and could not tell whether it was there'),
}
_CANCELLED = (Ask.Result.CANCELLED, Ask.Result.NAV_CANCELLED)


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
        self._now_ns = node.now_ns
        self._parameters = parameters
        self._here = here
        self._outbox = Outbox(node)

    @property
    def zone(self) -> tzinfo:
        """Of the clock that times are told on."""
        return zone_named(self._parameters().time_zone)

    def tell_look(self, errand: Errand, finding: Finding, since_ns: int) -> None:
        """Remember what a look for a thing came to, where the robot stands."""
        p, here, end_ns = self._parameters(), self._here(), self._now_ns()
        outcome, found = _FOUND[finding.look]
        made = deed(
            min(since_ns, end_ns),
            end_ns,
            kind=LOOK,
            text=f'Looked for {errand.thing[:MOST_LETTERS]}, {found}',
            object=errand.thing[:MOST_LETTERS],
            object_id=errand.object_id,
            outcome=outcome,
            reason='' if finding.look is Look.SEEN else finding.why[:MOST_LETTERS],
            evidence=(errand.memory.id,) if errand.memory.id else (),
            pose=here and here.pose,
            frame_id=here.frame_id if here else p.map_frame,
            map_id=p.map_id,
        )
        self._outbox.publish(memory_to_msg(made.memory(p.robot)))

    def tell(self, inquiry: Inquiry, outcome: AskOutcome) -> None:
        """Remember what became of a question, or of a drive without one."""
        p, here, code, end_ns = self._parameters(), self._here(), outcome.error_code, self._now_ns()
        if not (p.remember_own and inquiry.begin_ns):
            return
        asks = inquiry.target is None
        answered = code == Ask.Result.NONE or (asks and code == Ask.Result.NO_PLACE)
        reply = (outcome.answer.text if answered else outcome.error_msg)[:MOST_LETTERS]
        asked = f'"{inquiry.text[:MOST_LETTERS]}"' if asks else f'to drive to {inquiry.text[:MOST_LETTERS]}'
        text = f'{inquiry.asker[:100]} asked {asked}' if inquiry.asker else f'was asked {asked}'
        text += ', and was driven there' if inquiry.sent and asks else ''
        made = deed(
            min(inquiry.begin_ns, end_ns),
            end_ns,
            kind='answer' if asks else 'ask',
            text=f'{text}; answered: {reply}' if answered and reply else text,
            outcome='succeeded' if answered else 'cancelled' if code in _CANCELLED else 'failed',
            reason='' if answered else reply,
            evidence=tuple(memory.id for memory in outcome.answer.evidence[:MOST_EVIDENCE] if memory.id),
            pose=here and here.pose,
            frame_id=here.frame_id if here else p.map_frame,
            map_id=p.map_id,
        )
        self._outbox.publish(memory_to_msg(made.memory(p.robot, TALK)))
