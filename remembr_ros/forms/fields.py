"""The values and the words of forms: the same whatever face they come by.

The values are read from a text, from JSON, from Python and from a message.
"""

import re
from collections.abc import Callable
from datetime import datetime
from numbers import Real
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainValidator, WithJsonSchema

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Point, check_point, listed
from remembr_ros.memory.model.record import SOURCES
from remembr_ros.timestamps import parse_time

MAX_NAME = 10_000  # characters of the name of a robot, a map, a place
MAX_TEXT = 10_000  # characters of a text that is searched for; embedders read far less
MAX_TIME = 64  # characters of a time
MAX_LIMIT = 1_000  # robots, ids or results of one form; `remembr export` writes any number
_AT = 'at here point pose coordinates goal'

_NUMBER = r'[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?'
_POINT = re.compile(rf'\s*[(\[]?\s*({_NUMBER}(?:\s*[,\s]\s*{_NUMBER}){{1,2}})\s*[)\]]?\s*')


class FlatPoint(tuple[float, float, float]):
    """A position whose height nobody said: it is taken to be 0."""


class Nanoseconds(int):
    """A time that is known already, since the Unix epoch; any other number is of seconds."""


def word(text: str, example: Any, also: str = '', unit: str = '', **bounds: Any) -> Any:
    """Return what is said of a field of a form.

    :param text: what it says, for a person and for a model
    :param example: a value
    :param also: other words for it, which people and models use
    :param unit: of its value
    :param bounds: as of pydantic's Field
    """
    extra: dict[str, Any] = {'synonyms': also.split()}
    text = f'{text} [{unit}]' if unit else text
    return Field(description=text, examples=[example], json_schema_extra=extra, **bounds)


def _read(parse: Callable[[Any], Any]) -> PlainValidator:
    """Return a validator by what raises InvalidRequest."""

    def read(value: Any) -> Any:
        try:
            return parse(value)
        except InvalidRequest as error:
            raise ValueError(str(error)) from None

    return PlainValidator(read)


def _time(value: Any) -> Any:
    if not isinstance(value, str | Real | datetime) or isinstance(value, bool):
        raise InvalidRequest('it has to be ISO 8601, Unix seconds, or a datetime with its zone')
    if isinstance(value, str) and len(value) > MAX_TIME:
        raise InvalidRequest(f'it has to be a time, of at most {MAX_TIME} characters')
    return value if isinstance(value, Nanoseconds) else Nanoseconds(parse_time(value))  # type: ignore[arg-type]


def _time_or_deed(value: Any) -> Any:
    try:
        return _time(value)
    except InvalidRequest:
        if not (isinstance(value, str) and re.search(r'[^\W\d_]', value)):
            raise
        if len(value) > MAX_TEXT:
            raise InvalidRequest(f'it has to be a time, or at most {MAX_TEXT} characters') from None
        return value.strip()


def _position(value: Any) -> Point:
    value = listed(value.tolist() if hasattr(value, 'tolist') else value)
    if isinstance(value, list | tuple) and len(value) == 1:  # of a page's address
        (value,) = value
    if isinstance(value, str):
        found = _POINT.fullmatch(value)
        value = re.split(r'[,\s]+', found[1]) if found else value
    try:
        numbers = [float(number) for number in value] if not isinstance(value, str) else []
    except (TypeError, ValueError, OverflowError):
        numbers = []
    if len(numbers) not in (2, 3):
        raise InvalidRequest(
            'it has to be coordinates x, y and maybe z in metres; the name of a room or place is a place'
        )
    point = check_point((*numbers, 0.0)[:3])  # type: ignore[arg-type]
    return point if len(numbers) == 3 else FlatPoint(point)


def _place(value: Any) -> Any:
    if not isinstance(value, str) or _POINT.fullmatch(value):
        raise ValueError(
            'it has to be the name of a room or place; coordinates are a position, or near with a radius'
        )
    return value


