"""Times in questions and in a model's tool calls: absolute, on the clock, or relative to now."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone, tzinfo

from remembr_ros.errors import InvalidRequest
from remembr_ros.timestamps import MAX_NS, NS, parse_time

_UNITS = {'second': 1, 'sec': 1, 'minute': 60, 'min': 60, 'hour': 3_600, 'day': 86_400, 'week': 604_800}
_NUMBERS = [
    'zero',
    'one',
    'two',
    'three',
    'four',
    'five',
    'six',
    'seven',
    'eight',
    'nine',
    'ten',
    'eleven',
    'twelve',
]
_COUNT = r'(?P<count>\d+(?:\.\d+)?|an?|half an?|a few|' + '|'.join(_NUMBERS) + ')'
_UNIT = r'(?P<unit>' + '|'.join(_UNITS) + r')s?'
_AGO = re.compile(rf'{_COUNT}\s+{_UNIT}\s+ago', re.IGNORECASE)
_LAST = re.compile(
    rf'\b(?:in|during|within|over)?\s*(?:the\s+)?(?:last|past)\s+(?:{_COUNT}\s+)?{_UNIT}\b', re.IGNORECASE
)
_CLOCK_TEXT = r'\d{1,2}:\d{2}(?::\d{2})?\s*(?:am|pm)?|\d{1,2}\s*(?:am|pm)|noon|midnight'
_CLOCK = re.compile(_CLOCK_TEXT, re.IGNORECASE)
_TIME_TEXT = rf'(?:\d{{4}}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?|{_CLOCK_TEXT})'
_BETWEEN = re.compile(
    rf'\b(?:between|from)\s+({_TIME_TEXT})\s+(?:and|to|until|till)\s+({_TIME_TEXT})', re.IGNORECASE
)
_EDGE = re.compile(rf'\b(before|until|by|after|since|from)\s+({_TIME_TEXT})', re.IGNORECASE)
_AT = re.compile(rf'\b(?:at|around|about)\s+({_TIME_TEXT})', re.IGNORECASE)
_DAY = re.compile(
    r'\b(?P<day>today|yesterday|this|last)?\s*(?P<part>morning|afternoon|evening|night)?\b', re.IGNORECASE
)
_PARTS = {'morning': (5, 12), 'afternoon': (12, 18), 'evening': (18, 24), 'night': (0, 6)}
AROUND_S = 60.0
"""Half the window of a question about a moment."""


@dataclass(frozen=True, slots=True)
class Window:
    """The time that a question is about.

    :param after_ns: from then on; None: no limit
    :param before_ns: until then; None: no limit
    :param at_ns: the moment asked for, if it is one
    :param rest: the question without the words of time
    """

    after_ns: int | None
    before_ns: int | None
    at_ns: int | None
    rest: str


def parse_moment(text: str, now_ns: int, zone: tzinfo = timezone.utc) -> int:
    """Return the time that a text names: ISO 8601, Unix seconds, 'now', '10 minutes ago', '09:30', '3 pm'.

    :param now_ns: the asker's now; a clock time is the latest one that is not after it
    :raises InvalidRequest: the text names no time
    """
    stripped = text.strip()
    if stripped.lower() == 'now':
        return now_ns
    ago = _AGO.fullmatch(stripped)
    if ago:
        return max(now_ns - _seconds(ago) * NS, 0)
    if _CLOCK.fullmatch(stripped):
        return _on_the_clock(stripped, now_ns, zone)
    return parse_time(stripped, zone)


def parse_window(text: str, now_ns: int, zone: tzinfo = timezone.utc) -> Window:
    """Find the words of time in a question.

    Understands 'in the last 10 minutes', '5 minutes ago', 'between 9:00 and 9:10', 'before 14:30', 'at 3 pm',
    'today', 'yesterday afternoon', 'this morning'.

    :param now_ns: the asker's now
    :param zone: the asker's time zone
    """
    after: int | None = None
    before: int | None = None
    at: int | None = None
    if found := _LAST.search(text):
        after, before = max(now_ns - _seconds(found) * NS, 0), now_ns
    elif found := _AGO.search(text):
        at = max(now_ns - _seconds(found) * NS, 0)
        slack = max(AROUND_S, 0.1 * _seconds(found))
        after, before = max(at - round(slack * NS), 0), at + round(slack * NS)
    elif found := _BETWEEN.search(text):
        first, second = (_moment_or_none(part, now_ns, zone) for part in found.groups())
        if first is not None and second is not None:
            after, before = min(first, second), max(first, second)
    elif (found := _EDGE.search(text)) and (edge := _moment_or_none(found[2], now_ns, zone)) is not None:
        if found[1].lower() in ('before', 'until', 'by'):
            before = edge
        else:
            after = edge
    elif (found := _AT.search(text)) and (moment := _moment_or_none(found[1], now_ns, zone)) is not None:
        at = moment
        after, before = max(at - round(AROUND_S * NS), 0), at + round(AROUND_S * NS)
    else:
        found = next((m for m in _DAY.finditer(text) if _is_day(m)), None)
        if found:
            after, before = _day_window(found, now_ns, zone)
    if found is None or (after is None and before is None):
        return Window(None, None, None, text)
    rest = f'{text[: found.start()]} {text[found.end() :]}'
    return Window(after, before, at, re.sub(r'\s+([?.!,]|$)', r'\1', ' '.join(rest.split())))


def _seconds(found: re.Match[str]) -> int:
    count = (found['count'] or '1').lower()
    if count in _NUMBERS:
        number = float(_NUMBERS.index(count))
    else:
        number = {'a': 1.0, 'an': 1.0, 'half a': 0.5, 'half an': 0.5, 'a few': 3.0}.get(count) or float(count)
    return min(round(number * _UNITS[found['unit'].lower()]), MAX_NS // NS)


def _moment_or_none(text: str, now_ns: int, zone: tzinfo) -> int | None:
    try:
        return parse_moment(text, now_ns, zone)
    except InvalidRequest:
        return None


def _on_the_clock(text: str, now_ns: int, zone: tzinfo) -> int:
    lower = text.lower()
    if lower in ('noon', 'midnight'):
        hour, minute, second = (12 if lower == 'noon' else 0), 0, 0
    else:
        half = 'pm' if lower.endswith('pm') else 'am' if lower.endswith('am') else ''
        numbers = [int(part) for part in lower.removesuffix(half).strip().split(':')]
        hour, minute, second = (*numbers, 0, 0)[:3]
        if half:
            hour = hour % 12 + (12 if half == 'pm' else 0)
    now = _local(now_ns, zone)
    try:
        moment = now.replace(hour=hour, minute=minute, second=second, microsecond=0)
    except ValueError:
        raise InvalidRequest(f'{text!r} is not a time of day') from None
    if moment > now:
        moment -= timedelta(days=1)
    return max(round(moment.timestamp()), 0) * NS


def _is_day(found: re.Match[str]) -> bool:
    day, part = (found['day'] or '').lower(), found['part']
    return day in ('today', 'yesterday') or (day in ('this', 'last') and part is not None)


def _day_window(found: re.Match[str], now_ns: int, zone: tzinfo) -> tuple[int, int]:
    day, part = found['day'].lower(), (found['part'] or '').lower()
    midnight = _local(now_ns, zone).replace(hour=0, minute=0, second=0, microsecond=0)
    if day == 'yesterday' or (day == 'last' and part != 'night'):
        midnight -= timedelta(days=1)
    first, last = _PARTS.get(part, (0, 24))
    if part == 'night' and day in ('last', 'yesterday'):
        first, last = -4, 6  # from 20:00 of the evening before
    start, end = (midnight + timedelta(hours=hours) for hours in (first, last))
    after, before = (max(round(moment.timestamp()), 0) * NS for moment in (start, end))
    return after, before


def _local(now_ns: int, zone: tzinfo) -> datetime:
    return datetime.fromtimestamp(now_ns // NS, tz=zone)
