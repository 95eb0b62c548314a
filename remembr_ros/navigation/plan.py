"""From an answer to goals: checked, ordered, facing what was seen."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

import numpy as np

from remembr_ros.agent.model.answer import Answer, Kind
from remembr_ros.agent.model.same_place import SAME_PLACE_M, SamePlace, by_place
from remembr_ros.errors import GoalRejected, NoPlace
from remembr_ros.geometry import Pose, StampedPose, distance, wrap_angle
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.objects.known import KnownObject, known_objects
from remembr_ros.memory.places.place import NamedPlace, place_of
from remembr_ros.memory.places.places import Places
from remembr_ros.navigation.grid import Grid, walls_between
from remembr_ros.navigation.route import shortest_order
from remembr_ros.navigation.terrain import FREE_STEP_M, Terrain

# In which order several places are visited: the way through them short, or the best evidence first.
ORDERS = ('shortest', 'as_cited')
# Sources of memories whose pose is that of the thing itself, not of the camera.
_MARKED = ('person', 'object')
_OWN = ('object', 'agent')
"""Sources of memories of things, and of what was done: each has a place of its own."""

STAND_OFF_M = 0.6  # between a thing's box and where the robot stands to see it

# How far ahead a thing is taken to be where no map tells: a common distance indoors, and the direction of a
# thing changes little with it.
AHEAD_M = 2.0
STEEP = 0.7  # tangent of the angle by which a camera looks down that sees what is before a robot
FARTHEST_M = 1.8  # from which a thing is looked at that lies too low to be seen from near
SIGHT_M = 6.0  # how far ahead the map is asked for an obstacle that the camera looked at
ROUND_M = 2.0  # a search looks round again this far from where it did
AT_LEAST_M = 0.3  # from nearer than this a thing has no direction worth turning to


@dataclass(frozen=True)
class Rules:
    """What is demanded of a goal.

    :param frame_id: the frame that the robot navigates in
    :param map_id: the map that the robot is on; empty if there is only one
    :param require_map: without a map there is no goal
    :param search_radius_m: where the robot cannot stand, the nearest free place within this is taken
    :param max_distance_m: goals are at most this far from here, in a straight line; 0: any distance
    :param order: one of ORDERS
    :param max_places: more places are not visited for one question
    :param same_place_m: memories from so far from each other, with no wall between, were made at one place
    """

    frame_id: str = 'map'
    map_id: str = ''
    require_map: bool = False
    search_radius_m: float = 1.0
    max_distance_m: float = 0.0
    order: str = 'shortest'
    max_places: int = 20
    same_place_m: float = SAME_PLACE_M


@dataclass(frozen=True)
class Plan:
    """Where to drive.

    :param goals: in the order of the visit; never empty
    :param left_out: a reason for each place that is not among them
    :param confidence: of the answer that wants the robot there, 0 to 1
    """

    goals: tuple[StampedPose, ...]
    left_out: tuple[str, ...] = ()
    confidence: float = 0.0


def same_place_of(rules: Rules, terrain: Terrain) -> SamePlace:
    """Return which memories were made at one place, as far as the map tells."""
    walls = None if terrain.map is None else partial(walls_between, terrain.map)
    return SamePlace(rules.same_place_m, walls, (rules.frame_id, rules.map_id))


def plan_goals(
    answer: Answer, rules: Rules, terrain: Terrain, *, here: Pose | None = None, stamp_ns: int = 0
) -> Plan:
    """Return where to drive for an answer: to its place, or to every place that it cites.

    :param here: where the robot is, in the rules' frame; None: unknown
    :param stamp_ns: the goals' stamp
    :raises GoalRejected: there is no place that the robot may drive to; the message says why and what to do
    """
    first = goal_from_answer(answer, frame_id=rules.frame_id, map_id=rules.map_id)
    if rules.require_map and terrain.map is None:
        raise GoalRejected(
            'there is no map to check the goal with: start a map server, remap topic map, or set require_map '
            'to false'
        )
    poses: list[Pose] = []
    left_out: list[str] = []
    for memory, pose in _wanted(answer, first, rules, terrain, left_out):
        try:
            poses.append(_checked(pose, memory, rules, terrain, here))
        except GoalRejected as error:
            left_out.append(str(error))
    if not poses:
        raise GoalRejected('; '.join(left_out[:3]))
    if rules.order == 'shortest' and not answer.in_order:
        order = shortest_order([(p.x, p.y) for p in poses], (here.x, here.y) if here else None)
        poses = [poses[i] for i in order]
    goals = tuple(StampedPose(stamp_ns, pose, rules.frame_id) for pose in poses)
    return Plan(goals, tuple(left_out), answer.confidence)


def _wanted(
    answer: Answer, first: Pose, rules: Rules, terrain: Terrain, left_out: list[str]
) -> list[tuple[Memory, Pose]]:
    """Return a goal for each place that the answer is about, with the memory that it comes from."""
    if not answer.every_place:
        return [(answer.evidence[0].memory, first)]
    wanted: list[tuple[Memory, Pose]] = []
    for memory in _places(answer.evidence, same_place_of(rules, terrain)):
        of_place = replace(answer, pose=memory.pose, frame_id=memory.frame_id, map_id=memory.map_id)
        try:
            wanted.append((memory, goal_from_answer(of_place, frame_id=rules.frame_id, map_id=rules.map_id)))
        except GoalRejected as error:
            left_out.append(str(error))
    left_out += [f'more than {rules.max_places} places: raise max_places'] * (len(wanted) > rules.max_places)
    return wanted[: rules.max_places]


def goal_from_answer(answer: Answer, *, frame_id: str, map_id: str = '') -> Pose:
    """Return where to drive so that the robot stands and faces as it did when it saw what was asked for.

    :param frame_id: the frame that the robot navigates in, such as 'map'
    :param map_id: the map that the robot is on; empty if there is only one
    :raises NoPlace: the answer has none
    :raises GoalRejected: the place has no evidence, or lies in another frame or on another map
    """
    if answer.kind is not Kind.POSITION:
        why = '' if answer.kind is Kind.NOT_SEEN else '; ask where something is'
        raise NoPlace(f'an answer of kind {answer.kind.value} has no place to go to{why}')
    if not answer.evidence:
        raise GoalRejected('the answer rests on no memory')
    if answer.pose is None:
        raise NoPlace('the memory has no place: the pose was not known when it was made')
    if answer.frame_id != frame_id:
        raise GoalRejected(
            f'the place is in the frame {answer.frame_id!r}, but the robot navigates in {frame_id!r}'
        )
    if answer.map_id != map_id:
        raise GoalRejected(
            f'the place is on the map {answer.map_id!r}, but the robot is on {map_id!r}; '
            'its coordinates mean nothing here'
        )
    pose = answer.pose
    if not all(math.isfinite(value) for value in (*pose.position, pose.yaw)):
        raise GoalRejected(f'the pose {pose} is not finite')
    return Pose(pose.x, pose.y, pose.z, wrap_angle(pose.yaw))


def _places(evidence: Sequence[Hit], same_place: SamePlace) -> list[Memory]:
    """Return a memory for each place that evidence is about, in its order.

    What a camera saw, it saw from around a place; things and deeds have places of their own.
    """
    placed = [hit for hit in evidence if hit.memory.pose is not None]
    seen = [hit for hit in placed if hit.memory.source not in _OWN]
    first = {id(group[0]) for group in by_place(seen, same_place)}
    return [hit.memory for hit in placed if hit.memory.source in _OWN or id(hit) in first]


def _checked(pose: Pose, memory: Memory, rules: Rules, terrain: Terrain, here: Pose | None) -> Pose:
    """Return the pose if the robot may stand there, or how to stand at the nearest place where it may.

    :raises GoalRejected: there is none, or it is too far
    """
    name = f'the place x {pose.x:.2f} m, y {pose.y:.2f} m'
    at = (here.x, here.y) if here else None
    known = next(iter(known_objects([memory])), None)
    if known is not None:
        pose = _viewpoint(known, rules, terrain, at)
    elif (named := place_of(memory)) is not None:
        pose = _inside(named, terrain, at)
    elif objection := terrain.objection((pose.x, pose.y), at):
        place = terrain.nearest_free((pose.x, pose.y), rules.search_radius_m, at)
        if place is None:
            raise GoalRejected(
                f'{name} {objection}, and nothing within {rules.search_radius_m:g} m is free; '
                'raise goal_search_radius, or check the map and keep_out'
            )
        marked = memory.source in _MARKED
        thing = (pose.x, pose.y) if marked else place_seen(pose, terrain.map or terrain.costmap)
        pose = approach(pose, place, thing)
    if rules.max_distance_m > 0.0:
        if here is None:
            raise GoalRejected(
                'it is not known where the robot is, so not whether the goal is within max_goal_distance; '
                'start localisation, or check pose_source'
            )
        away = distance((here.x, here.y, 0.0), (pose.x, pose.y, 0.0))
        if away > rules.max_distance_m:
            raise GoalRejected(
                f'{name} is {away:.1f} m from here, more than the {rules.max_distance_m:g} m allowed; '
                'bring the robot nearer, or raise max_goal_distance'
            )
    return pose


def _inside(named: NamedPlace, terrain: Terrain, here: tuple[float, float] | None) -> Pose:
    """Return how to stand in a named place, near its middle, facing as whoever comes there.

    :raises GoalRejected: no place in it is free
    """
    area, middle = Places([named.memory]).area(named), (named.pose.x, named.pose.y)
    found = np.array([middle])
    if terrain.objection(middle, here):
        found = terrain.free_places(middle, 2.0 * area.sphere[1], here)
        found = found[area.covers(np.column_stack([found, np.full(len(found), named.pose.z)]))]
    if not len(found):
        raise GoalRejected(f'no place in {named.said} is free and can be reached; check the map and keep_out')
    x, y = found[np.argmin(np.hypot(*(found - middle).T))].tolist()
    yaw = 0.0 if here is None else math.atan2(y - here[1], x - here[0])
    return Pose(x, y, named.pose.z, yaw)


def _viewpoint(known: KnownObject, rules: Rules, terrain: Terrain, here: tuple[float, float] | None) -> Pose:
    """Return how to stand where an object can be seen from, facing it.

    That is near to it, on the side that it was seen from nearest, where nothing was before it; of one without
    a measured place, from where it was seen last.

    :raises GoalRejected: there is no such place
    """
    x, y, z = known.position
    eyes = [eye for _, at, eye in known.sightings if distance(at, known.position) <= AHEAD_M] or [
        (*(here or (x - AHEAD_M, y)), z)
    ]
    off_m = [math.hypot(eye[0] - x, eye[1] - y) for eye in eyes]
    at = off_m.index(min(off_m)) if known.facts.measured else -1
    eye, away = eyes[at], off_m[at]
    far = max(known.size[:2]) / 2.0 + STAND_OFF_M if known.facts.measured else away
    if known.facts.measured:
        far = max(far, min(_seen_down_from(known), FARTHEST_M))
    part = far / away if away > AT_LEAST_M else 0.0
    wanted = (x + part * (eye[0] - x), y + part * (eye[1] - y)) if part else (x - far, y)
    places = terrain.free_places(wanted, far + rules.search_radius_m, here)
    off = np.hypot(*(places - (x, y)).T)
    places = places[(off >= far - FREE_STEP_M) & (off <= far + rules.search_radius_m)]
    grid = terrain.map or terrain.costmap
    if grid is not None and len(places):
        places = places[~walls_between(grid, known.position, [(*place, 0.0) for place in places.tolist()])]
    if not len(places):
        raise GoalRejected(
            f'from no free place within {far + rules.search_radius_m:.1f} m can {known.name} at x {x:.2f} m, '
            f'y {y:.2f} m be seen; raise goal_search_radius, or check the map and keep_out'
        )
    px, py = places[np.argmin(np.hypot(*(places - wanted).T))].tolist()
    return Pose(px, py, 0.0, math.atan2(y - py, x - px))


def _seen_down_from(known: KnownObject) -> float:
    """Return how far away a camera that looks down at an object has to be, so that it is in its view [m].

    It was, as steeply as in the steepest of its sightings, and any camera sees so far down as STEEP; 0.0: it
    is as high as the camera, or nobody knows how high that is.
    """
    down = [(eye[2] - at[2], math.hypot(eye[0] - at[0], eye[1] - at[1])) for _, at, eye in known.sightings]
    steepest = max((drop / max(away, AT_LEAST_M) for drop, away in down if drop > 0.0), default=0.0)
    top = known.position[2] + known.size[2] / 2.0
    height = known.sightings[-1][2][2] - top if known.sightings else 0.0
    return max(height, 0.0) / max(steepest, STEEP)


def looking_round(start: Pose, goals: Iterable[Pose]) -> Iterator[list[Pose]]:
    """Yield the poses of each stop of a search: the goal, and in each part of a place all headings once.

    :param start: where the robot is; the first stop is there
    """
    turned = start
    for goal in chain([start], goals):
        around = goal is start or math.dist((goal.x, goal.y), (turned.x, turned.y)) > ROUND_M
        turned = goal if around else turned
        headings = [wrap_angle(goal.yaw + quarter * math.pi / 2.0) for quarter in (1, 2, 3)] if around else []
        yield [*[goal][goal is start :], *(replace(goal, yaw=yaw) for yaw in headings)]


def describe(goals: Sequence[StampedPose]) -> str:
    """Return where it goes, for a person."""
    pose = goals[0].pose
    place = f'x {pose.x:.2f} m, y {pose.y:.2f} m'
    return f'to {place}' if len(goals) == 1 else f'to {len(goals)} places, {place} first'


def place_seen(pose: Pose, grid: Grid | None = None) -> tuple[float, float]:
    """Return where the thing is that was seen from a pose, x and y [m].

    That is the first occupied cell of the map in the direction of view, else AHEAD_M ahead.

    :param pose: of the robot when it saw it, which looks ahead
    """
    cosine, sine = math.cos(pose.yaw), math.sin(pose.yaw)
    away = AHEAD_M
    if grid is not None:
        steps = np.arange(0.0, SIGHT_M, grid.resolution / 2.0)
        points = np.stack([pose.x + cosine * steps, pose.y + sine * steps], axis=1)
        occupied = grid.values(points) >= grid.occupied_from
        # The pose itself may lie in what is occupied now.
        start = int(np.argmin(occupied))
        hit = occupied[start:].nonzero()[0]
        if len(hit) and not occupied[start]:
            away = float(steps[start + hit[0]])
    return pose.x + cosine * away, pose.y + sine * away


def approach(pose: Pose, place: tuple[float, float], thing: tuple[float, float]) -> Pose:
    """Return how to stand at a place: facing the thing, at the height of the pose it was seen from.

    :param pose: from where it was seen; its heading is kept where the place is the same
    """
    dx, dy = thing[0] - place[0], thing[1] - place[1]
    if place == (pose.x, pose.y) or math.hypot(dx, dy) < AT_LEAST_M:
        return Pose(*place, pose.z, wrap_angle(pose.yaw))
    return Pose(*place, pose.z, wrap_angle(math.atan2(dy, dx)))