def _no_bool(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError('it has to be a number')
    return value


def several(value: Any) -> Any:
    """Return one text as a list of one."""
    return (value,) if isinstance(value, str) else value


def choice(*others: str) -> BeforeValidator:
    """Return what makes the word that somebody writes one of those that can be chosen.

    :param others: other words, and the right one for them: 'latest newest: last'
    """
    right = {
        other.replace('_', ' '): to
        for line in others
        for words, to in [line.split(': ')]
        for other in words.split()
    }

    def named(value: Any) -> Any:
        if type(value) is not str:
            return value
        word = ' '.join(re.split(r'[\s_/-]+', value.lower()))
        return right.get(word, word)

    return BeforeValidator(named)


NUMBER = BeforeValidator(_no_bool)
"""Of a type with bounds, which stand before it: true is no number."""
Time = Annotated[
    int,
    _read(_time),
    WithJsonSchema(
        {
            'type': 'string',
            'maxLength': MAX_TIME,
            'description': 'ISO 8601 (UTC where it names no zone) or Unix seconds',
        }
    ),
]
"""ISO 8601, UTC where it names no zone; Unix seconds; or a datetime with its zone."""
TimeOrDeed = Annotated[
    int | str, _read(_time_or_deed), WithJsonSchema({'type': 'string', 'maxLength': MAX_TEXT})
]
"""A time, or words of a deed."""
Position = Annotated[
    tuple[float, float, float],
    _read(_position),
    WithJsonSchema({'type': 'array', 'items': {'type': 'number'}, 'minItems': 2, 'maxItems': 3}),
]
"""X, y and maybe z [m] in the map frame: a list, an array, 'x,y,z', or {'x', 'y', 'z'}."""
PlaceName = Annotated[str, Field(min_length=1, max_length=MAX_NAME), BeforeValidator(_place)]
"""The name of a room or another place."""
PlaceWords = Annotated[str, Field(max_length=MAX_NAME), BeforeValidator(_place)]
"""The same; empty: whatever."""
Names = Annotated[
    tuple[Annotated[str, Field(max_length=MAX_NAME)], ...],
    Field(max_length=MAX_LIMIT),
    BeforeValidator(several),
]
"""One name, or several."""
Text = Annotated[str, Field(max_length=MAX_TEXT)]
Words = Annotated[str, Field(max_length=MAX_TEXT)]
"""A few words, such as a name of a thing; empty: whatever."""

After = Annotated[
    Time | None, word('only what ends at or after this', '2026-11-23T09:00:00Z', 'since start from')
]
Before = Annotated[
    Time | None, word('only what starts at or before this', '2026-11-23 18:00', 'until end to')
]
Robot = Annotated[Names, word('only of this robot; several: of any of these', 'anna', 'robots')]
Map = Annotated[
    str | None,
    word("only on this map; '' is the one without a name", 'floor1', 'map_id floor', max_length=MAX_NAME),
]
OnMap = Annotated[str, word('the map that the position is in', 'floor1', 'map_id', max_length=MAX_NAME)]
Place = Annotated[
    PlaceName | None,
    word('only what is in the place of this name, such as a room', 'kitchen', 'room place_name where'),
]
Near = Annotated[Position | None, word('with radius: only what is that near to this', [2, 1.5, 0], unit='m')]
Radius = Annotated[
    Annotated[float, Field(ge=0.0, le=1e7), NUMBER] | None,
    word('at most this far from near', 3.0, 'distance within', 'm'),
]
Source = Annotated[Literal[SOURCES] | None, word('only what comes from there', 'person', 'sources')]  # type: ignore[valid-type]
Nearest = Annotated[
    Position | None,
    word('what is nearest to it first, with radius no further away', [2, 1.5, 0], _AT, 'm'),
]
At = Annotated[Position | None, word('where it is or was', [2, 1.5, 0], _AT, 'm')]
Yaw = Annotated[
    float,
    Field(ge=-1e6, le=1e6),
    NUMBER,
    word('the heading there, counter-clockwise', 1.57, 'heading', 'rad'),
]
Now = Annotated[Time | None, word("the asker's now (default: the clock)", '2026-11-23T12:00Z')]
Limit = Annotated[int, Field(ge=1, le=MAX_LIMIT), NUMBER, word('so many at most', 10, 'limits k top_k n')]
