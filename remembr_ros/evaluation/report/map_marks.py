"""What the map of a question marks: its hits, its evidence, the asker, the truth and the answer."""

from collections.abc import Sequence
from dataclasses import dataclass

from remembr_ros.evaluation.run.reading import TrackPoint
from remembr_ros.evaluation.run.record import QuestionRecord
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

    :param what: the CSS class: hit, evidence, here, relevant, truth or answer
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
    now_ns, answer = record.now_ns, record.answer

    def at_memory(what: str, memory_id: str, words: str, label: str = '') -> list[Mark]:
        point = by_id.get(memory_id)
        return _mark(what, place_of(point), f'{words}, {_tip(point, now_ns)}', label) if point else []

    def at_time(what: str, minutes_ago: float) -> list[Mark]:
        ns = now_ns - minutes_ago * 60 * NS
        point = min(track, key=lambda p: abs((p.start_ns + p.end_ns) / 2 - ns), default=None)
        words = f'{what}: {minutes_ago:.1f} min ago'
        return _mark(what, place_of(point), f'{words}, {_tip(point, now_ns)}') if point else []

    marks: list[Mark] = []
    for number in reversed(_hits(record)):
        words = f'hit {number}' + (', which holds the answer' if number == record.rank else '')
        marks += at_memory('hit', record.hits[number - 1], words, str(number))
    for memory_id in answer.evidence if answer else ():
        marks += at_memory('evidence', memory_id, 'evidence')
    if record.here:
        marks += _mark('here', record.here[:2], 'here: the robot when it is asked')
    if not (record.truth.positions or record.truth.minutes_ago):
        for memory_id in record.relevant:
            marks += at_memory('relevant', memory_id, 'holds the answer')
    for x, y, _ in record.truth.positions:
        marks += _mark('truth', (x, y), f'truth ({x:.1f}, {y:.1f})')
    for minutes_ago in record.truth.minutes_ago:
        marks += at_time('truth', minutes_ago)
    if answer and answer.position:
        x, y, _ = answer.position
        marks += _mark('answer', (x, y), f'answer ({x:.1f}, {y:.1f}): {answer.text[:TIP]}')
    elif answer and answer.minutes_ago is not None:
        marks += at_time('answer', answer.minutes_ago)
    return marks


def place_of(point: TrackPoint) -> XY | None:
    """Return where a memory was made, [m] in the map frame; None: unplaced."""
    return (point.x, point.y) if point.x is not None and point.y is not None else None


def _tip(point: TrackPoint, now_ns: int) -> str:
    caption = ' '.join(point.caption.split())
    shown = caption if len(caption) <= TIP else f'{caption[:TIP]} ...'
    return f'{format_duration((now_ns - point.end_ns) / NS)} ago: {shown}'


def _mark(what: str, place: XY | None, tip: str, label: str = '') -> list[Mark]:
    """Return the mark, unless it has no place."""
    if place is None or not all(abs(value) < WORLD_M for value in place):
        return []
    return [Mark(what, place, tip, label)]


def _hits(record: QuestionRecord) -> list[int]:
    """Return the ranks, from 1, of the hits to draw: the first, and the one that holds the answer."""
    ranks = list(range(1, min(FIRST_HITS, len(record.hits)) + 1))
    if record.rank is not None and len(ranks) < record.rank <= len(record.hits):
        ranks.append(record.rank)
    return ranks
