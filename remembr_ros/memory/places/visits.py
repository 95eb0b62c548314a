"""When robots were in which place, by where their cameras were."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from remembr_ros.memory.model.record import CAPTIONER, Memory
from remembr_ros.memory.places.place import NamedPlace
from remembr_ros.memory.places.places import Places
from remembr_ros.timestamps import NS

GAP_NS = 60 * NS  # of a longer time without memories nobody knows where the robot was
AGAIN_NS = 10 * NS  # who is out of a place for less than this has not left it: poses drift over thresholds


@dataclass(frozen=True, slots=True)
class PlaceVisit:
    """A time that a robot spent in a place.

    :param start_ns: when it came, nanoseconds since the Unix epoch
    :param end_ns: when it left, or was seen there last
    :param spent_ns: of that in the place itself
    :param memories: that were made in it, in the order of time
    """

    place: NamedPlace
    start_ns: int
    end_ns: int
    spent_ns: int
    memories: tuple[Memory, ...]

    @property
    def robot(self) -> str:
        return self.memories[0].robot

    def within(self, after_ns: int | None, before_ns: int | None) -> 'PlaceVisit | None':
        """Return the part of it in a time, open where None; None: there is none."""
        start_ns = self.start_ns if after_ns is None else max(self.start_ns, after_ns)
        end_ns = self.end_ns if before_ns is None else min(self.end_ns, before_ns)
        if start_ns > end_ns:
            return None
        return replace(self, start_ns=start_ns, end_ns=end_ns, spent_ns=min(self.spent_ns, end_ns - start_ns))


def times_said(some: Sequence[PlaceVisit]) -> str:
    """Return how many visits these are: 'once', '3 times'."""
    return 'once' if len(some) == 1 else f'{len(some)} times'


def visits(memories: Iterable[Memory], places: Places) -> list[PlaceVisit]:
    """Return the visits of robots to places, in the order of time.

    :param memories: in any order, of any robots and maps
    """
    placed = [one for one in memories if one.pose is not None and one.source == CAPTIONER]
    placed.sort(key=lambda one: (one.robot, one.map_id, one.start_ns, one.id))
    found: list[PlaceVisit] = []
    for (_, map_id), of_one in groupby(placed, key=lambda one: (one.robot, one.map_id)):
        found += _of_one(list(of_one), map_id, places)
    return sorted(found, key=lambda one: (one.start_ns, one.end_ns))


def _of_one(memories: Sequence[Memory], map_id: str, places: Places) -> list[PlaceVisit]:
    points = np.array([one.pose.position for one in memories if one.pose])
    found: list[PlaceVisit] = []
    last: dict[int, int] = {}  # by place, the visit to it that was the last one
    for i, (memory, index) in enumerate(zip(memories, places.at(map_id, points).tolist(), strict=True)):
        following_ns = memories[i + 1].start_ns if i + 1 < len(memories) else memory.end_ns
        end_ns = memory.end_ns if following_ns - memory.end_ns > GAP_NS else max(memory.end_ns, following_ns)
        if index < 0:
            continue
        visit = PlaceVisit(places.all[index], memory.start_ns, end_ns, end_ns - memory.start_ns, (memory,))
        before = found[last[index]] if index in last else None
        if before is not None and memory.start_ns - before.end_ns <= AGAIN_NS:
            spent_ns = before.spent_ns + end_ns - max(memory.start_ns, before.end_ns)
            known = (*before.memories, memory)
            found[last[index]] = PlaceVisit(
                before.place, before.start_ns, max(end_ns, before.end_ns), spent_ns, known
            )
        else:
            last[index] = len(found)
            found.append(visit)
    return found
