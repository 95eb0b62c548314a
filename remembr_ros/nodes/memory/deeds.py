"""What the service find_deeds asks of the store, and what it responds."""

import math

from remembr_msgs.msg import Memory as MemoryMsg
from remembr_msgs.srv import FindDeeds
from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.deeds.asked import deed_said
from remembr_ros.memory.deeds.query import DeedOrder, DeedQuery, FoundDeeds, Occurrence
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.search import MAX_LIMIT
from remembr_ros.nodes.base.conversions import point_from_msg, time_from_msg
from remembr_ros.nodes.base.memory_conversion import memory_to_msg


def deed_query_from_msg(request: FindDeeds.Request) -> DeedQuery:
    """Return what a request asks for.

    :raises InvalidRequest: it makes no sense
    """
    orders = [order.value for order in DeedOrder]
    if request.order not in ('', *orders):
        raise InvalidRequest(f'order is {request.order!r}; it has to be empty or one of {", ".join(orders)}')
    scope = Scope(
        after_ns=time_from_msg(request.after) or None,
        before_ns=time_from_msg(request.before) or None,
        robots=tuple(request.robots),
        map_id=request.map_id if request.map_id or request.match_map else None,
    )
    return DeedQuery(
        request.kind,
        request.object,
        request.receptacle,
        request.place,
        request.attribute,
        tuple(request.outcomes),
        scope,
        after=deed_said(request.after_deed, scope) if request.after_deed else None,
        before=deed_said(request.before_deed, scope) if request.before_deed else None,
        right=request.right,
        at_ns=time_from_msg(request.at) if request.use_at else None,
        order=DeedOrder(request.order or DeedOrder.FIRST),
        here=point_from_msg(request.here) if request.use_here else None,
        nth=request.nth or None,
        limit=min(request.limit or MAX_LIMIT, MAX_LIMIT),
        never=request.never,
    )


def fill_deeds(found: FoundDeeds, response: FindDeeds.Response) -> None:
    """Fill what was found into a response."""
    response.deeds = [_deed_to_msg(one) for one in found.found]
    response.lasted = [one.seconds for one in found.found]
    response.driven = [float(one.metres) for one in found.found]
    response.anchors = [_deed_to_msg(one) for one in found.anchors[:MAX_LIMIT]]
    response.total = len(found.every)
    response.whole = found.whole
    response.seconds = found.seconds
    response.mean_seconds = math.nan if found.mean_seconds is None else found.mean_seconds
    response.metres = found.metres


def _deed_to_msg(one: Occurrence) -> MemoryMsg:
    msg = memory_to_msg(one.as_memory)
    msg.place = one.facts.place
    return msg
