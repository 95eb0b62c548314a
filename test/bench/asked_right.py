"""Whether an answer is right, by what is written beside its question.

Every key of an alternative must hold:

kind, binary, map: the answer's
position, within: seen from, or at, so near to there [m]; place: to a place of the hospital, on its map
last: to where a thing of the month was seen last
elsewhere: so far from the answer before [m]
words, without: the text has all of these, and none of those; case does not count
shows, shows_no: the same of what the deciding memory says
time, within_s: of kind time, so near [s]; day: the day of kind time, or of the deciding memory
stays, about: the text has the number of stays that saw a thing, or one so near (share of it)
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from remembr_ros.agent.model.answer import Answer
from remembr_ros.timestamps import NS
from test.simulated.hospital import PLACES, Place
from test.simulated.month import Month

SURE = 0.5
PLACE_M = 6.0
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


def judge(answer: Answer, right: list[Any], truth: Month | None = None, before: Answer | None = None) -> Verdict:
    """Return whether one of the alternatives holds.

    :param truth: of the month; None: no alternative asks for it
    :param before: the answer before, in the same conversation
    """
    sure = answer.confidence > SURE
    holds = any(
        answer.confidence < SURE if one == UNSURE else _holds(answer, one, truth, before) for one in right
    )
    return Verdict(holds, sure)


def _holds(answer: Answer, wanted: Mapping[str, Any], truth: Month | None, before: Answer | None) -> bool:
    return all(_fits(answer, key, value, wanted, truth, before) for key, value in wanted.items())


# One return per key.
def _fits(  # noqa: PLR0911
    answer: Answer,
    key: str,
    value: Any,
    wanted: Mapping[str, Any],
    truth: Month | None,
    before: Answer | None,
) -> bool:
    text, shown = answer.text.lower(), _shown(answer)
    if key == 'kind':
        return answer.kind.value == value
    if key == 'binary':
        return answer.binary is value
    if key == 'map':
        return answer.map_id == value
    if key == 'position':
        return answer.pose is not None and _far(answer, value) <= wanted['within']
    if key == 'place':
        return _at(answer, next(place for place in PLACES if place.name == value))
    if key == 'last':
        return _at(answer, truth.stays_with(value)[-1].place)
    if key == 'elsewhere':
        if answer.pose is None or before is None or before.pose is None:
            return False
        return _far(answer, before.pose.position) >= value
    if key == 'words':
        return all(word.lower() in text for word in value)
    if key == 'without':
        return not any(word.lower() in text for word in value)
    if key == 'shows':
        return value.lower() in shown
    if key == 'shows_no':
        return value.lower() not in shown
    if key == 'time':
        return answer.time_ns is not None and abs(answer.time_ns / NS - value.timestamp()) <= wanted['within_s']
    if key == 'day':
        return value in _days(answer)
    if key == 'stays':
        stays = len(truth.stays_with(value))
        numbers = map(int, re.findall(r'(?<![\d.:-])\d+(?![\d.:-])', text))
        return any(abs(number - stays) <= wanted.get('about', 0.0) * stays for number in numbers)
    if key in ('within', 'within_s', 'about'):
        return True
    raise ValueError(f'{key!r} says nothing about an answer')


def _shown(answer: Answer) -> str:
    return answer.evidence[0].memory.caption.lower() if answer.evidence else ''


def _far(answer: Answer, point: Any) -> float:
    return math.dist(answer.pose.position[:2], point[:2])


def _at(answer: Answer, place: Place) -> bool:
    return answer.pose is not None and answer.map_id == place.map_id and _far(answer, place.at) <= PLACE_M


def _days(answer: Answer) -> list[Any]:
    stamps = [answer.time_ns] if answer.time_ns is not None else [
        hit.memory.end_ns for hit in answer.evidence[:1]
    ]
    return [datetime.fromtimestamp(ns / NS, timezone.utc).date() for ns in stamps]
