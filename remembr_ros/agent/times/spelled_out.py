"""Rewrites times in words ('this month', 'on the 16th', 'the week of 15 June') as dates."""

import re
from calendar import monthrange
from datetime import datetime, timedelta, tzinfo

from remembr_ros.agent.model.quoting import ORDINALS, TO_TWENTY, any_case
from remembr_ros.agent.times.day import (
    DATE_TEXT,
    FOLLOWS,
    MONTH_TEXT,
    WEEKDAY_TEXT,
    WEEKDAYS,
    YEAR_TEXT,
    of_calendar,
)
from remembr_ros.timestamps import local

_TO = (
    r'\s*(?:\band\b|\bto\b|\buntil\b|\btill\b|\bthrough\b|\bup\s+to(?:\s+and\s+including)?\b|-'
    r'|\u2013)\s*(?:the\s+)?'
)
_SHARED_MONTH = any_case(
    rf'(?:\b(?:between|from) (?:the )?)?(?:\b(?P<a>\d{{1,2}})(?:st|nd|rd'
    rf'|th)?{_TO}(?P<b>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?'
    rf'(?P<after>{MONTH_TEXT})|\b(?P<before>{MONTH_TEXT})'
    rf' (?P<c>\d{{1,2}}){_TO}(?P<d>\d{{1,2}})(?![:\d]))(?P<year>{YEAR_TEXT}?)'
)
"""'20 to 22 November', 'Nov 20-22'."""
_NTH_DAY = rf'(?:{WEEKDAY_TEXT},?\s+)?the\s+([12]?\d|3[01])(?:st|nd|rd|th)'
_NTHS = any_case(rf'(?:\b(?:from|between) )?\b{_NTH_DAY}{_TO}{_NTH_DAY}(?! of\b)')
_GOES_ON = (
    r'(?=\s+(?:and|you|we|i|it|they|he|she|the\s+robot|some|any|for|then|as|begin|began|start|end|go|went|look|with|during|up'
    r'|could|would|should|can|will|please|[a-z]+ed)\b)'
)
_NTH_ALONE = any_case(
    rf'(?P<edge>\b(?:on|of|since|until|till|before|after|from|by|to|{WEEKDAY_TEXT}),?'
    rf' )?{_NTH_DAY}(?:{FOLLOWS}|{_GOES_ON}|(?=\s*[-\u2013\u2014:)]))(?! of\b)'
)
"""A day of the latest month that had it."""
_THIS_UNIT = any_case(
    r'(?:\b(?:in|during|over|throughout|for) )?(?:\b(?:the )?(?:whole|entire|all) (?:of )?(?:this '
    r'|the )?|\bthis )(?P<unit>week|month|year)\b'
)
_SMALL = {word: number for number, word in enumerate(TO_TWENTY[:11]) if number}
_MONTHS_FIRST = any_case(
    rf"(?:\bthe )?\b(?P<month>{MONTH_TEXT}|the month|month)['\u2019]s (?P<end>first|last)"
    rf' (?P<rest>(?:\w+ )?(?:days?|weeks?))\b'
)
_PART_OF_MONTH = any_case(
    rf'(?:\b(?:in|during|over|for) )?\bthe (?P<end>first|last) (?:(?P<number>\d{{1,2}})'
    rf'|(?P<word>{"|".join(_SMALL)}))?\s*'
    rf'(?P<unit>days?|weeks?) (?:of|in) (?P<month>{MONTH_TEXT}{YEAR_TEXT}?|(?:(?:the|this) )?month)'
    r'(?:,? (?:the )?\d{1,2}(?:st|nd|rd|th)\s*(?:to|through|-|\u2013)\s*(?:the )?\d{1,2}(?:st|nd|rd|th)\b)?'
)
_UP_TO = any_case(r'\bup (?:to|until|till) (?=(?:noon|midday|midnight|\d{1,2}(?::\d\d|\s*[ap]m))\b)')
_OF_LAST_WEEK = any_case(
    rf'(?:\bon )?\b(?:(?P<day>{WEEKDAY_TEXT}),? (?:of )?last week|last week (?:on'
    rf' )?(?P<day_>{WEEKDAY_TEXT}))\b'
)
_WEEK_OF = any_case(
    rf'\b(?:(?:in|during|over) )?(?:the )?week (?:of|from|beginning|starting) (?:{WEEKDAY_TEXT},?'
    rf' )?(?P<day>{DATE_TEXT}|{_NTH_DAY})(?!\s*(?:to|up to|until|till|through)\b)'
)
_IN_OTHER_WORDS = any_case(
    rf'\b(?:(?:in|during|over|for) )?(?:(?:last|this) week|the \w+ week(?: of (?:the month'
    rf'|{MONTH_TEXT}))?),\s*'
    rf'(?=(?:from )?(?:\d{{4}}-|\d{{1,2}}(?:st|nd|rd|th)?\b[^,]*\b{MONTH_TEXT}|between\b'
    rf'|{WEEKDAY_TEXT}\b|the \d))'
)
"""'last week, Monday the 22nd through Sunday the 28th': the second one says it."""
_NTH_WORDS = {word: number for number, word in enumerate(ORDINALS, start=1)} | {'thirtieth': 30}
_NTH_WORD = any_case(
    rf'\b(?P<before>(?:on|since|until|till|before|after|from|to|by|{WEEKDAY_TEXT}),? the |the'
    rf' (?=[\w-]+ of (?-i:[A-Z])))'
    rf'(?P<ten>twenty|thirty)?-?(?P<nth>{"|".join(_NTH_WORDS)})(?= of {MONTH_TEXT}|{FOLLOWS})'
)
_WHOLE_MONTH = any_case(
    rf'(?<!\d\s)(?<!th\s)(?<!st\s)(?<!nd\s)(?<!rd\s)\b(?:over|during|throughout|through|of|in) (?:(?:the'
    rf'|all) )?(?:(?:whole|entire|month) )?'
    rf'(?:of )?(?P<month>(?-i:(?=[A-Z])){MONTH_TEXT}{YEAR_TEXT}?)(?! \d)'
)


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
        first = today if month.endswith('month') else of_calendar(month, today, 'month')
        first = first.replace(day=1)
        days = monthrange(first.year, first.month)[1]
        number = int(found['number'] or _SMALL.get((found['word'] or '').lower(), 1))
        number = min(number * (7 if found['unit'].lower().startswith('week') else 1), days)
        first = first if found['end'].lower() == 'first' else first.replace(day=days - number + 1)
        return f' from {first.date()} to {(first + timedelta(days=number - 1)).date()}'

    def nth(number: str) -> str:
        month = today
        while month.day < int(number) or monthrange(month.year, month.month)[1] < int(number):
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
            else of_calendar(found['day'], today, 'day', 'month')
        )
        return f' from {first.date()} to {(first + timedelta(days=6)).date()}'

    def of_last_week(found: re.Match[str]) -> str:
        number = WEEKDAYS.index((found['day'] or found['day_']).lower())
        return f'on {(today - timedelta(days=today.weekday() + 7 - number)).date()}'

    try:
        text = _UP_TO.sub('until ', _OF_LAST_WEEK.sub(of_last_week, text))
        text = _IN_OTHER_WORDS.sub('', _NTH_WORD.sub(in_digits, text))
        text = _SHARED_MONTH.sub(both, text)
        text = _WEEK_OF.sub(week, text)
        text = _MONTHS_FIRST.sub(r'the \g<end> \g<rest> of \g<month>', text)
        text = _PART_OF_MONTH.sub(part, _THIS_UNIT.sub(this, text))
        text = _WHOLE_MONTH.sub(lambda found: f'in {found["month"]}', text)
        text = _NTHS.sub(lambda found: f'from {nth(found[1])} to {nth(found[2])}', text)
        return _NTH_ALONE.sub(lambda found: f'{found["edge"] or "on "}{nth(found[2])}', text)
    except (OverflowError, ValueError):
        return text
