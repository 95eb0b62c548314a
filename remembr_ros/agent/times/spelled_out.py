"""Rewrites times in words ('this month', 'on the 16th', 'the week of 15 June') as dates."""

import re
from datetime import datetime, timedelta, tzinfo

from dateutil.relativedelta import MO, relativedelta

from remembr_ros.agent.model.quoting import ORDINALS, TO_TWENTY, any_case, cardinal, ordinal
from remembr_ros.agent.times import day as days
from remembr_ros.timestamps import local

_TO = r'\s*(?:\b(?:and|to|until|till|through|up\s+to(?:\s+and\s+including)?)\b|-|\u2013)\s*(?:the\s+)?'
_TH = r'(?:st|nd|rd|th)'
_SHARED_MONTH = any_case(
    rf'(?:\b(?:between|from) (?:the )?)?\b(?:(?P<before>{days.MONTH_TEXT}) )?(?P<first>\d{{1,2}}){_TH}?{_TO}'
    rf'(?P<last>\d{{1,2}}){_TH}?(?(before)(?![:/\w]| (?:of )?{days.MONTH_TEXT})'
    rf'| (?:of )?(?P<after>{days.MONTH_TEXT}))(?P<year>{days.YEAR_TEXT}?)'
)
"""'20 to 22 November', 'Nov 20-22'."""
_NTH_DAY = rf'(?:{days.WEEKDAY_TEXT},?\s+)?the\s+([12]\d|3[01]|[1-9]){_TH}'
_NTHS = any_case(rf'(?:\b(?:from|between) )?\b{_NTH_DAY}{_TO}{_NTH_DAY}(?! of\b)')
_GOES_ON = (
    r'(?=\s+(?:and|you|we|i|it|they|he|she|the\s+robot|some|any|for|then|as|begin|began|start|end|go|went'
    r'|look|with|during|up|could|would|should|can|will|please|[a-z]+ed)\b|\s*[-\u2013\u2014:)])'
)
_BEFORE_NTH = rf'(?:on|since|until|till|before|after|from|to|by|{days.WEEKDAY_TEXT}),?'
_NTH_ALONE = any_case(rf'(?P<edge>\b(?:{_BEFORE_NTH}|of) )?{_NTH_DAY}(?:{days.FOLLOWS}|{_GOES_ON})(?! of\b)')
"""A day of the latest month that had it."""
_NTH_WORD = any_case(
    rf'\b(?P<before>{_BEFORE_NTH} the |the (?=[\w-]+ of (?-i:[A-Z])))(?P<ten>twenty|thirty)?-?'
    rf'(?P<nth>{"|".join(ORDINALS)}|thirtieth)(?= of {days.MONTH_TEXT}|{days.FOLLOWS})'
)
_THIS_UNIT = any_case(
    r'(?:\b(?:in|during|over|throughout|for|from|(?P<edge>since|before|until|till|by|after)) )?'
    r'(?:\b(?:the )?(?:whole|entire|all) (?:of )?(?:this |the )?|\bthis |\bthe (?=\w+ before last\b)'
    r'|(?<!the\s)(?<!this\s)(?<!my\s)(?<!your\s)\b(?P<last>last ))'
    r'(?P<unit>week|month|year)(?P<twice> before last(?: (?:week|month|year))?)?\b(?! of\b)'
)
"""Of the calendar: 'last week' ended on Sunday, but 'the last week' ends now."""
_UNITS = {
    'week': (relativedelta(weekday=MO(-1)), relativedelta(weeks=1)),
    'month': (relativedelta(day=1), relativedelta(months=1)),
    'year': (relativedelta(month=1, day=1), relativedelta(years=1)),
}
"""How a calendar's unit begins, and how long it is."""
_MONTHS_FIRST = any_case(
    rf"(?:\bthe )?\b(?P<month>{days.MONTH_TEXT}|month)['\u2019]s"
    r' (?P<days>(?:first|last) (?:\w+ )?(?:day|week)s?)\b'
)
_PART_OF_MONTH = any_case(
    r'(?:\b(?:in|during|over|for) )?\b(?:the )?(?P<end>first|last) '
    rf'(?:(?P<number>\d{{1,2}}|{"|".join(TO_TWENTY[1:11])}) )?'
    rf'(?P<unit>day|week)s? (?:of|in) (?P<month>{days.MONTH_TEXT}{days.YEAR_TEXT}?|(?:(?:the|this) )?month)'
    rf'(?:,? (?:the )?\d{{1,2}}{_TH}\s*(?:to|through|-|\u2013)\s*(?:the )?\d{{1,2}}{_TH}\b)?'
)
_UP_TO = any_case(r'\bup (?:to|until|till) (?=(?:noon|midday|midnight|\d{1,2}(?::\d\d|\s*[ap]m))\b)')
_OF_LAST_WEEK = any_case(
    rf'(?:\bon )?\b(?P<first>last week(?:,? on)? )?(?P<day>{days.WEEKDAY_TEXT})'
    r'(?(first)|,? (?:of )?last week)\b'
)
_WEEK_OF = any_case(
    r'\b(?:(?:in|during|over) )?(?:the )?week (?:of|from|beginning|starting) (?:on )?'
    rf'(?:{days.WEEKDAY_TEXT},? )?(?P<day>{days.DATE_TEXT})(?!\s*(?:to|up to|until|till|through)\b)'
)
_IN_OTHER_WORDS = any_case(
    r'\b(?:(?:in|during|over|for) )?'
    rf'(?:(?:last|this) week|the \w+ week(?: of (?:the month|{days.MONTH_TEXT}))?),\s*(?=(?:from )?'
    rf'(?:\d{{4}}-|\d{{1,2}}{_TH}?\b[^,]*\b{days.MONTH_TEXT}|between\b|{days.WEEKDAY_TEXT}\b|the \d))'
)
"""'last week, Monday the 22nd through Sunday the 28th': the second one says it."""
_WHOLE_MONTH = any_case(
    rf'(?<!\d\s)(?<!{_TH}\s)\b(?:over|during|throughout|through|of|in) (?:the |all )?'
    rf'(?:whole |entire |month )?(?:of )?(?P<month>(?-i:(?=[A-Z])){days.MONTH_TEXT}{days.YEAR_TEXT}?)(?! \d)'
)


