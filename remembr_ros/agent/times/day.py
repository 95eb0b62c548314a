"""Days in questions, and their mornings, afternoons, evenings and nights."""

import re
from calendar import monthrange
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo

from remembr_ros.agent.model.quoting import any_case
from remembr_ros.agent.times import time_expression as said
from remembr_ros.errors import InvalidRequest
from remembr_ros.timestamps import NS, local, to_ns

_EDGES = ('before', 'until', 'till', 'by', 'after', 'since', 'from')
EDGE_TEXT = rf'\b(?P<edge>{"|".join(_EDGES)})'
MONTHS = 'january february march april may june july august september october november december'.split()
MONTH_TEXT = r'(?:' + '|'.join(rf'{month[:3]}(?:{month[3:]})?' for month in MONTHS) + r'|sept)\b\.?'
_NTH = r'\d{1,2}(?:st|nd|rd|th)'
YEAR_TEXT = r'(?:,?\s+\d{4}\b)'
DATE_TEXT = (
    rf'(?<![\w.-])(?:\d{{4}}[-/]\d{{1,2}}[-/]\d{{1,2}}|\d{{1,2}}[./-]\d{{1,2}}(?:[./-](?:\d{{4}}|\d\d)|\.))(?![\w-])'
    rf'|(?:the\s+)?\b(?:{_NTH}|\d{{1,2}}\.?)\s+(?:of\s+)?{MONTH_TEXT}{YEAR_TEXT}?'
    rf'|\b{MONTH_TEXT}\s+(?:the\s+)?(?:{_NTH}|\d{{1,2}}(?![:\d])){YEAR_TEXT}?'
)
"""A day of the calendar, as its users write it; which one it is, if it is one, says dateparser."""

FOLLOWS = (
    r'(?=\s*(?:[?.!,;]|$|(?:near|next|in|inside|at|on|by|of|between|before|after|since|until|from|around|about'
    r'|than|when|where|while|what|which|who|how|did|do|does|was|were|is|are|had|have|has)\b))'
)
"""Ends a time: of 'in the evening dress' and 'from 5 to 6 chairs' nothing is a time."""

WEEKDAYS = ('monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday')
WEEKDAY_TEXT = rf'(?:{"|".join(WEEKDAYS)})'
_AFTER_EDGE = '|'.join(rf'(?<={word}\s)' for word in (*_EDGES, 'on'))
_PARTS = {'morning': (5, 12), 'afternoon': (12, 18), 'evening': (18, 24), 'night': (20, 30)}
_PARTS |= {'tonight': (18, 24), 'this night': (0, 6), 'last night': (-4, 6)}
"""From which to which hour of a day; a night ends on the day after."""

_DAYBREAK = 5  # Until this hour 'this evening' may be the one before midnight
_THIS = any_case(r'\b(?:this (?:morning|afternoon|evening)|tonight)\b')
_PART_TEXT = r'(?:morning|afternoon|evening|night)'
_DAY = any_case(
    rf'(?:{EDGE_TEXT} |\b(?:(?:on|in|earlier) )?)(?:the )?(?:(?P<of>{_PART_TEXT}) (?:of|on) )?'
    rf'(?:(?P<named>{WEEKDAY_TEXT}),? (?={DATE_TEXT}))?(?P<day>day before yesterday|tonight|today|yesterday'
    rf'|(?:this|last)(?= {_PART_TEXT}\b)|(?:{_AFTER_EDGE}|last ){WEEKDAY_TEXT}|(?P<date>{DATE_TEXT})'
    rf'|(?<=in\s)(?P<month>{MONTH_TEXT}{YEAR_TEXT}?)(?! \d))(?!\w)(?: (?P<part>{_PART_TEXT})\b)?'
)
_PART_ALONE = any_case(rf'\b(?:(?:in|during) the (?P<part>{_PART_TEXT})|at (?P<night>night)){FOLLOWS}')
_AGO = any_case(rf'(?P<end>(?:{EDGE_TEXT}|\b(?:between|and|to|than)) )?{said.AGO_TEXT}')
DAY_TEXT = rf'(?:{DATE_TEXT}|{WEEKDAY_TEXT}|yesterday|today)'
OFF_TEXT = rf'\b{said.AMOUNTS}\s+(?:before|after)\s+{said.CLOCK_TEXT}'
_OFF = any_case(rf'({said.AMOUNTS}) (before|after) ({said.CLOCK_TEXT})')
LEFT = any_case(
    rf'\b(?:today|yesterday|tonight|(?:this|last) {_PART_TEXT}|(?:on|or|and|to|until|last)'
    rf' (?:{WEEKDAY_TEXT}|{_NTH}{FOLLOWS}))\b'
)
"""What in the rest of a question still names a day."""


