"""Days in questions, and their mornings, afternoons, evenings and nights."""

import re
from calendar import monthrange
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo

from remembr_ros.agent.times.time_expression import AGO, UNITS, grain_seconds, local, seconds_in, to_ns

_EDGES = ('before', 'until', 'till', 'by', 'after', 'since', 'from')
EDGE_TEXT = rf'\b({"|".join(_EDGES)})'
ISO_DATE = r'\d{4}-\d\d-\d\d'
_MONTHS = 'january february march april may june july august september october november december'.split()
_MONTH = r'(?:' + '|'.join(rf'{month[:3]}(?:{month[3:]})?' for month in _MONTHS) + r'|sept)\b\.?'
_NTH = r'\d{1,2}(?:st|nd|rd|th)'
_YEAR = r'(?:,?\s+\d{4}\b)'
DATE_TEXT = (
    rf'(?<![\w.-])(?:\d{{4}}[-/]\d{{1,2}}[-/]\d{{1,2}}|\d{{1,2}}[./-]\d{{1,2}}(?:[./-](?:\d{{4}}|\d\d)|\.))(?![\w-])'
    rf'|(?:the\s+)?\b(?:{_NTH}|\d{{1,2}}\.?)\s+(?:of\s+)?{_MONTH}{_YEAR}?'
    rf'|\b{_MONTH}\s+(?:the\s+)?(?:{_NTH}|\d{{1,2}}(?![:\d])){_YEAR}?'
)
"""A day of the calendar, as its users write it; which one it is, if it is one, says dateparser."""

_TO = r'\s*(?:\band\b|\bto\b|\buntil\b|\btill\b|-|\u2013)\s*(?:the\s+)?'
_SHARED_MONTH = re.compile(
    rf'(?:\b(?:between|from)\s+(?:the\s+)?)?(?:\b(?P<a>\d{{1,2}})(?:st|nd|rd|th)?{_TO}(?P<b>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?'
    rf'(?P<after>{_MONTH})|\b(?P<before>{_MONTH})\s+(?P<c>\d{{1,2}}){_TO}(?P<d>\d{{1,2}})(?![:\d]))(?P<year>{_YEAR}?)',
    re.IGNORECASE,
)
"""'20 to 22 November', 'Nov 20-22'."""
FOLLOWS = (
    r'(?=\s*(?:[?.!,;]|$|(?:near|next|in|inside|at|on|by|of|between|before|after|since|until|from|around|about'
    r'|when|where|while|what|which|who|how|did|do|does|was|were|is|are|had|have|has)\b))'
)
"""Ends a time: of 'in the evening dress' and 'from 5 to 6 chairs' nothing is a time."""

