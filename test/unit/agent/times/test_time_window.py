from datetime import datetime, timedelta, timezone
from time import monotonic
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembr_ros.agent.times.time_expression import parse_moment
from remembr_ros.agent.times.time_window import Window, parse_span, parse_window
from remembr_ros.errors import InvalidRequest
from remembr_ros.timestamps import MAX_NS, NS, parse_time

NOW = '2023-11-14T22:13:20Z'  # a Tuesday
NOW_NS = parse_time(NOW)
EAST = timezone(timedelta(hours=2))


def at(text: str) -> int:
    return parse_time(text if 'T' in text else f'2023-11-14T{text}')


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('now', '22:13:20'),
        (' Now ', '22:13:20'),
        ('10 minutes ago', '22:03:20'),
        ('ten minutes ago', '22:03:20'),
        ('half an hour ago', '21:43:20'),
        ('30s ago', '22:12:50'),
        ('1 h ago', '21:13:20'),
        ('1h 5min ago', '21:08:20'),
        ('a few minutes ago', '22:10:20'),
        ('a couple of hours ago', '20:13:20'),
        ('1.5 hours ago', '20:43:20'),
        ('1 hour and 5 minutes ago', '21:08:20'),
        ('thirty secs ago', '22:12:50'),
        ('09:30', '09:30:00'),
        ('9:30:15 am', '09:30:15'),
        ('3 pm', '15:00:00'),
        ('3 p.m.', '15:00:00'),
        ("9 o'clock", '21:00:00'),  # said of the morning and of the evening
        ("11 o'clock", '11:00:00'),
        ("13 o'clock", '13:00:00'),
        ("three o'clock", '15:00:00'),
        ('half past three', '15:30:00'),
        ('Half past 9 am', '09:30:00'),
        ('a quarter to five', '16:45:00'),
        ('quarter to one', '12:45:00'),
        ('ten past two', '14:10:00'),
        ("twenty-five minutes past 10 o'clock", '10:25:00'),
        ('5 minutes to 14', '13:55:00'),
        ('12 am', '00:00:00'),
        ('12:30 PM', '12:30:00'),
        ('noon', '12:00:00'),
        ('midnight', '00:00:00'),
        ('23:59', '2023-11-13T23:59:00'),  # the latest one that has been
        ('2023-11-14T09:30:00+01:00', '08:30:00'),
        ('2023-11-14 09:30', '09:30:00'),
        ('1700000000.5', '2023-11-14T22:13:20.500'),
    ],
)
def test_a_moment_is_named_absolutely_on_the_clock_or_relative_to_now(text: str, expected: str) -> None:
    assert parse_moment(text, NOW_NS) == at(expected)


@pytest.mark.parametrize(
    'text', ['', 'soon', '25:00', '9:61', '9:05:61', 'nan', '-5', 'ago', 'minutes ago', '9']
)
def test_what_names_no_time_is_refused_or_read_as_unix_seconds(text: str) -> None:
    if text == '9':
        assert parse_moment(text, NOW_NS) == 9 * NS
        return
    with pytest.raises(InvalidRequest):
        parse_moment(text, NOW_NS)


def test_a_clock_time_is_that_of_the_askers_zone() -> None:
    assert parse_moment('09:30', NOW_NS, EAST) == at('2023-11-14T07:30:00')
    assert parse_moment('2023-11-14T09:30', NOW_NS, EAST) == at('07:30:00')
    # 22:13 UTC is past midnight there: 23:30 was yesterday evening of theirs
    assert parse_moment('23:30', NOW_NS, EAST) == at('21:30:00')


def test_the_distant_past_ends_at_the_epoch() -> None:
    assert parse_moment('99999999999999999999999 weeks ago', NOW_NS) == 0


