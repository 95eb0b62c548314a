"""NaVQA: the questions of the ReMEmbR paper (arXiv 2409.13682, section V-A), from upstream's files.

A folder DIR holds data.csv (questions and answers) and for each sequence N/qa_unfilled.json (the questions'
windows) and N/CAPTIONS.json (one record per segment of the drive).
"""

import csv
import json
import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone, tzinfo
from itertools import pairwise
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from remembr_ros.agent.answer import Kind, Question
from remembr_ros.errors import BagUnreadable, InvalidRequest
from remembr_ros.evaluation.sample import LENGTHS, Excluded, Sample, Sequence, Truth
from remembr_ros.geometry import Pose
from remembr_ros.memory.recall import Scope
from remembr_ros.memory.record import Memory, memory_id
from remembr_ros.timestamps import NS, from_seconds

ZONE = ZoneInfo('America/Los_Angeles')
"""Answer times are US Pacific time, whatever the zone of the machine and of the drive."""

SLACK_NS = 3 * NS
"""One segment: windows begin and end in the middle of one, and answer times are whole seconds. With it 221 of
the 230 answer times of NaVQA lie inside their window; the others are minutes or hours off."""

CAPTIONS = 'captions_haystack_3_secs'
ROBOT = 'coda'

_ID, _SEQUENCE, _QUESTION = 'UUID', 'Seq ID', 'Question'
_TIMES, _KIND = 'Timestamp with answer', 'Type (binary, position, time, text)'
_TEXT, _PARSABLE = 'Text answer', 'Parsable answer'
_COLUMNS = (_ID, _SEQUENCE, _QUESTION, _TIMES, _KIND, _TEXT, _PARSABLE)
_CLOCK = re.compile(r'(\d{1,2}):(\d{2}):(\d{2})')
_BINARY = {'yes': True, 'true': True, 'no': False, 'false': False}


class _Unusable(ValueError):
    """Raised when a row cannot become a sample; its text is the reason."""


@dataclass(frozen=True, slots=True)
class _Segment:
    """A memory with its mean time, which is what windows are cut by."""

    memory: Memory
    mean_ns: int


def find_sequences(folder: Path) -> list[int]:
    """Return the numbers of the sequences that have a file of questions, ascending.

    :raises InvalidRequest: the folder holds no NaVQA
    """
    if not (folder / 'data.csv').is_file():
        raise InvalidRequest(f'{folder} is not the NaVQA folder: it has no data.csv')
    found = [
        int(path.parent.name) for path in folder.glob('*/qa_unfilled.json') if path.parent.name.isdecimal()
    ]
    if not found:
        raise InvalidRequest(f'{folder} holds no sequence: no N/qa_unfilled.json')
    return sorted(found)


def load_navqa(folder: Path, number: int, captions: str = CAPTIONS) -> Sequence:
    """Read one sequence.

    A row that cannot be used (an answer time outside its question's window, an answer that cannot be read, a
    question without a window) is excluded, with the reason.

    :param captions: name of the captions file, without .json
    :raises InvalidRequest: there is no such folder or sequence
    :raises BagUnreadable: a file is missing, damaged or not in upstream's format
    """
    if number not in find_sequences(folder):
        raise InvalidRequest(f'{folder} has no sequence {number}; it has {find_sequences(folder)}')
    name = f'navqa-{number}'
    segments = _read_segments(folder / str(number) / f'{captions}.json', name)
    windows = _read_windows(folder / str(number) / 'qa_unfilled.json')
    samples: list[Sample] = []
    excluded: list[Excluded] = []
    used: dict[str, int] = {}
    for row in _read_rows(folder / 'data.csv', number):
        key = row[_ID]
        # Upstream allows several questions about one window.
        used[key] = used.get(key, 0) + 1
        sample_id = key if used[key] == 1 else f'{key}#{used[key]}'
        try:
            if key not in windows:
                raise _Unusable('qa_unfilled.json has no window for it')
            samples.append(_sample(sample_id, row, windows[key], segments, name))
        except _Unusable as error:
            excluded.append(Excluded(sample_id, row[_QUESTION], str(error)))
    excluded += [
        Excluded(key, '', 'data.csv has no question for this window') for key in windows if key not in used
    ]
    return Sequence(name, tuple(s.memory for s in segments), tuple(samples), tuple(excluded))


