"""The map of one question as SVG: the track, what was found, what was answered and what is right.

North is up as in the map frame: x to the right, y upwards, both in one scale.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from remembr_ros.evaluation.datasets.sample import CORRECT_WITHIN_M
from remembr_ros.evaluation.records.reading import TrackPoint
from remembr_ros.evaluation.records.record import QuestionRecord
from remembr_ros.timestamps import NS, format_duration

LEGEND = {
    'truth': 'truth',
    'relevant': 'holds the answer',
    'answer': 'answer',
    'evidence': 'cited evidence',
    'hit': 'hits of the raw question, by rank',
    'here': 'here',
}
"""What the marks mean, by their CSS class."""
FIRST_HITS = 5  # of the raw question that are marked
TIP = 400  # characters of a caption in a tooltip
WORLD_M = 1e7  # [m] nothing is farther away; what claims to be, or is not a number, has no place

_WIDTH, _LEAST_HEIGHT, _MOST_HEIGHT, _MARGIN = 640.0, 240.0, 460.0, 34.0  # pixels
_LEAST_EXTENT_M = 20.0

XY = tuple[float, float]


@dataclass(frozen=True, slots=True)
class MapMark:
    """Something to draw at a place.

    :param what: the CSS class, one of LEGEND
    :param at: [m] in the map frame
    :param tip: the tooltip
    :param label: the number of a hit
    """

    what: str
    at: XY
    tip: str
    label: str = ''


@dataclass(frozen=True, slots=True)
class Map:
    """A map and what it shows.

    :param svg: an element for an HTML page; it refers to the path of :func:`drive_path`
    :param shown: CSS classes of the marks, for the legend
    :param note: what could not be drawn
    """

    svg: str
    shown: tuple[str, ...]
    note: str = ''


def drive_path(path_id: str, track: Sequence[TrackPoint]) -> str:
    """Return the whole drive as a path in metres, for the maps of its questions to refer to."""
    d = _path([point.place for point in track], 0.5)
    return f'<path id="{escape(path_id)}" class="drive" d="{d}" vector-effect="non-scaling-stroke"/>'


def draw_map(record: QuestionRecord, track: Sequence[TrackPoint], path_id: str) -> Map | None:
    """Draw the map of a question.

    :param track: the drive of its sequence
    :param path_id: the id of the drive's path in the page
    :return: None: nothing in it has a place
    """
    first_ns, last_ns = record.window_ns
    window = [p.place for p in track if p.end_ns >= first_ns and p.start_ns <= last_ns]
    marks, note = marks_of(record, track), ''
    if near := window + [m.at for m in marks if m.what != 'answer']:
        low, high = _bounds(near)
        reach = max(math.dist(low, high), 100.0)
        for mark in [m for m in marks if m.what == 'answer' and _outside(m.at, low, high) > reach]:
            note = 'The answer ({:.0f}, {:.0f}) lies far outside of this map.'.format(*mark.at)
            marks.remove(mark)
    placed = window + [m.at for m in marks]
    if not placed:
        return None
    view = _View(*_bounds(placed))
    parts = [
        f'<svg class="map" role="img" viewBox="0 0 {_WIDTH:.0f} {view.height:.0f}" '
        f'aria-label="Map of the question with {len(marks)} marks">',
        _grid(view),
        f'<use href="#{escape(path_id)}" transform="{view.matrix}"/>',
        f'<path class="window" d="{_path([view.to(place) for place in window], 1.5)}"/>',
        *(f'<circle class="start" {_centre(view.to(place))} r="4"/>' for place in window[:1]),
        *_accepted(view, record, marks),
        *_drawn(view, marks),
        '</svg>',
    ]
    return Map(''.join(parts), tuple(what for what in LEGEND if any(m.what == what for m in marks)), note)


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
            ago = f'{format_duration((now_ns - point.end_ns) / NS)} ago'
            add(what, point.place, f'{words}, {ago}: {" ".join(point.caption.split())[:TIP]}', label)

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


class _View:
    """From metres in the map frame to pixels of the picture."""

    def __init__(self, low: XY, high: XY) -> None:
        wide, deep = (max(h - lo, _LEAST_EXTENT_M) for lo, h in zip(low, high, strict=True))
        inside = _WIDTH - 2 * _MARGIN
        self.height = min(max(inside * deep / wide + 2 * _MARGIN, _LEAST_HEIGHT), _MOST_HEIGHT)
        self.scale = min(inside / wide, (self.height - 2 * _MARGIN) / deep)
        self.x = _WIDTH / 2 - self.scale * (low[0] + high[0]) / 2
        self.y = self.height / 2 + self.scale * (low[1] + high[1]) / 2

    def to(self, place: XY) -> XY:
        return self.x + self.scale * place[0], self.y - self.scale * place[1]

    @property
    def matrix(self) -> str:
        return f'matrix({self.scale:.5g} 0 0 {-self.scale:.5g} {self.x:.2f} {self.y:.2f})'


def _drawn(view: _View, marks: Sequence[MapMark]) -> Iterable[str]:
    """Draw the marks; the number of a hit moves aside where something is already."""
    taken = [view.to(m.at) for m in marks if m.what != 'hit']
    badges = []
    for mark in reversed([m for m in marks if m.what == 'hit']):  # the best hit chooses first
        at = view.to(mark.at)
        badge = _badge(at, taken, view.height)
        taken.append(badge)
        badges.append(
            f'<g class="hit"><title>{escape(mark.tip)}</title><path d="M{_xy(at)}L{_xy(badge)}"/>'
            f'<circle {_centre(at)} r="2.5"/><circle {_centre(badge)} r="8"/>'
            f'<text x="{badge[0]:.1f}" y="{badge[1] + 3.6:.1f}">{escape(mark.label)}</text></g>'
        )
    yield from reversed(badges)
    for mark in marks:
        if mark.what != 'hit':
            x, y = view.to(mark.at)
            use = f'<use href="#mark-{mark.what}" x="{x:.1f}" y="{y:.1f}"/>'
            yield f'<g><title>{escape(mark.tip)}</title>{use}</g>'


def _badge(at: XY, taken: Sequence[XY], height: float) -> XY:
    """Return the nearest place where the number of a hit covers nothing; without one, the hit's own."""
    for radius, steps in ((0.0, 1), (19.0, 8), (34.0, 12), (50.0, 16)):
        for step in range(steps):
            angle = math.tau * step / steps - math.pi / 4
            spot = at[0] + radius * math.cos(angle), at[1] + radius * math.sin(angle)
            inside = 10 < spot[0] < _WIDTH - 10 and 10 < spot[1] < height - 10
            if inside and all(math.dist(spot, other) > 16.5 for other in taken):
                return spot
    return at