@pytest.mark.parametrize(
    ('text', 'after', 'before'),
    [
        ('in the last 10 minutes', '22:03:20', '22:13:20'),
        ('in the last half hour', '21:43:20', '22:13:20'),
        ('in the last 90s', '22:11:50', '22:13:20'),
        ('after 9:00 and before 9:10', '09:00:00', '09:10:00'),
        ('since 9:00 until 9:10', '09:00:00', '09:10:00'),
        ('during the past hour', '21:13:20', '22:13:20'),
        ('over the last two days', '2023-11-12T22:13:20', '22:13:20'),
        ('within the last week', '2023-11-07T22:13:20', '22:13:20'),
        ('between 9:00 and 9:10', '09:00:00', '09:10:00'),
        ('from 9 am to 10 am', '09:00:00', '10:00:00'),
        ('between 9 and 10 am', '09:00:00', '10:00:00'),
        ('between 22:00 and 23:00', '22:00:00', '23:00:00'),  # goes on
        ('between 23:00 and 1:00', '2023-11-13T23:00:00', '01:00:00'),  # over midnight
        ('between 10 minutes ago and 5 minutes ago', '22:03:20', '22:08:20'),
        ('between 5 minutes ago and 10 minutes ago', '22:03:20', '22:08:20'),
        ('between 2023-11-13 and 2023-11-14', '2023-11-13T00:00:00', '2023-11-15T00:00:00'),
        ('from Sunday to Monday', '2023-11-12T00:00:00', '2023-11-14T00:00:00'),
        ('on 12 November 2023', '2023-11-12T00:00:00', '2023-11-13T00:00:00'),
        ('on the 12th of November', '2023-11-12T00:00:00', '2023-11-13T00:00:00'),
        ('on Nov. 12th, 2023', '2023-11-12T00:00:00', '2023-11-13T00:00:00'),
        ('on Dec 24', '2022-12-24T00:00:00', '2022-12-25T00:00:00'),
        ('12.11.2023', '2023-11-12T00:00:00', '2023-11-13T00:00:00'),
        ('on 11/13/2023', '2023-11-13T00:00:00', '2023-11-14T00:00:00'),
        ('on 2023/11/12', '2023-11-12T00:00:00', '2023-11-13T00:00:00'),
        ('14 November 2023 between 22:11 and 22:12', '2023-11-14T22:11:00', '2023-11-14T22:12:00'),
        ('on Nov 12 after 9 am', '2023-11-12T09:00:00', '2023-11-13T00:00:00'),
        ('in the morning of 12 November', '2023-11-12T05:00:00', '2023-11-12T12:00:00'),
        ('before 12 November', None, '2023-11-12T00:00:00'),
        ('between 10 and 12 November', '2023-11-10T00:00:00', '2023-11-13T00:00:00'),
        ('between 13 and 16 November', '2023-11-13T00:00:00', '2023-11-17T00:00:00'),
        ('Nov 10-12', '2023-11-10T00:00:00', '2023-11-13T00:00:00'),
        ('from 13 to 15 November', '2023-11-13T00:00:00', '2023-11-16T00:00:00'),
        ('in October', '2023-10-01T00:00:00', '2023-11-01T00:00:00'),
        ('in February 2022', '2022-02-01T00:00:00', '2022-03-01T00:00:00'),
        ('before 14:30', None, '14:30:00'),
        ('until noon', None, '12:00:00'),
        ('by 3 pm', None, '15:00:00'),
        ('after 2023-11-14T10:00:00Z', '10:00:00', None),
        ('since 21:00', '21:00:00', None),
        ('since 10 minutes ago', '22:03:20', None),
        ('until 5 minutes ago', None, '22:08:20'),
        ('today', '00:00:00', '2023-11-15T00:00:00'),
        ('yesterday', '2023-11-13T00:00:00', '2023-11-14T00:00:00'),
        ('the day before yesterday', '2023-11-12T00:00:00', '2023-11-13T00:00:00'),
        ('since yesterday', '2023-11-13T00:00:00', None),
        ('before today', None, '00:00:00'),
        ('after yesterday', '00:00:00', None),
        ('on 2023-11-12', '2023-11-12T00:00:00', '2023-11-13T00:00:00'),
        ('on Monday', '2023-11-13T00:00:00', '2023-11-14T00:00:00'),
        ('since Monday', '2023-11-13T00:00:00', None),
        ('since Monday afternoon', '2023-11-13T12:00:00', None),
        ('before Sunday', None, '2023-11-12T00:00:00'),
        ('in the last 5 to 10 minutes', '22:03:20', '22:13:20'),
        ('in the last two or three hours', '19:13:20', '22:13:20'),
        ("between 3 and 5 o'clock", '15:00:00', '17:00:00'),
        ("between 9 and 11 o'clock", '21:00:00', '23:00:00'),  # goes on
        ('between half past two and quarter past three', '14:30:00', '15:15:00'),
        ('on Tuesday', '2023-11-14T00:00:00', '2023-11-15T00:00:00'),
        ('last Tuesday', '2023-11-07T00:00:00', '2023-11-08T00:00:00'),
        ('this morning', '05:00:00', '12:00:00'),
        ('yesterday afternoon', '2023-11-13T12:00:00', '2023-11-13T18:00:00'),
        ('last night', '2023-11-13T20:00:00', '06:00:00'),
        ('today before 9:00', '00:00:00', '09:00:00'),
        ('yesterday between 9:00 and 10:00', '2023-11-13T09:00:00', '2023-11-13T10:00:00'),
    ],
)
def test_a_question_names_a_window(text: str, after: str | None, before: str | None) -> None:
    window = parse_window(f'Did you see a door {text}?', NOW_NS)
    assert window.after_ns == (at(after) if after else None)
    assert window.before_ns == (at(before) if before else None)
    assert window.at_ns is None
    assert window.rest == 'Did you see a door?'