@dataclass(frozen=True, slots=True)
class Day:
    """A day, or a part of one.

    :param midnight: with which the day begins, on the asker's clock
    :param hours: of the part, since midnight; (0, 24): the whole day
    :param edge: the word before it, such as 'since'; empty: there is none
    :param ago: it was named by how many days ago it was, and may be meant less precisely
    :param rest: the text without its words, but with that word
    :param without: the text without that word, too
    """

    midnight: datetime
    hours: tuple[int, int]
    edge: str
    ago: bool
    rest: str
    without: str

    @property
    def start_ns(self) -> int:
        return to_ns(self.midnight + timedelta(hours=self.hours[0]))

    @property
    def end_ns(self) -> int:
        return to_ns(self.midnight + timedelta(hours=self.hours[1]))

    @property
    def in_part(self) -> bool:
        return self.hours != (0, 24)

    def at(self, time: timedelta, twelve_hours: bool) -> datetime:
        """Return when the clock of that day showed a time.

        :param time: since midnight
        :param twelve_hours: the time may be one of the afternoon: of the two the one in the part is meant
        """
        if self.in_part:
            first, last = (timedelta(hours=hour) for hour in self.hours)
            step = timedelta(hours=12 if twelve_hours else 24)
            readings = (time + step * number for number in range(-1, 3))
            time = next((reading for reading in readings if first <= reading <= last), time)
        return self.midnight + time


def find_day(text: str, now_ns: int, zone: tzinfo) -> Day | None:
    """Return the day that a text names; None: there is none."""
    now = local(now_ns, zone)
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        named = _named(text, today) or _ago(text, today)
        day = named or Day(today, (0, 24), '', False, text, text)
        alone = None if day.in_part else _PART_ALONE.search(day.rest)
        if alone:
            part = (alone['part'] or alone['night']).lower()
            hours = _PARTS['last night' if part == 'night' and named is None else part]
            without = _PART_ALONE.sub(' ', day.without, count=1)
            day = replace(day, hours=hours, ago=False, rest=cut(day.rest, alone), without=without)
        elif named is None:
            return None
        # 'in the evening' is of the last one
        if day.start_ns > now_ns and (named is None or (now.hour < _DAYBREAK and _THIS.search(text))):
            day = replace(day, midnight=day.midnight - timedelta(days=1))
        _ = (day.start_ns, day.end_ns)  # of the year 9999 one cannot say when it ends
    except (OverflowError, ValueError):
        return None
    return day


def _named(text: str, midnight: datetime) -> Day | None:
    """:raises ValueError, OverflowError: the calendar has no such day"""
    found = _DAY.search(text)
    if found is None:
        return None
    day, part = ' '.join(found['day'].lower().split()), (found['part'] or found['of'] or '').lower()
    hours = _PARTS.get(f'{day} {part}'.strip(), _PARTS.get(part, (0, 24)))
    back = {'day before yesterday': 2, 'yesterday': 1, 'last': part != 'night'}.get(day, 0)
    if (weekday := day.removeprefix('last ')) in WEEKDAYS:
        back = (midnight.weekday() - WEEKDAYS.index(weekday)) % 7 or (7 if day.startswith('last') else 0)
    elif found['date']:
        midnight = of_calendar(found['date'], midnight, 'day', 'month')
        if found['named'] and WEEKDAYS[midnight.weekday()] != found['named'].lower():
            raise ValueError(f'{found[0]!r} are two days')
    elif found['month']:
        midnight = of_calendar(found['month'], midnight, 'month').replace(day=1)
        hours = (0, 24 * monthrange(midnight.year, midnight.month)[1])
    midnight, edge = midnight - timedelta(days=back), found['edge'] or ''
    return Day(midnight, hours, edge, False, cut(text, found, edge), cut(text, found))


