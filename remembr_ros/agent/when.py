"""Times in questions and in a model's tool calls: absolute, on the clock, or relative to now."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone, tzinfo

from remembr_ros.errors import InvalidRequest
from remembr_ros.timestamps import MAX_NS, NS, parse_time

_UNITS = {
    **dict.fromkeys(('second', 'sec', 's'), 1),
    **dict.fromkeys(('minute', 'min'), 60),
    **dict.fromkeys(('hour', 'hr', 'h'), 3_600),
    'day': 86_400,
    'week': 604_800,
    'month': 30 * 86_400,
    'year': 365 * 86_400,
}
_NUMBERS = {
    word: float(number)
    for number, word in enumerate(
        'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen '
        'sixteen seventeen eighteen nineteen twenty'.split()
    )
}
_NUMBERS |= {'thirty': 30.0, 'forty': 40.0, 'fifty': 50.0, 'sixty': 60.0, 'ninety': 90.0}
_NUMBERS |= {
    'a': 1.0,
    'an': 1.0,
    'half a': 0.5,
    'half an': 0.5,
    'half': 0.5,
    'a couple of': 2.0,
    'a few': 3.0,
}
_NUMBERS |= {'couple of': 2.0, 'few': 3.0}
_DIGITS = r'\d+(?:\.\d+)?'
_WORDS = '(?:' + '|'.join(sorted(_NUMBERS, key=len, reverse=True)) + ')'
_UNIT = r'(?:' + '|'.join(unit for unit in _UNITS if len(unit) > 1) + r')s?'
# '30s' and '1 h', but no bare 's'
_AMOUNT = rf'(?:{_DIGITS}\s*(?:{_UNIT}|[sh])|{_WORDS}\s+{_UNIT})\b'
_PART = re.compile(rf'\b(?:({_DIGITS}|{_WORDS}(?=\s))\s*)?({_UNIT}|[sh])\b', re.IGNORECASE)
_AGO_TEXT = rf'\b{_AMOUNT}(?:,?\s+(?:and\s+)?{_AMOUNT})?\s+ago\b'
_AGO = re.compile(_AGO_TEXT, re.IGNORECASE)
_LAST = re.compile(
    rf'\b(?:(?:in|during|within|over)\s+)?(?:the\s+)?(?:last|past)\s+(?:{_AMOUNT}|{_UNIT}\b)', re.IGNORECASE
)
_HALF = r'(?:am|pm|a\.m\.|p\.m\.)'
_CLOCK_TEXT = (
    rf'(?:\d{{1,2}}:\d{{2}}(?::\d{{2}})?(?:\s*{_HALF})?'
    rf"|\d{{1,2}}(?:\s*{_HALF}|\s+o'clock)|noon|midnight)(?!\w)"
)
_CLOCK = re.compile(_CLOCK_TEXT, re.IGNORECASE)
_DATE_TEXT = r'\d{4}-\d\d-\d\d'
_TIME_TEXT = rf'(?:{_AGO_TEXT}|{_DATE_TEXT}(?:[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?|{_CLOCK_TEXT})'
_BETWEEN = re.compile(
    rf'\b(?:between|from)\s+({_TIME_TEXT}|\d{{1,2}}(?::\d\d)?)\s+(?:and|to|until|till)\s+({_TIME_TEXT})',
    re.IGNORECASE,
)
_AFTER_BEFORE = re.compile(
    rf'\b(?:after|since|from)\s+({_TIME_TEXT}),?\s+(?:(?:and|but)\s+)?(?:before|until|till)\s+({_TIME_TEXT})',
    re.IGNORECASE,
)
_EDGE_TEXT = r'\b(before|until|till|by|after|since|from)'
_EDGE = re.compile(rf'{_EDGE_TEXT}\s+(?:at\s+)?({_TIME_TEXT})', re.IGNORECASE)
_AT = re.compile(rf'\b(?:at|around|about)\s+({_TIME_TEXT})', re.IGNORECASE)
_WEEKDAYS = ('monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday')
_PARTS = {'morning': (5, 12), 'afternoon': (12, 18), 'evening': (18, 24), 'night': (0, 6)}
_DAY = re.compile(
    rf'(?:{_EDGE_TEXT}\s+|\b(?:on\s+)?)(?:the\s+)?(?P<day>day\s+before\s+yesterday|tonight|'
    r'(?:today|yesterday)|(?:this|last)(?=\s+(?:morning|afternoon|evening|night)\b)'
    rf'|(?<=on\s)(?:{"|".join(_WEEKDAYS)}|{_DATE_TEXT})|last\s+(?:{"|".join(_WEEKDAYS)}))\b'
    r'(?:\s+(?P<part>morning|afternoon|evening|night)\b)?',
    re.IGNORECASE,
)
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
    if _AGO.fullmatch(stripped):
        return max(now_ns - _seconds(stripped) * NS, 0)
    if _CLOCK.fullmatch(stripped):
        return _on_the_clock(stripped, now_ns, zone)
    return parse_time(stripped, zone)


# One return per way to name a time.
def parse_window(text: str, now_ns: int, zone: tzinfo = timezone.utc) -> Window:  # noqa: PLR0911
    """Find the words of time in a question.

    Understands 'in the last 10 minutes', '5 minutes ago', 'since an hour ago', 'between 9:00 and 9:10',
    'before 14:30', 'at 3 pm', 'today', 'since yesterday', 'yesterday at 9:00', 'this morning', 'on Monday'.

    :param now_ns: the asker's now
    :param zone: the asker's time zone
    """
    if found := _LAST.search(text):
        return _window(max(now_ns - _seconds(found[0]) * NS, 0), now_ns, None, _without(text, found))
    day = _DAY.search(text)
    dated = _day(day, now_ns, zone) if day else None
    plain = text
    midnight: datetime | None = None
    if day and dated:
        midnight, start_ns, end_ns = dated
        # 'yesterday at 9:00': the day says which 9:00.
        plain = f'{text[: day.start()]} {day[1] or ""} {text[day.end() :]}'
    clock = _Clock(now_ns, zone, midnight)
    if found := _BETWEEN.search(plain) or _AFTER_BEFORE.search(plain):
        window = clock.between(found[1], found[2])
        if window:
            return _window(*window, None, _without(plain, found))
    if (found := _EDGE.search(plain)) and (edge := clock.moment(found[2])) is not None:
        after, before = _sides(found[1], edge, edge)
        if day and dated and not day[1]:  # 'today before 9:00'
            after, before = (start_ns if after is None else after), (end_ns if before is None else before)
            after = min(after, before)
        return _window(after, before, None, _without(plain, found))
    if (found := _AT.search(plain)) and (moment := clock.moment(found[1])) is not None:
        return _around(moment, AROUND_S, _without(plain, found))
    if found := _AGO.search(text):
        seconds = _seconds(found[0])
        # Who says 'two days ago' means the day, not the minute.
        grain = max(_unit_s(unit) for _, unit in _PART.findall(found[0]))
        slack = max(AROUND_S, 0.1 * seconds, 0.5 * grain if grain >= _UNITS['day'] else 0.0)
        return _around(max(now_ns - seconds * NS, 0), min(slack, _UNITS['week']), _without(text, found))
    if day and dated:
        after, before = _sides(day[1], start_ns, end_ns) if day[1] else (start_ns, end_ns)
        return _window(after, before, None, _without(text, day))
    return Window(None, None, None, text)


def _window(after: int | None, before: int | None, at: int | None, rest: str) -> Window:
    after, before, at = (None if ns is None else min(max(ns, 0), MAX_NS) for ns in (after, before, at))
    return Window(after, before, at, rest)


def _around(at_ns: int, slack_s: float, rest: str) -> Window:
    slack_ns = round(slack_s * NS)
    return _window(at_ns - slack_ns, at_ns + slack_ns, at_ns, rest)


def _sides(word: str, start_ns: int, end_ns: int) -> tuple[int | None, int | None]:
    """Return after and before for 'before', 'since' and the like, and what lies from start to end."""
    return {
        'before': (None, start_ns),
        'until': (None, end_ns),
        'till': (None, end_ns),
        'by': (None, end_ns),
        'after': (end_ns, None),
    }.get(word.lower(), (start_ns, None))


def _without(text: str, found: re.Match[str]) -> str:
    rest = f'{text[: found.start()]} {text[found.end() :]}'
    return re.sub(r'\s+([?.!,]|$)', r'\1', ' '.join(rest.split()))


def _seconds(text: str) -> int:
    """Return the length of 'half an hour', '1 hour and 5 minutes', '90s', 'minute' [s]."""
    total = 0.0
    for count, unit in _PART.findall(text):
        word = ' '.join((count or 'a').lower().split())
        number = _NUMBERS[word] if word in _NUMBERS else float(word)
        total += number * _unit_s(unit)
    return round(min(total, MAX_NS // NS))


def _unit_s(unit: str) -> int:
    return _UNITS[unit.lower().removesuffix('s') or 's']


@dataclass(frozen=True, slots=True)
class _Clock:
    """Reads times of a question.

    :param midnight: with which the day begins that the clock times are of; None: the latest that has been
    """

    now_ns: int
    zone: tzinfo
    midnight: datetime | None

    def moment(self, text: str) -> int | None:
        try:
            if self.midnight is not None and _CLOCK.fullmatch(text):
                return _ns(self.midnight + _time_of_day(text))
            return parse_moment(text, self.now_ns, self.zone)
        except (InvalidRequest, OverflowError):
            return None

    def between(self, first: str, second: str) -> tuple[int, int] | None:
        if first.replace(':', '').isdigit():  # 'between 9 and 10 am'
            half = re.search(rf"(?:{_HALF}|\s+o'clock)$", second, re.IGNORECASE)
            first += half[0] if half else '' if ':' in first else ':00'
        start, end = self.moment(first), self.moment(second)
        if start is None or end is None:
            return None
        if end < start and _CLOCK.fullmatch(first) and _CLOCK.fullmatch(second):
            # 'between 23:00 and 1:00', or it is 22:15 and the question 'between 22:00 and 23:00'
            return start, end + 86_400 * NS
        return min(start, end), max(start, end)


def _time_of_day(text: str) -> timedelta:
    lower = text.lower().replace('.', '').removesuffix("o'clock").strip()
    if lower in ('noon', 'midnight'):
        return timedelta(hours=12 if lower == 'noon' else 0)
    half = lower[-2:] if lower.endswith(('am', 'pm')) else ''
    hour, minute, second = (*(int(part) for part in lower.removesuffix(half).strip().split(':')), 0, 0)[:3]
    if half:
        hour = hour % 12 + (12 if half == 'pm' else 0)
    if hour > 23 or minute > 59 or second > 59:
        raise InvalidRequest(f'{text!r} is not a time of day')
    return timedelta(hours=hour, minutes=minute, seconds=second)


def _on_the_clock(text: str, now_ns: int, zone: tzinfo) -> int:
    now = _local(now_ns, zone)
    moment = now.replace(hour=0, minute=0, second=0, microsecond=0) + _time_of_day(text)
    return _ns(moment - timedelta(days=1) if moment > now else moment)


def _day(found: re.Match[str], now_ns: int, zone: tzinfo) -> tuple[datetime, int, int] | None:
    """Return the midnight that begins a day, and from when to when its named part lasts; None: no day."""
    day, part = ' '.join(found['day'].lower().split()), (found['part'] or '').lower()
    midnight = _local(now_ns, zone).replace(hour=0, minute=0, second=0, microsecond=0)
    if day == 'tonight':
        part = 'evening'
    elif day == 'day before yesterday':
        midnight -= timedelta(days=2)
    elif day == 'yesterday' or (day == 'last' and part != 'night'):
        midnight -= timedelta(days=1)
    elif (weekday := day.removeprefix('last ')) in _WEEKDAYS:
        back = (midnight.weekday() - _WEEKDAYS.index(weekday)) % 7
        midnight -= timedelta(days=back or (7 if day.startswith('last') else 0))
    elif day[0].isdigit():
        try:
            year, month, of_month = map(int, day.split('-'))
            midnight = midnight.replace(year=year, month=month, day=of_month)
        except ValueError:
            return None
    first, last = _PARTS.get(part, (0, 24))
    if part == 'night' and day in ('last', 'yesterday'):
        # from 20:00 of the evening before
        first, last = (-4, 6) if day == 'last' else (20, 30)
    try:
        return midnight, _ns(midnight + timedelta(hours=first)), _ns(midnight + timedelta(hours=last))
    except OverflowError:
        return None


def _ns(moment: datetime) -> int:
    return min(max(round(moment.timestamp()), 0) * NS, MAX_NS)


def _local(now_ns: int, zone: tzinfo) -> datetime:
    return datetime.fromtimestamp(now_ns // NS, tz=zone)
