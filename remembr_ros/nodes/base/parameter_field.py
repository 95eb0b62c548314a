"""How a parameter is described: the fields of the dataclasses of parameters."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any


def parameter(
    default: Any,
    text: str,
    *,
    unit: str = '',
    low: float | None = None,
    high: float | None = None,
    choices: Sequence[str] = (),
    read_only: bool = False,
    live: bool = False,
) -> Any:
    """Return a dataclass field that describes a parameter.

    :param low: smallest value that makes sense; with high the range that ROS enforces
    :param choices: the values that a text may have; empty: any
    :param read_only: true: can only be set when the node starts
    :param live: true: takes effect whenever it is set; else it is read when the node is configured
    """
    about = {'text': text, 'unit': unit, 'low': low, 'high': high}
    about |= {'choices': tuple(choices), 'read_only': read_only, 'live': live}
    return dataclasses.field(default=default, metadata=about)


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


def about_list(text: str, *, unit: str = '', read_only: bool = False, live: bool = False) -> dict[str, Any]:
    """Return the metadata of a list that is empty unless it is set."""
    return dict(parameter(None, text, unit=unit, read_only=read_only, live=live).metadata)


def autostart() -> Any:
    """Return the parameter that every lifecycle node has."""
    return parameter(False, 'configure and activate without a lifecycle manager', read_only=True)
