"""Scopes as Milvus filter expressions. Nothing that a person or a camera wrote reaches one unquoted."""

import json
import math
from collections.abc import Sequence

from remembr_ros.geometry import MAX_COORDINATE, Point
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.model.record import check_plain
from remembr_ros.timestamps import MAX_NS

EVERYTHING = 'start_ns >= 0'  # Milvus wants a filter or a limit with a query


def quote(text: str) -> str:
    """Return text as a string literal of the filter language.

    :raises InvalidRequest: it has control characters, which Milvus Lite cannot read even when escaped
    """
    check_plain(text)
    return json.dumps(text, ensure_ascii=False)


def expression(scope: Scope, placed_only: bool = False) -> str:
    """Return the filter of a scope; a radius becomes a box, see Scope.reaches.

    :param placed_only: only memories with a pose
    :raises InvalidRequest: see Scope.check
    """
    scope.check()
    parts = []
    if scope.after_ns is not None:
        parts.append(f'end_ns >= {_clamp(scope.after_ns)}')
    if scope.before_ns is not None:
        parts.append(f'start_ns <= {_clamp(scope.before_ns)}')
    if scope.near is not None and scope.radius_m is not None:
        parts.append(box(scope.near, scope.radius_m))
    if placed_only or scope.near is not None:
        parts.append('placed == true')
    if scope.robots:
        parts.append(any_of('robot', scope.robots))
    if scope.map_id is not None:
        parts.append(f'map_id == {quote(scope.map_id)}')
    if scope.source is not None:
        parts.append(f'source == {quote(scope.source)}')
    parts += [f'source != {quote(source)}' for source in scope.without]
    return ' and '.join(parts) or EVERYTHING


def box(centre: Point, half: float) -> str:
    """Return the filter of the axis-parallel cube around a point, a hair wider than asked [m]."""
    half = min(half, 4.0 * MAX_COORDINATE) * (1.0 + 1e-12)
    bounds = []
    for axis, value in zip('xyz', centre, strict=True):
        low = math.nextafter(float(value) - half, -math.inf)
        high = math.nextafter(float(value) + half, math.inf)
        bounds.append(f'{axis} >= {low!r} and {axis} <= {high!r}')
    return ' and '.join(bounds)


def any_of(field: str, values: Sequence[str]) -> str:
    """Return the filter that admits rows whose field has one of the values."""
    return f'{field} in [{", ".join(map(quote, values))}]'


def lists_any_of(field: str, values: Sequence[str]) -> str:
    """Return the filter that admits rows whose list, in a JSON field, has one of the values."""
    return f'json_contains_any({field}["list"], [{", ".join(map(quote, values))}])'


def _clamp(ns: int) -> int:
    return min(max(ns, 0), MAX_NS)


def around(time_ns: int, half_ns: int) -> str:
    """Return the filter of the memories at most half_ns from a time."""
    return f'end_ns >= {max(time_ns - half_ns, 0)} and start_ns <= {min(time_ns + half_ns, MAX_NS)}'
