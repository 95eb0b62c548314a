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
from remembr_ros.evaluation.report.map_marks import XY, MapMark, marks_of

_WIDTH, _LEAST_HEIGHT, _MOST_HEIGHT, _MARGIN = 640.0, 240.0, 460.0, 34.0  # pixels
_LEAST_EXTENT_M = 20.0


@dataclass(frozen=True, slots=True)
class Map:
    """A map and what it shows.

    :param svg: an element for an HTML page; it refers to the path of :func:`drive_path`
    :param shown: CSS classes of the marks, for the legend
    :param notes: what could not be drawn
    """

    svg: str
    shown: tuple[str, ...]
    notes: tuple[str, ...]


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
    marks = marks_of(record, track)
    notes = []
    near = window + [m.at for m in marks if m.what != 'answer']
    if near:
        low, high = _bounds(near)
        reach = max(math.dist(low, high), 100.0)
        for far in [m for m in marks if m.what == 'answer' and _outside(m.at, low, high) > reach]:
            notes.append('The answer ({:.0f}, {:.0f}) lies far outside of this map.'.format(*far.at))
            marks.remove(far)
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
        _start(view, window),
        _accepted(view, record, marks),
        *_drawn(view, marks),
        _scale(view),
        '</svg>',
    ]
    order = ('truth', 'relevant', 'answer', 'evidence', 'hit', 'here')
    shown = tuple(what for what in order if any(m.what == what for m in marks))
    return Map(''.join(parts), shown, tuple(notes))


class _View:
    """From metres in the map frame to pixels of the picture."""

    def __init__(self, low: XY, high: XY) -> None:
        wide, deep = (max(h - lo, _LEAST_EXTENT_M) for lo, h in zip(low, high, strict=True))
        inside = _WIDTH - 2 * _MARGIN
        self.height = min(max(inside * deep / wide + 2 * _MARGIN, _LEAST_HEIGHT), _MOST_HEIGHT)
        self.scale = min(inside / wide, (self.height - 2 * _MARGIN) / deep)
        self._x = _WIDTH / 2 - self.scale * (low[0] + high[0]) / 2
        self._y = self.height / 2 + self.scale * (low[1] + high[1]) / 2

    def to(self, place: XY) -> XY:
        return self._x + self.scale * place[0], self._y - self.scale * place[1]

    @property
    def matrix(self) -> str:
        return f'matrix({self.scale:.5g} 0 0 {-self.scale:.5g} {self._x:.2f} {self._y:.2f})'

    def place(self, pixel: XY) -> XY:
        """Return the inverse of to."""
        return (pixel[0] - self._x) / self.scale, (self._y - pixel[1]) / self.scale


def _drawn(view: _View, marks: Sequence[MapMark]) -> Iterable[str]:
    """Draw the marks; the number of a hit moves aside where something is already."""
    taken = [view.to(m.at) for m in marks if m.what != 'hit']
    badges = []
    for mark in reversed(marks):  # the best hit comes last, and chooses first
        if mark.what == 'hit':
            at = view.to(mark.at)
            badge = _badge(at, taken, view.height)
            taken.append(badge)
            badges.append(
                f'<g class="hit"><title>{escape(mark.tip)}</title>'
                f'<path d="M{_xy(at)}L{_xy(badge)}"/>'
                f'<circle class="dot" cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="2.5"/>'
                f'<circle cx="{badge[0]:.1f}" cy="{badge[1]:.1f}" r="8"/>'
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


def _accepted(view: _View, record: QuestionRecord, marks: Sequence[MapMark]) -> str:
    """Draw how far from the truth a position may be, and the way from the answer to the nearest truth."""
    truths = [view.to(m.at) for m in marks if m.what == 'truth']
    parts = []
    if record.truth.positions:
        radius = CORRECT_WITHIN_M * view.scale
        parts = [f'<circle class="accepted" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"/>' for x, y in truths]
    for mark in marks:
        if mark.what == 'answer' and truths:
            at = view.to(mark.at)
            nearest = min(truths, key=lambda truth: math.dist(truth, at))
            parts.append(f'<path class="error" d="M{_xy(at)}L{_xy(nearest)}"/>')
    return ''.join(parts)


def _start(view: _View, window: Sequence[XY]) -> str:
    if not window:
        return ''
    x, y = view.to(window[0])
    tip = '<title>the window begins here</title>'
    return f'<circle class="start" cx="{x:.1f}" cy="{y:.1f}" r="4">{tip}</circle>'


def _grid(view: _View) -> str:
    (left, top), (right, bottom) = view.place((0.0, 0.0)), view.place((_WIDTH, view.height))
    step = round_step((right - left) / 6)
    lines, texts = [], []
    for i in range(math.ceil(left / step), math.floor(right / step) + 1):
        x, _ = view.to((i * step, 0.0))
        lines.append(f'M{x:.1f},0V{view.height:.0f}')
        if 20 < x < _WIDTH - 20:
            texts.append(f'<text x="{x:.1f}" y="{view.height - 4:.0f}">{i * step:g}</text>')
    for i in range(math.ceil(bottom / step), math.floor(top / step) + 1):
        _, y = view.to((0.0, i * step))
        lines.append(f'M0,{y:.1f}H{_WIDTH:.0f}')
        if 12 < y < view.height - 20:
            texts.append(f'<text class="row" x="4" y="{y - 2:.1f}">{i * step:g}</text>')
    return f'<g class="grid"><path d="{"".join(lines)}"/>{"".join(texts)}</g>'


def _scale(view: _View) -> str:
    length_m = round_step(_WIDTH / 5 / view.scale)
    right, y = _WIDTH - 14, 18
    left = right - length_m * view.scale
    return (
        f'<g class="scale"><path d="M{left:.1f},{y - 4}v8m0,-4H{right:.1f}m0,-4v8"/>'
        f'<text x="{(left + right) / 2:.1f}" y="{y - 5}">{length_m:g} m</text></g>'
    )


def round_step(step: float) -> float:
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


def _bounds(places: Sequence[XY]) -> tuple[XY, XY]:
    xs, ys = zip(*places, strict=True)
    return (min(xs), min(ys)), (max(xs), max(ys))


def _outside(place: XY, low: XY, high: XY) -> float:
    """Return how far a place is from a box [m]."""
    return math.hypot(*(max(lo - p, 0.0, p - h) for p, lo, h in zip(place, low, high, strict=True)))
