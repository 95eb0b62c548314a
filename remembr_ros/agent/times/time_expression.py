"""Moments in words: absolute, on the clock of a time zone, so long ago, the first or last of a memory."""

import re
from datetime import datetime, timedelta, timezone, tzinfo

from remembr_ros.agent.model.quoting import TENS, TO_TWENTY, any_case
from remembr_ros.errors import InvalidRequest
from remembr_ros.timestamps import MAX_NS, NS, format_iso, local, parse_time, to_ns

Reach = tuple[int, int]
"""When the first of what can be remembered began, and when the last ended, nanoseconds since the epoch."""

UNITS = {
    **dict.fromkeys(('second', 'sec', 's'), 1),
    **dict.fromkeys(('minute', 'min'), 60),
    **dict.fromkeys(('hour', 'hr', 'h'), 3_600),
    'day': 86_400,
    'week': 604_800,
    'month': 30 * 86_400,
    'year': 365 * 86_400,
}
_NUMBERS = {word: float(number) for number, word in enumerate(TO_TWENTY)}
_NUMBERS |= {word: 10.0 * number for number, word in enumerate(TENS, 2)}
_NUMBERS |= {f'{ten} {one}': _NUMBERS[ten] + _NUMBERS[one] for ten in TENS[:-1] for one in TO_TWENTY[1:10]}
_NUMBERS |= {'a': 1.0, 'an': 1.0, 'couple of': 2.0, 'few': 3.0, 'dozen': 12.0, 'one hundred': 100.0}
_NUMBERS |= {'half': 0.5, 'half a': 0.5, 'half an': 0.5, 'quarter': 0.25, 'quarter of an': 0.25}
_NUMBERS |= {'three quarter': 0.75, 'three quarters of an': 0.75}
_DIGITS = r'\d+(?:\.\d+)?'
_WORDS = f'(?:(?:a )?(?:{"|".join(sorted(_NUMBERS, key=len, reverse=True))}))'.replace(' ', r'[\s-]+')
NUMBER = rf'(?:{_DIGITS}|{_WORDS})'
UNIT = r'(?:' + '|'.join(unit for unit in UNITS if len(unit) > 1) + r')s?'
_AND_A_HALF = r'(?:\s+and\s+a\s+half\b)?'
# '30s' and '1 h', but no bare 's'
_AMOUNT = rf'(?:{_DIGITS}{_AND_A_HALF}\s*(?:{UNIT}|[sh])|{_WORDS}{_AND_A_HALF}\s+{UNIT})\b{_AND_A_HALF}'
_MORE = rf'(?:,?\s+(?:and\s+)?{_AMOUNT}){{0,3}}'
AMOUNTS = rf'{_AMOUNT}{_MORE}'
PERIOD = rf'(?:{_AMOUNT}|{UNIT}\b{_AND_A_HALF}){_MORE}'
"""Of 'the last hour': an amount whose number may be missing."""
PART = any_case(rf'\b(?:({_DIGITS}|{_WORDS}(?=\s))({_AND_A_HALF})\s*)?({UNIT}|[sh])\b({_AND_A_HALF})')
# Of '1,000 minutes ago' and '5-10 minutes ago' not the last number alone
AGO_TEXT = rf'(?<!\d[.,:-])\b{AMOUNTS}\s+ago\b'
AGO = any_case(AGO_TEXT)
HALF = r'(?:am|pm|a\.m\.|p\.m\.)'
_ENDING = rf"(?:\s*{HALF}|\s+o'clock)"
CLOCK_TEXT = rf'(?:\d{{1,2}}(?::\d\d){{1,2}}{_ENDING}?|\d{{1,2}}{_ENDING}|noon|midnight)(?!\w)'
BARE_TEXT = r'\d{1,2}(?::\d\d){0,2}'  # A number that is a time if others say so, as in 'between 9 and 10 am'
CLOCK = any_case(CLOCK_TEXT)
_HALF = any_case(rf"\s*({HALF}|\bo'clock)$")
_HOUR = rf'(?:{"|".join(TO_TWENTY[1:13])})'
_MINUTES = r'(?:(?:twenty[\s-])?five|ten|twenty|\d{1,2})'
_SPOKEN = any_case(
    rf'\b(?:(?P<past>half|(?:a )?quarter|{_MINUTES}(?: minutes?)?) past'
    rf'|(?P<to>(?:a )?quarter|{_MINUTES} minutes?) to)'
    rf" (?P<hour>{_HOUR}|\d{{1,2}})(?: o'clock)?(?!\s*(?:\w*\d|{UNIT}\b))\b(?P<half>\s*{HALF})?"
    rf"|\b(?P<full>{_HOUR})(?= o'clock\b)"
)
OF_ALL = r'(?:\s+of\s+(?:(?:the|my|your)\s+)?(?:memory|memories|recording|tour|drive))?'
_REACH_TEXT = (
    r'(?:the\s+)?(?:very\s+)?(?:(?P<first>earliest|first|oldest|beginning|begin|start)|(?:latest|last|newest|end))'
    rf'(?:\s+(?:memory|time|one|moment))?{OF_ALL}'
)
_REACH = any_case(_REACH_TEXT)
_IN_REACH = any_case(rf'(?<!\w){_REACH_TEXT}(?=\s*$|\s*,| (?:and|to|until|till|before)\b)')


