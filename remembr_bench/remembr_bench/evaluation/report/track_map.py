"""The map of one question: the drive, what was found, what was answered and what is right.

In metres of the map frame: x to the right, y upwards, so that the y of SVG is -y.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from remembr_bench.evaluation.records.reading import TrackPoint
from remembr_bench.evaluation.records.record import QuestionRecord
from remembr_ros.timestamps import NS, format_duration

LEGEND = {
    'truth': 'truth',
    'relevant': 'holds the answer',
    'answer': 'answer',
    'evidence': 'cited evidence',
    'hit': 'hits of the raw question',
    'here': 'here',
}
"""What the marks mean, by their CSS class."""
FIRST_HITS = 5  # of the raw question that are marked
WORLD_M = 1e7  # [m] nothing is farther away; what claims to be, or is not a number, has no place
FAR_M = 100.0  # an answer at least this far outside would shrink all else, and is left out
MARGIN_M = 10.0

XY = tuple[float, float]


@dataclass(frozen=True, slots=True)
class MapMark:
    """Something to draw at a place.

    :param what: the CSS class, one of LEGEND
    :param at: [m] in the map frame
    :param tip: the tooltip
    """

    what: str
    at: XY
    tip: str


@dataclass(frozen=True, slots=True)
class TrackMap:
    """A map to draw.

    :param box: least x, least -y, width and height [m]: the viewBox of an SVG
    :param window: points of the way that the question looks back on, as of an SVG polyline
    """

    box: tuple[float, float, float, float]
    window: str
    marks: tuple[MapMark, ...]


def polyline(places: Sequence[XY]) -> str:
    """Return the points of a way as SVG has them."""
    return ' '.join(f'{x:.1f},{-y:.1f}' for x, y in places)


def track_map(record: QuestionRecord, track: Sequence[TrackPoint]) -> TrackMap | None:
    """Return the map of a question; None: nothing in it has a place.

    :param track: the drive of its sequence
    """
    first_ns, last_ns = record.window_ns
    window = [point.place for point in track if point.end_ns >= first_ns and point.start_ns <= last_ns]
    marks = marks_of(record, track)
    fixed = window + [mark.at for mark in marks if mark.what != 'answer']
    if fixed:
        reach = max(FAR_M, 2.0 * max(math.dist(fixed[0], place) for place in fixed))
        marks = [mark for mark in marks if math.dist(fixed[0], mark.at) <= reach]
    places = window + [mark.at for mark in marks]
    if not places:
        return None
    xs, ys = zip(*places, strict=True)
    size = (max(side) - min(side) + 2 * MARGIN_M for side in (xs, ys))
    return TrackMap((min(xs) - MARGIN_M, -max(ys) - MARGIN_M, *size), polyline(window), tuple(marks))


def marks_of(record: QuestionRecord, track: Sequence[TrackPoint]) -> list[MapMark]:
    """Return what is to be drawn, the most important last; a time stands where the robot was then.

    :param track: the drive of the question's sequence
    """
    by_id = {point.id: point for point in track}
    now_ns, answer, truth = record.now_ns, record.answer, record.truth
    marks: list[MapMark] = []

    def add(what: str, place: XY, tip: str) -> None:
        if all(abs(value) < WORLD_M for value in place):
            marks.append(MapMark(what, place, f'{tip} ({place[0]:.1f}, {place[1]:.1f})'))

    def add_memory(what: str, point: TrackPoint | None, words: str) -> None:
        if point is not None:
            ago = f'{format_duration((now_ns - point.end_ns) / NS)} ago'
            add(what, point.place, f'{words}, {ago}: {" ".join(point.caption.split())}')

    def add_time(what: str, minutes_ago: float) -> None:
        ns = now_ns - minutes_ago * 60 * NS
        then = min(track, key=lambda point: abs((point.start_ns + point.end_ns) / 2 - ns), default=None)
        add_memory(what, then, f'{what}: {minutes_ago:.1f} min ago')

    for rank in range(min(FIRST_HITS, len(record.hits)), 0, -1):
        add_memory('hit', by_id.get(record.hits[rank - 1]), f'hit {rank}')
    for memory_id in answer.evidence if answer else ():
        add_memory('evidence', by_id.get(memory_id), 'evidence')
    if record.here:
        add('here', record.here[:2], 'here')
    if not (truth.positions or truth.minutes_ago):
        for memory_id in record.relevant:
            add_memory('relevant', by_id.get(memory_id), 'holds the answer')
    for position in truth.positions:
        add('truth', position[:2], 'truth')
    for minutes_ago in truth.minutes_ago:
        add_time('truth', minutes_ago)
    if answer and answer.position:
        add('answer', answer.position[:2], 'answer')
    elif answer and answer.minutes_ago is not None:
        add_time('answer', answer.minutes_ago)
    return marks
