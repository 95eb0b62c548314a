import math
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from remembr_ros.errors import InvalidRequest
from remembr_ros.timestamps import (
    EARLIEST_NS,
    LATEST_NS,
    MAX_NS,
    NS,
    as_iso,
    format_clock,
    format_duration,
    format_iso,
    from_seconds,
    machine_zone_name,
    parse_time,
    zone_named,
)

times = st.integers(0, MAX_NS)
MORNING = int(datetime(2026, 11, 21, 9, 30, tzinfo=timezone.utc).timestamp()) * NS


@given(times)
def test_iso_text_keeps_the_microsecond(ns: int) -> None:
    assert parse_time(format_iso(ns)) == ns // 1_000 * 1_000


@given(times)
def test_unix_seconds_with_nine_digits_are_exact(ns: int) -> None:
    assert parse_time(f'{ns // NS}.{ns % NS:09d}') == ns


@given(times)
def test_iso_text_with_nine_digits_is_exact(ns: int) -> None:
    whole = format_iso(ns)[:19]
    assert parse_time(f'{whole}.{ns % NS:09d}Z') == ns


@given(times, st.integers(-14 * 60, 14 * 60))
def test_an_offset_is_subtracted(ns: int, minutes: int) -> None:
    zone = timezone(timedelta(minutes=minutes))
    moment = datetime.fromtimestamp(ns // NS % 4_000_000_000, tz=zone)
    assert parse_time(moment.isoformat()) == int(moment.timestamp()) * NS
    assert parse_time(moment.replace(tzinfo=None).isoformat(), zone) == int(moment.timestamp()) * NS


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('2026-11-21T09:30:00Z', MORNING),
        ('2026-11-21T09:30Z', MORNING),
        ('2026-11-21 09:30', MORNING),
        ('2026-11-21 09:30:00', MORNING),
        ('  2026-11-21 09:30 ', MORNING),
        ('2026-11-21T10:30:00+01:00', MORNING),
        ('2026-11-21 10:30+01:00', MORNING),
        ('2026-11-21T04:30:00-0500', MORNING),
        ('20261121T093000Z', MORNING),
        ('20261121T093000.000000001Z', MORNING + 1),
        ('2026-11-21T09:30:00.5', MORNING + NS // 2),
        ('2026-11-21T09:30:00,000000001+00:00', MORNING + 1),
        ('2026-11-21', MORNING - (9 * 3600 + 1800) * NS),
        ('1700000000', 1_700_000_000 * NS),
        ('1700000000.123456789', 1_700_000_000_123_456_789),
        ('+1.7e9', 1_700_000_000 * NS),
        ('.5', NS // 2),
        ('5.', 5 * NS),
        ('0', 0),
        ('-0', 0),
        ('1e-30', 0),
        ('9223372036.854775807', MAX_NS),
    ],
)
def test_a_time_is_read(text: str, expected: int) -> None:
    assert parse_time(text) == expected


@given(st.integers(EARLIEST_NS // 1_000, LATEST_NS // 1_000), st.integers(-14 * 60, 14 * 60))
def test_a_datetime_is_exact_in_any_zone_and_one_without_a_zone_is_refused(us: int, minutes: int) -> None:
    zone = timezone(timedelta(minutes=minutes))
    moment = (datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=us)).astimezone(zone)
    assert parse_time(moment) == us * 1_000
    with pytest.raises(InvalidRequest, match='has no time zone; give it one'):
        parse_time(moment.replace(tzinfo=None))
    assert parse_time(us // 1_000_000) == us // 1_000_000 * NS


def test_a_time_without_a_zone_is_in_the_given_one() -> None:
    assert parse_time('2026-11-21 01:30', ZoneInfo('America/Los_Angeles')) == MORNING
    assert parse_time('2026-11-21T09:30:00Z', ZoneInfo('America/Los_Angeles')) == MORNING


@pytest.mark.parametrize(
    'text',
    [
        *('', ' ', 'yesterday', 'now', 'nan', 'inf', '-inf', '1,5', '1e', '0x10', '1_000', '12:30', '--1'),
        *('2026-13-01', '2026-02-30', '2026-11-21T25:00', '2026-11-21T09:30.5', '2026-11-21 09:30 tomorrow'),
        *('2026-11-21T09:30:00+99:00', '21.11.2026', '11/21/2026', 'T09:30', '2026-11-21\x0009:30', '💡'),
    ],
)
def test_nonsense_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InvalidRequest, match='2026-11-21T09:30:00'):
        parse_time(text)


@pytest.mark.parametrize(
    'text',
    [
        *(
            '-1',
            '-0.5',
            '9223372036.854775808',
            '1e10',
            '1e400',
            '1e999999',
            '1e999999999999',
            '-1e999999999',
        ),
        *('1969-12-31T23:59:59Z', '0001-01-01T00:00:00Z', '2263-01-01', '9999-12-31T23:59:59Z'),
    ],
)
def test_times_that_cannot_be_stored_are_refused(text: str) -> None:
    with pytest.raises(InvalidRequest, match='out of range'):
        parse_time(text)


@given(st.text(max_size=40))
def test_any_text_is_a_time_or_an_invalid_request(text: str) -> None:
    try:
        ns = parse_time(text)
    except InvalidRequest:
        return
    assert 0 <= ns <= MAX_NS


@given(st.integers(0, 4_000_000_000), st.integers(0, 999_999))
def test_float_seconds_are_exact_to_the_microsecond(seconds: int, microseconds: int) -> None:
    assert from_seconds(seconds + microseconds / 1e6) == seconds * NS + microseconds * 1_000


@pytest.mark.parametrize('seconds', [math.nan, math.inf, -math.inf, -1.0, 1e10, 1e300, 1.7e308])
def test_seconds_that_are_no_time_are_refused(seconds: float) -> None:
    with pytest.raises(InvalidRequest, match='not a time'):
        from_seconds(seconds)


def test_a_clock_time_names_its_zone() -> None:
    assert format_clock(MORNING) == '2026-11-21 09:30:00 UTC'
    assert format_clock(MORNING, ZoneInfo('America/Los_Angeles')) == '2026-11-21 01:30:00 PST'


@pytest.mark.parametrize('ns', [0, MAX_NS])
def test_the_extreme_times_can_be_written(ns: int) -> None:
    assert format_iso(ns).endswith('Z')
    assert format_clock(ns).endswith('UTC')


@pytest.mark.parametrize(
    ('seconds', 'words'),
    [
        (0, '0 seconds'),
        (0.4, '0 seconds'),
        (1, '1 second'),
        (59.6, '1 minute'),
        (125, '2 minutes 5 seconds'),
        (-125, '2 minutes 5 seconds'),
        (3_600, '1 hour'),
        (86_400 + 7_200 + 60, '1 day 2 hours'),
        (90_061 * 100, '104 days 5 hours'),
    ],
)
def test_a_duration_reads_in_its_two_largest_units(seconds: float, words: str) -> None:
    assert format_duration(seconds) == words


def test_a_zone_is_named_as_in_the_tz_database() -> None:
    winter, summer = (parse_time(f'2026-{month}-01T12:00:00Z') for month in ('01', '07'))
    berlin = zone_named('Europe/Berlin')
    assert format_clock(winter, berlin) == '2026-01-01 13:00:00 CET'
    assert format_clock(summer, berlin) == '2026-07-01 14:00:00 CEST'


def test_without_a_name_it_is_this_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('TZ', 'America/New_York')
    summer = parse_time('2026-07-01T12:00:00Z')
    assert format_clock(summer, zone_named('')) == '2026-07-01 08:00:00 EDT'


@pytest.mark.parametrize('name', ['Mars/Olympus', '/etc/passwd', '../x', 'Europe', ' ', '\0', 'x' * 10_000])
def test_a_zone_that_does_not_exist_is_refused(name: str) -> None:
    with pytest.raises(InvalidRequest, match='time zone'):
        zone_named(name)


@pytest.mark.parametrize(
    ('variable', 'linked', 'expected'),
    [
        ('', '/usr/share/zoneinfo/Europe/Berlin', 'Europe/Berlin'),
        ('Asia/Tokyo', '/usr/share/zoneinfo/Europe/Berlin', 'Asia/Tokyo'),
        (':/usr/share/zoneinfo/Asia/Tokyo', '/etc/localtime', 'Asia/Tokyo'),
        ('CET-1CEST', '/usr/share/zoneinfo/Europe/Berlin', ''),
        ('', '/etc/localtime', ''),
    ],
)
def test_the_zone_of_this_machine_has_its_name(
    monkeypatch: pytest.MonkeyPatch, variable: str, linked: str, expected: str
) -> None:
    monkeypatch.setenv('TZ', variable)
    monkeypatch.setattr('os.path.realpath', lambda _: linked)
    assert machine_zone_name() == expected


BERLIN = ZoneInfo('Europe/Berlin')


@given(st.integers(0, 4_000_000_000), st.sampled_from(['UTC', 'Europe/Berlin', 'Asia/Tokyo']))
def test_a_time_is_read_as_it_is_printed(seconds: int, name: str) -> None:
    zone = ZoneInfo(name)
    moment = datetime.fromtimestamp(seconds, zone)
    hour = timedelta(hours=1)
    assume(all((moment + shift).utcoffset() == moment.utcoffset() for shift in (hour, -hour)))
    # Berlin and Tokyo had other names and offsets in other times.
    assume(moment.tzname() in {datetime(2026, month, 1, tzinfo=zone).tzname() for month in (1, 7)})
    assert parse_time(format_clock(seconds * NS, zone), zone) == seconds * NS


@pytest.mark.parametrize(
    ('text', 'iso'),
    [
        ('2023-01-16 16:03:02 UTC', '2023-01-16T16:03:02Z'),
        ('after 2023-01-16 16:03 UTC', 'after 2023-01-16T16:03Z'),
        ('until 2023-01-16T16:05:02.5 GMT', 'until 2023-01-16T16:05:02.5Z'),
        ('2023-07-16 16:03:02 CEST', '2023-07-16T16:03:02+0200'),
        ('2023-07-16 16:03:02 +03', '2023-07-16T16:03:02+03'),
        ('at 16:03:02 CET', 'at 16:03:02'),
        ('at 16:03:02 EST', 'at 16:03:02 EST'),
        ('2023-01-16 16:03:02 EST', '2023-01-16 16:03:02 EST'),
        ('room 16:03 EXIT', 'room 16:03 EXIT'),
    ],
)
def test_printed_times_in_a_text_become_iso(text: str, iso: str) -> None:
    assert as_iso(text, BERLIN) == iso