def parse_moment(text: str, now_ns: int, zone: tzinfo = timezone.utc, reach: Reach | None = None) -> int:
    """Return the time that a text names: ISO 8601, Unix seconds, 'now', '10 minutes ago', '09:30', '3 pm'.

    :param now_ns: the asker's now; a clock time is the latest one that is not after it, and of "9 o'clock"
        in the morning and in the evening the later of those
    :param reach: 'earliest' and 'latest' are its ends, and a clock time is of the last day on which it may be
        remembered
    :raises InvalidRequest: the text names no time
    """
    stripped = in_digits(text.strip())
    if (end_ns := at_reach(stripped, reach)) is not None:
        return end_ns
    if stripped.lower() == 'now':
        return now_ns
    if AGO.fullmatch(stripped):
        return max(now_ns - seconds_in(stripped) * NS, 0)
    if CLOCK.fullmatch(stripped):
        until_ns = clock_now(now_ns, reach)
        return max((ns for ns in latest_clock_moments(stripped, until_ns, zone) if ns <= until_ns), default=0)
    return parse_time(stripped, zone)


def in_digits(text: str) -> str:
    """Return the text with 'half past three' as "3:30 o'clock", and 'three o'clock' as "3 o'clock"."""

    def written(found: re.Match[str]) -> str:
        if found['full']:
            return str(round(_number(found['full'])))
        spoken = re.sub(r'^a\s+|\s+minutes?$', '', (found['past'] or found['to']).lower())
        minutes = {'half': 30, 'quarter': 15}.get(spoken) or round(_number(spoken))
        hour = round(_number(found['hour']))
        if found['to']:
            hour, minutes = (hour - 2) % 12 + 1 if hour <= 12 else hour - 1, 60 - minutes
        return f'{hour}:{minutes:02}' + (found['half'] or " o'clock")

    return _SPOKEN.sub(written, text)


def _number(text: str) -> float:
    word = re.sub(r'[\s-]+', ' ', text.lower()).removeprefix('a ')
    return _NUMBERS[word] if word in _NUMBERS else float(word)


def twice_a_day(text: str) -> bool:
    """Return whether a clock time is one of the morning and of the evening: "9 o'clock"; 12 is noon."""
    return "o'clock" in text.lower() and timedelta(hours=1) <= time_of_day(text) < timedelta(hours=12)


def seconds_in(text: str) -> int:
    """Return the length of 'half an hour', '1 hour and 5 minutes', '90s', 'minute' [s]."""
    total = 0.0
    for count, half, unit, half_unit in PART.findall(text):
        number = _number(count or 'a') + (0.5 if half or half_unit else 0.0)
        total += number * UNITS[unit.lower().removesuffix('s') or 's']
    return round(min(total, MAX_NS // NS))


def grain_seconds(text: str) -> int:
    """Return the length of the longest unit in a text that has one [s]: who says '2 days' means days."""
    return max(seconds_in(unit) for _, _, unit, _ in PART.findall(text))


def time_of_day(text: str) -> timedelta:
    lower = text.lower().replace('.', '').removesuffix("o'clock").strip()
    lower = {'noon': '12', 'midnight': '0'}.get(lower, lower)
    half = lower[-2:] if lower.endswith(('am', 'pm')) else ''
    hour, minute, second = (*(int(part) for part in lower.removesuffix(half).strip().split(':')), 0, 0)[:3]
    if half:
        hour = hour % 12 + (12 if half == 'pm' else 0)
    if hour > 23 or minute > 59 or second > 59:
        raise InvalidRequest(f'{text!r} is not a time of day')
    return timedelta(hours=hour, minutes=minute, seconds=second)


def latest_clock_moments(text: str, now_ns: int, zone: tzinfo) -> tuple[int, int]:
    """Return the first and the last moment of the latest day on which the clock has shown that time."""
    shown = local(now_ns, zone).replace(hour=0, minute=0, second=0, microsecond=0) + time_of_day(text)
    hours = range(12, -60, -12) if twice_a_day(text) else (0, -24, -48)
    times = (clock_moments(shown + timedelta(hours=hour)) for hour in hours)
    return next((moments for moments in times if moments[0] <= now_ns), (0, 0))


def clock_moments(shown: datetime) -> tuple[int, int]:
    """Return the first and the last moment at which the clock shows that: it may be put back to it."""
    first, last = sorted(to_ns(shown.replace(fold=fold)) for fold in (0, 1))
    return first, last


def with_am_pm(first: str, second: str) -> list[str]:
    """Return two clock times, each with its half of the day if one of them has it, else with what they need.

    Of the two halves the one is meant with which the first comes before the second on one day; if there is
    none, the time goes over midnight.
    """
    named, number = _HALF.search(second) or _HALF.search(first), BARE_TEXT
    if named:
        endings = {'a': (' am', ' pm'), 'p': (' pm', ' am')}.get(named[1][0].lower(), (" o'clock",))
    elif first.isdigit() and second.isdigit() and max(int(first), int(second)) <= 12:
        endings = (" o'clock",)  # 'between 9 and 10': of the morning or of the evening
    else:  # 'between 23 and 2', 'between 9 and 10:30', 'between 9 and noon'
        number, endings = r'\d{1,2}', (':00',)
    pairs = [[re.sub(rf'^{number}$', rf'\g<0>{end}', text) for text in (first, second)] for end in endings]
    try:
        return next((pair for pair in pairs if time_of_day(pair[0]) < time_of_day(pair[1])), pairs[-1])
    except (InvalidRequest, ValueError):
        return [first, second] if named else pairs[-1]


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
    first, last = format_iso(reach[0] // NS * NS), format_iso(-(-reach[1] // NS) * NS)
    return _IN_REACH.sub(lambda found: first if found['first'] else last, text)


def clock_now(now_ns: int, reach: Reach | None) -> int:
    """Return until when a time of day may be: now, or an hour after the last memory if that is earlier."""
    return now_ns if reach is None else min(now_ns, reach[1] + UNITS['hour'] * NS)
