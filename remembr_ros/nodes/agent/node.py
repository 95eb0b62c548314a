"""The agent node: questions, answers, and goals to drive to."""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from visualization_msgs.msg import Marker, MarkerArray

from remembr_ros.agent.agent import Agent
from remembr_ros.agent.arrival import errand_of
from remembr_ros.agent.build import build_agent
from remembr_ros.agent.model.answer import Answer, Question
from remembr_ros.agent.offline.request import thing_of
from remembr_ros.agent.planner import Progress
from remembr_ros.errors import BudgetExceeded, Cancelled, GoalRejected, RemembrError
from remembr_ros.geometry import Lost, StampedPose, is_place
from remembr_ros.memory.model.recall import Hit, Query
from remembr_ros.navigation.terrain import KeepOut
from remembr_ros.nodes.agent.ask_endpoints import AskEndpoints
from remembr_ros.nodes.agent.ask_request import AskOutcome, Inquiries, Inquiry, answer_to_msg
from remembr_ros.nodes.agent.day_service import DayService
from remembr_ros.nodes.agent.navigator import Navigator
from remembr_ros.nodes.agent.own_deeds import OwnDeeds
from remembr_ros.nodes.agent.parameters import AgentParameters
from remembr_ros.nodes.agent.recall_client import RecallClient
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.lifecycle import run
from remembr_ros.nodes.base.managed_node import Level, ManagedNode
from remembr_ros.nodes.base.markers import GREEN, arrow, balls, clear, described, label, path, ramp
from remembr_ros.nodes.base.pose_source import PoseSubscription, check_pose_parameters
from remembr_ros.nodes.base.worker_pool import settle
from remembr_ros.nodes.nav2.parameters import NAV2
from remembr_ros.places.naming import name_here
from remembr_ros.timestamps import zone_named

MAX_HITS = 200  # recalled memories shown, the best of them; the evidence is shown in any case


def answer_markers(answer: Answer, recalled: Iterable[Hit], goals: Sequence[StampedPose]) -> MarkerArray:
    """Return what shows an answer in place of the last one.

    What a question recalled is drawn as small balls, coloured by score (dark blue: 0, yellow: 1); what its
    answer cites as large ones, numbered and described; the goals, once there are any, as green arrows.

    :param recalled: everything that was found on the way to it
    """
    return clear([*_hits(answer, recalled), *_goals(goals)])


def _hits(answer: Answer, recalled: Iterable[Hit]) -> Iterable[Marker]:
    cited = {hit.memory.id for hit in answer.evidence}
    others = [hit for hit in recalled if hit.memory.id not in cited]
    best = sorted(others, key=lambda hit: hit.score, reverse=True)[:MAX_HITS]
    yield from balls('hits', ((hit.memory, ramp(hit.score)) for hit in best), 0.2)
    yield from balls('evidence', ((hit.memory, ramp(hit.score)) for hit in answer.evidence), 0.45)
    for rank, hit in enumerate(answer.evidence, start=1):
        if hit.memory.pose is not None:
            text = f'{rank}. (score {hit.score:.2f})  {described(hit.memory)}'
            yield label(hit.memory.frame_id, 'evidence_text', hit.memory.pose, text)


def _goals(goals: Sequence[StampedPose]) -> Iterable[Marker]:
    for rank, goal in enumerate(goals, start=1):
        yield arrow(goal.frame_id, 'goal', goal.pose, GREEN)
        yield label(goal.frame_id, 'goal_text', goal.pose, f'goal {rank}' if len(goals) > 1 else 'goal')
    if len(goals) > 1:
        yield path(goals[0].frame_id, 'goal_order', [goal.pose for goal in goals], GREEN)