WEEKDAYS = ('monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday')
_WEEKDAY = rf'(?:{"|".join(WEEKDAYS)})'
_NTH_DAY = rf'(?:{_WEEKDAY},?\s+)?the\s+([12]?\d|3[01])(?:st|nd|rd|th)'
_NTHS = re.compile(
    rf'(?:\b(?:from|between)\s+)?\b{_NTH_DAY}\s+(?:to|and|until|till|through)\s+{_NTH_DAY}{FOLLOWS}',
    re.IGNORECASE,
)
_NTH_ALONE = re.compile(
    rf'((?:^|\b(?:on|since|until|till|before|after|from|by|{_WEEKDAY}),?)\s*){_NTH_DAY}(?:{FOLLOWS}|(?=\s+(?:and|you|we|i|the\s+robot)\b))'
    rf'(?!\s+of\b)',
    re.IGNORECASE,
)
"""A day of the latest month that had it."""
_THIS_UNIT = re.compile(
    r'(?:\b(?:in|during|over|throughout|for)\s+)?(?:\b(?:the\s+)?(?:whole|entire|all)\s+(?:of\s+)?(?:this\s+|the\s+)?|\bthis\s+)'
    r'(?P<unit>week|month|year)\b',
    re.IGNORECASE,
)
_SMALL = dict(zip('one two three four five six seven eight nine ten'.split(), range(1, 11), strict=True))
_PART_OF_MONTH = re.compile(
    rf'(?:\b(?:in|during|over|for)\s+)?\bthe\s+(?P<end>first|last)\s+(?:(?P<number>\d{{1,2}})|(?P<word>{"|".join(_SMALL)}))?\s*'
    rf'(?P<unit>days?|weeks?)\s+(?:of|in)\s+(?P<month>{_MONTH}{_YEAR}?|(?:the|this)\s+month)',
    re.IGNORECASE,
)
_WEEK_OF = re.compile(
    rf'\b(?:(?:in|during|over)\s+)?(?:the\s+)?week\s+(?:of|from|beginning|starting)\s+(?:{_WEEKDAY},?\s+)?(?P<day>{DATE_TEXT}|{_NTH_DAY})'
    r'(?!\s*(?:to|until|till|through)\b)',
    re.IGNORECASE,
)
_IN_OTHER_WORDS = re.compile(
    rf'\b(?:(?:in|during|over|for)\s+)?(?:(?:last|this)\s+week|the\s+\w+\s+week(?:\s+of\s+(?:the\s+month|{_MONTH}))?),\s*'
    rf'(?=(?:from\s+)?(?:\d{{4}}-|\d{{1,2}}(?:st|nd|rd|th)?\s|between\b|{_WEEKDAY}\b|the\s+\d))',
    re.IGNORECASE,
)
"""'last week, Monday the 22nd through Sunday the 28th': the second one says it."""
_NTH_WORDS = dict(
    zip(
        'first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth '
        'fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth thirtieth'.split(),
        (*range(1, 21), 30),
        strict=True,
    )
)
_NTH_WORD = re.compile(
    rf'\b(?P<before>(?:on|since|until|till|before|after|from|to|by|{_WEEKDAY}),?\s+the\s+|the\s+(?=[\w-]+\s+of\s+(?-i:[A-Z])))'
    rf'(?P<ten>twenty|thirty)?-?(?P<nth>{"|".join(_NTH_WORDS)})(?=\s+of\s+{_MONTH}|{FOLLOWS})',
    re.IGNORECASE,
)
_WHOLE_MONTH = re.compile(
    rf'(?<!\d )(?<!th )(?<!st )(?<!nd )(?<!rd )\b(?:over|during|throughout|through|of|in)\s+(?:(?:the'
    rf'|all)\s+)?(?:(?:whole|entire|month)\s+)?'
    rf'(?:of\s+)?(?P<month>(?-i:(?=[A-Z])){_MONTH}{_YEAR}?)(?!\s+\d)',
    re.IGNORECASE,
)
_AFTER_EDGE = '|'.join(rf'(?<={word}\s)' for word in _EDGES)
_PARTS = {'morning': (5, 12), 'afternoon': (12, 18), 'evening': (18, 24), 'night': (20, 30)}
"""From which to which hour of a day; a night ends on the day after."""

PARTS_OF_DAY = {'night': 0, **{name: _PARTS[name][0] for name in ('morning', 'afternoon', 'evening')}}
"""With which hour of the clock each begins; a night that begins at 20 is the evening's until midnight."""

