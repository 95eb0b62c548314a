"""What the agent node does with a place: check it, have it confirmed, drive there."""

import math
import re
from typing import Any

from geometry_msgs.msg import PoseStamped
from std_srvs.srv import Trigger

from remembr_ros.agent.model.answer import Answer
from remembr_ros.agent.model.same_place import SamePlace
from remembr_ros.errors import Cancelled, GoalRejected, NobodyDrives
from remembr_ros.geometry import StampedPose
from remembr_ros.navigation.grid import Grid
from remembr_ros.navigation.plan import Plan, Rules, describe, goal_from_answer, plan_goals, same_place_of
from remembr_ros.navigation.terrain import KeepOut, Terrain
from remembr_ros.nodes.agent.ask_request import AskOutcome, Inquiry
from remembr_ros.nodes.agent.on_arrival import OnArrival, Sent
from remembr_ros.nodes.agent.own_deeds import OwnDeeds
from remembr_ros.nodes.agent.parameters import AgentParameters
from remembr_ros.nodes.agent.recall_client import RecallClient
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.conversions import duration_to_msg, stamped_pose_to_msg
from remembr_ros.nodes.base.managed_node import ManagedNode
from remembr_ros.nodes.base.services import until
from remembr_ros.nodes.base.worker_pool import WorkerPool, settle
from remembr_ros.nodes.nav2.action import Nav2Drive, Nav2Progress
from remembr_ros.nodes.nav2.client import Nav2Client
from remembr_ros.nodes.nav2.confirmation import Confirmation
from remembr_ros.nodes.nav2.map_layers import MapLayers
from remembr_ros.nodes.nav2.parameters import NAV2

# Nodes that listen to goals and drive nothing: the page, viewers, recorders, ros2 topic echo.
_ONLOOKER = re.compile(
    r'(web$|rviz|rqt|rosbag|rosapi|rosbridge|foxglove|_ros2cli|plotjuggler)', re.IGNORECASE
)


