"""Times in other words, as a month of deeds is asked about."""

from datetime import timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.agent.times.spelled_out import spelled_out
from remembr_ros.agent.times.time_window import parse_window
from remembr_ros.timestamps import format_iso, parse_time

NOW_NS = parse_time('2026-06-30T20:00:00Z')  # a Tuesday


@pytest.mark.parametrize(
    ('text', 'first', 'last'),
    [
        ('on the 16th', '06-16', '06-17'),
        ('on Saturday the 20th', '06-20', '06-21'),
        ('on the twenty-first', '06-21', '06-22'),
        ('the afternoon of Monday the 22nd', '06-22', '06-22'),
        ('from the 22nd to the 28th', '06-22', '06-29'),
        ('Thursday the 25th to Sunday the 28th', '06-25', '06-29'),
        ('this month', '06-01', '07-01'),
        ('over the whole of June', '06-01', '07-01'),
        ('this week', '06-29', '07-01'),
        ('the week of 15 June', '06-15', '06-22'),
        ('the first five days of June', '06-01', '06-06'),
        ("the month's first seven days", '06-01', '06-08'),
        ('the last week of May', '05-25', '06-01'),
        ('last week, Monday the 22nd through Sunday the 28th', '06-22', '06-29'),
        ('the first week of the month', '06-01', '06-08'),
        ('last week of May', '05-25', '06-01'),
        ('last week, on Thursday', '06-25', '06-26'),
        ('on Thursday last week', '06-25', '06-26'),
        ('of the highlights of June', '06-01', '07-01'),
        ('last week', '06-22', '06-29'),
        ('during last week', '06-22', '06-29'),
        ('in the last week', '06-23', '06-30'),
        ('over the last month', '05-31', '06-30'),
        ('last month', '05-01', '06-01'),
        ('the week beginning the 15th', '06-15', '06-22'),
    ],
)
def test_the_days_that_are_meant(text: str, first: str, last: str) -> None:
    window = parse_window(f'What did you do {text}?', NOW_NS)
    assert window.after_ns is not None, window
    assert window.before_ns is not None
    assert (format_iso(window.after_ns)[5:10], format_iso(window.before_ns)[5:10]) == (first, last)


@pytest.mark.parametrize(
    ('text', 'after', 'before'),
    [
        ('last week', '2026-11-15T23:00:00Z', '2026-11-22T23:00:00Z'),
        ('since last week', '2026-11-15T23:00:00Z', None),
        ('before last week', None, '2026-11-15T23:00:00Z'),
        ('until last week', None, '2026-11-22T23:00:00Z'),
        ('after last week', '2026-11-22T23:00:00Z', None),
        ('the week before last', '2026-11-08T23:00:00Z', '2026-11-15T23:00:00Z'),
        ('in the week before last week', '2026-11-08T23:00:00Z', '2026-11-15T23:00:00Z'),
        ('last month', '2026-09-30T22:00:00Z', '2026-10-31T23:00:00Z'),
        ('last year', '2024-12-31T23:00:00Z', '2025-12-31T23:00:00Z'),
        ('before this month', None, '2026-10-31T23:00:00Z'),
        ('within the last week', '2026-11-16T08:00:00Z', '2026-11-23T08:00:00Z'),
    ],
)
def test_last_week_is_the_calendars_on_the_askers_clock(
    text: str, after: str | None, before: str | None
) -> None:
    question = f'How many times did you go to the pharmacy {text}?'
    window = parse_window(question, parse_time('2026-11-23T08:00:00Z'), ZoneInfo('Europe/Berlin'))
    assert window.after_ns == (parse_time(after) if after else None)
    assert window.before_ns == (parse_time(before) if before else None)
    assert window.rest == 'How many times did you go to the pharmacy?'


@pytest.mark.parametrize(
    'text',
    [
        'on the second floor',
        'on the 3rd floor',
        'the 2nd door',
        'the first lift',
        'in March order',
        'the last of them',
    ],
)
def test_what_is_no_day_stays(text: str) -> None:
    assert spelled_out(text, NOW_NS, timezone.utc) == text


@given(st.text(max_size=60))
def test_any_text_is_read(text: str) -> None:
    assert isinstance(spelled_out(text, NOW_NS, timezone.utc), str)
