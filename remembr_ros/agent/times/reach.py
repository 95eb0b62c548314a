"""From when to when something can be remembered: 'earliest', 'the end', and the days of a time of day."""

import re

from remembr_ros.errors import InvalidRequest
from remembr_ros.timestamps import NS, format_iso

Reach = tuple[int, int]
"""When the first of what can be remembered began, and when the last ended, nanoseconds since the epoch."""

_HOUR_NS = 3_600 * NS
OF_ALL = r'(?:\s+of\s+(?:(?:the|my|your)\s+)?(?:memory|memories|recording|tour|drive))?'
_REACH_TEXT = (
    r'(?:the\s+)?(?:very\s+)?(?:(?P<first>earliest|first|oldest|beginning|begin|start)|(?:latest|last|newest|end))'
    rf'(?:\s+(?:memory|time|one|moment))?{OF_ALL}'
)
_REACH = re.compile(_REACH_TEXT, re.IGNORECASE)
_IN_REACH = re.compile(rf'(?<!\w){_REACH_TEXT}(?=\s*$|\s*,|\s+(?:and|to|until|till|before)\b)', re.IGNORECASE)


def at_reach(text: str, reach: Reach | None) -> int | None:
    """Return the time of 'earliest', 'the beginning', 'latest', 'the end'; None: the text is none of these.

    :raises InvalidRequest: nothing can be remembered, or nobody knows since when
    """
    found = _REACH.fullmatch(text.strip())
    if found is None:
        return None
    if reach is None:
        raise InvalidRequest(f'{text!r} is not known: give a time')
    return reach[0] if found['first'] else reach[1]


def with_reach(text: str, reach: Reach | None) -> str:
    """Return a text with such words as times, of 'since the beginning' and 'from start to 9:30', too."""
    if reach is None:
        return text

    def written(found: re.Match[str]) -> str:
        first, last = reach[0] // NS * NS, -(-reach[1] // NS) * NS
        return format_iso(first if found['first'] else last)

    return _IN_REACH.sub(written, text)


def clock_now(now_ns: int, reach: Reach | None) -> int:
    """Return until when a time of day may be: now, or an hour after the last memory if that is earlier."""
    return now_ns if reach is None else min(now_ns, reach[1] + _HOUR_NS)
