"""Windows of time in questions and in a model's tool calls, on the asker's clock."""

import re
from dataclasses import dataclass
from datetime import datetime, timezone, tzinfo
from difflib import get_close_matches

from remembr_ros.agent.model.quoting import any_case, masked
from remembr_ros.agent.times.day import (
    DATE_TEXT,
    DAY_TEXT,
    EDGE_TEXT,
    FOLLOWS,
    LEFT,
    MONTHS,
    OFF_TEXT,
    WEEKDAYS,
    Clock,
    Day,
    cut,
    find_day,
)
from remembr_ros.agent.times.spelled_out import spelled_out
from remembr_ros.agent.times.time_expression import (
    AGO,
    AGO_TEXT,
    AMOUNTS,
    BARE_TEXT,
    CLOCK_TEXT,
    NUMBER,
    OF_ALL,
    PERIOD,
    UNITS,
    Reach,
    at_reach,
    clock_now,
    grain_seconds,
    in_digits,
    parse_moment,
    seconds_in,
    with_reach,
)
from remembr_ros.timestamps import MAX_NS, NS

_IN = r'\b(?:(?:in|during|within|over)\s+)?'
_LAST = any_case(
    rf'{_IN}(?:the )?(?:last|past|previous) '
    rf'(?:{NUMBER}(?:\s*[-\u2013]\s*(?=\d)| (?:to|or) ))?(?P<period>{PERIOD})'
)
"""'in the last 10 minutes'; of 'in the last 5 to 10 minutes' the longer ones."""
_FIRST = any_case(
    rf'{_IN}the first (?P<period>{PERIOD}){OF_ALL}(?! (?:that|you|we|i|when|on which|in which)\b)'
)

_ISO_TEXT = r'\d{4}-\d\d-\d\d(?:[T\s][\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?'
_TIME_TEXT = rf'(?:{AGO_TEXT}|{OFF_TEXT}|{_ISO_TEXT}|{CLOCK_TEXT}|now\b)'
_BETWEEN = any_case(
    rf'\b(?:between|from) (?:at )?({_TIME_TEXT}|{AMOUNTS}|{BARE_TEXT}|{NUMBER}) (?:and|to|until|till) '
    rf'({_TIME_TEXT}|{BARE_TEXT}{FOLLOWS})'
)
_AFTER_BEFORE = any_case(
    rf'\b(?:after|since|from) ({_TIME_TEXT}),? (?:(?:and|but) )?(?:before|until|till) ({_TIME_TEXT})'
)
_RANGE = any_case(rf'(?<![\d.,:-])\b({NUMBER})(?:(?<=\d)\s*[-\u2013]\s*(?=\d)| (?:to|or) )({AMOUNTS} ago)\b')
"""'5-10 minutes ago', 'two or three hours ago'."""

_THAN = any_case(
    rf'\b(?P<no>(?:no|not) )?(?:(?P<more>(?:more|longer|earlier) than|over|at least)'
    rf'|less than|under|at most|within) ({AGO_TEXT})'
)
_EDGE = any_case(rf'{EDGE_TEXT} (?:at )?({_TIME_TEXT})')
_EDGE_BARE = any_case(rf'{EDGE_TEXT} (?:at )?({BARE_TEXT}){FOLLOWS}')
_AT = any_case(rf'\b(?:at|around|about) ({_TIME_TEXT})')
_AT_BARE = any_case(rf'\b(?:at|around|about) ({BARE_TEXT}){FOLLOWS}')
_CLOCK_DIGITS = any_case(rf'(?<![\w.:-])(?=\d)({CLOCK_TEXT})')
_OFF_ALONE = any_case(rf'({OFF_TEXT})')
_ABOUT_AGO = any_case(rf'(?:\b(?:about|around|roughly|approximately|almost|nearly|exactly|just) )?{AGO_TEXT}')
_DATE = any_case(DATE_TEXT)
_NO_MONTH = re.compile(r'\b([^\W\d_]{4,9}) \d{1,2}(?:st|nd|rd|th)?\b')
"""'Novmber 14'"""
_SOME_TIME = any_case(
    rf'(?<![\w:./])\d{{1,2}}(?::\d\d|/\d{{1,2}})(?![\w:./])|(?<!\S)\d\S{{0,9}} \w+ ago\b|\bon'
    rf' (?:the \d+(?:st|nd|rd|th)|\d{{1,2}}\.\d{{1,2}}){FOLLOWS}'
)
_DAYS = any_case(rf'\b(?:between|from) ({DAY_TEXT}) (?:and|to|until|till|through) ({DAY_TEXT})')
_LEFT = (
    LEFT,
    _EDGE_BARE,
    any_case(rf'\b(?:between|from) {BARE_TEXT} (?:and|to|until|till) {BARE_TEXT}{FOLLOWS}'),
    AGO,
    _LAST,
    _CLOCK_DIGITS,
    any_case(rf'(?:{EDGE_TEXT}|\bat|\band|\bto|\bbetween) {_TIME_TEXT}'),
    _DATE,
)
"""What in the rest of a question still names a time."""

