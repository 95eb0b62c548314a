"""What the services recall, forget and find_deeds ask of the store."""

import math
import time

from rclpy.clock import ROSClock

from remembr_msgs.msg import Memory as MemoryMsg
from remembr_msgs.srv import FindDeeds
from remembr_msgs.srv import Forget as ForgetSrv
from remembr_msgs.srv import Recall as RecallSrv
from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.deeds.asked import deed_said
from remembr_ros.memory.deeds.query import DeedOrder, DeedQuery, FoundDeeds, Occurrence
from remembr_ros.memory.model.recall import Hit, Order, Query, Scope
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.search import MAX_LIMIT, StoreSearch
from remembr_ros.nodes.base.conversions import point_from_msg, scope_from_msg, time_from_msg
from remembr_ros.nodes.base.managed_node import ManagedNode
from remembr_ros.nodes.base.memory_conversion import memory_to_msg
from remembr_ros.timestamps import NS

DEFAULT_LIMIT = 5
LATE_NS = 86_400 * NS  # an outbox holds a thousand captions


def search(store: StoreSearch, request: RecallSrv.Request) -> tuple[list[Hit], int]:
    """Return what a request finds, in its order, and how many memories its filters admit.

    Every hit has its distance to the asked place and its offset from the asked time, whatever ranks.

    :raises InvalidRequest: the request makes no sense
    :raises StoreUnavailable: the database does not work
    """
    query = query_of(request)
    hits = store.find(query)
    place = point_from_msg(request.place) if request.use_place else None
    time_ns = time_from_msg(request.time) if request.use_time else None
    return [hit.measured(place, time_ns) for hit in hits], store.count(query.scope)


def query_of(request: RecallSrv.Request) -> Query:
    """Return what a request asks for.

    :raises InvalidRequest: it makes no sense
    """
    scope, order = scope_from_msg(request), order_of(request)
    if order not in tuple(Order):
        raise InvalidRequest(f'order is {order!r}; it has to be empty or one of {", ".join(Order)}')
    by_time = order in (Order.TIME, Order.AROUND)
    if order == Order.PLACE and not request.use_place:
        raise InvalidRequest("order 'place' needs use_place and place")
    if by_time and not request.use_time:
        raise InvalidRequest(f'order {order!r} needs use_time and time')
    return Query(
        request.text if order == Order.TEXT else None,
        place=point_from_msg(request.place) if order == Order.PLACE else None,
        time_ns=time_from_msg(request.time) if by_time else None,
        around=order == Order.AROUND,
        scope=scope,
        limit=int(request.limit) or DEFAULT_LIMIT,
    )


def forget_conditions(request: ForgetSrv.Request) -> tuple[set[str] | None, Scope, str]:
    """Return what a request deletes: ids (None: whatever they are), scope, and part of the text.

    :raises InvalidRequest: no condition is given, or one that makes no sense
    """
    if request.use_place and not request.radius > 0.0:
        raise InvalidRequest('a place needs a radius above 0 m')
    scope = scope_from_msg(request)
    if request.text and not request.text.strip():
        raise InvalidRequest('a blank text is part of nearly every caption; leave it empty for any text')
    if scope == Scope() and not request.ids and not request.text:
        raise InvalidRequest(
            'give ids, a time window, a place, a text, a robot, a map or a source: forgetting everything has '
            'to be said'
        )
    return set(request.ids) or None, scope, request.text


def order_of(request: RecallSrv.Request) -> str:
    """Return what ranks, as it is said or follows from what is given."""
    if request.order:
        return str(request.order)
    if request.text:
        return 'text'
    if request.use_place:
        return 'place'
    return 'time' if request.use_time else 'newest'


def deed_query_from_msg(request: FindDeeds.Request) -> DeedQuery:
    """Return what a request asks for.

    :raises InvalidRequest: it makes no sense
    """
    orders = [order.value for order in DeedOrder]
    if request.order not in ('', *orders):
        raise InvalidRequest(f'order is {request.order!r}; it has to be empty or one of {", ".join(orders)}')
    scope = scope_from_msg(request)
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
    response.deeds = [_deed_to_msg(occurrence) for occurrence in found.found]
    response.lasted = [occurrence.seconds for occurrence in found.found]
    response.driven = [float(occurrence.metres) for occurrence in found.found]
    response.anchors = [_deed_to_msg(occurrence) for occurrence in found.anchors[:MAX_LIMIT]]
    response.total = len(found.every)
    response.whole = found.whole
    response.seconds = found.seconds
    response.mean_seconds = math.nan if found.mean_seconds is None else found.mean_seconds
    response.metres = found.metres


def _deed_to_msg(occurrence: Occurrence) -> MemoryMsg:
    msg = memory_to_msg(occurrence.as_memory)
    msg.place = occurrence.facts.place
    return msg


def heard_ns(node: ManagedNode, memory: Memory) -> int:
    """Return when something was heard [ns since the Unix epoch]; of what may come late, when it was seen.

    Whoever sends it may have kept it for a day. What is older is played back, and so is simulated time.
    """
    now_ns, clock = time.time_ns(), node.get_clock()
    simulated = isinstance(clock, ROSClock) and clock.ros_time_is_active
    late = not simulated and 0 <= now_ns - memory.end_ns <= LATE_NS
    return memory.end_ns if late else now_ns
