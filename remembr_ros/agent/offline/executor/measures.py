"""How much of what is compared one side or group has: number, time, length, distance, size; and in words."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from remembr_ros.agent.model.answer import Question
from remembr_ros.agent.offline.executor.superlatives import litres
from remembr_ros.agent.offline.executor.took_place import TookPlace
from remembr_ros.agent.offline.reader.contrast import ComparedBy, Contrast
from remembr_ros.geometry import Point, distance
from remembr_ros.memory.deeds.query import Occurrence
from remembr_ros.memory.deeds.summary import spent_said, times_said
from remembr_ros.timestamps import format_clock, format_duration

_MEAN = re.compile(r'\b(?:take|took|taken|last|lasted|need|needed)\b', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Value:
    """A side or a group with its value."""

    name: str
    value: float
    occurrences: Sequence[Occurrence]
    by: str

    def rank(self) -> tuple[float, ...]:
        """Return by what it comes before others: of stays as many those that took as long."""
        seconds = sum(deed.seconds for deed in self.occurrences)
        return (self.value, seconds, float(len(self.occurrences))) if self.by == 'places' else (self.value,)


@dataclass(frozen=True, slots=True)
class Measures:
    """Measures the sides or groups of a question.

    :param took_place: knows what there is of each
    """

    asked: Contrast
    took_place: TookPlace

    @property
    def question(self) -> Question:
        return self.took_place.question

    def value(self, name: str, side: str, occurrences: Sequence[Occurrence]) -> float | None:
        """Return that by which something is compared; None: nobody knows."""
        measure = self.asked.measure
        if measure is ComparedBy.COUNT:
            return float(len(occurrences))
        if measure in (ComparedBy.AWAY, ComparedBy.SIZE):
            return self._away(name, occurrences) if measure is ComparedBy.AWAY else self._size(name)
        return _VALUES[measure](occurrences, bool(_MEAN.search(side))) if occurrences else None

    def _away(self, name: str, occurrences: Sequence[Occurrence]) -> float | None:
        """Return how far something is from the anchor, or from here [m]."""
        here, end = self.question.here, self._point(name, occurrences)
        start = (self.question.map_id or (end and end[0]), here.position) if here else None
        if self.asked.anchor:
            start = self._point(self.asked.anchor, ())
        # Between maps there is no distance.
        return distance(start[1], end[1]) if start and end and start[0] == end[0] else None

    def _point(self, name: str, occurrences: Sequence[Occurrence]) -> tuple[str, Point] | None:
        """Return on which map something is, and where; of several the last one that was seen."""
        if things := self.took_place.things(name):
            return things[0].known.memory.map_id, things[0].known.position
        if place := self.took_place.place(name):
            return place.memory.map_id, place.pose.position
        found = occurrences or (told.occurrences if (told := self.took_place.of(name)) else ())
        at = [
            (deed.memory.map_id, deed.memory.pose.position) for deed in found if deed.memory.pose is not None
        ]
        return at[-1] if at else None

    def _size(self, name: str) -> float | None:
        things = self.took_place.things(name)
        return float(prod(things[0].known.size)) if things else None

    def said(self, group: Value) -> str:
        """Return a value in words."""
        value, measure = group.value, self.asked.measure
        if group.by == 'places' and measure in (ComparedBy.COUNT, ComparedBy.SECONDS) and self.asked.group:
            return spent_said(group.occurrences)
        if measure is ComparedBy.COUNT:
            return often(round(value), group.by)
        if measure in (ComparedBy.FIRST, ComparedBy.LAST):
            return format_clock(round(value), self.question.zone)
        if measure is ComparedBy.SECONDS:
            number, mean = len(group.occurrences), _MEAN.search(self.asked.sides[0])
            of_all = f' (on average of {number} times)' if mean and number > 1 else ''
            return f'{format_duration(value)}{of_all}'
        if measure is ComparedBy.SIZE:
            return litres(value)
        return f'{value:.1f} m{" away" if measure is ComparedBy.AWAY else ""}'


def often(number: int, by: str) -> str:
    """Return how many there are, of what took place how often."""
    return str(number) if by == 'objects' else times_said(number)


def _seconds(occurrences: Sequence[Occurrence], mean: bool) -> float:
    """Return how long these took in all, or on average [s]."""
    return sum(deed.seconds for deed in occurrences) / (len(occurrences) if mean else 1)


_VALUES: dict[ComparedBy, Callable[[Sequence[Occurrence], bool], float]] = {
    ComparedBy.FIRST: lambda of, _: float(min(deed.start_ns for deed in of)),
    ComparedBy.LAST: lambda of, _: float(max(deed.end_ns for deed in of)),
    ComparedBy.METRES: lambda of, _: sum(deed.metres for deed in of),
    ComparedBy.SECONDS: _seconds,
}
