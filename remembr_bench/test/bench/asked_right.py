"""Whether an answer is right, by what is written beside its question.

Every key of an alternative must hold:

kind, binary, map: the answer's
position: seen from, or at, so near to there: [x, y, how near] [m]
place: seen from a place of the hospital, or at it, on its map
last: seen from the place where a thing of the month was last; last_seen: by the memory that named it last
elsewhere: so far from the answer before [m]
words, without: the text has all of these, and none of those; case does not count
shows, shows_no: the same of what the deciding memory says
time: of kind time, within 5 s of this
day: the day of kind time, or else of the deciding memory
stays: the text has the number of stays that saw a thing of the month, a fifth more or less
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timezone
from typing import Any

from remembr_ros.agent.model.answer import Answer
from remembr_ros.geometry import Point
from remembr_ros.timestamps import NS
from test.simulated.hospital import PLACES, Place
from test.simulated.month import Month

SURE = 0.5
PLACE_M = 6.0
TIME_S = 5.0
STAYS_SHARE = 0.2
UNSURE = 'unsure'


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an answer is worth.

    :param sure: it says more than that it does not know
    """

    right: bool
    sure: bool

    def __str__(self) -> str:
        return 'right' if self.right else 'WRONG AND SURE' if self.sure else 'wrong'


@dataclass(frozen=True, slots=True)
class Case:
    """An answer, and what it is measured by.

    :param truth: of the month; None: no alternative asks for it
    :param before: the answer before, in the same conversation
    """

    answer: Answer
    truth: Month | None = None
    before: Answer | None = None

    def judge(self, right: Sequence[Any]) -> Verdict:
        """Return whether one of the alternatives holds."""
        return Verdict(any(map(self._holds, right)), self.answer.confidence > SURE)

    def _holds(self, wanted: Any) -> bool:
        if wanted == UNSURE:
            return self.answer.confidence < SURE
        return all(CHECKS[key](self, value) for key, value in wanted.items())

    @property
    def text(self) -> str:
        return self.answer.text.lower()

    @property
    def shown(self) -> str:
        return self.answer.evidence[0].memory.caption.lower() if self.answer.evidence else ''

    @property
    def numbers(self) -> list[int]:
        return [int(number) for number in re.findall(r'(?<![\d.:-])\d+(?![\d.:-])', self.text)]

    @property
    def day(self) -> date | None:
        ns = self.answer.time_ns
        if ns is None and self.answer.evidence:
            ns = self.answer.evidence[0].memory.end_ns
        return None if ns is None else datetime.fromtimestamp(ns / NS, timezone.utc).date()

    def metres_from(self, x: float, y: float) -> float:
        pose = self.answer.pose
        return math.inf if pose is None else math.dist((pose.x, pose.y), (x, y))

    def is_at(self, place: Place) -> bool:
        return self.answer.map_id == place.map_id and self.metres_from(*place.at[:2]) <= PLACE_M

    def is_elsewhere(self, metres: float) -> bool:
        if self.answer.pose is None or self.before is None or self.before.pose is None:
            return False
        at: Point = self.before.pose.position
        return self.metres_from(*at[:2]) >= metres

    def is_at_time(self, when: datetime) -> bool:
        ns = self.answer.time_ns
        return ns is not None and abs(ns / NS - when.timestamp()) <= TIME_S

    def has_stays(self, thing: str) -> bool:
        stays = len(self.truth.stays_with(thing))
        return any(abs(number - stays) <= STAYS_SHARE * stays for number in self.numbers)

    def is_last_seen(self, thing: str) -> bool:
        return (
            bool(self.answer.evidence) and self.answer.evidence[0].memory.id == self.truth.naming[thing][-1]
        )


CHECKS: dict[str, Callable[[Case, Any], bool]] = {
    'kind': lambda case, value: case.answer.kind.value == value,
    'binary': lambda case, value: case.answer.binary is value,
    'map': lambda case, value: case.answer.map_id == value,
    'position': lambda case, value: case.metres_from(*value[:2]) <= value[2],
    'place': lambda case, value: case.is_at(next(place for place in PLACES if place.name == value)),
    'last': lambda case, value: case.is_at(case.truth.stays_with(value)[-1].place),
    'last_seen': Case.is_last_seen,
    'elsewhere': Case.is_elsewhere,
    'words': lambda case, value: all(word.lower() in case.text for word in value),
    'without': lambda case, value: not any(word.lower() in case.text for word in value),
    'shows': lambda case, value: value.lower() in case.shown,
    'shows_no': lambda case, value: value.lower() not in case.shown,
    'time': Case.is_at_time,
    'day': lambda case, value: case.day == value,
    'stays': Case.has_stays,
}
