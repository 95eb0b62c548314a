"""How a parameter is described: the fields of the dataclasses of parameters."""

import dataclasses
from collections.abc import Sequence
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


def about_list(text: str, *, unit: str = '', read_only: bool = False, live: bool = False) -> dict[str, Any]:
    """Return the metadata of a list that is empty unless it is set."""
    return dict(parameter(None, text, unit=unit, read_only=read_only, live=live).metadata)


def autostart() -> Any:
    """Return the parameter that every lifecycle node has."""
    return parameter(False, 'configure and activate without a lifecycle manager', read_only=True)
