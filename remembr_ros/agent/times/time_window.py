"""Windows of time in questions and in a model's tool calls, on the asker's clock."""

import re
from dataclasses import dataclass
from datetime import datetime, timezone, tzinfo
from difflib import get_close_matches

from remembr_ros.agent.model.quoting import any_case, masked
from remembr_ros.agent.times import day as days
from remembr_ros.agent.times import time_expression as said
from remembr_ros.agent.times.spelled_out import spelled_out
from remembr_ros.agent.times.time_expression import AGO_TEXT, AMOUNTS, NUMBER, PERIOD, Reach
from remembr_ros.timestamps import MAX_NS, NS, as_iso

_IN = r'\b(?:(?:in|during|within|over)\s+)?'
_OR = r'(?:(?<=\d)\s*[-\u2013]\s*(?=\d)| (?:to|or) )'
_LAST = any_case(rf'{_IN}(?:the )?(?:last|past|previous) (?:{NUMBER}{_OR})?(?P<period>{PERIOD})')
"""'in the last 10 minutes'; of 'in the last 5 to 10 minutes' the longer ones."""
_FIRST = any_case(
    rf'{_IN}the first (?P<period>{PERIOD}){said.OF_ALL}(?! (?:that|you|we|i|when|on which|in which)\b)'
)

_ISO_TEXT = r'\d{4}-\d\d-\d\d(?:[T\s][\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?'
_TIME_TEXT = rf'(?:{AGO_TEXT}|{days.OFF_TEXT}|{_ISO_TEXT}|{said.CLOCK_TEXT}|now\b)'
_MOMENT_TEXT = rf'(?:{_TIME_TEXT}|{said.BARE_TEXT}{days.FOLLOWS})'
_TO = '(?:and|to|until|till)'
_BETWEEN = any_case(rf'\b(?:between|from) (?:at )?({_TIME_TEXT}|{AMOUNTS}|{NUMBER}) {_TO} ({_MOMENT_TEXT})')
_AFTER_BEFORE = any_case(
    rf'\b(?:after|since|from) ({_TIME_TEXT}),? (?:(?:and|but) )?(?:before|until|till) ({_TIME_TEXT})'
)
_RANGE = any_case(rf'(?<![\d.,:-])\b({NUMBER}){_OR}({AMOUNTS} ago)\b')
"""'5-10 minutes ago', 'two or three hours ago'."""

_THAN = any_case(
    rf'\b(?P<no>(?:no|not) )?(?:(?P<more>(?:more|longer|earlier) than|over|at least)'
    rf'|less than|under|at most|within) ({AGO_TEXT})'
)
_MOMENT = any_case(
    rf'(?:{days.EDGE_TEXT} (?:at )?|\b(?:at|around|about) |(?=\b{days.OFF_TEXT}))(?P<moment>{_MOMENT_TEXT})'
)
"""'before 9:00', 'at noon', 'an hour before noon'; whether 'at 9' is one, Clock knows."""
_AT_BARE = any_case(rf'\b(?:at|around|about) {said.BARE_TEXT}{days.FOLLOWS}')
_CLOCK_DIGITS = any_case(rf'(?<![\w.:-])(?=\d)(?P<moment>{said.CLOCK_TEXT})')
_ABOUT_AGO = any_case(rf'(?:\b(?:about|around|roughly|approximately|almost|nearly|exactly|just) )?{AGO_TEXT}')
_DATE = any_case(days.DATE_TEXT)
_NO_MONTH = re.compile(r'\b([^\W\d_]{4,9}) \d{1,2}(?:st|nd|rd|th)?\b')
"""'Novmber 14'"""
_SOME_TIME = any_case(
    rf'(?<![\w:./])\d{{1,2}}(?::\d\d|/\d{{1,2}})(?![\w:./])|(?<!\S)\d\S{{0,9}} \w+ ago\b|\bon'
    rf' (?:the \d+(?:st|nd|rd|th)|\d{{1,2}}\.\d{{1,2}}){days.FOLLOWS}'
)
_DAYS = any_case(rf'\b(?:between|from) ({days.DAY_TEXT}) (?:{_TO}|through) ({days.DAY_TEXT})')
_WITH_A_TIME = any_case(rf'{days.EDGE_TEXT} (?:at )?{_MOMENT_TEXT}|\b(?:at|and|to|between) {_TIME_TEXT}')
_LEFT = (days.LEFT, _WITH_A_TIME, _BETWEEN, said.AGO, _LAST, _CLOCK_DIGITS, _DATE)
"""What in the rest of a question still names a time."""

_HOUR = any_case(rf'(?:at|around|about|{days.EDGE_TEXT}) \d{{1,2}}')
"""'at 9', which in a question may be anything."""

_Limits = tuple[int | None, int | None]
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
        today = rf'(?<!last )(?<!next )(?<!this )\b{days.WEEKDAYS[now.weekday()]}\b(?! the \d)'
        text = re.sub(today, lambda found: f'last {found[0]}', text, flags=re.IGNORECASE)
    text = as_iso(text, zone)
    window = _read(spelled_out(said.in_digits(text), now_ns, zone), now_ns, zone, reach)
    plain = masked(text if window is None else window.rest)
    left = (_DATE, _SOME_TIME, _NO_MONTH) if window is None else _LEFT
    unclear = next((found for pattern in left if (found := pattern.search(plain))), None)
    if unclear is not None and (
        unclear.re is not _NO_MONTH or get_close_matches(unclear[1].lower(), days.MONTHS, cutoff=0.8)
    ):
        return Window(None, None, None, text, unclear[0].strip())
    return window or Window(None, None, None, text)


