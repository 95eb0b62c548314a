"""The named places of a memory: which place something is in, and when robots were in which."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
import shapely
from numpy.typing import NDArray

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.area import HIGH_M, Area, reaches
from remembr_ros.memory.model.recall import Query, Scope
from remembr_ros.memory.model.record import CAPTIONER, PLACE, Memory
from remembr_ros.memory.places.place import NamedPlace, place_of, same_name
from remembr_ros.memory.recall_protocol import Recall
from remembr_ros.timestamps import NS

MOST = 1_000  # of a memory: as many as a recall gives
NESTED = 0.9  # share of a smaller place within a larger one from which it is a part of that
SAME_M = 1e-3  # by which corners may be rounded
_TOLD = 20  # names that an error lists


class Places:
    """Named places. Where several have a point, the smallest one counts.

    :param memories: the others than of places are passed over
    """

    def __init__(self, memories: Iterable[Memory] = ()) -> None:
        known = [place for memory in memories if (place := place_of(memory)) is not None]
        shapes = {place.memory.id: place.shape for place in known}
        self.all: tuple[NamedPlace, ...] = tuple(
            sorted(known, key=lambda spot: (round(shapes[spot.memory.id].area, 3), spot.name, spot.memory.id))
        )
        """Smaller ones first."""
        self._areas = [Area(shapes[spot.memory.id], spot.pose.z) for spot in self.all]
        self._tree = shapely.STRtree([area.shape for area in self._areas])
        self._floors = np.array([area.floor for area in self._areas])
        self._maps = np.array([spot.memory.map_id for spot in self.all], object)

    def __bool__(self) -> bool:
        return bool(self.all)

    def at(self, map_id: str, points: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return for each point, shape (n, 3) [m], the index in all of the place that has it; -1: none."""
        which, index = self._tree.query(shapely.points(points[:, :2]), predicate='intersects')
        fits = reaches(points[which, 2] - self._floors[index]) & (self._maps[index] == map_id)
        found = np.full(len(points), len(self.all))
        np.minimum.at(found, which[fits], index[fits])
        return np.where(found < len(self.all), found, -1)

    def names_of(self, memories: Sequence[Memory]) -> list[str]:
        """Return the name of the place that each memory was made in, or thing is in; empty: it has none."""
        names = [''] * len(memories)
        for map_id in {memory.map_id for memory in memories} if self.all else ():
            mine = [i for i, memory in enumerate(memories) if memory.pose and memory.map_id == map_id]
            points = np.array([memories[i].pose.position for i in mine]).reshape(-1, 3)  # type: ignore[union-attr]
            for i, index in zip(mine, self.at(map_id, points).tolist(), strict=True):
                names[i] = '' if index < 0 else self.all[index].name
        return names

    def of(self, memory: Memory) -> NamedPlace | None:
        """Return the place that a memory was made in, or that a thing is in; None: it has no name."""
        return self.of_pose(memory.map_id, memory.pose)

    def of_pose(self, map_id: str, pose: Pose | None) -> NamedPlace | None:
        """Return the place that a pose is in; None: it has no name."""
        index = -1 if pose is None or not self.all else int(self.at(map_id, np.array([pose.position]))[0])
        return None if index < 0 else self.all[index]

    def name_at(self, map_id: str, pose: Pose | None) -> str:
        """Return the name of the place that a pose is in; empty: it has none."""
        found = self.of_pose(map_id, pose)
        return '' if found is None else found.name

    def named(self, name: str, map_id: str | None = None) -> NamedPlace:
        """Return the place of a name or another name.

        :param map_id: None: whatever map
        :raises InvalidRequest: there is none, or there are some on several maps
        """
        called = [place for place in self.all if same_name(name) in map(same_name, place.names)]
        found = [place for place in called if map_id in (None, place.memory.map_id)]
        if len(found) == 1:
            return found[0]
        if called:
            maps = ', '.join(sorted(repr(place.memory.map_id) for place in called))
            raise InvalidRequest(f'there is a place called {name[:60]!r} on the map {maps}; name that map')
        names = ', '.join(sorted(place.name for place in self.all)[:_TOLD]) or 'none'
        raise InvalidRequest(f'there is no place called {name[:60]!r}; there are: {names}')

    def area(self, place: NamedPlace) -> Area:
        """Return what counts as a place: what lies in a smaller one that is no part of it does not."""
        index = self.all.index(place)
        shape = self._areas[index].shape
        for part, other in zip(self.all[:index], self._areas[:index], strict=True):
            of_map = part.memory.map_id == place.memory.map_id and abs(part.pose.z - place.pose.z) < HIGH_M
            if of_map and not self.is_part(part, place):
                shape = shape.difference(other.shape)
        return Area(shape, place.pose.z)

    def is_part(self, part: NamedPlace, whole: NamedPlace) -> bool:
        """Tell whether a place lies in another one."""
        shape = part.shape
        return bool(
            part.memory.map_id == whole.memory.map_id
            and shape.intersection(whole.shape).area >= NESTED * shape.area
        )

    def without_parts_of(self, named: Sequence[NamedPlace]) -> 'Places':
        """Return the places without the parts of some: who is in a part is then in the whole."""
        kept = (o for o in self.all if o in named or not any(self.is_part(o, place) for place in named))
        return Places(place.memory for place in kept)

    def within(self, scope: Scope) -> Scope:
        """Return a scope in which a place by its name has become the part of a map that it is.

        :raises InvalidRequest: there is no such place
        """
        if scope.place is None:
            return scope
        found = self.named(scope.place, scope.map_id)
        area = self.area(found)
        near, radius_m = area.sphere if scope.near is None else (scope.near, scope.radius_m)
        return replace(scope, place=None, area=area, near=near, radius_m=radius_m, map_id=found.memory.map_id)

    def same_as(self, place: NamedPlace) -> NamedPlace | None:
        """Return the place of the same names, shape and map; None: there is none."""
        named = place.names, place.memory.map_id
        same = (known for known in self.all if (known.names, known.memory.map_id) == named)
        return next((known for known in same if known.shape.equals_exact(place.shape, SAME_M)), None)

    def with_new(self, place: NamedPlace) -> 'Places':
        """Return the places with another one.

        :raises InvalidRequest: one of its map is called so already, or there are too many
        """
        if len(self.all) >= MOST:
            raise InvalidRequest(f'a memory keeps up to {MOST:,} places; remove some first')
        for other in self.all:
            same = set(map(same_name, place.names)) & set(map(same_name, other.names))
            if same and other.memory.map_id == place.memory.map_id:
                raise InvalidRequest(
                    f'there is a place called {min(same)!r} already; choose another name, or remove it first'
                )
        return Places(known.memory for known in (*self.all, place))


