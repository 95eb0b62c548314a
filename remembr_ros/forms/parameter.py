"""Settings, each written once: a parameter of a node, and an option of the command line."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol


class Parameters(Protocol):
    """A dataclass whose fields are made by :func:`parameter`."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]


def parameter(
    default: Any,
    text: str,
    span: str = '',
    *,
    unit: str = '',
    choices: Sequence[str] = (),
    read_only: bool = False,
    live: bool = False,
) -> Any:
    """Return a dataclass field that describes a parameter.

    :param span: the range that ROS enforces, both ends included, with its unit: '0.5 to 600 s'; empty: any
    :param choices: the values that a text may have; empty: any
    :param read_only: true: can only be set when the node starts
    :param live: true: takes effect whenever it is set; else it is read when the node is configured
    """
    low: float | None = None
    high: float | None = None
    if span:
        first, _, last, *units = span.split()
        low, high, unit = float(first), float(last), ' '.join(units)
    about: dict[str, object] = {'text': text, 'unit': unit, 'low': low, 'high': high}
    about |= {'choices': tuple(choices), 'read_only': read_only, 'live': live}
    if isinstance(default, list):
        return dataclasses.field(default_factory=default.copy, metadata=about)
    return dataclasses.field(default=default, metadata=about)


def default_of(field: 'dataclasses.Field[Any]') -> Any:
    """Return a field's default."""
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()


def objection(name: str, about: Mapping[str, Any], value: Any) -> str:
    """Return why a parameter cannot have a value of its type; empty: it can.

    :param about: what :func:`parameter` keeps
    """
    choices, low, high = about['choices'], about['low'], about['high']
    if choices and value not in choices:
        return f'{name} is {value!r}; it has to be one of {", ".join(choices)}'
    # nan passes every range check, and rclpy's own range takes what is 1e-6 of a bound beyond it.
    if isinstance(value, float) and not math.isfinite(value):
        return f'{name} has to be a finite number'
    if low is not None and isinstance(value, int | float) and not low <= value <= high:
        unit = f' {about["unit"]}' if about['unit'] else ''
        return f'{name} is {value}; it has to be from {low:.15g} to {high:.15g}{unit}'
    return ''