_HOUR = any_case(rf'(?:at|around|about|{EDGE_TEXT}) \d{{1,2}}')
"""'at 9', which in a question may be anything."""

AROUND_S = 60.0  # Half the window of a question about a moment


@dataclass(frozen=True, slots=True)
class Window:
    """The time that a question is about.

    :param after_ns: from then on; None: no limit
    :param before_ns: until then; None: no limit
    :param at_ns: the moment asked for, if it is one
    :param rest: the question without the words of time
    :param unclear: what looks like a time and is not understood; the rest is then the whole question
    """

    after_ns: int | None
    before_ns: int | None
    at_ns: int | None
    rest: str
    unclear: str = ''


def parse_window(text: str, now_ns: int, zone: tzinfo = timezone.utc, reach: Reach | None = None) -> Window:
    """Find the words of time in a question.

    Understands 'in the last 10 minutes', '5 minutes ago', 'since an hour ago', 'between 9:00 and 9:10',
    'before 14:30', 'at 3 pm', 'today', 'since yesterday', 'yesterday at 9:00', 'this morning', 'on Monday'.
    'on 14 November', 'in May'. Of a question that names more times than are understood, none is: a part of
    them would be another time.

    :param now_ns: the asker's now
    :param zone: the asker's time zone
    :param reach: a time of day without a day is of the last day on which it may be remembered, and so is
        today's weekday; 'the first minute' is understood with it alone
    """
    now = datetime.fromtimestamp(now_ns // NS, zone)
    if reach is not None and datetime.fromtimestamp(reach[1] // NS, zone).date() < now.date():
        today = rf'(?<!last )(?<!next )(?<!this )\b{WEEKDAYS[now.weekday()]}\b(?! the \d)'
        text = re.sub(today, lambda found: f'last {found[0]}', text, flags=re.IGNORECASE)
    window = _read(spelled_out(in_digits(text), now_ns, zone), now_ns, zone, reach)
    plain = masked(text if window is None else window.rest)
    left = (_DATE, _SOME_TIME, _NO_MONTH) if window is None else _LEFT
    unclear = next((found for pattern in left if (found := pattern.search(plain))), None)
    if unclear is not None and (
        unclear.re is not _NO_MONTH or get_close_matches(unclear[1].lower(), MONTHS, cutoff=0.8)
    ):
        return Window(None, None, None, text, unclear[0].strip())
    return window or Window(None, None, None, text)


# One return per way to name a time.
def _read(  # noqa: PLR0911, PLR0912
    text: str, now_ns: int, zone: tzinfo, reach: Reach | None
) -> Window | None:
    if found := _LAST.search(text):
        return _window(max(now_ns - seconds_in(found['period']) * NS, 0), now_ns, None, _without(text, found))
    if reach is not None and (found := _FIRST.search(text)):
        return _window(reach[0], reach[0] + seconds_in(found['period']) * NS, None, _without(text, found))
    if found := _DAYS.search(text):
        first, last = (find_day(f'on {named}', now_ns, zone) for named in found.groups())
        if first and last and last.end_ns <= first.start_ns and _DATE.fullmatch(found[2]):
            # The end is to come, and was taken for one that has been.
            last = find_day(f'on {found[2]}', first.start_ns + UNITS['year'] * NS, zone)
        if first and last and first.start_ns < last.end_ns:
            return _window(first.start_ns, last.end_ns, None, _without(text, found))
    day = find_day(text, now_ns, zone)
    # 'yesterday at 9:00': the day says which 9:00.
    plain = day.rest if day else text
    clock = Clock(now_ns, zone, day, clock_now(now_ns, reach))
    for pattern in (_BETWEEN, _AFTER_BEFORE, _RANGE):
        if (found := pattern.search(plain)) and (span := clock.between(found[1], found[2])):
            return _window(*span, None, _without(plain, found))
    if (found := _THAN.search(plain)) and (edge := clock.moments(found[3])):
        before = bool(found['more']) != bool(found['no'])
        after_ns, before_ns = (None, edge[1]) if before else (edge[0], now_ns)
        return _window(after_ns, before_ns, None, _without(plain, found))
    if window := _at_edge(plain, clock, day):
        return window
    for pattern in (_AT, _OFF_ALONE, *((_AT_BARE, _CLOCK_DIGITS) if day else ())):
        if (found := pattern.search(plain)) and (moments := clock.moments(found[1])):
            return _around(moments, now_ns, _slack(found[1]), _without(plain, found))
    if (found := _ABOUT_AGO.search(text)) and (day is None or day.ago):
        moment = max(now_ns - seconds_in(found[0]) * NS, 0)
        return _around((moment, moment), now_ns, _slack(found[0]), _without(text, found))
    if day:
        if day.edge:
            return _window(*_sides(day.edge, day.start_ns, day.end_ns), None, _tidy(day.without))
        # 'yesterday at 9': in the morning or in the evening
        found = _AT_BARE.search(plain)
        return _window(day.start_ns, day.end_ns, None, _without(plain, found) if found else _tidy(plain))
    return None


def _at_edge(plain: str, clock: Clock, day: Day | None) -> Window | None:
    """Return the window of 'before 9:00' and the like."""
    found = _EDGE.search(plain) or (_EDGE_BARE.search(plain) if day and day.in_part else None)
    off = _OFF_ALONE.search(plain)
    if found and off and off.start() < found.start() < off.end():
        return None  # 'an hour before noon' is a moment
    edge = clock.moments(found[2]) if found else None
    if not found or not edge:
        return None
    after, before = _sides(found[1], edge[1], edge[1])
    after = edge[0] if after is not None else None
    if day and not day.edge:  # 'today before 9:00'
        after, before = (day.start_ns if after is None else after), (day.end_ns if before is None else before)
        after = min(after, before)
    return _window(after, before, None, _without(plain, found))


def parse_span(text: str, now_ns: int, zone: tzinfo = timezone.utc, reach: Reach | None = None) -> Window:
    """Return the time that a text names and nothing else: what :func:`parse_window` finds in questions.

    Also a bare day, 'Tuesday' or '2026-11-21', and any moment that :func:`parse_moment` understands, which
    stands for the minutes around it.

    :param reach: of 'earliest', 'since the beginning', 'until the end'; and see :func:`parse_window`
    :raises InvalidRequest: the text names no time, or has other words in it
    """
    if _HOUR.fullmatch(text.strip()):
        text = f"{text} o'clock"
    written = text if at_reach(text, reach) is not None else with_reach(text, reach)
    for attempt in (written, f'on {written}', f'at {written}', f'in {written}'):
        window = parse_window(attempt, now_ns, zone, reach)
        if window.rest != attempt and not window.rest.strip(' ?.!,'):
            return window
    moment = parse_moment(text, now_ns, zone, reach)
    return _around((moment, moment), now_ns, AROUND_S, '')


def _window(after: int | None, before: int | None, at: int | None, rest: str) -> Window:
    after, before, at = (None if ns is None else min(max(ns, 0), MAX_NS) for ns in (after, before, at))
    return Window(after, before, at, rest)


def _around(moments: tuple[int, int], now_ns: int, slack_s: float, rest: str) -> Window:
    """Return the window around a moment, or around both at which the clock showed the same."""
    first, last = moments
    slack_ns = round(slack_s * NS)
    at_ns = first if first <= now_ns < last else last
    return _window(first - slack_ns, last + slack_ns, at_ns, rest)


def _slack(text: str) -> float:
    """Return how far from a moment is still that moment [s]."""
    if not _ABOUT_AGO.fullmatch(text):
        return AROUND_S
    # Who says 'two days ago' means the day, not the minute.
    grain = grain_seconds(text)
    slack = max(AROUND_S, 0.1 * seconds_in(text), 0.5 * grain if grain >= UNITS['day'] else 0.0)
    return min(slack, UNITS['week'])


def _sides(word: str, start_ns: int, end_ns: int) -> tuple[int | None, int | None]:
    """Return after and before for 'before', 'since' and the like, and what lies from start to end."""
    if word.lower() == 'before':
        return None, start_ns
    if word.lower() in ('until', 'till', 'by'):
        return None, end_ns
    return (end_ns, None) if word.lower() == 'after' else (start_ns, None)


def _without(text: str, found: re.Match[str]) -> str:
    return _tidy(cut(text, found))


def _tidy(text: str) -> str:
    return re.sub(r'\s+([?.!,]|$)', r'\1', ' '.join(text.split()))