def _accepted(view: _View, record: QuestionRecord, marks: Sequence[MapMark]) -> Iterable[str]:
    """Draw how far from the truth a position may be, and the way from the answer to the nearest truth."""
    truths = [view.to(m.at) for m in marks if m.what == 'truth']
    if record.truth.positions:
        radius = CORRECT_WITHIN_M * view.scale
        yield from (f'<circle class="accepted" {_centre(truth)} r="{radius:.1f}"/>' for truth in truths)
    for mark in marks:
        if mark.what == 'answer' and truths:
            at = view.to(mark.at)
            nearest = min(truths, key=lambda truth: math.dist(truth, at))
            yield f'<path class="error" d="M{_xy(at)}L{_xy(nearest)}"/>'


def _grid(view: _View) -> str:
    """Draw lines of round coordinates, about six to the right, with their numbers [m]."""
    step = _round_step(_WIDTH / view.scale / 6)
    pixels = view.scale * step
    lines, texts = [], []
    for i in range(math.ceil(-view.x / pixels), math.floor((_WIDTH - view.x) / pixels) + 1):
        x = view.x + i * pixels
        lines.append(f'M{x:.1f},0V{view.height:.0f}')
        texts.append(f'<text x="{x:.1f}" y="{view.height - 4:.0f}">{i * step:g}</text>')
    for i in range(math.ceil((view.y - view.height) / pixels), math.floor(view.y / pixels) + 1):
        y = view.y - i * pixels
        lines.append(f'M0,{y:.1f}H{_WIDTH:.0f}')
        if y < view.height - 20:  # below are the numbers of the columns
            texts.append(f'<text class="row" x="4" y="{y - 2:.1f}">{i * step:g}</text>')
    return f'<g class="grid"><path d="{"".join(lines)}"/>{"".join(texts)}</g>'


def _round_step(step: float) -> float:
    """Return the largest of 1, 2, 5, 10, 20, ... that is not above."""
    power = 10.0 ** math.floor(math.log10(step))
    return max(power * factor for factor in (1, 2, 5) if power * factor <= step * (1 + 1e-9))


def _path(places: Sequence[XY], spacing: float) -> str:
    """Return the way through the places, thinned to this spacing."""
    drawn = list(places[:1])
    for place in places[1:]:
        if math.dist(drawn[-1], place) >= spacing:
            drawn.append(place)
    if drawn and drawn[-1] is not places[-1]:
        drawn.append(places[-1])
    return 'M' + 'L'.join(map(_xy, drawn)) if drawn else ''


def _xy(place: XY) -> str:
    return f'{place[0]:.1f},{place[1]:.1f}'


def _centre(place: XY) -> str:
    return f'cx="{place[0]:.1f}" cy="{place[1]:.1f}"'


def _bounds(places: Sequence[XY]) -> tuple[XY, XY]:
    xs, ys = zip(*places, strict=True)
    return (min(xs), min(ys)), (max(xs), max(ys))


def _outside(place: XY, low: XY, high: XY) -> float:
    """Return how far a place is from a box [m]."""
    return math.hypot(*(max(lo - p, 0.0, p - h) for p, lo, h in zip(place, low, high, strict=True)))