def spelled_out(text: str, now_ns: int, zone: tzinfo) -> str:
    """Return a text that says both ends of a time: of "20 to 22 November", "this month", "on the 16th"."""
    today = local(now_ns, zone).replace(hour=0, minute=0, second=0, microsecond=0)

    def span(first: datetime, last: datetime) -> str:
        return f' from {first.date()} to {last.date()}'

    def this(found: re.Match[str]) -> str:
        edge = (found['edge'] or '').lower()
        begins, length = _UNITS[found['unit'].lower()]
        first = today + begins - length * (2 if found['twice'] else 1 if found['last'] else 0)
        last = min(first + length - timedelta(days=1), today)
        day = first if edge in ('since', 'before') else last
        return f'{edge} {day.date()}' if edge else span(first, last)

    def part(found: re.Match[str]) -> str:
        month, number = found['month'], cardinal((found['number'] or '1').lower()) or 1
        first = (today if month.endswith('month') else days.of_calendar(month, today, 'month')).replace(day=1)
        last = first + relativedelta(day=31)
        further = timedelta(days=number * (7 if found['unit'].lower() == 'week' else 1) - 1)
        if found['end'].lower() == 'first':
            return span(first, min(first + further, last))
        return span(max(last - further, first), last)

    def nth(number: str) -> str:
        dates = (today + relativedelta(months=-back, day=int(number)) for back in range(3))
        return str(next(day for day in dates if day <= today and day.day == int(number)).date())

    def in_digits(found: re.Match[str]) -> str:
        tens = {'twenty': 20, 'thirty': 30}.get((found['ten'] or '').lower(), 0)
        return f'{found["before"]}{tens + (ordinal(found["nth"].lower()) or 30)}th'

    def week(found: re.Match[str]) -> str:
        first = days.of_calendar(found['day'], today, 'day', 'month')
        return span(first, first + timedelta(days=6))

    def of_last_week(found: re.Match[str]) -> str:
        monday = today + relativedelta(weekday=MO(-1), weeks=-1)
        return f'on {(monday + timedelta(days=days.WEEKDAYS.index(found["day"].lower()))).date()}'

    try:
        text = _UP_TO.sub('until ', _OF_LAST_WEEK.sub(of_last_week, text))
        text = _IN_OTHER_WORDS.sub('', _NTH_WORD.sub(in_digits, text))
        month = r'\g<before>\g<after>\g<year>'
        text = _SHARED_MONTH.sub(rf'between \g<first> {month} and \g<last> {month}', text)
        text = _MONTHS_FIRST.sub(r'the \g<days> of \g<month>', text)
        text = _PART_OF_MONTH.sub(part, _THIS_UNIT.sub(this, text))
        text = _WHOLE_MONTH.sub(r'in \g<month>', text)
        text = _NTHS.sub(lambda found: f'from {nth(found[1])} to {nth(found[2])}', text)
        text = _NTH_ALONE.sub(lambda found: f'{found["edge"] or "on "}{nth(found[2])}', text)
        return _WEEK_OF.sub(week, text)
    except (OverflowError, ValueError):
        return text
