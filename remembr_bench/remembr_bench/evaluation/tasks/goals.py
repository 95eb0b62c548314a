"""What a task wants: predicates of a pose, and how many of them have to hold. The language of all tasks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np

from remembr_bench.simulation.simulator import Simulator
from remembr_ros.geometry import Pose, wrap_angle
from remembr_ros.navigation.grid import Points

OBJECT_M = 2.0  # of way at most to beside an object, as upstream's configuration has it
VIEWPOINT_M = 0.1  # and to a viewpoint of a receptacle: so near the way is straight
OBJECT_RAD, RECEPTACLE_RAD = math.radians(45.0), math.radians(90.0)  # off which it may be seen at most
SEEN_PART = 0.001  # of the pixels that have to show it
TRIED = 60  # poses of which one may succeed, the nearest ones, that are looked from


class Where(str, Enum):
    """What a predicate says of a pose: the robot stands at an object, at a receptacle, or in a room."""

    AT_OBJECT = 'at_object'
    AT_RECEPTACLE = 'at_receptacle'
    IN_ROOM = 'in_room'


class Quantifier(str, Enum):
    """Which predicates of a goal have to hold: any, at one pose; all, each at one of several poses; all, in
    their order."""

    EXISTS = 'exists'
    ALL = 'all'
    ALL_IN_ORDER = 'all_in_order'


class Predicate(NamedTuple):
    """That the robot stands somewhere.

    :param of: the id of the thing, or the name of the room
    """

    where: Where
    of: str


@dataclass(frozen=True, slots=True)
class Goal:
    """What is to be reached."""

    quantifier: Quantifier
    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Task:
    """An instruction, and what it means.

    :param id: unique in its episode
    :param category: by which figures are told
    :param template: what the instruction was made from
    :param wording: whose words it has
    """

    id: str
    category: str
    template: str
    instruction: str
    goal: Goal
    wording: str = ''


class Standing(NamedTuple):
    """What holds at a pose: near enough and turned to it; and seen, turned to it, wherever that is."""

    near: bool
    seen: bool

    @property
    def succeeds(self) -> bool:
        return self.near and self.seen


def standing(pose: Pose, predicate: Predicate, simulator: Simulator) -> Standing:
    """Return what holds of a predicate at a pose; of what is not there any more nothing does."""
    if predicate.where is Where.IN_ROOM:
        inside = simulator.room_at(pose) == predicate.of
        return Standing(inside, inside)
    thing = simulator.things.get(predicate.of)
    if thing is None:
        return Standing(near=False, seen=False)
    x, y, _ = thing.position
    off = abs(wrap_angle(math.atan2(y - pose.y, x - pose.x) - pose.yaw))
    is_object = predicate.where is Where.AT_OBJECT
    turned = off <= (OBJECT_RAD if is_object else RECEPTACLE_RAD)
    if is_object:
        way_m = simulator.metres(simulator.beside(thing.id), np.array([(pose.x, pose.y)]))
        near = float(way_m[0]) <= OBJECT_M
    else:
        points = simulator.viewpoints(thing.id)
        near = bool((np.hypot(*(points - (pose.x, pose.y)).T) <= VIEWPOINT_M).any())
    return Standing(near and turned, turned and simulator.part_seen(pose, thing.id) >= SEEN_PART)


@dataclass(frozen=True, slots=True)
class Reached:
    """Whether a goal is reached by some poses: as a whole; by distance and heading alone; by what is seen."""

    success: bool
    distance: bool
    seen: bool


def reached(goal: Goal, poses: Sequence[Pose], simulator: Simulator) -> Reached:
    """Return what of a goal is reached.

    Of a goal with one place the first pose counts. Of several each has to be reached, and each pose has to
    reach one: who goes everywhere has not understood. A pose may reach several.
    """
    if not poses:
        return Reached(success=False, distance=False, seen=False)
    if goal.quantifier is Quantifier.EXISTS:
        poses = poses[:1]
    table = [[standing(pose, part, simulator) for part in goal.parts] for pose in poses]
    return Reached(*(
        _holds(goal.quantifier, [[getattr(one, name) for one in row] for row in table])
        for name in ('succeeds', 'near', 'seen')
    ))  # fmt: skip


def _holds(quantifier: Quantifier, table: Sequence[Sequence[bool]]) -> bool:
    """Tell whether a goal is reached.

    :param table: of each pose, which parts hold there
    """
    if quantifier is Quantifier.EXISTS:
        return any(table[0])
    if not all(map(any, table)):
        return False
    if quantifier is Quantifier.ALL:
        return all(map(any, zip(*table, strict=True)))
    done = 0
    for row in table:
        before = done
        while done < len(row) and row[done]:
            done += 1
        if done == before and not (done and row[done - 1]):
            return False
    return done == len(table[0])


def nearest_pose(predicate: Predicate, start: Pose, simulator: Simulator) -> Pose | None:
    """Return the pose nearest to a start at which a predicate holds; None: none was found."""
    places = simulator.places()
    if predicate.where is Where.IN_ROOM:
        there = [simulator.room_at(Pose(x, y)) == predicate.of for x, y in places.tolist()]
        ordered = _by_way(places[there], start, simulator)
        return Pose(*ordered[0]) if len(ordered) else None
    thing = simulator.things.get(predicate.of)
    if thing is None:
        return None
    x, y, _ = thing.position
    if predicate.where is Where.AT_RECEPTACLE:
        places = simulator.viewpoints(thing.id)
    else:
        places = places[simulator.metres(simulator.beside(thing.id), places) <= OBJECT_M]
    for px, py in _by_way(places, start, simulator)[:TRIED].tolist():
        pose = Pose(px, py, 0.0, math.atan2(y - py, x - px))
        if standing(pose, predicate, simulator).succeeds:
            return pose
    return None


def _by_way(places: Points, start: Pose, simulator: Simulator) -> Points:
    """Return the places that can be reached, the nearest first."""
    away = simulator.metres((start.x, start.y), places) if len(places) else np.empty(0)
    return places[np.argsort(away)][: int(np.isfinite(away).sum())]


def length(start: Pose, poses: Sequence[Pose], simulator: Simulator) -> float:
    """Return the shortest way from a start by poses in their order [m]; infinite: there is none."""
    total = 0.0
    for at, to in zip([start, *poses], poses, strict=False):
        total += float(simulator.metres((at.x, at.y), np.array([(to.x, to.y)]))[0])
    return total


def shortest(goal: Goal, start: Pose, simulator: Simulator) -> float:
    """Return how far a robot has to drive that knows all [m]; infinite: nothing that it could do was found.

    Of several places in any order the next is the nearest one that is left.
    """
    left = list(goal.parts)
    if goal.quantifier is Quantifier.EXISTS:
        poses = [pose for part in left if (pose := nearest_pose(part, start, simulator)) is not None]
        return min((length(start, [pose], simulator) for pose in poses), default=math.inf)
    total, at = 0.0, start
    while left:
        ordered = goal.quantifier is Quantifier.ALL_IN_ORDER
        found = [(part, nearest_pose(part, at, simulator)) for part in (left[:1] if ordered else left)]
        ways = [(length(at, [pose], simulator), part, pose) for part, pose in found if pose is not None]
        if not ways:
            return math.inf
        metres, part, at = min(ways, key=lambda way: way[0])
        total += metres
        left.remove(part)
    return total


def spl(*, success: bool, driven_m: float, shortest_m: float) -> float:
    """Return success weighted by path length (Anderson et al. 2018, arXiv 1807.06757)."""
    most = max(driven_m, shortest_m)
    if not success or not math.isfinite(most):
        return 0.0
    return shortest_m / most if most > 0.0 else 1.0