def resolve_clock(text: str, start_ns: int, end_ns: int, zone: tzinfo = ZONE) -> int:
    """Return the time inside the window, SLACK_NS more at either end, when the clock showed H:M:S.

    :return: nanoseconds since the Unix epoch
    :raises ValueError: not a time of day, or never shown inside the window
    """
    found = _CLOCK.fullmatch(text.strip())
    if not found:
        raise _Unusable(f'answer time {text.strip()!r} is not H:M:S')
    hour, minute, second = map(int, found.groups())
    if hour > 23 or minute > 59 or second > 59:
        raise _Unusable(f'answer time {text.strip()!r} is not a time of day')
    start_ns, end_ns = max(start_ns - SLACK_NS, 0), end_ns + SLACK_NS
    day = datetime.fromtimestamp(start_ns // NS, timezone.utc).astimezone(zone).date()
    last = datetime.fromtimestamp(end_ns // NS, timezone.utc).astimezone(zone).date()
    while day <= last:
        for fold in (0, 1):  # an hour that comes twice when summer time ends
            moment = datetime(day.year, day.month, day.day, hour, minute, second, tzinfo=zone, fold=fold)
            ns = int(moment.timestamp()) * NS
            if start_ns <= ns <= end_ns:
                return ns
        day += timedelta(days=1)
    raise _Unusable(f'answer time {text.strip()} ({zone}) lies outside the window of the question')


def _sample(sample_id: str, row: dict[str, str], window: Any, segments: list[_Segment], name: str) -> Sample:
    length, start_ns, end_ns = window
    first, last = _bounds(segments, start_ns, end_ns)
    inside = segments[first:last]
    if not inside:
        raise _Unusable('no captions lie inside its window')
    if not row[_QUESTION]:
        raise _Unusable('it has no question')
    times = [resolve_clock(t, start_ns, end_ns) for t in row[_TIMES].split(',') if t.strip()]
    if not times:
        raise _Unusable('it has no answer time')
    shown = [_segment_at(segments, time_ns) for time_ns in times]
    # Of what lies outside by the slack, the nearest segment inside can be found.
    findable = [_segment_at(inside, time_ns).memory.id for time_ns in times]
    question = Question(row[_QUESTION], now_ns=end_ns, here=inside[-1].memory.pose, map_id=name)
    # As wide as no segment outside is admitted; see _bounds for what is inside.
    after_ns = segments[first - 1].memory.end_ns + 1 if first else None
    before_ns = segments[last].memory.start_ns - 1 if last < len(segments) else None
    scope = Scope(after_ns, before_ns, map_id=name)
    return Sample(
        sample_id,
        length,
        question,
        scope,
        len(inside),
        frozenset(findable),
        _truth(row, shown),
    )


def _bounds(segments: list[_Segment], start_ns: int, end_ns: int) -> tuple[int, int]:
    """Return where the segments begin and end whose mean time is in [start_ns, end_ns], as upstream cuts."""
    means = [s.mean_ns for s in segments]
    return bisect_left(means, start_ns), bisect_right(means, end_ns)


def _segment_at(segments: list[_Segment], time_ns: int) -> _Segment:
    """Return the last segment that begins by then, as upstream does; the first one if none does."""
    after = bisect_right([s.memory.start_ns for s in segments], time_ns)
    return segments[max(after - 1, 0)]


def _truth(row: dict[str, str], shown: list[_Segment]) -> Truth:
    kind = row[_KIND].lower()
    parsable = row[_PARSABLE].lower()
    if kind == 'position':
        return Truth(Kind.POSITION, positions=tuple(s.memory.pose.position for s in shown if s.memory.pose))
    if kind == 'time':
        return Truth(Kind.TIME, times_ns=tuple(s.mean_ns for s in shown))
    if kind == 'duration':
        try:
            minutes = float(parsable)
        except ValueError:
            minutes = math.nan
        if not 0.0 <= minutes < math.inf:
            raise _Unusable(f'{row[_PARSABLE]!r} is not a duration in minutes')
        return Truth(Kind.DURATION, duration_min=minutes)
    if kind == 'binary':
        if parsable.rstrip('.') not in _BINARY:
            raise _Unusable(f'{row[_PARSABLE]!r} is neither yes nor no')
        return Truth(Kind.BINARY, binary=_BINARY[parsable.rstrip('.')])
    if kind == 'text':
        return Truth(Kind.TEXT, text=row[_TEXT])
    raise _Unusable(f'{row[_KIND]!r} is not a kind of answer')


def _read_rows(path: Path, number: int) -> Iterator[dict[str, str]]:
    """Yield the rows of a sequence, columns without the line breaks in their names."""
    try:
        with path.open(newline='', encoding='utf-8-sig') as file:
            table = list(csv.reader(file, strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BagUnreadable(f'{path} cannot be read as a CSV table: {error}') from error
    header = [' '.join(name.split()) for name in table[0]] if table else []
    missing = [column for column in _COLUMNS if column not in header]
    if missing:
        raise BagUnreadable(f'{path} has no column {", ".join(missing)}; take data.csv as NaVQA ships it')
    for line in table[1:]:
        cells = dict(zip(header, [cell.strip() for cell in line], strict=False))
        row = {column: cells.get(column, '') for column in _COLUMNS}
        if row[_SEQUENCE] == str(number) and row[_ID]:
            yield row


def _read_windows(path: Path) -> dict[str, tuple[str, int, int]]:
    """Return length category, start and end [ns] of each question's window, by its id."""
    content = _read_json(path)
    windows = {}
    try:
        for entry in content['data']:
            start_ns, end_ns = from_seconds(entry['start_time']), from_seconds(entry['end_time'])
            length = str(entry['length_category']).upper()
            if length not in LENGTHS or start_ns > end_ns:
                raise BagUnreadable(f'{path}: the window of {entry["id"]} makes no sense')
            windows[str(entry['id'])] = (length, start_ns, end_ns)
    except (KeyError, TypeError, InvalidRequest) as error:
        raise BagUnreadable(f'{path} is not in the format of qa_unfilled.json: {error!r}') from error
    return windows


def _read_segments(path: Path, name: str) -> list[_Segment]:
    """Return the captions as memories with their mean times, in the order of time."""
    content = _read_json(path)
    segments = []
    try:
        for entry in content:
            x, y, z = (float(value) for value in entry['position'])
            if not all(map(math.isfinite, (x, y, z))):
                raise BagUnreadable(f'{path}: {entry["position"]} is not a position')
            start_ns, end_ns = from_seconds(entry['start_time']), from_seconds(entry['end_time'])
            memory = Memory(
                id=memory_id(f'{ROBOT}/{name}', 'captioner', start_ns),
                robot=ROBOT,
                start_ns=start_ns,
                end_ns=end_ns,
                caption=str(entry['caption']),
                pose=Pose(x, y, z),
                map_id=name,
                captioner=path.stem,
            )
            segments.append(_Segment(memory, from_seconds(entry['time'])))
    except (KeyError, TypeError, ValueError, InvalidRequest) as error:
        raise BagUnreadable(f"{path} is not in the format of upstream's captions: {error!r}") from error
    if not segments:
        raise BagUnreadable(f'{path} holds no captions')
    segments.sort(key=lambda s: s.memory.start_ns)
    for before, after in pairwise(segments):
        same = before.memory.start_ns == after.memory.start_ns
        if same or before.memory.end_ns >= after.memory.end_ns or before.mean_ns > after.mean_ns:
            raise BagUnreadable(
                f'{path}: the segments at {before.memory.start_ns / NS} and '
                f'{after.memory.start_ns / NS} s do not follow each other; repair or caption anew'
            )
    return segments


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding='utf-8'))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise BagUnreadable(f'{path} cannot be read as JSON: {error}') from error
