"""The memories that show what a request is about, found by any of its names."""

from collections.abc import Sequence

from remembr_ros.agent.offline.matching import fitting, is_cut_off, variants
from remembr_ros.agent.offline.relevance_model import LEAST
from remembr_ros.agent.offline.request import Request
from remembr_ros.memory.model.recall import Hit, Recall, Scope
from remembr_ros.memory.model.record import Memory

POOL = 30
"""Memories looked at for one thing."""

AS_GOOD = 0.08
"""Memories whose score is this near to the best one's show the thing as well as that one does."""

STAY_MARGIN = 0.1
"""The same for as long as the thing stays in sight, if not as well as at its best."""

CUT_OFF_RADIUS_M = 8.0
"""A sign that was cut off by the edge of an image is read in full from this near."""


def sights(request: Request, recall: Recall, scope: Scope, limit: int = POOL) -> list[Hit]:
    """Return the memories that show what was asked for under any of its names, best first.

    :param limit: how many are looked at under each name
    """
    best: dict[str, Hit] = {}
    for text in variants(request.target):
        for hit in recall.by_text(text, scope, limit):
            known = best.get(hit.memory.id)
            if known is None or hit.score > known.score:
                best[hit.memory.id] = hit
    found = fitting(request, sorted(best.values(), key=lambda hit: -hit.score), LEAST[request.kind])
    if request.numbered:
        found = [hit for hit in found if not is_cut_off(request, _memories_around(hit, recall))]
    return found


def as_good(hits: Sequence[Hit], margin: float = AS_GOOD) -> list[Hit]:
    """Return those that show the thing as well as the first one does.

    :param hits: best first
    """
    return [hit for hit in hits if hit.score >= hits[0].score - margin]


def _memories_around(hit: Hit, recall: Recall) -> list[Memory]:
    pose = hit.memory.pose
    if pose is None:
        return [hit.memory]
    scope = Scope(near=pose.position, radius_m=CUT_OFF_RADIUS_M, map_id=hit.memory.map_id)
    return [near.memory for near in recall.by_position(pose.position, scope, POOL)]