class Navigator:
    """Turns answers into drives, or into a pose on goal_pose; there while the node is configured.

    :param deeds: where looks on arrival are remembered
    :raises InvalidRequest: a parameter makes no sense, or nav2_msgs is missing
    """

    def __init__(
        self, node: ManagedNode, parameters: AgentParameters, recall: RecallClient, deeds: OwnDeeds
    ) -> None:
        p = parameters
        self._node = node
        self._layers: MapLayers | None = None
        self._nav2: Nav2Client | None = None
        if p.navigation in NAV2:
            self._nav2 = Nav2Client(node, p)
            node.while_configured.callback(self._nav2.close)
            self._arrival = OnArrival(
                node,
                recall,
                self._nav2,
                lambda: self._parameters,
                plan=lambda answer: plan_goals(answer, self._rules, self._terrain, stamp_ns=node.now_ns()),
                deeds=deeds,
            )
        self._drives: set[Nav2Drive] = set()
        self._goals = node.advertise(PoseStamped, 'goal_pose', qos.ANSWERS)
        self._confirmation = Confirmation(node, p.confirm_timeout)
        self._get = recall.get
        self._pool = WorkerPool(node, 1, 'evidence')
        node.while_configured.callback(self._pool.close)
        self.adapt(p)
        node.offer(Trigger, '~/stop', self._on_stop)

    def __len__(self) -> int:
        """Return how many drives are under way, or being ended."""
        return max(len(self._drives), len(self._nav2) if self._nav2 is not None else 0)

    def adapt(self, parameters: AgentParameters) -> None:
        """Have the next goals follow these rules; a drive that is under way keeps those it began with."""
        p = self._parameters = parameters
        self._keep_out = tuple(map(KeepOut.parse, p.keep_out))
        if self._layers is not None:
            self._layers.adapt(self._keep_out, p.goal_clearance)
        if self._nav2 is not None:
            self._nav2.parameters = p
        self._rules = Rules(
            frame_id=p.map_frame,
            map_id=p.map_id,
            require_map=p.require_map,
            search_radius_m=p.goal_search_radius,
            max_distance_m=p.max_goal_distance,
            order=p.goal_order,
            max_places=p.max_places,
            same_place_m=p.same_place,
        )

    def start(self) -> None:
        """Listen to maps."""
        p = self._parameters
        terrain = Terrain(keep_out=self._keep_out, clearance_m=p.goal_clearance)
        self._layers = MapLayers(self._node, terrain, p.map_frame, p.occupied_threshold)

    def stop(self) -> None:
        """End every drive, and listen no longer."""
        self._layers = None
        self.stop_driving()

    def stop_driving(self) -> int:
        """End every drive, and return how many there were."""
        error = Cancelled('the drive was stopped')
        under_way = [drive for drive in self._drives if not drive.stopped.done()]
        for drive in under_way:
            settle(self._node, drive.stopped, error)
        if self._nav2 is not None:
            self._nav2.stop(error)  # at once: the coroutines may get no turn any more
        return len(under_way)

    def plan(self, answer: Answer, here: StampedPose | None, stamp_ns: int) -> Plan:
        """Return where to drive for an answer; may be called from any thread.

        :param here: the robot's pose; None: unknown
        :raises GoalRejected: nowhere
        """
        p = self._parameters
        if p.navigation == 'none':
            # Whether there was anywhere to drive is told first.
            goal_from_answer(answer, frame_id=answer.frame_id, map_id=answer.map_id)
            raise GoalRejected('the robot does not drive: parameter navigation is none')
        known = here is not None and here.frame_id == p.map_frame
        pose = here.pose if here is not None and known else None
        return plan_goals(answer, self._rules, self._terrain, here=pose, stamp_ns=stamp_ns)

    @property
    def map(self) -> Grid | None:
        """The map, as far as it is known."""
        return self._terrain.map

    @property
    def same_place(self) -> SamePlace:
        """Which memories were made at one place, by the parameter and the map."""
        return same_place_of(self._rules, self._terrain)

    def go(self, plan: Plan, inquiry: Inquiry) -> None:
        """Start to drive, and complete the question's outcome with what becomes of it.

        May be called from any thread.
        """
        executor = self._node.executor
        if executor is None:
            raise Cancelled('the agent node does not spin; no goal was sent')
        inquiry.deadline = math.inf  # the answer is there; driving has deadlines of its own
        executor.create_task(self._go, plan, inquiry)

    async def _go(self, plan: Plan, inquiry: Inquiry) -> None:
        outcome = driven = AskOutcome(answer=inquiry.answer)
        drive = Nav2Drive(plan.goals)
        inquiry.goals = plan.goals
        log = self._node.get_logger()
        wanted = f'{describe(plan.goals)}, for {inquiry.asker or "somebody"!r}: {inquiry.text[:100]!r}'
        if not inquiry.follow:
            drive.on_taken = lambda: settle(self._node, inquiry.outcome, driven)
        drive.on_progress = lambda progress: self._tell(plan, inquiry, progress)
        self._drives.add(drive)
        inquiry.outcome.add_done_callback(lambda _: self._end_if_cancelled(drive, inquiry))
        try:
            drive.raise_if_stopped()
            if why := self._why_confirm(plan, inquiry):

                def tell(yes: str) -> None:
                    log.info(f'waits for a yes to drive {wanted}; {why}; yes: {yes}')
                    inquiry.feed_back('confirming', f'{describe(plan.goals)}; {why}; yes: {yes}')

                await self._confirmation.wait(drive, tell)
                await self._raise_if_forgotten(inquiry)
                drive.raise_if_stopped()
                self._raise_if_barred(plan)
            if self._nav2 is None:
                await self._find_driver(drive)
            log.info(f'drives {wanted}')
            inquiry.sent = True
            self._tell(plan, inquiry)
            if self._nav2 is None:
                self._goals.publish(stamped_pose_to_msg(plan.goals[0]))
            else:
                await self._nav2.drive(drive)
                if inquiry.errand is not None:
                    await self._arrival.look(Sent(inquiry.errand, inquiry, drive))
        except Exception as error:  # noqa: BLE001  the top of a task
            outcome = AskOutcome.failed(error, inquiry.answer)
        finally:
            self._drives.discard(drive)
        if inquiry.outcome.done() and outcome.error_msg and not inquiry.cancel.is_set():
            log.warning(f'{inquiry.text[:100]!r}: {outcome.error_msg}')
        settle(self._node, inquiry.outcome, outcome)

    async def _find_driver(self, drive: Nav2Drive) -> None:
        """Return if a pose that is published is heard by what drives.

        :raises NobodyDrives: only those listen, if any, who look on
        """
        node, topic, patience_s = self._node, self._goals.topic_name, self._parameters.nav2_server_timeout

        def listeners() -> list[str]:
            return [info.node_name for info in node.get_subscriptions_info_by_topic(topic)]

        found = await until(
            node, patience_s, lambda: not all(map(_ONLOOKER.match, listeners())), drive.stopped
        )
        drive.raise_if_stopped()
        if not found:
            heard = f' ({", ".join(sorted(set(listeners())))} only look on)' if listeners() else ''
            raise NobodyDrives(
                f'the robot was not sent: nothing that drives listens to {topic}, geometry_msgs/PoseStamped'
                f'{heard}: start Nav2, whose bt_navigator does, give goal_topic:=TOPIC where yours does, or '
                'navigation:=nav2'
            )

    def _end_if_cancelled(self, drive: Nav2Drive, inquiry: Inquiry) -> None:
        if inquiry.cancel.is_set():
            settle(self._node, drive.stopped, Cancelled(f'the {inquiry.kind} was cancelled'))

    def _tell(self, plan: Plan, inquiry: Inquiry, progress: Nav2Progress | None = None) -> None:
        places = progress.places if progress is not None else len(plan.goals)
        detail = describe(plan.goals[len(plan.goals) - places :])
        if plan.left_out:
            detail += f'; left out: {"; ".join(plan.left_out)}'
        if self._nav2 is None and places > 1:
            detail += '; only navigation nav2 drives to more than the first'
        driving: dict[str, Any] = {'places_remaining': places}
        if progress is not None:
            driving['distance_remaining'] = progress.distance_m
            driving['estimated_time_remaining'] = duration_to_msg(progress.remaining_s)
            driving['recoveries'] = progress.recoveries
        inquiry.feed_back('navigating', detail, **driving)

    @property
    def _terrain(self) -> Terrain:
        return self._layers.terrain if self._layers is not None else Terrain(keep_out=self._keep_out)

    def _why_confirm(self, plan: Plan, inquiry: Inquiry) -> str:
        """Return why a person has to say yes first; empty: nobody has to."""
        p = self._parameters
        if inquiry.target is not None:
            return 'a person has to say yes'
        if p.confirm_goals:
            return 'confirm_goals is true'
        if plan.confidence >= p.min_confidence_to_drive:  # what is no number is not
            return ''
        return f'{plan.confidence:.2f} sure, min_confidence_to_drive is {p.min_confidence_to_drive:g}'

    async def _raise_if_forgotten(self, inquiry: Inquiry) -> None:
        """Refuse goals that rest on what was forgotten while they waited for confirmation."""
        ids = {memory.id for memory in inquiry.answer.evidence if memory.id}
        if ids and len(await self._pool.call(self._get, sorted(ids))) < len(ids):
            raise GoalRejected('meanwhile a memory that the goal rests on was forgotten; ask again')

    def _raise_if_barred(self, plan: Plan) -> None:
        """Refuse goals that became impossible while they waited for confirmation."""
        terrain = self._terrain
        for goal in plan.goals:
            if objection := terrain.objection((goal.pose.x, goal.pose.y)):
                raise GoalRejected(f'meanwhile the goal {objection}; ask again')

    def _on_stop(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        count = self.stop_driving()
        response.success = count > 0
        many = 'one drive' if count == 1 else f'{count} drives'
        response.message = f'{many} stopped' if count else 'the robot was not sent anywhere from here'
        return response
