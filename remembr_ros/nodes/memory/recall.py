"""What the services recall and forget ask of the store."""

import math
from collections.abc import Callable
from dataclasses import replace

from remembr_msgs.srv import Forget as ForgetSrv
from remembr_msgs.srv import Recall as RecallSrv
from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import distance
from remembr_ros.memory.model.recall import Hit, Scope
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.search import StoreSearch
from remembr_ros.nodes.base.conversions import MAX_WIRE_NS, point_from_msg, time_from_msg, window_from_msgs
from remembr_ros.timestamps import NS, format_iso

DEFAULT_LIMIT = 5
TELLABLE = Scope(before_ns=MAX_WIRE_NS)
"""Older programs stored memories of later."""

ORDERS = ('text', 'place', 'time', 'newest', 'around')


def is_tellable(memory: Memory) -> bool:
    """Tell whether a message can hold the times of a memory."""
    return memory.start_ns <= memory.end_ns <= MAX_WIRE_NS


def search(
    store: StoreSearch, request: RecallSrv.Request, warn: Callable[[str], None]
) -> tuple[list[Hit], int]:
    """Return what a request finds, in its order, and how many memories its filters admit.

    Every hit has its distance to the asked place and its offset from the asked time, whatever ranks.

    :param warn: called with why something was left out
    :raises InvalidRequest: the request makes no sense
    :raises StoreUnavailable: the database does not work
    """
    scope = scope_of(request)
    hits = _found(store, request, scope)
    if not all(is_tellable(hit.memory) for hit in hits):
        late = next(hit.memory for hit in hits if not is_tellable(hit.memory))
        warn(
            f'memories of after {format_iso(MAX_WIRE_NS)[:10]} are left out, such as {late.id}: no message '
            f'can hold their time; delete them with: remembr forget --after {format_iso(MAX_WIRE_NS + NS)}'
        )
        # Asked again: where the newest are wanted they stand before all others.
        scope = replace(scope, before_ns=min(MAX_WIRE_NS, scope.before_ns or MAX_WIRE_NS))
        hits = [hit for hit in _found(store, request, scope) if is_tellable(hit.memory)]
    return [_measured(hit, request) for hit in hits], store.count(scope)


def _found(store: StoreSearch, request: RecallSrv.Request, scope: Scope) -> list[Hit]:
    order = order_of(request)
    if order not in ORDERS:
        raise InvalidRequest(f'order is {order!r}; it has to be empty or one of {", ".join(ORDERS)}')
    limit = int(request.limit) or DEFAULT_LIMIT
    if order == 'text':
        return store.by_text(request.text, scope, limit)
    if order == 'place':
        if not request.use_place:
            raise InvalidRequest("order 'place' needs use_place and place")
        return store.by_position(point_from_msg(request.place), scope, limit)
    if order in ('time', 'around'):
        if not request.use_time:
            raise InvalidRequest(f'order {order!r} needs use_time and time')
        find = store.by_time if order == 'time' else store.around
        return find(time_from_msg(request.time), scope, limit)
    return store.newest(scope, limit)


def scope_of(request: RecallSrv.Request) -> Scope:
    """Return the filters of a request.

    :raises InvalidRequest: place or radius make no sense
    """
    scope = replace(
        window_from_msgs(request.after, request.before),
        robots=(*request.robots, *([request.robot] if request.robot else [])),
        map_id=request.map_id if request.map_id or request.match_map else None,
        source=request.source or None,
    )
    return _near(scope, request) if request.use_place and request.radius != 0.0 else scope


def forget_conditions(request: ForgetSrv.Request) -> tuple[set[str] | None, Scope, str]:
    """Return what a request deletes: ids (None: whatever they are), scope, and part of the text.

    :raises InvalidRequest: no condition is given, or one that makes no sense
    """
    scope = replace(
        window_from_msgs(request.after, request.before),
        robots=(request.robot,) if request.robot else (),
        map_id=request.map_id if request.map_id or request.match_map else None,
        source=request.source or None,
    )
    if request.use_place:
        if not request.radius > 0.0:
            raise InvalidRequest('a place needs a radius above 0 m')
        scope = _near(scope, request)
    if request.text and not request.text.strip():
        raise InvalidRequest('a blank text is part of nearly every caption; leave it empty for any text')
    if scope == Scope() and not request.ids and not request.text:
        raise InvalidRequest(
            'give ids, a time window, a place, a text, a robot, a map or a source: forgetting everything has '
            'to be said'
        )
    return set(request.ids) or None, scope, request.text


def _near(scope: Scope, request: RecallSrv.Request | ForgetSrv.Request) -> Scope:
    near = point_from_msg(request.place)
    if not all(map(math.isfinite, (*near, request.radius))) or request.radius < 0.0:
        raise InvalidRequest(f'place {near} with radius {request.radius} m is not a place')
    return replace(scope, near=near, radius_m=request.radius)


def order_of(request: RecallSrv.Request) -> str:
    """Return what ranks, as it is said or follows from what is given."""
    if request.order:
        return request.order
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
