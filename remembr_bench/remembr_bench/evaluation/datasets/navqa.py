"""NaVQA: the questions of the ReMEmbR paper (arXiv 2409.13682, section V-A), from upstream's files.

A folder DIR holds data.csv (questions and answers) and for each sequence N/qa_unfilled.json (the questions'
windows) and N/CAPTIONS.json (one record per segment of the drive); or it is upstream's `data`.
OC-NaVQA asks the same questions with corrected labels, in oc_navqa_data.csv: a position is that of the object
itself, and each question looks back to the start of the drive.
"""

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from operator import attrgetter
from pathlib import Path
from zoneinfo import ZoneInfo

from remembr_bench.evaluation.datasets import navqa_table, sample
from remembr_bench.evaluation.datasets.navqa_table import NAVQA, Edition
from remembr_bench.evaluation.datasets.sample import Excluded, Sample, Truth
from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.geometry import Point
from remembr_ros.memory.exchange.captions_file import TimedMemory, read_captions
from remembr_ros.memory.model.recall import Scope
from remembr_ros.timestamps import NS

ZONE = ZoneInfo('America/Los_Angeles')
"""Answer times are US Pacific time, whatever the zone of the machine and of the drive."""

SLACK_NS = 3 * NS
"""One segment: windows begin and end in the middle of one, and answer times are whole seconds. With it 221 of
the 230 answer times of NaVQA lie inside their window; the others are minutes or hours off."""

CAPTIONS = 'captions_haystack_3_secs'


_BRACKETS = re.compile(r'\[([^\[\]]*)\]')
_BINARY = {'yes': True, 'true': True, 'no': False, 'false': False}


class _Unusable(ValueError):
    """Raised when a row cannot become a sample; its text is the reason."""


class _NotShown(_Unusable):
    """Raised when an answer time lies outside its question's window: an error of the data set."""


def load_captions(folder: Path, number: int, captions: str = CAPTIONS) -> list[TimedMemory]:
    """Return the captions of a sequence, from upstream's file.

    :param captions: name of the captions file, without .json
    :raises BagUnreadable: the file is missing, damaged or not in upstream's format
    """
    path = navqa_table.find_file(
        folder, f'captions/{number}/captions/{captions}.json', f'{number}/{captions}.json'
    )
    return read_captions(path, sequence_name(number))


def sequence_name(number: int) -> str:
    """Return what a sequence and its map are called; the drive is the same in each edition."""
    return f'navqa-{number}'


def load_navqa(
    folder: Path,
    number: int,
    segments: Sequence[TimedMemory],
    edition: Edition = NAVQA,
) -> sample.Sequence:
    """Read the questions about one sequence.

    A row that cannot be used (an answer that cannot be read, a question without a window, an answer time
    outside of it, or one that nothing is remembered of) is excluded, with the reason.

    :param segments: the memories of the drive, in the order of time; not empty
    :raises BagUnreadable: a file is missing, damaged or not in upstream's format
    """
    path = navqa_table.find_file(folder, *(name.format(number) for name in navqa_table.WINDOWS))
    windows = navqa_table.read_windows(path)
    reader = _Reader(sequence_name(number), segments, edition)
    samples: list[Sample] = []
    excluded: list[Excluded] = []
    used: dict[str, int] = {}
    for row in navqa_table.read_rows(navqa_table.find_file(folder, edition.table), number):
        key = row[navqa_table.ID]
        # Upstream allows several questions about one window.
        used[key] = used.get(key, 0) + 1
        sample_id = key if used[key] == 1 else f'{key}#{used[key]}'
        try:
            if key not in windows:
                raise _Unusable(f'{path.name} has no window for it')
            samples.append(reader.sample(sample_id, row, windows[key]))
        except _Unusable as error:
            excluded.append(Excluded(sample_id, row[navqa_table.QUESTION], str(error)))
    excluded += [
        Excluded(key, '', f'{edition.table} has no question for this window')
        for key in windows
        if key not in used
    ]
    return sample.Sequence(
        sequence_name(number), tuple(s.memory for s in segments), tuple(samples), tuple(excluded)
    )


