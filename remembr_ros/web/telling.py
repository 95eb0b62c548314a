"""What a robot did, as the API and MCP are told it."""

from typing import Any

from remembr_ros.memory.deeds.deed import Deed, deed
from remembr_ros.memory.deeds.wording import kind_said
from remembr_ros.timestamps import parse_time


def told_deed(text: str, kind: str, begin: str, end: str, **about: Any) -> Deed:
    """Return a deed as somebody tells it; where nobody said when it was, its times are 0.

    :param kind: empty: what the text begins with, where that is one of the usual kinds
    :param begin: ISO 8601 or Unix seconds; empty: the end
    :param end: the same; empty: the begin
    :param about: further fields of DeedFacts and of Deed
    :raises InvalidRequest: it says nothing, ends before it began, or a field makes no sense
    """
    begin_ns, end_ns = (parse_time(time) if time else None for time in (begin, end))
    return deed(begin_ns or end_ns or 0, end_ns, text=text, kind=kind or kind_said(text), **about)
