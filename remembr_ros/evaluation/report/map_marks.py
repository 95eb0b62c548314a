"""What the map of a question marks: its hits, its evidence, the asker, the truth and the answer."""

from collections.abc import Sequence
from dataclasses import dataclass

from remembr_ros.evaluation.records.reading import TrackPoint
from remembr_ros.evaluation.records.record import QuestionRecord
from remembr_ros.timestamps import NS, format_duration

FIRST_HITS = 5  # of the raw question that are marked
TIP = 400  # characters of a caption in a tooltip
WORLD_M = 1e7  # [m] nothing is farther away; what claims to be, or is not a number, has no place

XY = tuple[float, float]


@dataclass(frozen=True, slots=True)
class MapMark:
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


def marks_of(record: QuestionRecord, track: Sequence[TrackPoint]) -> list[MapMark]:
    """Return what is to be drawn, the most important last, and the best hit after the others.

    A time stands where the robot was then.

    :param track: the drive of the question's sequence
    """
    by_id = {point.id: point for point in track}
    now_ns, answer = record.now_ns, record.answer
    marks: list[MapMark] = []

    def add(what: str, place: XY, tip: str, label: str = '') -> None:
        if all(abs(value) < WORLD_M for value in place):
            marks.append(MapMark(what, place, tip, label))

    def add_memory(what: str, point: TrackPoint | None, words: str, label: str = '') -> None:
        if point is not None:
            add(what, point.place, f'{words}, {_tip(point, now_ns)}', label)

    def add_time(what: str, minutes_ago: float) -> None:
        ns = now_ns - minutes_ago * 60 * NS
        then = min(track, key=lambda p: abs((p.start_ns + p.end_ns) / 2 - ns), default=None)
        add_memory(what, then, f'{what}: {minutes_ago:.1f} min ago')

    # The first hits, and the one that holds the answer.
    ranks = list(range(1, min(FIRST_HITS, len(record.hits)) + 1))
    if record.rank is not None and len(ranks) < record.rank <= len(record.hits):
        ranks.append(record.rank)
    for number in reversed(ranks):
        words = f'hit {number}' + (', which holds the answer' if number == record.rank else '')
        add_memory('hit', by_id.get(record.hits[number - 1]), words, str(number))
    for memory_id in answer.evidence if answer else ():
        add_memory('evidence', by_id.get(memory_id), 'evidence')
    if record.here:
        add('here', record.here[:2], 'here: the robot when it is asked')
    if not (record.truth.positions or record.truth.minutes_ago):
        for memory_id in record.relevant:
            add_memory('relevant', by_id.get(memory_id), 'holds the answer')
    for x, y, _ in record.truth.positions:
        add('truth', (x, y), f'truth ({x:.1f}, {y:.1f})')
    for minutes_ago in record.truth.minutes_ago:
        add_time('truth', minutes_ago)
    if answer and answer.position:
        x, y, _ = answer.position
        add('answer', (x, y), f'answer ({x:.1f}, {y:.1f}): {answer.text[:TIP]}')
    elif answer and answer.minutes_ago is not None:
        add_time('answer', answer.minutes_ago)
    return marks


def _tip(point: TrackPoint, now_ns: int) -> str:
    caption = ' '.join(point.caption.split())
    shown = caption if len(caption) <= TIP else f'{caption[:TIP]} ...'
    return f'{format_duration((now_ns - point.end_ns) / NS)} ago: {shown}'
