"""The three recalls: by text, by position, by time."""

from dataclasses import dataclass
from typing import Protocol

from remembr_ros.geometry import Point, distance
from remembr_ros.memory.model.record import Memory


@dataclass(frozen=True, slots=True)
class Scope:
    """Which memories a recall may find. Conditions combine with "and"; None admits all.

    :param after_ns: memories that end at or after this
    :param before_ns: memories that start at or before this
    :param near: with radius_m: memories at most that far from this point [m] in the map frame
    :param robots: any of these robots; empty: every robot
    :param map_id: the map; '' is a map of its own
    :param source: one of remembr_ros.memory.model.record.SOURCES
    """

    after_ns: int | None = None
    before_ns: int | None = None
    near: Point | None = None
    radius_m: float | None = None
    robots: tuple[str, ...] = ()
    map_id: str | None = None
    source: str | None = None

    def admits(self, memory: Memory) -> bool:
        """Tell whether a memory meets every condition."""
        return (
            (self.after_ns is None or memory.end_ns >= self.after_ns)
            and (self.before_ns is None or memory.start_ns <= self.before_ns)
            and (not self.robots or memory.robot in self.robots)
            and self.map_id in (None, memory.map_id)
            and self.source in (None, memory.source)
            and self.reaches(memory.pose.position if memory.pose else None)
        )

    def reaches(self, position: Point | None) -> bool:
        """Tell whether a place (None: unplaced) lies inside the radius."""
        if self.near is None or self.radius_m is None:
            return True
        return position is not None and distance(position, self.near) <= self.radius_m


ANYTHING = Scope()


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that a recall found.

    :param score: relevance from 0 to 1, higher is better; only comparable within one recall by text
    :param distance_m: to the asked place; None if none was asked or the memory is unplaced
    :param offset_s: from the asked time to the memory, negative before it, 0 inside it; None: none was asked
    """

    memory: Memory
    score: float
    distance_m: float | None = None
    offset_s: float | None = None


class Recall(Protocol):
    """Finds memories; implemented by the store itself and by the client of the memory node.

    Every method raises InvalidRequest for arguments without sense, StoreUnavailable without a store.
    """

    def by_text(self, text: str, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        """Return the memories that fit the text best, best first."""

    def by_position(self, position: Point, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        """Return the memories nearest to a point [m], nearest first; unplaced ones are left out."""

    def by_time(self, time_ns: int, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        """Return the memories nearest to a time, nearest first."""

    def newest(self, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        """Return the memories that ended last, newest first."""

    def count(self, scope: Scope = ANYTHING) -> int:
        """Return how many memories the scope admits."""


def search(
    recall: Recall,
    *,
    text: str = '',
    place: Point | None = None,
    time_ns: int | None = None,
    scope: Scope = ANYTHING,
    limit: int = 5,
) -> list[Hit]:
    """Recall by what is given: text before place before time; by none of them, the newest memories.

    :param place: [m]; with a text it says how far each hit is away, and only the scope filters by it
    """
    if text.strip():
        return recall.by_text(text, scope, limit)
    if place is not None:
        return recall.by_position(place, scope, limit)
    if time_ns is not None:
        return recall.by_time(time_ns, scope, limit)
    return recall.newest(scope, limit)
