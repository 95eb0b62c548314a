"""What the map of a question marks: its hits, its evidence, the asker, the truth and the answer."""

from collections.abc import Sequence
from dataclasses import dataclass

from remembr_ros.evaluation.reading import TrackPoint
from remembr_ros.evaluation.record import QuestionRecord
from remembr_ros.timestamps import NS, format_duration

FIRST_HITS = 5
"""Hits of the raw question that are marked."""

TIP = 400
"""Characters of a caption in a tooltip."""

WORLD_M = 1e7
"""Nothing is farther away [m]; what claims to be, or is not a number, has no place."""

XY = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Mark:
    """Something to draw at a place.

    :param what: the CSS class: hit, evidence, here, truth or answer
    :param at: [m] in the map frame
    :param tip: the tooltip
    :param label: the number of a hit
    """

    what: str
    at: XY
    tip: str
    label: str = ''


def marks_of(record: QuestionRecord, track: Sequence[TrackPoint]) -> list[Mark]:
    """Return what is to be drawn, the most important last, and the best hit after the others.

    A time stands where the robot was then.

    :param track: the drive of the question's sequence
    """
    by_id = {point.id: point for point in track}
    marks: list[Mark] = []

    def add(what: str, place: XY | None, tip: str, label: str = '') -> None:
        if place is not None and all(abs(value) < WORLD_M for value in place):
            marks.append(Mark(what, place, tip, label))

    def seen(minutes_ago: float) -> TrackPoint | None:
        """Return the memory of that time."""
        ns = record.now_ns - minutes_ago * 60 * NS
        return min(track, key=lambda p: abs((p.start_ns + p.end_ns) / 2 - ns), default=None)

    drawn = list(enumerate(record.hits[:FIRST_HITS], 1))
    if record.rank is not None and FIRST_HITS < record.rank <= len(record.hits):
        drawn.append((record.rank, record.hits[record.rank - 1]))
    for number, memory_id in reversed(drawn):
        if point := by_id.get(memory_id):
            right = ' (the answer window)' if number == record.rank else ''
            add('hit', place_of(point), f'hit {number}{right}, {_tip(point, record.now_ns)}', str(number))
    answer = record.answer
    for memory_id in answer.evidence if answer else ():
        if point := by_id.get(memory_id):
            add('evidence', place_of(point), f'evidence, {_tip(point, record.now_ns)}')
    if record.here:
        add('here', record.here[:2], 'here: the robot when it is asked')
    for x, y, _ in record.truth.positions:
        add('truth', (x, y), f'truth ({x:.1f}, {y:.1f})')
    for minutes in record.truth.minutes_ago:
        if point := seen(minutes):
            add('truth', place_of(point), f'truth: {minutes:.1f} min ago, {_tip(point, record.now_ns)}')
    if answer and answer.position:
        x, y, _ = answer.position
        add('answer', (x, y), f'answer ({x:.1f}, {y:.1f}): {answer.text[:TIP]}')
    elif answer and answer.minutes_ago is not None and (point := seen(answer.minutes_ago)):
        add(
            'answer',
            place_of(point),
            f'answer: {answer.minutes_ago:.1f} min ago, {_tip(point, record.now_ns)}',
        )
    return marks


def place_of(point: TrackPoint) -> XY | None:
    """Return where a memory was made, [m] in the map frame; None: unplaced."""
    return (point.x, point.y) if point.x is not None and point.y is not None else None


def _tip(point: TrackPoint, now_ns: int) -> str:
    caption = ' '.join(point.caption.split())
    shown = caption if len(caption) <= TIP else f'{caption[:TIP]} ...'
    return f'{format_duration((now_ns - point.end_ns) / NS)} ago: {shown}'