NOWHERE = Places()


def known_places(recall: Recall) -> Places:
    """Return the named places of a memory.

    :raises StoreUnavailable: there is no memory to ask
    """
    return Places(hit.memory for hit in recall.find(Query(scope=Scope(source=PLACE), limit=MOST)))


def described(places: Sequence[NamedPlace]) -> str:
    """Return places in a row: 'the kitchen, the hall and room 3'."""
    return in_a_row(place.said for place in places)


def in_a_row(names: Iterable[str]) -> str:
    """Return names as a sentence has them."""
    listed = [*names]
    return ' and '.join(filter(None, (', '.join(listed[:-1]), *listed[-1:])))


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


def visits(memories: Iterable[Memory], places: Places) -> list[PlaceVisit]:
    """Return the visits of robots to places, in the order of time.

    :param memories: in any order, of any robots and maps
    """
    placed = [memory for memory in memories if memory.pose is not None and memory.source == CAPTIONER]
    placed.sort(key=lambda memory: (memory.robot, memory.map_id, memory.start_ns, memory.id))
    found: list[PlaceVisit] = []
    for (_, map_id), of_one in groupby(placed, key=lambda memory: (memory.robot, memory.map_id)):
        found += _of_one(list(of_one), map_id, places)
    return sorted(found, key=lambda visit: (visit.start_ns, visit.end_ns))


def _of_one(memories: Sequence[Memory], map_id: str, places: Places) -> list[PlaceVisit]:
    points = np.array([memory.pose.position for memory in memories if memory.pose])
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
