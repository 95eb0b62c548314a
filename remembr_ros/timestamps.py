"""Times as integer nanoseconds since the Unix epoch, UTC; the one place that parses and formats time."""

import math
import os
import re
from datetime import datetime, timedelta, timezone, tzinfo
from decimal import Decimal, DecimalException
from zoneinfo import ZoneInfo

from dateutil import parser as iso
from dateutil import tz

from remembr_ros.errors import InvalidRequest

NS = 1_000_000_000  # nanoseconds in a second
MAX_NS = 2**63 - 1  # the latest time that can be asked for

EARLIEST_NS = 946_684_800 * NS
"""2000-01-01: no robot that this runs on is older. A wall clock that says less was never set, or is that of
a receiver without satellites (1980)."""

LATEST_NS = 2**31 * NS - 1
"""In January 2038: the last time that builtin_interfaces/Time holds, and so that a node can tell of."""

LONGEST_SIMULATION_NS = 366 * 86_400 * NS
"""Simulated time counts from zero: what is of the first year of 1970 is of a simulation."""

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_ISO = iso.isoparser(sep='T')  # by itself it takes any character there
_SECONDS = re.compile(r'[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?')
_FRACTION = re.compile(r'(?:(?<=:\d\d:\d\d)|(?<=[T ]\d{6}))[.,](\d+)')
_PRINTED = re.compile(
    r'(?:\b(?P<date>\d{4}-\d\d-\d\d)[ T]|\b)(?P<clock>\d\d:\d\d(?::\d\d)?(?:\.\d+)?) '
    r'(?P<zone>[A-Z]{2,5}\b|[+-]\d\d(?::?\d\d)?(?![\d:]))'
)


def as_iso(text: str, zone: tzinfo = timezone.utc) -> str:
    """Return a text with the times in it that :func:`format_clock` printed as ISO 8601.

    :param zone: the zone whose name they may have, besides UTC; of a clock time without a day, the name goes
    """

    def written(found: re.Match[str]) -> str:
        date, clock, name = found.groups()
        # Of winter and of summer, in whatever half of the world.
        moments = [datetime(2026, month, 1, tzinfo=zone) for month in (1, 7)]
        own = {moment.tzname(): moment.strftime('%z') for moment in moments}
        if date is None:
            return clock if name in own else found[0]
        offset = name if name[0] in '+-' else {'UTC': 'Z', 'GMT': 'Z', **own}.get(name)
        return f'{date}T{clock}{offset}' if offset else found[0]

    return _PRINTED.sub(written, text)


def parse_time(text: str | float | datetime, zone: tzinfo = timezone.utc) -> int:
    """Return the time that an ISO 8601 text or a number of Unix seconds stands for.

    :param text: '2026-11-21T09:30:00+01:00', '2026-11-21 09:30', '1700000000.25', or a datetime with a zone
    :param zone: the zone of an ISO time that names none
    :return: nanoseconds since the Unix epoch, exact to the last digit
    :raises InvalidRequest: the text is neither, or out of range
    """
    if isinstance(text, datetime):
        if text.utcoffset() is None:
            raise InvalidRequest(f'{text} has no time zone; give it one, as datetime.now().astimezone() has')
        text = text.isoformat()
    stripped = as_iso(str(text).strip(), zone)
    if _SECONDS.fullmatch(stripped):
        try:
            # Compared before it becomes an int: '1e999999' would become one with a million digits.
            seconds = Decimal(stripped) * NS
            ns = int(seconds) if 0 <= seconds <= MAX_NS else MAX_NS + 1
        except DecimalException:
            ns = MAX_NS + 1
    else:
        try:
            # isoparse knows the T form only, and drops what is below a microsecond
            fraction = _FRACTION.search(stripped)
            whole = _FRACTION.sub('', stripped, count=1)
            moment = _ISO.isoparse(re.sub(r'^(\S+) (\S+)$', r'\1T\2', whole))
            if moment.tzinfo is None:
                moment = moment.replace(tzinfo=zone)
            since = moment - _EPOCH
        except (ValueError, OverflowError) as error:
            raise InvalidRequest(
                f'{text!r} is not a time; give ISO 8601 (2026-11-21T09:30:00+01:00) or Unix seconds'
            ) from error
        ns = (since.days * 86_400 + since.seconds) * NS + since.microseconds * 1_000
        if fraction:
            ns += int(fraction[1][:9].ljust(9, '0'))
    if not 0 <= ns <= MAX_NS:
        raise InvalidRequest(f'{text!r} is out of range; times lie between 1970 and 2262')
    return ns


def is_stamp(ns: int) -> bool:
    """Tell whether something can have been seen at this time; zero is a stamp that was not set."""
    return 0 < ns <= LONGEST_SIMULATION_NS or EARLIEST_NS <= ns <= LATEST_NS


def zone_named(name: str) -> tzinfo:
    """Return a time zone by its IANA name, such as 'Europe/Berlin'.

    :param name: empty: the zone of this machine
    :raises InvalidRequest: there is no such zone
    """
    if not name:
        return tz.gettz() or tz.tzlocal()
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:  # depends on what is wrong with the name
        raise InvalidRequest(
            f'there is no time zone {name[:60]!r}; give an IANA name such as Europe/Berlin'
        ) from error


def machine_zone_name() -> str:
    """Return the IANA name of this machine's time zone; empty: it is not known."""
    name = os.environ.get('TZ', '').removeprefix(':') or os.path.realpath('/etc/localtime')
    name = name.partition('zoneinfo/')[2] or name
    try:
        return ZoneInfo(name).key
    except (KeyError, ValueError, OSError):  # a rule such as CET-1CEST, or a copy of a file
        return ''


def from_seconds(seconds: float) -> int:
    """Return float Unix seconds as nanoseconds, to the microsecond that a float64 holds.

    :raises InvalidRequest: not a finite number, or out of range
    """
    if not math.isfinite(seconds) or not 0.0 <= seconds < MAX_NS / NS:
        raise InvalidRequest(f'{seconds} is not a time; Unix seconds lie between 0 and {MAX_NS // NS}')
    return round(seconds * 1_000_000) * 1_000


def format_iso(ns: int) -> str:
    """Return the time as ISO 8601 in UTC with microseconds, such as '2023-11-14T22:13:20.000000Z'."""
    return (_EPOCH + timedelta(microseconds=ns // 1_000)).strftime('%Y-%m-%dT%H:%M:%S.%fZ')


def format_clock(ns: int, zone: tzinfo = timezone.utc) -> str:
    """Return the time as a person reads it, such as '2023-11-14 22:13:20 UTC'."""
    moment = (_EPOCH + timedelta(microseconds=ns // 1_000)).astimezone(zone)
    return moment.strftime('%Y-%m-%d %H:%M:%S %Z').strip()


def format_duration(seconds: float) -> str:
    """Return a duration in words with its two largest units, such as '2 minutes 5 seconds'."""
    whole = round(abs(seconds))
    parts = []
    for name, size in (('day', 86_400), ('hour', 3_600), ('minute', 60), ('second', 1)):
        count, whole = divmod(whole, size)
        if count:
            parts.append(f'{count} {name}{"s" if count != 1 else ""}')
    return ' '.join(parts[:2]) or '0 seconds'


def to_ns(moment: datetime) -> int:
    """Return a moment as nanoseconds since the Unix epoch, to the second; out of range, the nearest in it."""
    return min(max(round(moment.timestamp()), 0) * NS, MAX_NS)


def local(ns: int, zone: tzinfo) -> datetime:
    """Return the time on the clock of a zone, to the second."""
    return datetime.fromtimestamp(ns // NS, tz=zone)
