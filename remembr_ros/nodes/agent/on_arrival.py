"""What the agent node does once the robot has arrived: it looks whether the thing is there, and searches."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from remembr_ros.agent.arrival import Errand, Finding, Look, likely_places, looked
from remembr_ros.agent.model.answer import Answer, Kind
from remembr_ros.errors import (
    GoalRejected,
    NavigationAborted,
    NavigationFailed,
    NavigationRefused,
    NotLooked,
    NotThere,
    Preempted,
    StoreUnavailable,
)
from remembr_ros.geometry import Pose, StampedPose
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import Memory
from remembr_ros.navigation.plan import Plan, describe, looking_round
from remembr_ros.nodes.agent.ask_request import KINDS, Inquiry
from remembr_ros.nodes.agent.own_deeds import OwnDeeds
from remembr_ros.nodes.agent.parameters import AgentParameters
from remembr_ros.nodes.agent.recall_client import RecallClient
from remembr_ros.nodes.base.conversions import stamped_pose_to_msg
from remembr_ros.nodes.base.managed_node import ManagedNode
from remembr_ros.nodes.base.memory_conversion import hit_to_msg
from remembr_ros.nodes.base.services import first_of
from remembr_ros.nodes.base.worker_pool import WorkerPool, settle
from remembr_ros.nodes.nav2.action import Nav2Drive
from remembr_ros.nodes.nav2.client import Nav2Client
from remembr_ros.timestamps import format_clock

LOOK_EVERY_S, DWELL_S = 0.5, 4.0  # objects node and captioner tell of what is new after 2 to 3 s


_SOMEWHERE = Answer(Kind.POSITION, '', '')


class SeenOnTheWay(NavigationFailed):
    """Raised when a drive ends because the thing that it is to find was seen."""


class Sent(NamedTuple):
    """A robot that has arrived where somebody sent it.

    :param drive: what it is stopped with ends looks and further drives, too
    """

    errand: Errand
    inquiry: Inquiry
    drive: Nav2Drive


class OnArrival:
    """Looks for what the robot was sent to, by what captioner and objects node store meanwhile.

    :param plan: returns how to stand before what an answer is about; raises GoalRejected
    :param deeds: where a look is remembered
    """

    def __init__(
        self,
        node: ManagedNode,
        recall: RecallClient,
        nav2: Nav2Client,
        parameters: Callable[[], AgentParameters],
        *,
        plan: Callable[[Answer], Plan],
        deeds: OwnDeeds,
    ) -> None:
        self._node, self._recall, self._nav2 = node, recall, nav2
        self._parameters, self._plan, self._deeds = parameters, plan, deeds
        self._pool = WorkerPool(node, 1, 'looks')
        node.while_configured.callback(self._pool.close)

    async def look(self, sent: Sent) -> None:
        """Return when the thing was seen; the inquiry's answer says where it is.

        :raises NotThere: it is gone, and was found nowhere else
        :raises NotLooked: its place could not be seen
        :raises NavigationFailed, Cancelled: while it was searched for
        """
        errand, inquiry, answer = sent.errand, sent.inquiry, sent.inquiry.answer
        finding = await self._looked(sent)
        if finding.look is Look.UNSURE:
            raise NotLooked(f'I am there, but cannot tell whether {errand.thing} is: {finding.why}')
        if finding.memory is not None:
            answer.text = f'{answer.text} It is there.'.strip()
            return
        was = format_clock(errand.memory.end_ns, self._deeds.zone)
        text = f'{errand.thing}: it is not there any more; it was at {was}.'
        answer.text = f'{text[:1].upper()}{text[1:]}'
        answer.kind, answer.confidence = KINDS[Kind.NOT_SEEN], 1.0
        if not inquiry.search:
            raise NotThere(answer.text)
        shown, tried = await self._search(sent)
        if shown is None:
            raise NotThere(
                f'{answer.text} I looked at {tried} more places where it may be, and it is at none.'
            )
        x, y, _ = shown.pose.position if shown.pose is not None else (0.0, 0.0, 0.0)
        answer.text = f'{answer.text} I found it at ({x:.1f}, {y:.1f}).'
        answer.kind, answer.evidence = KINDS[Kind.POSITION], [hit_to_msg(Hit(shown, 1.0))]
        if shown.pose is not None:
            answer.pose = stamped_pose_to_msg(StampedPose(shown.end_ns, shown.pose, shown.frame_id))

    async def _looked(self, sent: Sent) -> Finding:
        """Return what a look comes to, at the latest after look_timeout."""
        since_ns, begun_s = self._node.now_ns(), time.monotonic()
        sent.inquiry.feed_back('looking', f'whether {sent.errand.thing} is there')
        finding = Finding(Look.OPEN)
        while finding.look is Look.OPEN:
            late = time.monotonic() - begun_s >= self._parameters().look_timeout
            finding = await self._known(sent.errand, since_ns, late=late)
            self._raise_if_over(sent)
            if finding.look is Look.OPEN:
                await first_of(self._node, LOOK_EVERY_S, sent.drive.stopped)
                sent.drive.raise_if_stopped()
        self._deeds.tell_look(sent.errand, finding, since_ns)
        return finding

    async def _known(self, errand: Errand, since_ns: int, *, late: bool = False) -> Finding:
        try:
            finding: Finding = await self._pool.call(
                lambda: looked(errand, self._recall, since_ns, late=late)
            )
        except StoreUnavailable as error:
            return Finding(Look.UNSURE if late else Look.OPEN, str(error))
        return finding

    async def _search(self, sent: Sent) -> tuple[Memory | None, int]:
        """Drive to where the thing may be until it is seen; return what shows it, and where it was not."""
        p, errand, since_ns, tried = self._parameters(), sent.errand, self._node.now_ns(), -1
        here = sent.drive.goals[-1].pose
        most, way_m = p.search_places, p.search_distance
        places = await self._pool.call(
            lambda: [*islice(likely_places(errand, self._recall, here, way_m=way_m), most)]
        )
        for stop in looking_round(here, self._goals(errand, places)):
            for pose in stop:
                await self._drive(sent, pose, since_ns)
                shown = (await self._known(errand, since_ns)).memory
                if shown is None and pose is stop[-1]:  # what is in view has to be told yet
                    await first_of(self._node, min(DWELL_S, p.look_timeout), sent.drive.stopped)
                    shown = (await self._known(errand, since_ns)).memory
                if shown is not None:
                    await self._drive(sent, next(self._goals(errand, [shown]), pose))
                    return shown, tried
            tried += 1
        return None, tried

    def _goals(self, errand: Errand, places: Iterable[Memory]) -> Iterator[Pose]:
        """Yield how to stand to see places, but for those that cannot be reached."""
        for memory in places:
            answer = replace(_SOMEWHERE, evidence=(Hit(memory, 1.0),), pose=memory.pose)
            answer = replace(answer, frame_id=memory.frame_id, map_id=memory.map_id)
            try:
                yield self._plan(answer).goals[0].pose
            except GoalRejected as error:
                self._node.get_logger().info(f'searching for {errand.thing}: {error}')

    async def _drive(self, sent: Sent, pose: Pose, since_ns: int | None = None) -> None:
        """Drive to a pose; not all the way once the thing is seen that was not since a time [ns]."""
        self._raise_if_over(sent)
        drive = Nav2Drive((StampedPose(self._node.now_ns(), pose, sent.drive.goals[0].frame_id),))
        sent.inquiry.feed_back('searching', f'for {sent.errand.thing}: drives {describe(drive.goals)}')
        sent.drive.stopped.add_done_callback(lambda stop: settle(self._node, drive.stopped, stop.result()))
        if since_ns is not None and self._node.executor is not None:
            self._node.executor.create_task(self._spot, sent.errand, drive, since_ns)
        try:
            await self._nav2.drive(drive)
        except (SeenOnTheWay, NavigationAborted, NavigationRefused) as error:
            self._node.get_logger().info(f'searching for {sent.errand.thing}: {error}')
        finally:
            settle(self._node, drive.stopped)  # nobody looks on for it any longer
        sent.drive.raise_if_stopped()

    def _raise_if_over(self, sent: Sent) -> None:
        """Raise what the drive was stopped with, and Preempted where the robot is driven elsewhere."""
        sent.drive.raise_if_stopped()
        if self._nav2.drives:
            raise Preempted('a newer question sends the robot elsewhere')

    async def _spot(self, errand: Errand, drive: Nav2Drive, since_ns: int) -> None:
        while not drive.stopped.done():
            await first_of(self._node, LOOK_EVERY_S, drive.stopped)
            if (await self._known(errand, since_ns)).look is Look.SEEN:
                settle(self._node, drive.stopped, SeenOnTheWay('it was seen on the way'))