@pytest.mark.parametrize(
    ('text', 'moment', 'slack_s'),
    [
        ('2 minutes ago', '22:11:20', 60),
        ('two hours ago', '20:13:20', 720),
        ('twenty minutes ago', '21:53:20', 120),
        ('two days ago', '2023-11-12T22:13:20', 43_200),
        ('at 09:01', '09:01:00', 60),
        ('around 3 pm', '15:00:00', 60),
        ('at 22:30', '2023-11-13T22:30:00', 60),
        ('at midnight', '00:00:00', 60),
        ('yesterday at 9:00', '2023-11-13T09:00:00', 60),
        ('at 9:00 yesterday', '2023-11-13T09:00:00', 60),
        ('at 9 am this morning', '09:00:00', 60),
    ],
)
def test_a_moment_has_a_window_around_it(text: str, moment: str, slack_s: int) -> None:
    window = parse_window(f'Where were you {text}?', NOW_NS)
    assert window.at_ns == at(moment)
    assert (window.after_ns, window.before_ns) == (at(moment) - slack_s * NS, at(moment) + slack_s * NS)
    assert window.rest == 'Where were you?'


@pytest.mark.parametrize(
    'text',
    [
        'Where is room 103?',
        'When did you last see the lift?',
        'How many minutes ago did you see the exit?',
        'How long ago were you in the lab?',
        'What is written at the last door?',
        'Where is the door at 25:99?',
        'What happened on 2023-13-45?',
        'What happened on 9999-12-31?',
        'Is the printer by 12 chairs?',
        'Where is the Monday club?',
        '',
    ],
)
def test_a_question_without_a_time_stays_as_it_is(text: str) -> None:
    window = parse_window(text, NOW_NS)
    assert (window.after_ns, window.before_ns, window.at_ns, window.rest) == (None, None, None, text)


def test_a_day_is_that_of_the_askers_zone_even_if_it_has_23_hours() -> None:
    berlin = ZoneInfo('Europe/Berlin')
    noon = int(datetime(2023, 3, 26, 12, tzinfo=berlin).timestamp()) * NS
    window = parse_window('today', noon, berlin)
    assert window.after_ns == parse_time('2023-03-25T23:00:00Z')
    assert window.before_ns == parse_time('2023-03-26T22:00:00Z')


WORDS = st.sampled_from(
    'in the last|past|ago|between|and|from|to|before|after|since|until|at|around|on|noon|midnight|9:00|25:00|'
    "12 pm|0 am|9 o'clock|half past|quarter to|three|99:99|2023-11-14|2023-13-45|2023-11-14T10:00:00Z|"
    '9999-12-31|0001-01-01|5|1e9|'
    '999999999999999999999|a few|half an|minutes|hours|weeks|years|today|yesterday|this|last|morning|night|'
    'Monday|tonight|١٢:٣٠|²'.split('|')
)
TEXTS = st.one_of(
    st.text(), st.lists(WORDS, max_size=7).map(' '.join), st.text(alphabet='0123456789:apm.- TZ+')
)
ZONES = st.integers(-1_439, 1_439).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@settings(max_examples=500)
@given(TEXTS, st.integers(0, MAX_NS), ZONES)
def test_any_text_gives_a_window_that_does_not_end_before_it_starts(
    text: str, now_ns: int, zone: timezone
) -> None:
    window = parse_window(text, now_ns, zone)
    assert all(ns is None or 0 <= ns <= MAX_NS for ns in (window.after_ns, window.before_ns, window.at_ns))
    if window.after_ns is not None and window.before_ns is not None:
        assert window.after_ns <= window.before_ns
    if window.at_ns is not None:
        assert window.after_ns is not None
        assert window.before_ns is not None
        assert window.after_ns <= window.at_ns <= window.before_ns