class AgentNode(ManagedNode):
    """Answers questions about what the memory node knows."""

    parameters: AgentParameters

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('agent', AgentParameters, **kwargs)
        self._agent: Agent | None = None
        self._here: StampedPose | None = None
        self._inquiries = Inquiries(self, self._work, self._on_over)
        self._poses: PoseSubscription | None = None

    def check(self, parameters: AgentParameters) -> None:
        check_pose_parameters(parameters)
        zone_named(parameters.time_zone)
        for polygon in parameters.keep_out:
            KeepOut.parse(polygon)

    def adapt(self) -> None:
        p = self.parameters
        self._zone = zone_named(p.time_zone)
        self._recall.timeout_s = p.recall_timeout
        self._navigator.adapt(p)
        if self._poses is not None:
            self._poses.max_position_std_m = p.max_position_std

    def load(self) -> None:
        p = self.parameters
        self._zone = zone_named(p.time_zone)
        self._recall = RecallClient(self, p.recall_timeout)
        self.while_configured.callback(self._recall.close)
        self._agent = build_agent(self._recall, p, keyframes=self._recall)
        self.get_logger().info(f'planner: {self._agent.planner}')
        self._own_deeds = OwnDeeds(self, lambda: self.parameters, lambda: self._here)
        self._navigator = Navigator(self, p, self._recall, self._own_deeds)
        self._agent.naming = lambda name, question: name_here(
            name, question, self._recall.name_place, self._navigator.map
        )
        self._markers = self.advertise(MarkerArray, 'answer_markers', qos.MARKERS)
        self._endpoints = AskEndpoints(self, lambda: self.parameters, self._inquiries, self._recall)

    def start(self) -> None:
        self._here = None
        self._poses = PoseSubscription(self, self.parameters, self._on_pose)
        self._navigator.start()
        DayService(self, self._recall, lambda: self.parameters, lambda: self._zone, self._now_or_newest_ns)

    def stop(self) -> None:
        self._inquiries.cancel_all()
        self._navigator.stop()
        self._poses = None
        self._markers.publish(clear())

    def release(self) -> None:
        self._agent = None

    def linger(self) -> None:
        self.active = False
        self._inquiries.cancel_all()
        deadline = time.monotonic() + 2.0
        while self._configured and (self._inquiries or self._navigator) and time.monotonic() < deadline:
            time.sleep(0.02)

    def diagnose(self) -> tuple[Level, str, Mapping[str, object]]:
        values = {
            'planner': self._agent.planner if self._agent is not None else '',
            'under way': len(self._inquiries),
            'drives': len(self._navigator),
            'answered': self._inquiries.answered,
            'failed': self._inquiries.failed,
            'dropped': self._inquiries.dropped,
            'latency [s]': f'{self._inquiries.latency_s:.3f}',
        }
        if self._inquiries.dropping:
            message = f'more questions than can be answered, {self._inquiries.dropped} dropped so far'
            return Level.WARN, message, values
        return Level.OK, 'answering' if self._inquiries else 'waiting for questions', values

    def _on_over(self, inquiry: Inquiry, outcome: AskOutcome) -> None:
        try:
            self._own_deeds.tell(inquiry, outcome)
        except Exception as error:  # noqa: BLE001  whoever asked is told all the same
            self.get_logger().warning(f'what was asked is not remembered: {type(error).__name__}: {error}')

    def _work(self, inquiry: Inquiry) -> None:
        """Answer a question, or have the robot driven where somebody wants it; on a thread of a pool."""
        try:
            with self._recall.until(inquiry.deadline, inquiry.waits) as recalled:
                inquiry.check()
                self.twins.raise_if_any()
                found = self._ask(inquiry) if inquiry.target is None else inquiry.target()
                inquiry.answer = answer_to_msg(found, question=inquiry.text, asker=inquiry.asker)
                inquiry.memories_found = len(found.evidence)
                self._show(found, recalled)
                if inquiry.navigate:
                    self._navigate(found, recalled, inquiry)
                    return
            outcome = AskOutcome(answer=inquiry.answer)
        except Exception as error:  # noqa: BLE001  the top of a callback's thread
            outcome = AskOutcome.failed(error, inquiry.answer)
            # Of one that was cancelled it is the end of what it worked with.
            if not isinstance(error, RemembrError) and not inquiry.cancel.is_set():
                self.get_logger().error(f'{inquiry.text[:100]!r} failed: {outcome.error_msg}')
        settle(self, inquiry.outcome, outcome)

    def _ask(self, inquiry: Inquiry) -> Answer:
        left_s = inquiry.deadline - time.monotonic()
        if left_s <= 0.0:
            raise BudgetExceeded('other questions took the time allowed; ask again with a longer timeout')
        if (agent := self._agent) is None:
            raise Cancelled('the agent node was cleaned up')
        here = self._here
        question = Question(
            text=inquiry.text,
            now_ns=self._now_or_newest_ns(),
            here=here.pose if here is not None else None,
            frame_id=here.frame_id if here is not None else self.parameters.map_frame,
            map_id=self.parameters.map_id,
            asker=inquiry.asker,
            zone=self._zone,
            same_place=self._navigator.same_place,
            scope=inquiry.scope(),
        )
        return agent.ask(
            question,
            timeout_s=left_s,
            on_progress=lambda progress: self._tell(inquiry, progress),
            cancel=inquiry.cancel,
        )

    def _tell(self, inquiry: Inquiry, progress: Progress) -> None:
        inquiry.memories_found = progress.memories_found
        inquiry.feed_back(progress.stage, progress.detail)

    def _show(self, answer: Answer, recalled: Mapping[str, Hit], goals: Sequence[StampedPose] = ()) -> None:
        if self.active:
            self._markers.publish(answer_markers(answer, list(recalled.values()), goals))

    def _navigate(self, answer: Answer, recalled: Mapping[str, Hit], inquiry: Inquiry) -> None:
        """Have the robot driven to a place; that completes the outcome."""
        plan = self._navigator.plan(answer, self._here, self._now_or_newest_ns())
        if (inquiry.look or inquiry.search) and self.parameters.navigation not in NAV2:
            raise GoalRejected(
                'the robot was not sent: only Nav2 tells when it has arrived, to look; set navigation to nav2'
            )
        inquiry.check()
        if inquiry.look or inquiry.search:
            thing = thing_of(inquiry.text) if inquiry.target is None else ''
            inquiry.errand = errand_of(thing, answer.evidence[0].memory, self.parameters.robot)
        self._show(answer, recalled, plan.goals)
        self._navigator.go(plan, inquiry)

    def _now_or_newest_ns(self) -> int:
        """Return the node's time; before simulated time begins, the end of the newest memory."""
        now_ns = self.now_ns()
        if now_ns == 0:
            newest = self._recall.find(Query(limit=1))
            return newest[0].memory.end_ns if newest else 0
        return now_ns

    def _on_pose(self, pose: StampedPose | Lost) -> None:
        if isinstance(pose, Lost):
            self._here = None
        elif is_place(pose.pose):
            self._here = pose


def main(args: list[str] | None = None) -> None:
    """Run the agent node until it is told to end."""
    run(AgentNode, args)


if __name__ == '__main__':
    main()
