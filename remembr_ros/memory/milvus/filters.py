"""Scopes as Milvus filter expressions. Nothing that a person or a camera wrote reaches one unquoted."""

import json
import math
import re

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import MAX_COORDINATE, Point
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.model.record import SOURCES
from remembr_ros.timestamps import MAX_NS

EVERYTHING = 'start_ns >= 0'
"""Milvus wants a filter or a limit with a query."""

_CONTROL = re.compile(r'[\x00-\x1f\x7f]')
MAX_NAME = 200
"""Bytes of a robot's or map's name."""


def quote(text: str) -> str:
    """Return text as a string literal of the filter language.

    :raises InvalidRequest: it has control characters, which Milvus Lite cannot read even when escaped
    """
    if _CONTROL.search(text) or not _encodable(text):
        raise InvalidRequest(f'{text!r} has line breaks or control characters; use a plain name')
    return json.dumps(text, ensure_ascii=False)


def check_name(what: str, name: str) -> str:
    """Return the name of a robot or map if it can be stored and searched.

    :raises InvalidRequest: it is too long or has control characters
    """
    quote(name)
    if len(name.encode()) > MAX_NAME:
        raise InvalidRequest(f'the {what} {name[:40]!r}... is longer than {MAX_NAME} bytes')
    return name


def check_point(point: Point) -> Point:
    """Return the point if it is three finite numbers, none beyond MAX_COORDINATE.

    :raises InvalidRequest: it is not
    """
    # A NaN compares false.
    if len(point) != 3 or not all(abs(value) <= MAX_COORDINATE for value in point):
        raise InvalidRequest(
            f'{point} is not a position; give x, y and z in metres, at most {MAX_COORDINATE:g} each'
        )
    return point


def expression(scope: Scope, placed_only: bool = False) -> str:
    """Return the filter of a scope; a radius becomes a box, see Scope.reaches.

    :param placed_only: only memories with a pose
    :raises InvalidRequest: the scope makes no sense
    """
    parts = []
    if scope.after_ns is not None:
        parts.append(f'end_ns >= {_clamp(scope.after_ns)}')
    if scope.before_ns is not None:
        parts.append(f'start_ns <= {_clamp(scope.before_ns)}')
    if scope.after_ns is not None and scope.before_ns is not None and scope.after_ns > scope.before_ns:
        raise InvalidRequest('the time window is empty: after lies later than before')
    if (scope.near is None) != (scope.radius_m is None):
        raise InvalidRequest('near and radius go together')
    if scope.near is not None and scope.radius_m is not None:
        radius = scope.radius_m
        if not (math.isfinite(radius) and radius >= 0.0):
            raise InvalidRequest(f'{radius} is not a radius in metres')
        parts.append(box(check_point(scope.near), radius))
    if placed_only or scope.near is not None:
        parts.append('placed == true')
    if scope.robots:
        parts.append(any_of('robot', list(scope.robots)))
    if scope.map_id is not None:
        parts.append(f'map_id == {quote(scope.map_id)}')
    if scope.source is not None:
        if scope.source not in SOURCES:
            raise InvalidRequest(f'{scope.source!r} is not a source; there are {", ".join(SOURCES)}')
        parts.append(f'source == {quote(scope.source)}')
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


def any_of(field: str, values: list[str]) -> str:
    """Return the filter that admits rows whose field has one of the values."""
    return f'{field} in [{", ".join(map(quote, values))}]'


def lists_any_of(field: str, values: list[str]) -> str:
    """Return the filter that admits rows whose list, in a JSON field, has one of the values."""
    return f'json_contains_any({field}["list"], [{", ".join(map(quote, values))}])'


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return False
    return True


def _clamp(ns: int) -> int:
    return min(max(ns, 0), MAX_NS)