def of_calendar(text: str, today: datetime, *named: str) -> datetime:
    """Return the latest day of a calendar that a text can mean.

    :param named: what it has to name: 'day', 'month'
    :raises ValueError: there is no such day
    """
    import dateparser

    settings = {
        'RELATIVE_BASE': today.replace(tzinfo=None),
        'PREFER_DATES_FROM': 'past',
        'REQUIRE_PARTS': list(named),
        'PARSERS': ['absolute-time'],
        'DATE_ORDER': 'DMY' if '.' in text else 'MDY',  # 5.6. is in June, 5/6 in May
    }
    parts = text.split('/')
    if len(parts) == 3 and max(map(int, parts[:2])) <= 12 and parts[0] != parts[1]:
        raise ValueError(f'{text!r} may be two days')
    found = dateparser.parse(text, languages=['en'], settings=settings)
    if found is None:
        raise ValueError(f'{text!r} is no day')
    return today.replace(year=found.year, month=found.month, day=found.day)


def _ago(text: str, midnight: datetime) -> Day | None:
    """Return the day of 'two days ago'; after 'since' and the like it is a moment."""
    found = _AGO.search(text)
    if found is None or found['end'] or said.grain_seconds(found[0]) < said.UNITS['day']:
        return None
    days = timedelta(days=round(said.seconds_in(found[0]) / said.UNITS['day']))
    rest = cut(text, found)
    return Day(midnight - days, (0, 24), '', True, rest, rest)


def cut(text: str, found: re.Match[str], but: str = '') -> str:
    """Return a text without what was found in it, but with one word of that."""
    return f'{text[: found.start()]} {but} {text[found.end() :]}'


@dataclass(frozen=True, slots=True)
class Clock:
    """Reads the times of a question.

    :param day: that the clock times are of; None: the latest that has been
    :param until_ns: and that is not after this
    """

    now_ns: int
    zone: tzinfo
    day: Day | None
    until_ns: int

    def moments(self, text: str) -> tuple[int, int] | None:
        """Return the first and the last moment that a text can mean; None: it names none."""
        bare = re.fullmatch(said.BARE_TEXT, text) is not None
        try:
            if found := _OFF.fullmatch(text):
                shown = self.moments(found[3])
                by = said.seconds_in(found[1]) * (NS if found[2].lower() == 'after' else -NS)
                return (shown[0] + by, shown[1] + by) if shown else None
            if said.CLOCK.fullmatch(text) or (bare and self.day is not None and self.day.in_part):
                if self.day is None:
                    return said.latest_clock_moments(text, self.until_ns, self.zone)
                time, twice = said.time_of_day(text), said.twice_a_day(text)
                first = self.day.at(time, twice or (bare and time < timedelta(hours=13)))
                last = first + timedelta(hours=12) if twice and not self.day.in_part else first
                return said.clock_moments(first)[0], said.clock_moments(last)[1]
            return None if bare else (said.parse_moment(text, self.now_ns, self.zone),) * 2
        except (InvalidRequest, OverflowError, ValueError):
            return None

    def between(self, first: str, second: str) -> tuple[int, int] | None:
        """Return from when to when 'between 9 and 5 pm' or '10 and 20 minutes ago' is; None: no time."""
        if said.AGO.fullmatch(second):
            if re.fullmatch(said.NUMBER, first, re.IGNORECASE):  # 'minutes' of '20 minutes ago'
                first = f'{first} {said.PART.findall(second)[0][2]}'
            if re.fullmatch(said.AMOUNTS, first, re.IGNORECASE):
                first = f'{first} ago'
        elif self.day is None or not (self.day.in_part or (first.isdigit() and second.isdigit())):
            first, second = said.with_am_pm(first, second)
        start, end = self.moments(first), self.moments(second)
        if start is None or end is None:
            return None
        if end[1] < start[0] and not said.AGO.fullmatch(first) and said.CLOCK.fullmatch(second):
            # 'between 23:00 and 1:00', or it is 22:15 and the question 'between 22:00 and 23:00'
            # By the clock: a day may have 23 hours. "between 3 and 5 o'clock" at 4: in an hour.
            later = timedelta(hours=12 if said.twice_a_day(second) else 24)
            end = said.clock_moments(local(end[1], self.zone) + later)
        return min(start[0], end[0]), max(start[1], end[1])