# One return per way to name a time.
def _read(  # noqa: PLR0911, PLR0912
    text: str, now_ns: int, zone: tzinfo, reach: Reach | None
) -> Window | None:
    if found := _LAST.search(text):
        return _window(now_ns - said.seconds_in(found['period']) * NS, now_ns, days.cut(text, found))
    if reach is not None and (found := _FIRST.search(text)):
        return _window(reach[0], reach[0] + said.seconds_in(found['period']) * NS, days.cut(text, found))
    if found := _DAYS.search(text):
        first, last = (days.find_day(f'on {named}', now_ns, zone) for named in found.groups())
        if first and last and last.end_ns <= first.start_ns and _DATE.fullmatch(found[2]):
            # The end is to come, and was taken for one that has been.
            last = days.find_day(f'on {found[2]}', first.start_ns + said.UNITS['year'] * NS, zone)
        if first and last and first.start_ns < last.end_ns:
            return _window(first.start_ns, last.end_ns, days.cut(text, found))
    day = days.find_day(text, now_ns, zone)
    # 'yesterday at 9:00': the day says which 9:00.
    plain = day.rest if day else text
    clock = days.Clock(now_ns, zone, day, said.clock_now(now_ns, reach))
    for pattern in (_BETWEEN, _AFTER_BEFORE, _RANGE):
        if (found := pattern.search(plain)) and (span := clock.between(found[1], found[2])):
            return _window(*span, days.cut(plain, found))
    if (found := _THAN.search(plain)) and (edge := clock.moments(found[3])):
        side = 'until' if bool(found['more']) != bool(found['no']) else 'since'
        return _window(*_sides(side, edge, (None, now_ns)), days.cut(plain, found))
    for pattern in (_MOMENT, _CLOCK_DIGITS) if day else (_MOMENT,):
        for found in pattern.finditer(plain):
            if moments := clock.moments(found['moment']):
                rest = days.cut(plain, found)
                if word := found.groupdict().get('edge'):
                    # 'today before 9:00'
                    limits = (day.start_ns, day.end_ns) if day and not day.edge else (None, None)
                    return _window(*_sides(word, moments, limits), rest)
                return _around(moments, now_ns, found['moment'], rest)
    if (found := _ABOUT_AGO.search(text)) and (day is None or day.ago):
        moment = max(now_ns - said.seconds_in(found[0]) * NS, 0)
        return _around((moment, moment), now_ns, found[0], days.cut(text, found))
    if day and day.edge:
        start_ns, end_ns = day.start_ns, day.end_ns
        if day.edge.lower() in ('before', 'after'):  # and not a part of it
            start_ns, end_ns = end_ns, start_ns
        return _window(*_sides(day.edge, (start_ns, end_ns)), day.without)
    # 'yesterday at 9': in the morning or in the evening
    return _window(day.start_ns, day.end_ns, _AT_BARE.sub('', plain, count=1)) if day else None


def parse_span(text: str, now_ns: int, zone: tzinfo = timezone.utc, reach: Reach | None = None) -> Window:
    """Return the time that a text names and nothing else: what :func:`parse_window` finds in questions.

    Also a bare day, 'Tuesday' or '2026-11-21', and any moment that :func:`parse_moment` understands, which
    stands for the minutes around it.

    :param reach: of 'earliest', 'since the beginning', 'until the end'; and see :func:`parse_window`
    :raises InvalidRequest: the text names no time, or has other words in it
    """
    if _HOUR.fullmatch(text.strip()):
        text = f"{text} o'clock"
    text = as_iso(text, zone)
    written = text if said.at_reach(text, reach) is not None else said.with_reach(text, reach)
    for attempt in (written, f'on {written}', f'at {written}', f'in {written}', f'from {written}'):
        window = parse_window(attempt, now_ns, zone, reach)
        if window.rest != attempt and not window.rest.strip(' ?.!,'):
            return window
    moment = said.parse_moment(text, now_ns, zone, reach)
    return _around((moment, moment), now_ns, text, '')


def _window(after: int | None, before: int | None, rest: str, at: int | None = None) -> Window:
    after, before, at = (None if ns is None else min(max(ns, 0), MAX_NS) for ns in (after, before, at))
    if after is not None and before is not None:
        after = min(after, before)
    return Window(after, before, at, re.sub(r'\s+([?.!,]|$)', r'\1', ' '.join(rest.split())))


def _around(moments: tuple[int, int], now_ns: int, text: str, rest: str) -> Window:
    """Return the window around a moment, or around both at which the clock showed the same.

    :param text: that names it: who says 'two days ago' means the day, not the minute
    """
    first, last = moments
    slack_s = AROUND_S
    if _ABOUT_AGO.fullmatch(text):
        days_s = said.grain_seconds(text) if said.grain_seconds(text) >= said.UNITS['day'] else 0
        slack_s = max(slack_s, 0.1 * said.seconds_in(text), 0.5 * days_s)
    slack_ns = round(min(slack_s, said.UNITS['week']) * NS)
    return _window(first - slack_ns, last + slack_ns, rest, first if first <= now_ns < last else last)


def _sides(word: str, moments: tuple[int, int], limits: _Limits = (None, None)) -> _Limits:
    """Return after and before for 'before', 'since' and the like.

    :param moments: the first and the last of what comes after that word
    :param limits: after and before where the word sets none
    """
    is_end = word.lower() in ('before', 'until', 'till', 'by')
    return (limits[0], moments[1]) if is_end else (moments[0], limits[1])
