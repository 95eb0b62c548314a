"""What service recall does with a request."""

import math
from dataclasses import replace

from remembr_msgs.srv import Forget as ForgetSrv
from remembr_msgs.srv import Recall as RecallSrv
from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import distance
from remembr_ros.memory.recall import Hit, Recall, Scope
from remembr_ros.nodes.conversions import point_from_msg, time_from_msg, window_from_msgs
from remembr_ros.timestamps import NS

DEFAULT_LIMIT = 5
ORDERS = ('text', 'place', 'time', 'newest')


def search(recall: Recall, request: RecallSrv.Request) -> tuple[list[Hit], int]:
    """Return what a request finds, best first, and how many memories its filters admit.

    Every hit has its distance to the asked place and its offset from the asked time, whatever ranks.

    :raises InvalidRequest: the request makes no sense
    :raises StoreUnavailable: the database does not work
    """
    scope = scope_of(request)
    order = request.order or _order_of(request)
    if order not in ORDERS:
        raise InvalidRequest(f'order is {order!r}; it has to be empty or one of {", ".join(ORDERS)}')
    limit = int(request.limit) or DEFAULT_LIMIT
    if order == 'text':
        hits = recall.by_text(request.text, scope, limit)
    elif order == 'place':
        if not request.use_place:
            raise InvalidRequest("order 'place' needs use_place and place")
        hits = recall.by_position(point_from_msg(request.place), scope, limit)
    elif order == 'time':
        if not request.use_time:
            raise InvalidRequest("order 'time' needs use_time and time")
        hits = recall.by_time(time_from_msg(request.time), scope, limit)
    else:
        hits = recall.newest(scope, limit)
    return [_measured(hit, request) for hit in hits], recall.count(scope)


def scope_of(request: RecallSrv.Request) -> Scope:
    """Return the filters of a request.

    :raises InvalidRequest: place or radius make no sense
    """
    scope = replace(
        window_from_msgs(request.after, request.before),
        robot=request.robot or None,
        map_id=request.map_id if request.map_id or request.match_map else None,
        source=request.source or None,
    )
    return _near(scope, request) if request.use_place and request.radius != 0.0 else scope


def forget_scope(request: ForgetSrv.Request) -> Scope:
    """Return what a request deletes, apart from its ids.

    :raises InvalidRequest: no condition is given, or one that makes no sense
    """
    scope = window_from_msgs(request.after, request.before)
    if request.use_place:
        if not request.radius > 0.0:
            raise InvalidRequest('a place needs a radius above 0 m')
        scope = _near(scope, request)
    if scope == Scope() and not request.ids:
        raise InvalidRequest('give ids, a time window or a place: forgetting everything has to be said')
    return scope


def _near(scope: Scope, request: RecallSrv.Request | ForgetSrv.Request) -> Scope:
    near = point_from_msg(request.place)
    if not all(map(math.isfinite, (*near, request.radius))) or request.radius < 0.0:
        raise InvalidRequest(f'place {near} with radius {request.radius} m is not a place')
    return replace(scope, near=near, radius_m=request.radius)


def _order_of(request: RecallSrv.Request) -> str:
    if request.text:
        return 'text'
    if request.use_place:
        return 'place'
    return 'time' if request.use_time else 'newest'


def _measured(hit: Hit, request: RecallSrv.Request) -> Hit:
    memory = hit.memory
    if request.use_place and memory.pose is not None:
        hit = replace(hit, distance_m=distance(point_from_msg(request.place), memory.pose.position))
    if request.use_time:
        asked = time_from_msg(request.time)
        offset = max(memory.start_ns - asked, 0) + min(memory.end_ns - asked, 0)
        hit = replace(hit, offset_s=offset / NS)
    return hit