_LAST_NIGHT = (-4, 6)
_DAYBREAK = 5  # Until this hour 'this evening' may be the one before midnight
_THIS = re.compile(r'\b(?:this\s+(?:morning|afternoon|evening)|tonight)\b', re.IGNORECASE)
_PART_TEXT = r'(?:morning|afternoon|evening|night)'
_DAY = re.compile(
    rf'(?:{EDGE_TEXT}\s+|\b(?:(?:on|in|earlier)\s+)?)(?:the\s+)?(?:(?P<of>{_PART_TEXT})\s+(?:of|on)\s+)?'
    rf'(?:(?P<named>{_WEEKDAY}),?\s+(?={DATE_TEXT}))?(?P<day>day\s+before\s+yesterday|tonight|'
    rf'(?:today|yesterday)|(?:this|last)(?=\s+{_PART_TEXT}\b)'
    rf'|(?<=on\s){_WEEKDAY}|(?:{_AFTER_EDGE}){_WEEKDAY}|last\s+{_WEEKDAY}|(?P<date>{DATE_TEXT})'
    rf'|(?<=in\s)(?P<month>{_MONTH}{_YEAR}?)(?!\s+\d))(?!\w)'
    rf'(?:\s+(?P<part>{_PART_TEXT})\b)?',
    re.IGNORECASE,
)
_PART_ALONE = re.compile(
    rf'\b(?:(?:in|during)\s+the\s+(?P<part>{_PART_TEXT})|at\s+(?P<night>night)){FOLLOWS}', re.IGNORECASE
)
_WITH_AN_END = re.compile(rf'(?:{EDGE_TEXT}|\b(?:between|and|to|than))\s*$', re.IGNORECASE)
DAY_TEXT = rf'(?:{DATE_TEXT}|{_WEEKDAY}|yesterday|today)'
MONTHS = tuple(_MONTHS)
LEFT = re.compile(
    rf'\b(?:today|yesterday|tonight|(?:this|last)\s+{_PART_TEXT}|(?:on|or|and|to|until|last)\s+(?:{_WEEKDAY}|{_NTH}{FOLLOWS}))\b',
    re.IGNORECASE,
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
            half_days = range(-2, 4) if twelve_hours else (-2, 0, 2)
            first, last = (timedelta(hours=hour) for hour in self.hours)
            readings = [time + timedelta(hours=12 * number) for number in half_days]
            time = next((reading for reading in readings if first <= reading <= last), time)
        return self.midnight + time


def spelled_out(text: str, now_ns: int, zone: tzinfo) -> str:
    """Return a text that says both ends of a time: of "20 to 22 November", "this month", "on the 16th"."""
    today = local(now_ns, zone).replace(hour=0, minute=0, second=0, microsecond=0)

    def both(found: re.Match[str]) -> str:
        month = (found['after'] or found['before']) + found['year']
        return f'between {found["a"] or found["c"]} {month} and {found["b"] or found["d"]} {month}'

    def this(found: re.Match[str]) -> str:
        unit = found['unit'].lower()
        first = today - timedelta(days=today.weekday()) if unit == 'week' else today.replace(day=1)
        first = first.replace(month=1) if unit == 'year' else first
        days = {'week': 7, 'month': monthrange(first.year, first.month)[1], 'year': 366}[unit]
        last = min(
            first + timedelta(days=days - 1), first.replace(month=12, day=31) if unit == 'year' else today
        )
        return f' from {first.date()} to {max(last, today).date()}'

    def part(found: re.Match[str]) -> str:
        month = found['month']
        first = today if month.endswith('month') else _of_calendar(month, today, 'month')
        first = first.replace(day=1)
        days = monthrange(first.year, first.month)[1]
        number = int(found['number'] or _SMALL.get((found['word'] or '').lower(), 1))
        number = min(number * (7 if found['unit'].lower().startswith('week') else 1), days)
        first = first if found['end'].lower() == 'first' else first.replace(day=days - number + 1)
        return f' from {first.date()} to {(first + timedelta(days=number - 1)).date()}'

    def nth(number: str) -> str:
        month = today
        while month.day < int(number) or _length(month) < int(number):
            month = (month.replace(day=1) - timedelta(days=1)).replace(hour=0)
        return str(month.replace(day=int(number)).date())

    def in_digits(found: re.Match[str]) -> str:
        number = _NTH_WORDS[found['nth'].lower()] + {'twenty': 20, 'thirty': 30}.get(
            (found['ten'] or '').lower(), 0
        )
        ends = {1: 'st', 2: 'nd', 3: 'rd'}
        return f'{found["before"]}{number}{"th" if number in (11, 12, 13) else ends.get(number % 10, "th")}'

    def week(found: re.Match[str]) -> str:
        of_month = re.search(_NTH_DAY, found['day'], re.IGNORECASE)
        first = (
            datetime.fromisoformat(nth(of_month[1]))
            if of_month
            else _of_calendar(found['day'], today, 'day', 'month')
        )
        return f' from {first.date()} to {(first + timedelta(days=6)).date()}'

    try:
        text = _IN_OTHER_WORDS.sub('', _NTH_WORD.sub(in_digits, text))
        text = _SHARED_MONTH.sub(both, text)
        text = _WEEK_OF.sub(week, text)
        text = _PART_OF_MONTH.sub(part, _THIS_UNIT.sub(this, text))
        text = _WHOLE_MONTH.sub(lambda found: f'in {found["month"]}', text)
        text = _NTHS.sub(lambda found: f'from {nth(found[1])} to {nth(found[2])}', text)
        return _NTH_ALONE.sub(lambda found: f'{found[1]}{nth(found[2])}', text)
    except (OverflowError, ValueError):
        return text


def _length(month: datetime) -> int:
    return monthrange(month.year, month.month)[1]


def find_day(text: str, now_ns: int, zone: tzinfo) -> Day | None:
    """Return the day that a text names; None: there is none."""
    today = local(now_ns, zone).replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        day = _named(text, today) or _ago(text, today)
        alone = _PART_ALONE.search(day.rest if day else text)
        if alone and not (day and day.in_part):
            part = (alone['part'] or alone['night']).lower()
            rest = cut(alone.string, alone)
            if day is not None:
                without = _PART_ALONE.sub(' ', day.without, count=1)
                day = replace(day, hours=_PARTS[part], ago=False, rest=rest, without=without)
            else:
                day = Day(today, _LAST_NIGHT if part == 'night' else _PARTS[part], '', False, rest, rest)
                day = _begun(day, now_ns)
        elif day is not None and _THIS.search(text) and local(now_ns, zone).hour < _DAYBREAK:
            day = _begun(day, now_ns)
        if day is not None:
            _ = day.start_ns, day.end_ns  # of the year 9999 one cannot say when it ends
    except (OverflowError, ValueError):
        return None
    return day


def _begun(day: Day, now_ns: int) -> Day:
    """Return the day, or the one before if nothing of it has been."""
    if day.start_ns <= now_ns:
        return day
    return replace(day, midnight=day.midnight - timedelta(days=1))


def _named(text: str, midnight: datetime) -> Day | None:
    """:raises ValueError, OverflowError: the calendar has no such day"""
    found = _DAY.search(text)
    if found is None:
        return None
    day, part = ' '.join(found['day'].lower().split()), (found['part'] or found['of'] or '').lower()
    hours = _PARTS.get(part, (0, 24))
    if day == 'tonight':
        hours = _PARTS['evening']
    elif day == 'day before yesterday':
        midnight -= timedelta(days=2)
    elif day == 'yesterday' or (day == 'last' and part != 'night'):
        midnight -= timedelta(days=1)
    elif day == 'last':
        hours = _LAST_NIGHT
    elif day == 'this' and part == 'night':
        hours = (0, 6)
    elif (weekday := day.removeprefix('last ')) in WEEKDAYS:
        back = (midnight.weekday() - WEEKDAYS.index(weekday)) % 7
        midnight -= timedelta(days=back or (7 if day.startswith('last') else 0))
    elif found['date']:
        midnight = _of_calendar(found['date'], midnight, 'day', 'month')
        if found['named'] and WEEKDAYS[midnight.weekday()] != found['named'].lower():
            raise ValueError(f'{found[0]!r} are two days')
    elif found['month']:
        midnight = _of_calendar(found['month'], midnight, 'month').replace(day=1)
        hours = (0, 24 * monthrange(midnight.year, midnight.month)[1])
    edge = found[1] or ''
    before, after = text[: found.start()], text[found.end() :]
    return Day(midnight, hours, edge, False, f'{before} {edge} {after}', f'{before} {after}')


def _of_calendar(text: str, today: datetime, *named: str) -> datetime:
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
    found = AGO.search(text)
    if found is None or grain_seconds(found[0]) < UNITS['day'] or _WITH_AN_END.search(text[: found.start()]):
        return None
    days = timedelta(days=round(seconds_in(found[0]) / UNITS['day']))
    rest = cut(text, found)
    return Day(midnight - days, (0, 24), '', True, rest, rest)


def cut(text: str, found: re.Match[str]) -> str:
    """Return a text without what was found in it."""
    return f'{text[: found.start()]} {text[found.end() :]}'