@settings(max_examples=500)
@given(TEXTS, st.integers(0, MAX_NS), ZONES)
def test_any_text_is_a_storable_moment_or_refused(text: str, now_ns: int, zone: timezone) -> None:
    try:
        moment = parse_moment(text, now_ns, zone)
    except InvalidRequest:
        return
    assert 0 <= moment <= MAX_NS


@pytest.mark.parametrize(
    'part', ['the last ', ' ', '9', '9:', 'a couple of ', '1 hour and ', 'since ', '2023-']
)
def test_a_long_question_is_read_in_a_moment(part: str) -> None:
    began = monotonic()
    parse_window(part * (10_000 // len(part)), NOW_NS)
    assert monotonic() - began < 2.0


BERLIN = ZoneInfo('Europe/Berlin')


@pytest.mark.parametrize(
    ('now', 'text', 'expected'),
    [
        # 2:00 to 3:00 was there twice
        ('2026-10-25T01:40:00Z', '2:30', '2026-10-25T01:30:00Z'),
        ('2026-10-25T01:20:00Z', '2:30', '2026-10-25T00:30:00Z'),
        ('2026-10-25T00:20:00Z', '2:30', '2026-10-24T00:30:00Z'),
        # the day before has the other offset
        ('2026-10-25T12:00:00Z', '14:00', '2026-10-24T12:00:00Z'),
        ('2026-03-29T12:00:00Z', '15:00', '2026-03-28T14:00:00Z'),
    ],
)
def test_a_clock_that_was_put_back_or_forward_names_the_latest_moment(
    now: str, text: str, expected: str
) -> None:
    assert parse_moment(text, parse_time(now), BERLIN) == parse_time(expected)


def test_a_night_in_which_the_clock_is_put_back_is_an_hour_longer() -> None:
    window = parse_window('between 22:00 and 6:00', parse_time('2026-10-25T12:00:00Z'), BERLIN)
    assert window.after_ns is not None
    assert window.before_ns is not None
    assert window.before_ns - window.after_ns == 9 * 3_600 * NS


@pytest.mark.parametrize(
    ('text', 'after', 'before'),
    [
        ('yesterday afternoon', '2023-11-13T12:00:00Z', '2023-11-13T18:00:00Z'),
        ('last Tuesday', '2023-11-07T00:00:00Z', '2023-11-08T00:00:00Z'),
        ('Monday', '2023-11-13T00:00:00Z', '2023-11-14T00:00:00Z'),
        ('2023-11-01', '2023-11-01T00:00:00Z', '2023-11-02T00:00:00Z'),
        ('between 3 and 4 pm', '15:00:00Z', '16:00:00Z'),
        ('before 10:00', None, '10:00:00Z'),
        ('3 pm', '14:59:00Z', '15:01:00Z'),
        ('2023-11-01T10:00', '2023-11-01T09:59:00Z', '2023-11-01T10:01:00Z'),
    ],
)
def test_a_span_is_named_by_itself(text: str, after: str | None, before: str | None) -> None:
    window = parse_span(text, NOW_NS)
    assert window.after_ns == (after and at(after))
    assert window.before_ns == (before and at(before))


@pytest.mark.parametrize('text', ['', 'soon', 'the red chair today', 'today and the chair', 'when'])
def test_a_span_with_other_words_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest):
        parse_span(text, NOW_NS)


@pytest.mark.parametrize(
    ('text', 'after', 'before'),
    [
        ('between 10 and 20 minutes ago', '15:10:00', '15:20:00'),
        ('between five and ten minutes ago', '15:20:00', '15:25:00'),
        ('from 10 minutes to 5 minutes ago', '15:20:00', '15:25:00'),
        ('5-10 minutes ago', '15:20:00', '15:25:00'),
        ('two or three hours ago', '12:30:00', '13:30:00'),
        ('between 11 and 1 pm', '11:00:00', '13:00:00'),
        ('between 9 and 5 pm', '09:00:00', '17:00:00'),
        ('between 2 and 3 pm', '14:00:00', '15:00:00'),
        ('between 11 and 1 am', '2023-11-13T23:00:00', '01:00:00'),
        ('from 10 am to 3', '10:00:00', '15:00:00'),
        ('from 9:00 until now', '09:00:00', '15:30:00'),
        ('in the last 1 hour and 30 minutes', '14:00:00', '15:30:00'),
        ('in the last hour and a half', '14:00:00', '15:30:00'),
        ('at 3 pm 2 days ago', '2023-11-12T14:59:00', '2023-11-12T15:01:00'),
        ('two days ago in the morning', '2023-11-12T05:00:00', '2023-11-12T12:00:00'),
        ('an hour before noon', '10:59:00', '11:01:00'),
        ('until an hour before noon', None, '11:00:00'),
        ('yesterday afternoon at 3', '2023-11-13T14:59:00', '2023-11-13T15:01:00'),
        ('yesterday at 3 in the afternoon', '2023-11-13T14:59:00', '2023-11-13T15:01:00'),
        ('yesterday afternoon between 2 and 3', '2023-11-13T14:00:00', '2023-11-13T15:00:00'),
        ('this morning before 9', '05:00:00', '09:00:00'),
        ('last night at 23:00', '2023-11-13T22:59:00', '2023-11-13T23:01:00'),
        ('on Monday night', '2023-11-13T20:00:00', '06:00:00'),
        ('at night', '2023-11-13T20:00:00', '06:00:00'),
        ('on Thursday the 9th of November', '2023-11-09T00:00:00', '2023-11-10T00:00:00'),
        ('since Thursday, November 9', '2023-11-09T00:00:00', None),
        ('in the evening', '2023-11-13T18:00:00', '00:00:00'),
        ('yesterday at 9', '2023-11-13T00:00:00', '00:00:00'),
        ('12:30 yesterday', '2023-11-13T12:29:00', '2023-11-13T12:31:00'),
        ('about two hours ago', '13:18:00', '13:42:00'),
        ('more than 10 minutes ago', None, '15:20:00'),
        ('less than an hour ago', '14:30:00', '15:30:00'),
        ('1 hour, 5 minutes and 3 seconds ago', '14:18:26.7', '14:31:27.3'),
        ('twenty-five minutes ago', '15:02:30', '15:07:30'),
        ('two and a half hours ago', '12:45:00', '13:15:00'),
        ('a quarter of an hour ago', '15:13:30', '15:16:30'),
    ],
)
def test_all_of_a_time_in_several_words_counts(text: str, after: str | None, before: str | None) -> None:
    window = parse_window(f'Did you see a door {text}?', at('15:30:00'))
    assert window.after_ns == (at(after) if after else None)
    assert window.before_ns == (at(before) if before else None)
    assert window.rest == 'Did you see a door?'


@pytest.mark.parametrize(
    'text',
    [
        'yesterday and today',
        'at 9:00 or 10:00',
        'between yesterday at 9:00 and today at 10:00',
        'in the last hour of yesterday',
        'since 2 days ago at 3 pm',
        'today between 9 and 11',
        '1,000 minutes ago',
        'on 31.02.2023',
        'on 32 November',
        'on Novmber 14',
        'on the Octobre 3rd',
        'on the 32nd',
        'between Dec 20 and Feb 29',
        'on 11/12/2023',
        'on 12/11',
        'on 9.11.',
        'on 9.11',
        'on Friday, 10 October',
        'at 13:61',
    ],
)
def test_a_time_of_which_a_part_is_not_understood_is_none(text: str) -> None:
    question = f'Did you see a door {text}?'
    window = parse_window(question, NOW_NS)
    assert window == Window(None, None, None, question, window.unclear)
    assert window.unclear
    assert window.unclear in text


@pytest.mark.parametrize('text', ['tonight', 'this evening'])
def test_after_midnight_this_evening_is_the_one_that_has_been(text: str) -> None:
    window = parse_window(text, at('01:00:00'))
    assert (window.after_ns, window.before_ns) == (at('2023-11-13T18:00:00'), at('00:00:00'))


@pytest.mark.parametrize(
    ('text', 'after', 'before'),
    [
        ('between 2:00 and 3:00', '00:00', '02:00'),
        ('today between 2:00 and 3:00', '00:00', '02:00'),
        ('at 2:30', '00:29', '01:31'),
        ('today at 2:30', '00:29', '01:31'),
        ('since 2:30', '00:30', None),
        ('until 2:30', None, '01:30'),
    ],
)
def test_an_hour_that_the_clock_showed_twice_is_two_hours(
    text: str, after: str | None, before: str | None
) -> None:
    window = parse_window(text, parse_time('2026-10-25T12:00:00Z'), BERLIN)
    assert window.after_ns == (parse_time(f'2026-10-25T{after}:00Z') if after else None)
    assert window.before_ns == (parse_time(f'2026-10-25T{before}:00Z') if before else None)


@pytest.mark.parametrize(
    ('text', 'first', 'last'),
    [
        ("yesterday afternoon at 3 o'clock", '2023-11-13T14:59:00', '2023-11-13T15:01:00'),
        ('yesterday evening at half past nine', '2023-11-13T21:29:00', '2023-11-13T21:31:00'),
        # in the morning or in the afternoon
        ("yesterday at 3 o'clock", '2023-11-13T02:59:00', '2023-11-13T15:01:00'),
    ],
)
def test_of_a_day_a_time_said_is_the_one_in_its_named_part(text: str, first: str, last: str) -> None:
    window = parse_window(f'What did you see {text}?', NOW_NS)
    assert (window.after_ns, window.before_ns, window.rest) == (at(first), at(last), 'What did you see?')


@pytest.mark.parametrize(
    'text',
    [
        'from five to ten',
        'after the Monday meeting',
        'half past 3 chairs and 5 doors',
        'room 14',
        'may I see 5 dogs',
    ],
)
def test_what_only_resembles_a_time_is_none(text: str) -> None:
    assert parse_window(text, NOW_NS) == Window(None, None, None, text)


def test_the_weekday_of_today_is_of_last_week_where_nothing_is_remembered_of_today() -> None:
    now_ns = parse_time('2026-11-23T09:00:00+00:00')
    reach = parse_time('2026-11-16T06:00:00+00:00'), parse_time('2026-11-22T17:00:00+00:00')
    assert parse_window('What did you do on Monday?', now_ns, reach=reach).after_ns == parse_time(
        '2026-11-16T00:00:00+00:00'
    )
    of_today = reach[0], parse_time('2026-11-23T08:00:00+00:00')
    window = parse_window('What did you do on Monday?', now_ns, reach=of_today)
    assert window.after_ns == parse_time('2026-11-23T00:00:00+00:00')


@pytest.mark.parametrize(
    ('text', 'after', 'before'),
    [
        ('after 2023-01-16 16:03:02 UTC', '2023-01-16T16:03:02Z', None),
        (
            '2023-01-16 16:03:02 UTC to 2023-01-16 16:05:02 UTC',
            '2023-01-16T16:03:02Z',
            '2023-01-16T16:05:02Z',
        ),
        ('2023-01-16 16:03:02 UTC', '2023-01-16T16:02:02Z', '2023-01-16T16:04:02Z'),
    ],
)
def test_times_are_read_as_they_are_shown(text: str, after: str, before: str | None) -> None:
    now_ns = parse_time('2023-01-17T10:00:00Z')
    window = parse_span(text, now_ns)
    assert (window.after_ns, window.before_ns) == (parse_time(after), before and parse_time(before))


def test_a_question_may_repeat_a_time_as_it_is_shown() -> None:
    asked = parse_window(
        'What did you see after 2023-01-16 16:03:02 UTC?', parse_time('2023-01-17T10:00:00Z')
    )
    assert (asked.after_ns, asked.unclear) == (parse_time('2023-01-16T16:03:02Z'), '')