def resolve_clock(text: str, start_ns: int, end_ns: int) -> int:
    """Return the time inside the window, SLACK_NS more at either end, when the clock showed H:M:S.

    :return: nanoseconds since the Unix epoch
    :raises ValueError: not a time of day, or never shown inside the window
    """
    text = text.strip()
    try:
        shown = datetime.strptime(text, '%H:%M:%S').time()
    except ValueError:
        raise _Unusable(f'answer time {text!r} is not a time of day, H:M:S') from None
    start_ns, end_ns = max(start_ns - SLACK_NS, 0), end_ns + SLACK_NS
    day = datetime.fromtimestamp(start_ns // NS, timezone.utc).astimezone(ZONE).date()
    last = datetime.fromtimestamp(end_ns // NS, timezone.utc).astimezone(ZONE).date()
    while day <= last:
        for fold in (0, 1):  # an hour that comes twice when summer time ends
            ns = int(datetime.combine(day, shown.replace(fold=fold), ZONE).timestamp()) * NS
            if start_ns <= ns <= end_ns:
                return ns
        day += timedelta(days=1)
    raise _NotShown(f'answer time {text} ({ZONE}) lies outside the window of the question')


_mean_ns = attrgetter('mean_ns')


@dataclass(frozen=True, slots=True)
class _Reader:
    """Rows of one sequence to samples."""

    name: str
    segments: Sequence[TimedMemory]
    edition: Edition

    def sample(self, sample_id: str, row: dict[str, str], window: tuple[str, int, int]) -> Sample:
        """Return the sample of a row.

        :raises _Unusable: there is none
        """
        length, start_ns, end_ns = window
        if self.edition.corrected:
            start_ns = min(start_ns, self.segments[0].memory.start_ns)
        # By mean time, both ends included, as upstream cuts.
        first = bisect_left(self.segments, start_ns, key=_mean_ns)
        last = bisect_right(self.segments, end_ns, key=_mean_ns)
        inside = self.segments[first:last]
        if not inside:
            raise _Unusable('not covered: no captions lie inside its window')
        if not row[navqa_table.QUESTION]:
            raise _Unusable('it has no question')
        times = self._times(row, start_ns, end_ns)
        at = {time_ns: segment for time_ns in times if (segment := _segment_at(self.segments, time_ns))}
        # Times are equally right, but of a duration both ends.
        if times and (not at or (row[navqa_table.KIND].lower() == 'duration' and len(at) < len({*times}))):
            raise _Unusable(f'not covered: nothing is remembered around {row[navqa_table.TIMES]} ({ZONE})')
        # Of what lies outside by the slack, the nearest segment inside can be found.
        in_slack = [at[t] for t in at if start_ns - SLACK_NS <= t <= end_ns + SLACK_NS]
        findable = [sorted((inside[0], segment, inside[-1]), key=_mean_ns)[1] for segment in in_slack]
        here = inside[-1].memory.pose if _segment_at(inside, end_ns) else None
        question = Question(row[navqa_table.QUESTION], now_ns=end_ns, here=here, map_id=self.name)
        # As wide as no segment outside is admitted.
        after_ns = self.segments[first - 1].memory.end_ns + 1 if first else None
        before_ns = self.segments[last].memory.start_ns - 1 if last < len(self.segments) else None
        return Sample(
            sample_id,
            length,
            question,
            Scope(after_ns, before_ns, map_id=self.name),
            (inside[0].memory.start_ns, inside[-1].memory.end_ns),
            len(inside),
            frozenset(segment.memory.id for segment in findable),
            self._truth(row, [*at.values()]),
        )

    def _times(self, row: dict[str, str], start_ns: int, end_ns: int) -> list[int]:
        """Return when the answer was shown; a labelled place needs no time."""
        texts = [text for text in row[navqa_table.TIMES].split(',') if text.strip()]
        if not texts:
            raise _Unusable('it has no answer time')
        try:
            return [resolve_clock(text, start_ns, end_ns) for text in texts]
        except _NotShown:
            if self.edition.corrected and row[navqa_table.KIND].lower() == 'position':
                return []  # the label is the place itself, whenever it was seen
            raise

    def _truth(self, row: dict[str, str], shown: list[TimedMemory]) -> Truth:
        kind = row[navqa_table.KIND].lower()
        if kind == 'position':
            driven = tuple(s.memory.pose.position for s in shown if s.memory.pose)
            positions = _object_positions(row) if self.edition.corrected else driven
            if not positions:
                raise _Unusable('nothing tells its position')
            return Truth(Kind.POSITION, positions=positions)
        if kind == 'time':
            return Truth(Kind.TIME, times_ns=tuple(s.mean_ns for s in shown))
        if kind == 'duration':
            return Truth(Kind.DURATION, duration_min=_minutes(row))
        if kind == 'binary':
            binary = _BINARY.get(row[navqa_table.PARSABLE].lower().rstrip('.'))
            if binary is None:
                raise _Unusable(f'{row[navqa_table.PARSABLE]!r} is neither yes nor no')
            return Truth(Kind.BINARY, binary=binary)
        if kind == 'text':
            return Truth(Kind.TEXT, text=row[navqa_table.TEXT])
        raise _Unusable(f'{row[navqa_table.KIND]!r} is not a kind of answer')


def _segment_at(segments: Sequence[TimedMemory], time_ns: int) -> TimedMemory | None:
    """Return the last segment that begins by then, as upstream does, else the next one.

    :return: None: either is farther than it is long, as where a recording covers a part of the drive
    """
    after = bisect_right(segments, time_ns, key=lambda segment: segment.memory.start_ns)
    for segment in segments[max(after - 1, 0) : after + 1]:
        start_ns, end_ns = segment.memory.start_ns, segment.memory.end_ns
        if max(start_ns - time_ns, time_ns - end_ns) <= max(end_ns - start_ns, SLACK_NS):
            return segment
    return None


def _object_positions(row: dict[str, str]) -> tuple[Point, ...]:
    """Return the positions '[x y z]' of OC-NaVQA [m]; those for the whole drive come first."""
    text = row[navqa_table.OBJECT_FROM_START] or row[navqa_table.OBJECT]
    positions = []
    for inner in _BRACKETS.findall(text):
        try:
            x, y, z = map(float, inner.replace(',', ' ').split())
        except ValueError:
            x = y = z = math.nan
        if not all(map(math.isfinite, (x, y, z))):
            raise _Unusable(f'{text!r} is not a position')
        positions.append((x, y, z))
    return tuple(positions)


def _minutes(row: dict[str, str]) -> float:
    try:
        minutes = float(row[navqa_table.PARSABLE])
    except ValueError:
        minutes = math.nan
    if not 0.0 <= minutes < math.inf:
        raise _Unusable(f'{row[navqa_table.PARSABLE]!r} is not a duration in minutes')
    return minutes
