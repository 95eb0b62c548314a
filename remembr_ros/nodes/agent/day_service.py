"""The service day of the agent node: what robots did and saw, as a list."""

import time
from collections.abc import Callable
from datetime import tzinfo

from remembr_msgs.msg import DayEntry
from remembr_msgs.srv import Day as DaySrv
from remembr_ros.agent.overview.recalled_day import nothing_of_day, recall_day, scope_of_day
from remembr_ros.errors import BudgetExceeded
from remembr_ros.forms.faces import from_message
from remembr_ros.forms.questions import DayForm
from remembr_ros.geometry import StampedPose
from remembr_ros.memory.diary.day import PartOfDay
from remembr_ros.memory.diary.episode import Episode, EpisodeKind
from remembr_ros.nodes.agent.parameters import AgentParameters
from remembr_ros.nodes.agent.recall_client import RecallClient
from remembr_ros.nodes.base.conversions import stamped_pose_to_msg, time_to_msg
from remembr_ros.nodes.base.managed_node import ManagedNode
from remembr_ros.nodes.base.services import answering
from remembr_ros.nodes.base.worker_pool import WorkerPool

_KINDS = {EpisodeKind.STAY: DayEntry.STAY, EpisodeKind.LEG: DayEntry.LEG}


class DayService:
    """Tells days while the node is active, one after the other, so that questions need not wait for them.

    :param recall: of the memory node
    :param parameters: those of now: 'timeout' may change at any time [s]
    :param zone: the asker's time zone of now
    :param now_ns: called on the service's thread
    """

    def __init__(
        self,
        node: ManagedNode,
        recall: RecallClient,
        parameters: Callable[[], AgentParameters],
        zone: Callable[[], tzinfo],
        now_ns: Callable[[], int],
    ) -> None:
        self._recall = recall
        self._parameters = parameters
        self._zone, self._now_ns = zone, now_ns
        self._pool = WorkerPool(node, 1, 'day')
        node.while_active.callback(self._pool.close)
        self._answer = answering(node, self._tell)
        node.offer(DaySrv, 'day', self._on_request)

    async def _on_request(self, request: DaySrv.Request, response: DaySrv.Response) -> DaySrv.Response:
        deadline = time.monotonic() + self._parameters().timeout
        return await self._pool.call(self._answer, request, response, deadline)

    def _tell(self, request: DaySrv.Request, response: DaySrv.Response, deadline: float) -> None:
        if time.monotonic() >= deadline:
            raise BudgetExceeded('other days took the time allowed; ask again later')
        zone = self._zone()
        with self._recall.until(deadline):
            scope = scope_of_day(from_message(DayForm, request), self._now_ns(), zone)
            found = recall_day(self._recall, scope, zone)
            diary = found.diary
            text = found.lines(zone) if diary.days else nothing_of_day(self._recall, scope, zone)
        response.start = time_to_msg(diary.start_ns, clamp=True)
        response.end = time_to_msg(diary.end_ns, clamp=True)
        response.text = text
        response.entries = [
            _entry(part, episode) for day in diary.days for part in day.parts for episode in part.episodes
        ]


def _entry(part: PartOfDay, episode: Episode) -> DayEntry:
    entry = DayEntry(
        kind=_KINDS[episode.kind],
        part=part.name,
        start=time_to_msg(episode.start_ns),
        end=time_to_msg(episode.end_ns),
        map_id=episode.map_id,
        place=episode.place,
        travelled=episode.driven_m,
        seen=list(episode.seen),
        read=list(episode.read),
        deeds=[deed.caption for deed in episode.deeds],
        deed_starts=[time_to_msg(deed.start_ns) for deed in episode.deeds],
        memories=[memory.id for memory in episode.memories],
    )
    if episode.pose is not None:
        entry.pose = stamped_pose_to_msg(StampedPose(episode.end_ns, episode.pose, episode.frame_id))
    return entry
